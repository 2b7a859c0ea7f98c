// A study in a journal file: what Optuna's own log says, what writers at once leave behind, and
// what a damaged file is answered with.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FileError } from "../../../packages/io/src/index.js";
import { journalFile, randomSampler, Study, StudyLog, type StudyOperation } from "../../../packages/search/src/index.js";
import { decodeRecord } from "../../../packages/search/src/journal/records.js";
import { patientStorage } from "../../../packages/search/src/patience.js";
import { amount } from "../../exhaustive.js";
import { faultAt } from "./faults.js";

const fixture = "test/search/journal/fixtures/optuna-4.0.0.dev.log";
const space = { x: { float: [-5, 5] }, y: { int: [0, 10] }, z: { choice: [-5, 0, 5] } } as const;

let folder: string;
let made = 0;
const fresh = () => join(folder, `${made++}.log`);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-journal-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** The studies of a file. */
async function replayed(path: string): Promise<StudyLog> {
  const log = new StudyLog();
  log.apply(await journalFile(path).read(0));
  return log;
}

/** A file that holds a text. */
function holding(text: string | Uint8Array): string {
  const path = fresh();
  writeFileSync(path, text);
  return path;
}

const made1 = (name: string): StudyOperation => ({ by: "w", type: "createStudy", name, direction: "minimise" });

describe("the log of Optuna's compatibility test", () => {
  it("says what that test expects", async () => {
    const { studies } = await replayed(fixture);
    expect([...studies.keys()].sort()).toEqual(["single_empty", "single_optimization", "single_system_attr", "single_user_attr"]);
    expect(studies.get("single_empty")).toMatchObject({ direction: "minimise", attributes: new Map(), trials: [] });
    expect(studies.get("single_user_attr")!.attributes).toEqual(
      new Map(
        [
          ["a", 1],
          ["b", 2],
          ["c", 3],
        ].map(([k, v]) => [k, v]),
      ),
    );
    expect(studies.get("single_system_attr")!.systemAttributes.get("A")).toBe(1);
    const { trials } = studies.get("single_optimization")!;
    expect(trials).toHaveLength(10);
    for (const { number, state, value, intermediate, attributes, systemAttributes } of trials) {
      expect([state, intermediate]).toEqual(["complete", new Map([[0, 0.5]])]);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(150);
      expect([attributes.get(`a_${number}`), systemAttributes.get(`b_${number}`)]).toEqual([0, 1]);
    }
  });

  it("is gone on with as a study of the same space", async () => {
    const path = fresh();
    copyFileSync(fixture, path);
    const storage = journalFile(path);
    const study = await Study.open({ storage, name: "single_optimization", space, sampler: randomSampler({ seed: 1 }) });
    expect(study.best).toMatchObject({ number: 0, value: 21.263949809511352, params: { x: -3.501992262914262, y: 3, z: 0 } });
    await study.tell((await study.ask(3)).map((trial, i) => [trial, i]));
    const again = await Study.open({ storage: journalFile(path), name: "single_optimization", space });
    expect(again.best).toMatchObject({ number: 10, value: 0 });
    expect(readFileSync(path, "utf8").startsWith(readFileSync(fixture, "utf8"))).toBe(true);
  });
});

