// A file system whose appends are not atomic, and writers that take no lock: the lock keeps lines
// whole; without it, what is torn is refused by its line, and a repair loses nothing of ours.
import { appendFileSync, constants, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { journalFile, repairJournal, type StudyOperation } from "../../../packages/search/src/index.js";
import { journalFiles } from "../../../packages/search/src/journal/files.js";
import { encodeRecord } from "../../../packages/search/src/journal/records.js";
import { faultAt, staleAppends } from "./faults.js";

let folder: string;
let made = 0;
const fresh = () => join(folder, `${made++}.log`);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-no-lock-"));
});
afterAll(() => rm(folder, { recursive: true }));

const record = (by: string, k: number): StudyOperation => ({
  ...{ by, type: "studyAttribute", study: 0, system: false, name: `${by}${k}` },
  value: { text: "x".repeat(1 + ((7 * k) % 40)) },
});
const by = (all: readonly StudyOperation[], name: string) => all.filter((each) => each.by === name);

describe("appends in two pieces at a place that is not the end any more", () => {
  let restore: (() => void) | undefined;
  afterEach(() => restore?.());
  const writers = ["a", "b", "c"];

  it("leave whole lines in their order, if each takes the lock", async () => {
    restore = await staleAppends();
    const path = fresh();
    await Promise.all(
      writers.map(async (name) => {
        const storage = journalFile(path);
        for (let k = 0; k < 12; k += 2) await storage.append([record(name, k), record(name, k + 1)]);
      }),
    );
    const all = await journalFile(path).read(0);
    for (const name of writers) expect(by(all, name)).toEqual(Array.from({ length: 12 }, (_, k) => record(name, k)));
    expect(all).toHaveLength(36);
  });

  it("write over one another without it", async () => {
    restore = await staleAppends();
    const path = fresh();
    const files = await Promise.all(
      writers.map(() => journalFiles.open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)),
    );
    await Promise.all(files.map((file, i) => file.write(Buffer.from(`${encodeRecord(record(writers[i]!, i))}\n`))));
    await Promise.all(files.map((file) => file.close()));
    expect(readFileSync(path, "utf8").split("\n").length - 1).toBeLessThan(writers.length);
  });
});

describe("a writer that takes no lock and is in the middle of its line", () => {
  const foreign = `${encodeRecord(record("foreign", 3))}\n`;
  const ours = [record("ours", 1), record("ours", 2)];
  const cuts = Array.from({ length: Math.ceil((foreign.length - 2) / 5) }, (_, k) => 1 + 5 * k);

  async function expectOursAfterRepair(path: string, line: number): Promise<void> {
    await expect(journalFile(path).read(0)).rejects.toThrow(`line ${line} is no record of a journal`);
    await repairJournal(path);
    expect(await journalFile(path).read(0)).toEqual(ours);
    expect(await journalFile(path).append([record("next", 1)], ours.length)).toBe(true);
  }

  it("loses its own line if ours comes between: what it has written is cut, the rest is refused", async () => {
    for (const cut of cuts) {
      const path = fresh();
      writeFileSync(path, foreign.slice(0, cut));
      await journalFile(path).append(ours);
      appendFileSync(path, foreign.slice(cut));
      await expectOursAfterRepair(path, ours.length + 1);
    }
  });

  it("tears none of ours, also if it begins while ours is about to write", async () => {
    for (const cut of cuts) {
      const path = fresh();
      const stopped = await stopAtWrite(path, ours);
      appendFileSync(path, foreign.slice(0, cut));
      await stopped.goOn();
      appendFileSync(path, foreign.slice(cut));
      await expectOursAfterRepair(path, 1);
    }
  });
});

/** An append that is held up before its bytes are written. */
async function stopAtWrite(path: string, operations: readonly StudyOperation[]): Promise<{ readonly goOn: () => Promise<void> }> {
  const fault = await faultAt("write", "stops");
  const writing = journalFile(path).append(operations);
  await fault.reached;
  const goOn = async () => {
    fault.goOn();
    await writing;
    await fault.restore();
  };
  return { goOn };
}
