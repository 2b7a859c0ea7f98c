// Commands that are killed at every change they make to files, and what the next command finds.
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { stopAt } from "../io/file-faults.mjs";

type Output = typeof import("../../src/experiment/runs/output-folder.js");
type Io = typeof import("../../packages/io/src/index.js");

const { pid } = process;
/** Numbers of processes that are gone. */
const [deadPid, anotherDeadPid] = [1, 2].map(() => spawnSync(process.execPath, ["--version"]).pid) as [number, number];

let out: string;
beforeEach(async () => {
  out = join(await mkdtemp(join(tmpdir(), "spillway-")), "runs");
});

/**
 * Lets a program work as a process that is dead afterwards: it stands still at the n-th change.
 * Returns whether it came that far.
 */
async function killedAt(n: number, program: () => Promise<unknown>, as = deadPid): Promise<boolean> {
  vi.resetModules();
  Object.defineProperty(process, "pid", { value: as });
  let stopped: () => void;
  const stop = new Promise<"stopped">((resolve) => {
    stopped = () => resolve("stopped");
  });
  const faults = await stopAt(out, n, () => {
    stopped();
    return new Promise(() => {});
  });
  try {
    return (await Promise.race([program(), stop])) === "stopped";
  } finally {
    await faults.restore();
    Object.defineProperty(process, "pid", { value: pid });
    vi.resetModules();
  }
}

const output = (): Promise<Output> => import("../../src/experiment/runs/output-folder.js");
const io = (): Promise<Io> => import("../../packages/io/src/index.js");

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const { writeFileAtomic } = await io();
  for (const [name, text] of Object.entries(files)) await writeFileAtomic(join(folder, name), text);
}

/** What a run of one seed does with its files. */
async function runAnew(): Promise<void> {
  const folder = await (await output()).OutputFolder.create(join(out, "one"));
  await write(folder.working, { "model.safetensors": "new", "result.json": '{"interrupted":false,"of":"new"}' });
  await folder.commit();
}

/** The same of several seeds, whose result so far is written after the first. */
async function runSeeds(): Promise<void> {
  const folder = await (await output()).OutputFolder.create(join(out, "one"));
  await write(folder.working, { "result.json": '{"interrupted":true,"of":"new"}' });
  await write(folder.working, { "result.json": '{"interrupted":false,"of":"new"}' });
  await folder.commit();
}

/** Another experiment in the same folder of runs. */
async function nextCommand(): Promise<void> {
  const folder = await (await output()).OutputFolder.create(join(out, "two"));
  await folder.discard();
}