describe("a damaged journal", () => {
  const text = readFileSync(fixture, "utf8");

  it("that ends anywhere is read up to its last complete line, and the next append cuts the rest away", async () => {
    const short = text.split("\n").slice(11, 16).join("\n");
    const bytes = Buffer.from(`${short}\n`);
    const whole = await journalFile(holding(bytes)).read(0);
    for (let end = 0; end <= bytes.length; end++) {
      const cut = bytes.subarray(0, end);
      const lines = cut.toString().split("\n").length - 1;
      const path = holding(cut);
      const storage = journalFile(path);
      expect(await storage.read(0)).toEqual(whole.slice(0, lines));
      if (end % 97 !== 0) continue;
      await storage.append([made1("next")]);
      expect(await storage.read(lines)).toEqual([made1("next")]);
      expect(readFileSync(path).subarray(0, cut.lastIndexOf(10) + 1)).toEqual(cut.subarray(0, cut.lastIndexOf(10) + 1));
    }
  });

  it("with a bad line in its middle is refused by the line's number, and stays as it is", async () => {
    const lines = text.split("\n");
    lines[20] = `${lines[20]!.slice(0, 30)}${lines[21]}`;
    const path = holding(lines.join("\n"));
    await expect(journalFile(path).read(0)).rejects.toThrow(`${path}: line 21 is no record of a journal: it is no JSON`);
    expect(readFileSync(path, "utf8")).toBe(lines.join("\n"));
  });

  it.each([
    ["an operation of a newer version", `${text}{"op_code":11,"worker_id":"w"}\n`, /line 93 is no record of a journal: its op_code is 11/],
    ["a byte order mark", `\ufeff${text}`, /line 1 is no record of a journal: it begins with a byte order mark/],
    ["an empty line", `\n${text}`, /line 1 is no record/],
    ["a line of a megabyte", `${"x".repeat(2 ** 20)}\n`, /line 1 is no record of a journal: it is no JSON: "xxx/],
    ["a line of a megabyte that opens many texts", `${'"\\'.repeat(2 ** 19)}\n`, /line 1 is no record/],
    ["zeros, as a file system leaves behind", `${text}${"\0".repeat(100)}\n`, /line 93 is no record/],
  ])("with %s is refused", async (_, damaged, sentence) => {
    await expect(journalFile(holding(damaged)).read(0)).rejects.toThrow(sentence);
  });

  it("with CRLF, or with a long line, is read", async () => {
    expect((await replayed(holding(text.replaceAll("\n", "\r\n")))).studies.size).toBe(4);
    const long = JSON.stringify({ op_code: 2, worker_id: "w", study_id: 0, user_attr: { long: "x".repeat(2 ** 20) } });
    expect((await replayed(holding(`${text}${long}\n`))).studies.get("single_empty")!.attributes.get("long")).toHaveLength(2 ** 20);
  });

  it("whose lines were shuffled never has a best that no trial had", async () => {
    const values = [...text.matchAll(/"values": \[([\d.]+)\]/g)].map(([, value]) => Number(value));
    const lines = text.trimEnd().split("\n");
    for (let seed = 1; seed <= 20; seed++) {
      const order = lines.map((line, i) => [(i * 7919 * seed + seed) % 104_729, line] as const).sort(([a], [b]) => a - b);
      const { studies } = await replayed(holding(`${order.map(([, line]) => line).join("\n")}\n`));
      for (const { trials } of studies.values()) for (const { value } of trials) expect([undefined, ...values]).toContain(value);
    }
  });

  it("in which any line stands twice has the best that it had, with its own parameters", async () => {
    const lines = text.trimEnd().split("\n");
    const best = (studies: StudyLog["studies"]) => {
      const over = studies.get("single_optimization")!.trials.filter(({ state }) => state === "complete");
      const { value, parameters } = over.reduce((one, other) => (other.value! < one.value! ? other : one));
      return { value, parameters };
    };
    const wanted = best((await replayed(fixture)).studies);
    const operations = lines.map(decodeRecord);
    for (let twice = 0; twice < lines.length; twice++) {
      const log = new StudyLog();
      log.apply([...operations.slice(0, twice + 1), ...operations.slice(twice)]);
      expect(best(log.studies), `line ${twice + 1} twice`).toEqual(wanted);
    }
    const all = await replayed(holding(lines.map((line) => `${line}\n${line}\n`).join("")));
    expect(best(all.studies)).toEqual(wanted);
  });

  it("that another file took the place of is refused", async () => {
    const path = holding(text);
    const storage = journalFile(path);
    const all = await storage.read(0);
    writeFileSync(path, text.slice(0, 1000));
    await expect(storage.read(all.length)).rejects.toThrow("it has 1000 bytes and had 16933; another file replaced it");
    expect(await storage.append([made1("x")], all.length)).toBe(false);
  });

  it.each([
    [join("no", "such", "folder.log"), /cannot be made.*ENOENT/],
    [".", /./],
  ])("at %s is refused with a sentence", async (path, sentence) => {
    const storage = journalFile(join(folder, path));
    const error = await storage.append([made1("x")]).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "file", message: expect.stringMatching(sentence) });
  });

  it("that is not there has no operations, and is made by the first append", async () => {
    const storage = journalFile(fresh());
    expect(await storage.read(0)).toEqual([]);
    expect(await storage.append([made1("x")], 0)).toBe(true);
    expect(await storage.read(0)).toEqual([made1("x")]);
  });
});

