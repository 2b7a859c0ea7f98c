// What the system refuses ends every command in one sentence, also while the program loads.
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf, exhaustive } from "../exhaustive.js";
import { spillway } from "./in-process.js";

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "spillway-system-"));
  const small = "name: small\ndata: { task: narma, length: 300 }\nreservoir: { size: 30 }\ntask: predict\n";
  await writeFile(join(cwd, "small.yaml"), small);
  await writeFile(
    join(cwd, "search.yaml"),
    `${small}search: { space: { reservoir.leakRate: { float: [0.3, 0.9] } }, budget: { trials: 1 } }\n`,
  );
  await writeFile(join(cwd, "one-file.mjs"), 'import("./other.mjs");');
  await writeFile(join(cwd, "other.mjs"), "");
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** Runs Node with at most so many open files. */
function limited(files: number, ...args: readonly string[]) {
  return spawnSync("sh", ["-c", `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, ...args], { cwd, encoding: "utf8" });
}

describe.skipIf(process.platform === "win32")("with few files that may be open", () => {
  it.runIf(exhaustive)(
    "every command ends in a sentence and no stack, from the number on at which Node runs a program",
    () => {
      // Below it, Node itself fails: it needs some files, and one for the program.
      let least = 8;
      while (limited(least, "one-file.mjs").status !== 0) least++;
      const commands = [["info"], ["tasks"], ["run", "small.yaml", "--quiet"], ["serve", "none"], ["lab", "--port", "0"]];
      const ended = new Set<number | null>();
      for (let files = least; files < least + 40; files += files < least + 8 ? 1 : 8) {
        const { status, stdout, stderr } = limited(files, main, ...commands[files % commands.length]!);
        ended.add(status);
        if (status === 0) expect(stdout).not.toBe("");
        else expect(stderr).toMatch(/^spillway: [^\n]*(too many (open )?files|EMFILE)[^\n]*\n$/);
      }
      expect([...ended]).toContain(1);
    },
    120_000,
  );
});

describe("a link in the place of a file whose name a command chooses", () => {
  it.each(
    casesOf(
      [
        [
          ["analyse", "small.yaml", "--measures", "kernelRank", "--out", "out"],
          ["analysis.json", "analysis.html"],
        ],
        [
          ["compare", "small.yaml", "--engines", "cpu,reference", "--out", "out"],
          ["compare.json", "compare.html"],
        ],
        [
          ["search", "search.yaml", "--out", "."],
          ["best.yaml", "search.json", "report.html"],
        ],
      ] as const,
      ([[command]]) => command === "compare",
    ),
  )("%j replaces it, and what it names stays", async ([command, ...args], names) => {
    const folder = join(cwd, command === "search" ? "small" : "out");
    await mkdir(folder, { recursive: true });
    await writeFile(join(cwd, "mine"), "kept");
    for (const name of names) await symlink(join(cwd, "mine"), join(folder, name));
    const { code, stderr } = await spillway([command!, ...args, "--quiet"], { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    expect(await readFile(join(cwd, "mine"), "utf8")).toBe("kept");
    const files = await readdir(folder, { withFileTypes: true });
    expect(files.filter((file) => file.isSymbolicLink())).toEqual([]);
  });
});
