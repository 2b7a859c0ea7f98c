// One study in a journal that Optuna's own processes and ours go on with, in a file and in Redis.
// Needs Python with Optuna and redis, and redis-server; a missing one fails.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { journalFile, randomSampler, redisJournal, Study, StudyLog, type StudyStorage, tpe } from "../../packages/search/src/index.js";

const python = process.env.PYTHON ?? "/usr/bin/python3";
const script = join("test", "toolchain", "foreign", "optuna_study.py");
const space = {
  radius: { float: [0.1, 1.5] },
  lambda: { float: [1e-10, 1], log: true },
  size: { int: [50, 400], step: 50 },
  units: { int: [1, 256], log: true },
  topology: { choice: ["erdosRenyi", "ring", null, true] },
} as const;

/** The objective that the script has too. */
const score = ({ radius, lambda, size, topology }: Readonly<Record<string, unknown>>) =>
  ((radius as number) - 0.9) ** 2 +
  0.1 * (Math.log10(lambda as number) + 6) ** 2 +
  (size as number) / 400 +
  (topology === "ring" ? 0 : 0.3);

interface Reported {
  readonly version: string;
  readonly best: readonly [number: number, value: number];
  readonly trials: readonly (readonly [state: string, value: number | null, params: Readonly<Record<string, unknown>>])[];
}