async function contents(): Promise<Record<string, string>> {
  const names = await readdir(out, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(await Promise.all(files.map(async (path) => [path.slice(out.length + 1), await readFile(path, "utf8")])));
}

const old = { "one/result.json": '{"interrupted":false,"of":"old"}', "one/states.npy": "old" };
const fresh = { "one/result.json": '{"interrupted":false,"of":"new"}', "one/model.safetensors": "new" };
const mine = { "one/notes.txt": "mine", "one/plots/a.svg": "mine" };

/**
 * Writes what stands there before, kills the program at each of its changes, and checks what `mend`
 * makes of it. Returns how many there were.
 */
async function killedEverywhere(
  before: Readonly<Record<string, string>>,
  program: () => Promise<unknown>,
  check: (now: Record<string, string>, moment: string) => void,
  mend: () => Promise<unknown> = nextCommand,
): Promise<number> {
  for (let n = 1; ; n++) {
    await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    for (const [path, text] of Object.entries(before)) {
      await mkdir(join(out, path, ".."), { recursive: true });
      await writeFile(join(out, path), text);
    }
    const wasKilled = await killedAt(n, program);
    await mend();
    check(await contents(), `killed at change ${n}`);
    if (!wasKilled) return n - 1;
  }
}

describe("a run that is killed at any change to files", () => {
  it("leaves the old or the new folder whole, with the user's files, and nothing else, after the next command", async () => {
    const found: string[] = [];
    const changes = await killedEverywhere({ ...old, ...mine }, runAnew, (now, moment) => {
      const isNew = "one/model.safetensors" in now;
      found.push(isNew ? "new" : "old");
      expect(now, moment).toEqual({ ...(isNew ? fresh : old), ...mine });
    });
    expect(changes).toBeGreaterThan(12);
    expect(found.join(" ")).toMatch(/^(old )+(new ?)+$/);
  });

  it("leaves nothing, or the new folder, if there was none", async () => {
    await killedEverywhere({}, runAnew, (now, moment) => expect(now, moment).toEqual("one/result.json" in now ? fresh : {}));
  });

  it("leaves the same if the next commands are killed too, each a change further on", async () => {
    const killedAgain = async () => {
      for (let n = 1; await killedAt(n, nextCommand, anotherDeadPid); n++);
      await nextCommand();
    };
    await killedEverywhere(
      { ...old, ...mine },
      runAnew,
      (now, moment) => expect(now, moment).toEqual({ ...("one/model.safetensors" in now ? fresh : old), ...mine }),
      killedAgain,
    );
  });

  it("keeps the seeds that were finished, beside an earlier run", async () => {
    const found = new Set<string>();
    await killedEverywhere(old, runSeeds, (now, moment) => {
      const { "one.interrupted/result.json": kept = "", ...rest } = now;
      found.add(kept);
      if (kept !== "") expect(rest, moment).toEqual(old);
      else expect([old, { "one/result.json": fresh["one/result.json"] }], moment).toContainEqual(rest);
    });
    expect(found).toEqual(new Set(["", '{"interrupted":true,"of":"new"}']));
  });
});

describe("a model file that is saved", () => {
  it("is old or new and whole, and nothing is beside it after the next file", async () => {
    const text = "x".repeat(100);
    const save = () => write(out, { "model.safetensors": `new ${text}` });
    await killedEverywhere(
      { "model.safetensors": `old ${text}` },
      save,
      (now, moment) => {
        expect(Object.keys(now).sort(), moment).toEqual(["model.safetensors", "other"]);
        expect([`old ${text}`, `new ${text}`], moment).toContain(now["model.safetensors"]);
      },
      () => write(out, { other: "" }),
    );
  });
});

describe("commands of two containers that share a folder, with the same process number", () => {
  it("leave each other's work alone, and the last to finish stands", async () => {
    vi.resetModules();
    const first = await (await output()).OutputFolder.create(join(out, "one"));
    await write(first.working, { "result.json": '{"of":"first"}' });
    vi.resetModules();
    const second = await (await output()).OutputFolder.create(join(out, "one"));
    expect(second.working).not.toBe(first.working);
    await write(second.working, { "result.json": '{"of":"second"}' });
    await second.commit();
    await first.commit();
    expect(await contents()).toEqual({ "one/result.json": '{"of":"first"}' });
  });

  it("leave alone what another machine's process writes, until nobody has touched it for a day", async () => {
    const name = `.one.spillway-00000000-${deadPid}-0123456789ab.partial`;
    await mkdir(join(out, name), { recursive: true });
    await nextCommand();
    expect(await readdir(out)).toEqual([name]);
    const past = new Date(Date.now() - 25 * 3600 * 1000);
    await utimes(join(out, name), past, past);
    await nextCommand();
    expect(await readdir(out)).toEqual([]);
  });

  it("may put their folders in place at once", async () => {
    const folders = await Promise.all(Array.from({ length: 6 }, async () => (await output()).OutputFolder.create(join(out, "one"))));
    for (const folder of folders) await write(folder.working, { "result.json": "{}" });
    await Promise.all(folders.map((folder) => folder.commit()));
    expect(await readdir(out)).toEqual(["one"]);
  });
});
