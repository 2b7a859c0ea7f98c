// A failure at every operation of an append to a journal file: who wrote may try again, others go
// on, no line is bad, and nothing stands twice.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { journalFile, type StudyOperation } from "../../../packages/search/src/index.js";
import { casesOf } from "../../exhaustive.js";
import { type Fault, faultAt } from "./faults.js";

let folder: string;
let made = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-faults-"));
});
afterAll(() => rm(folder, { recursive: true }));

const line = (by: string, name: string): StudyOperation => ({ by, type: "createStudy", name, direction: "minimise" });
const first = [line("z", "first")];
const mine = ["a", "b", "c"].map((name) => line("one", name));
const others = ["d", "e"].map((name) => line("other", name));
const open = (path: string) => journalFile(path, { grace: 0.03 });
/** A file with one record, and a torn line behind it. */
async function torn(): Promise<string> {
  const path = join(folder, `${made++}.log`);
  await open(path).append([...first, line("z", "torn")]);
  const bytes = readFileSync(path);
  const { truncate } = await import("node:fs/promises");
  await truncate(path, bytes.length - 7);
  return path;
}

async function operationsOfAppend(): Promise<readonly string[]> {
  const storage = open(await torn());
  await storage.read(0);
  const { calls, restore } = await faultAt(Number.POSITIVE_INFINITY, "dies");
  await storage.append(mine, 1);
  await restore();
  return calls;
}

const times = (all: readonly StudyOperation[], by: string) => all.filter((each) => each.by === by);

/** One writer meets a fault, another writes, the first tries again. */
async function metBy(fault: Fault, n: number): Promise<readonly StudyOperation[]> {
  const path = await torn();
  const one = open(path);
  await one.read(0);
  const { reached, goOn, restore } = await faultAt(n, fault);
  const writing = one.append(mine, 1).catch(() => undefined);
  await Promise.race([reached, writing]);
  await open(path).append(others);
  goOn();
  if (fault === "dies" || fault === "half") {
    await restore();
    // The process that died is started again.
    const again = open(path);
    await again.append(mine, (await again.read(0)).length === 3 ? 3 : -1);
  } else {
    await writing;
    await restore();
    await one.append(mine, 1);
  }
  const all = await open(path).read(0);
  expect(readFileSync(path, "utf8").endsWith("\n")).toBe(true);
  return all;
}

describe.skipIf(process.platform === "win32")("an append", () => {
  it("is not done by halves, nor lost, nor in the way of others", async () => {
    const names = await operationsOfAppend();
    expect(new Set(names)).toEqual(new Set(["symlink", "lstat", "open", "stat", "read", "truncate", "write", "sync", "rename", "unlink"]));
    for (const fault of casesOf(
      ["failsBefore", "failsAfter", "dies", "half", "stops"] as const,
      (each) => each === "dies" || each === "half",
    ))
      for (const [i, name] of names.entries()) {
        if (fault === "half" && name !== "write") continue;
        // Between its look at the lock and a cut a process is helpless: nothing cuts on a
        // condition.
        if (fault === "stops" && name === "truncate") continue;
        const all = await metBy(fault, i + 1);
        const what = `${fault} at ${name}, operation ${i + 1}`;
        expect(all[0], what).toEqual(first[0]);
        expect(times(all, "other"), what).toEqual(others);
        // What was killed in the middle of its write may leave its first lines: whole ones.
        const written = times(all, "one");
        expect(written, what).toEqual(mine.slice(0, written.length));
        if (fault !== "half") expect([0, mine.length], what).toContain(written.length);
      }
  });

  it("is written to its end if a write takes only a part of its bytes", async () => {
    const path = await torn();
    const one = open(path);
    await one.read(0);
    const { calls, restore } = await faultAt("write", "short");
    await one.append(mine, 1);
    await restore();
    expect(calls.filter((name) => name === "write")).toHaveLength(1);
    expect(await open(path).read(0)).toEqual([...first, ...mine]);
  });

  it("is taken back with a sentence if a write takes no byte, as on a full disk", async () => {
    const path = await torn();
    const one = open(path);
    await one.read(0);
    const { restore } = await faultAt("write", "none");
    const writing = one.append(mine, 1);
    await expect(writing).rejects.toThrow(/only 0 of \d+ bytes could be written/);
    await restore();
    expect(await open(path).read(0)).toEqual(first);
    await one.append(mine, 1);
    expect(await open(path).read(0)).toEqual([...first, ...mine]);
  });
});