let folder: string;
let server: ChildProcess;
let port: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "spillway-optuna-"));
  port = await freePort();
  server = spawn("redis-server", ["--port", String(port), "--save", "", "--dir", folder], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const text of server.stdout!) if (String(text).includes("Ready to accept")) break;
});
afterAll(async () => {
  const ended = once(server, "exit");
  server.kill();
  await ended;
  rmSync(folder, { recursive: true });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  await new Promise((closed) => probe.close(closed));
  return port;
}

/** Runs so many trials in Python, and gives what Optuna then says of the study. */
function optuna(where: readonly string[], trials: number): Reported {
  const { status, stdout, stderr, error } = spawnSync(python, [script, ...where, String(trials)], { encoding: "utf8" });
  if (error) throw error;
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Reported;
}

const pause = (ms: number) => new Promise<void>((later) => setTimeout(later, ms));

const states = { COMPLETE: "complete", PRUNED: "pruned", FAIL: "failed", RUNNING: "running", WAITING: "waiting" } as const;

/** Both sides say the same of every trial. */
async function expectAlike(study: Study, reported: Reported): Promise<void> {
  await study.sync();
  expect(study.trials.map(({ state, value, params }) => [state, value ?? null, params])).toEqual(
    reported.trials.map(([state, value, params]) => [states[state as "COMPLETE"], value, params]),
  );
  expect([study.best?.number, study.best?.value]).toEqual(reported.best);
}

describe.each([
  ["a file", () => ["file", join(folder, "study.log")], async () => journalFile(join(folder, "study.log"))],
  ["Redis", () => ["redis", `redis://127.0.0.1:${port}`, "p"], () => redisJournal(`redis://127.0.0.1:${port}`, { prefix: "p" })],
] as const)("a study in %s", (_, where, open: () => Promise<StudyStorage>) => {
  it("is ours, then Optuna's, then ours again, with the same trials, values and best on both sides", async () => {
    const storage = await open();
    const study = await Study.open({ storage, name: "both", space, sampler: tpe({ seed: 1 }) });
    await study.tell((await study.ask(12)).map((trial) => [trial, score(trial.params)]));
    const [failed, pruned, endless, extra] = await study.ask(4);
    await study.tell([
      [failed!, new Error("diverged")],
      [pruned!, { pruned: true, intermediate: { 500: 0.25, 1000: Number.NaN } }],
      [endless!, Number.POSITIVE_INFINITY],
      [extra!, { value: 3, attributes: { "spillway:seeds": [1, 2, 3], text: "ä€" } }],
    ]);
    await study.enqueue({ radius: 0.75, topology: null });
    const first = optuna(where(), 20);
    expect(first.trials).toHaveLength(36);
    expect(first.trials[16]).toMatchObject(["COMPLETE", expect.any(Number), { radius: 0.75, topology: null }]);
    await expectAlike(study, first);
    await study.tell((await study.ask(8)).map((trial) => [trial, score(trial.params)]));
    const again = await Study.open({ storage: await open(), name: "both", space, sampler: randomSampler({ seed: 2 }) });
    expect(again.best).toEqual(study.best);
    await expectAlike(again, optuna(where(), 0));
    await storage.close();
  });

  it("is written by two of ours and two of Optuna's at once, 500 trials: every trial once, and all agree", async () => {
    const storages = await Promise.all([open(), open()]);
    const studies = await Promise.all(
      storages.map((storage, seed) => Study.open({ storage, name: "both", space, sampler: randomSampler({ seed: 10 + seed }) })),
    );
    const before = studies[0]!.trials.length;
    const others = [0, 1].map(() => spawn(python, [script, ...where(), "125"], { stdio: ["ignore", "ignore", "inherit"] }));
    const ends = Promise.all(others.map((other) => once(other, "exit")));
    const isEnded = ends.then(() => true);
    for (let k = 0; k < 25; k++) {
      // Ours keep pace with Optuna's, so that all four write from the first trial to the last.
      const theirs = async () => {
        await studies[0]!.sync();
        return studies[0]!.trials.slice(before).filter(({ attributes }) => attributes["by"] === "optuna").length;
      };
      while ((await theirs()) < 10 * k) if (await Promise.race([isEnded, pause(50)])) break;
      await Promise.all(studies.map(async (study) => study.tell((await study.ask(5)).map((trial) => [trial, score(trial.params)]))));
    }
    expect(await ends).toEqual([
      [0, null],
      [0, null],
    ]);
    const reported = optuna(where(), 0);
    expect(reported.trials).toHaveLength(before + 500);
    for (const study of studies) await expectAlike(study, reported);
    for (const { value, params, attributes } of studies[0]!.trials.slice(before))
      if (attributes["by"] !== "optuna") expect(value).toBe(score(params));
    for (const storage of storages) await storage.close();
  });
});

it("is Optuna's from the first trial on, and ours with all of them", async () => {
  const path = join(folder, "theirs.log");
  const reported = optuna(["file", path], 15);
  const study = await Study.open({ storage: journalFile(path), name: "both", space, sampler: tpe({ seed: 1 }) });
  expect(study.adopted).toBe(15);
  await expectAlike(study, reported);
  await study.tell((await study.ask(8)).map((trial) => [trial, score(trial.params)]));
  expect(study.best!.value).toBeLessThanOrEqual(reported.best[1]);
  await expectAlike(study, optuna(["file", path], 5));
  const again = await Study.open({ storage: journalFile(path), name: "both", space });
  expect([again.adopted, again.finished]).toEqual([0, 28]);
});

it("takes a waiting trial once, whoever wants it", async () => {
  const path = join(folder, "claims.log");
  const one = await Study.open({ storage: journalFile(path), name: "both", space, sampler: randomSampler({ seed: 1 }) });
  for (let k = 0; k < 12; k++) await one.enqueue({ radius: 0.5 + k / 100 });
  const other = spawn(python, [script, "file", path, "8"], { stdio: ["ignore", "ignore", "inherit"] });
  const end = once(other, "exit");
  // Optuna 3.1 ends with an error if a trial that it wants to take is over by then: ours end last.
  const finished = async () => {
    await one.sync();
    return one.finished;
  };
  await expect.poll(finished, { timeout: 60_000 }).toBeGreaterThan(0);
  const own = await one.ask(4);
  expect(await end).toEqual([0, null]);
  await one.tell(own.map((trial) => [trial, score(trial.params)]));
  const log = new StudyLog();
  log.apply(await journalFile(path).read(0));
  const { trials } = log.studies.get("both")!;
  expect(trials.map(({ state, parameters }) => [state, parameters.get("radius")?.value])).toEqual(
    trials.map((_, k) => ["complete", 0.5 + k / 100]),
  );
});

it("is left trials of ours that are gone, which Optuna runs with the same parameters", async () => {
  const path = join(folder, "gone.log");
  const [gone, one] = await Promise.all(
    [1, 2].map((seed) => Study.open({ storage: journalFile(path), name: "both", space, sampler: randomSampler({ seed }) })),
  );
  await gone!.beat();
  const lost = await gone!.ask(2);
  await one!.beat();
  await new Promise((later) => setTimeout(later, 20));
  expect(await one!.beat(10)).toBe(2);
  const { trials } = optuna(["file", path], 2);
  expect(trials.map(([state]) => state)).toEqual(["FAIL", "FAIL", "COMPLETE", "COMPLETE"]);
  expect(trials.slice(2).map(([, , params]) => params)).toEqual(lost.map(({ params }) => params));
  await expectAlike(one!, optuna(["file", path], 0));
});