describe("a journal that is written by several", () => {
  it("takes an append only after the operations that its writer knows of", async () => {
    const path = fresh();
    const [one, other] = [journalFile(path), journalFile(path)];
    expect(await one.append([made1("a")], 0)).toBe(true);
    expect(await other.append([made1("b")], 0)).toBe(false);
    expect(await other.append([made1("b")], 1)).toBe(true);
    expect(await one.read(0)).toEqual([made1("a"), made1("b")]);
    expect(await one.read(1)).toEqual([made1("b")]);
  });

  it("keeps out a writer while a lock of either kind stands, and none is left behind", async () => {
    const path = fresh();
    for (const make of [() => symlinkSync(path, `${path}.lock`), () => writeFileSync(`${path}.lock`, "", { flag: "wx" })]) {
      make();
      const { calls, restore } = await faultAt(Number.POSITIVE_INFINITY, "failsBefore");
      const writing = journalFile(path, { lock: "link" }).append([made1("x")]);
      await expect.poll(() => calls.filter((name) => name === "symlink").length, { timeout: 60_000 }).toBeGreaterThan(3);
      expect(calls).not.toContain("open");
      await rm(`${path}.lock`);
      await writing;
      await restore();
      expect(() => lstatSync(`${path}.lock`)).toThrow("ENOENT");
    }
  });

  it.runIf(process.platform === "linux").each(["link", "exclusive"] as const)(
    "waits for a lock (%s) of a process that lives, and breaks it at once if that was killed",
    async (lock) => {
      const path = fresh();
      const holder = `
        import { JournalLock } from ${JSON.stringify(new URL("../../../packages/search/src/journal/lock.ts", import.meta.url).pathname)};
        setInterval(() => undefined, 1000);
        await new JournalLock(${JSON.stringify(path)}, ${JSON.stringify(lock)}, 1).hold(async () => {
          console.log("held");
          await new Promise(() => undefined);
        });
      `;
      const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", holder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      // A day of grace: the lock is broken because its owner is gone, or not at all.
      const { calls, restore } = await faultAt(Number.POSITIVE_INFINITY, "failsBefore");
      const writing = journalFile(path, { lock, grace: 86_400 }).append([made1("x")]);
      await expect.poll(() => calls.filter((name) => name === "lstat").length, { timeout: 60_000 }).toBeGreaterThan(20);
      expect(calls).not.toContain("rename");
      await restore();
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      expect(await writing).toBe(true);
      expect(await journalFile(path).read(0)).toEqual([made1("x")]);
    },
    60_000,
  );

  it("breaks a lock whose owner does nothing, also one that leads nowhere", async () => {
    for (const target of ["self", "relative/nowhere.log"]) {
      const path = fresh();
      symlinkSync(target === "self" ? path : target, `${path}.lock`);
      await journalFile(path, { grace: 0.2 }).append([made1("x")]);
      expect(await journalFile(path).read(0)).toEqual([made1("x")]);
    }
  });

  it("has each trial once when workers ask and tell at once", async () => {
    const path = fresh();
    const work = async (seed: number) => {
      const storage = journalFile(path, { lock: seed % 2 ? "link" : "exclusive" });
      const study = await Study.open({ storage, name: "s", space, sampler: randomSampler({ seed }) });
      for (let k = 0; k < 8; k++) await study.tell((await study.ask(2)).map((trial) => [trial, Math.abs(trial.params["x"] as number)]));
      return study;
    };
    const studies = await Promise.all([1, 2, 3].map(work));
    for (const study of studies) await study.sync();
    expect(studies[0]!.trials).toHaveLength(48);
    expect(new Set(studies[0]!.trials.map(({ params }) => params["x"])).size).toBe(48);
    for (const study of studies) expect(study.trials).toEqual(studies[0]!.trials);
  });
});

describe("kill -9", () => {
  const worker = `
    import { journalFile, Study, randomSampler } from ${JSON.stringify(new URL("../../../packages/search/src/index.ts", import.meta.url).pathname)};
    const [path, seed] = process.argv.slice(-2);
    const study = await Study.open({ storage: journalFile(path, { grace: 0.3 }), name: "s", space: { x: { float: [0, 1] } }, sampler: randomSampler({ seed: Number(seed) }) });
    console.log("open");
    for (;;) await study.tell((await study.ask(4)).map((trial) => [trial, trial.params.x]));
  `;

  it("of workers at any moment leaves whole lines, and the next goes on", async () => {
    const path = fresh();
    let before = 0;
    for (let round = 0; round < amount(2, 1); round++) {
      const children = [0, 1].map((k) =>
        spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", worker, path, String(10 * round + k)], {
          stdio: ["ignore", "pipe", "inherit"],
        }),
      );
      await Promise.all(children.map((child) => once(child.stdout, "data")));
      await new Promise((later) => setTimeout(later, 60 + 35 * round));
      const ends = children.map((child) => once(child, "exit"));
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(ends);
      const study = await Study.open({ storage: journalFile(path, { grace: 0.3 }), name: "s", space: { x: { float: [0, 1] } } });
      await study.tell((await study.ask(1)).map((trial) => [trial, 2]));
      expect(study.trials.length).toBeGreaterThan(before);
      before = study.trials.length;
      expect(study.trials.map(({ number }) => number)).toEqual(study.trials.map((_, i) => i));
      for (const { state, value, params } of study.trials) if (state === "complete") expect([params["x"], 2]).toContain(value);
    }
  });
});

const noFiles: readonly (readonly [string, () => string])[] = [
  ["a device", () => "/dev/full"],
  ["a device", () => "/dev/zero"],
  [
    "a pipe",
    () => {
      const path = fresh();
      spawnSync("mkfifo", [path]);
      return path;
    },
  ],
];
it.runIf(process.platform === "linux").each(noFiles)("refuses %s at once", async (kind, make) => {
  const path = make();
  const refused = { problem: "content", reason: `it is ${kind}, which keeps nothing; a journal takes a regular file` };
  await expect(journalFile(path, { lock: "exclusive" }).read(0)).rejects.toMatchObject(refused);
  const patient = patientStorage(journalFile(path), { patienceMs: 86_400_000, signal: new AbortController().signal });
  await expect(Study.open({ storage: patient, space })).rejects.toMatchObject(refused);
});

it("gives errors of files as the package does", async () => {
  await expect(journalFile(holding("x\n")).read(0)).rejects.toBeInstanceOf(FileError);
  expect(() => journalFile("x", { lok: "link" } as never)).toThrow('journalFile: unknown field "lok": did you mean "lock"?');
});
