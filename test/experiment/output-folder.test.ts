import { mkdir, mkdtemp, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { OutputFolder } from "../../src/experiment/runs/output-folder.js";

let parent: string;
let target: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "spillway-"));
  target = join(parent, "runs", "one");
});

/** A finished run in the target's place. */
async function finishedRun(text: string): Promise<void> {
  await mkdir(target, { recursive: true });
  await writeFile(join(target, "result.json"), text);
}

describe("the folder of a run", () => {
  it("stands in its place only when the run is over", async () => {
    const folder = await OutputFolder.create(target);
    await writeFile(folder.path("result.json"), "new");
    expect(await readdir(join(parent, "runs"))).toEqual([expect.stringMatching(/^\.one\.spillway-.*\.partial$/)]);
    expect(await folder.commit()).toBe(false);
    expect(await readdir(join(parent, "runs"))).toEqual(["one"]);
    expect(await readFile(join(target, "result.json"), "utf8")).toBe("new");
  });

  it("replaces an earlier run whole, and says so", async () => {
    await finishedRun("old");
    await writeFile(join(target, "states.npy"), "old");
    const folder = await OutputFolder.create(target);
    await writeFile(folder.path("result.json"), "new");
    expect(await readFile(join(target, "result.json"), "utf8")).toBe("old");
    expect(await folder.commit()).toBe(true);
    expect(await readdir(target)).toEqual(["result.json"]);
    expect(await readFile(join(target, "result.json"), "utf8")).toBe("new");
    expect(await readdir(join(parent, "runs"))).toEqual(["one"]);
  });

  it("keeps what else stands in the folder of the earlier run", async () => {
    await finishedRun("old");
    await writeFile(join(target, "notes.txt"), "mine");
    const folder = await OutputFolder.create(target);
    await writeFile(folder.path("result.json"), "new");
    await folder.commit();
    expect(await readFile(join(target, "notes.txt"), "utf8")).toBe("mine");
  });

  it("leaves an earlier run alone where the new one failed", async () => {
    await finishedRun("old");
    const folder = await OutputFolder.create(target);
    await writeFile(folder.path("result.json"), "new");
    await folder.discard();
    expect(await readdir(join(parent, "runs"))).toEqual(["one"]);
    expect(await readFile(join(target, "result.json"), "utf8")).toBe("old");
  });

  it("puts an interrupted run in its place where there is none, else beside it", async () => {
    const first = await OutputFolder.create(target);
    await writeFile(first.path("result.json"), "half");
    expect(await first.keepInterrupted()).toBe(target);
    const second = await OutputFolder.create(target);
    await writeFile(second.path("result.json"), "half again");
    expect(await second.keepInterrupted()).toBe(`${target}.interrupted`);
    expect(await readFile(join(target, "result.json"), "utf8")).toBe("half");
  });

  it("is refused where a folder stands that holds something else", async () => {
    await mkdir(target, { recursive: true });
    await writeFile(join(target, "thesis.doc"), "");
    await expect(OutputFolder.create(target)).rejects.toThrow("this folder is there already and holds no run (no result.json)");
  });

  it("is what a link in its place names, with the user's files; the link stays", async () => {
    const disk = join(parent, "disk");
    await mkdir(join(parent, "runs"));
    await mkdir(disk);
    await symlink(join(disk, "one"), target);
    await expect(OutputFolder.create(target)).rejects.toThrow("one: that is a link to what is not there");
    for (const text of ["first", "second"]) {
      await mkdir(join(disk, "one"), { recursive: true });
      const folder = await OutputFolder.create(target);
      await writeFile(folder.path("result.json"), text);
      expect(await folder.commit()).toBe(text === "second");
      await writeFile(join(disk, "one", "notes.txt"), "mine");
    }
    expect(await readlink(target)).toBe(join(disk, "one"));
    expect(await readFile(join(disk, "one", "result.json"), "utf8")).toBe("second");
    expect(await readFile(join(target, "notes.txt"), "utf8")).toBe("mine");
    expect([await readdir(join(parent, "runs")), await readdir(disk)]).toEqual([["one"], ["one"]]);
  });

  it("is refused where a link names a folder of something else", async () => {
    await mkdir(join(parent, "runs"));
    await mkdir(join(parent, "thesis"));
    await writeFile(join(parent, "thesis", "chapter.tex"), "mine");
    await symlink(join(parent, "thesis"), target);
    await expect(OutputFolder.create(target)).rejects.toThrow("holds no run");
    expect(await readdir(join(parent, "thesis"))).toEqual(["chapter.tex"]);
  });

  it("is refused below a file, and where a file has its name", async () => {
    await writeFile(join(parent, "file"), "");
    await expect(OutputFolder.create(join(parent, "file", "one"))).rejects.toThrow(
      "a file of that name is there already; a folder cannot replace it",
    );
    await expect(OutputFolder.create(join(parent, "file", "deeper", "one"))).rejects.toThrow("a part of its path is a file, not a folder");
    await expect(OutputFolder.create(join(parent, "file"))).rejects.toThrow("a file of that name is there already");
  });
});
