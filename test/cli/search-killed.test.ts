// Search commands with a device each, of which one is killed: the others go on, and nothing is
// lost.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { journalFile, Study, StudyLog } from "../../packages/search/src/index.js";
import { exhaustive } from "../exhaustive.js";
import { spillway } from "./spillway.js";

const budget = 48;
const search = (trials: number) => `name: narma
data: { task: narma }
reservoir: { size: 10, connectionProbability: 0.4 }
task: predict
washout: 10
split: { train: 90, test: 20 }
metrics: [nrmse]
outputs: { report: false }
search:
  space: { reservoir.spectralRadius: { float: [0.1, 1.4] } }
  seeds: 2
  budget: { trials: ${trials} }
  sampler: { type: random, batch: 4 }
`;

/** The study as a journal has it. */
async function studyIn(path: string) {
  const log = new StudyLog();
  const journal = journalFile(path);
  log.apply(await journal.read(0));
  await journal.close();
  return [...log.studies.values()][0]!;
}

const valuesOf = (study: Awaited<ReturnType<typeof studyIn>>) =>
  new Map(
    study.trials.filter(({ state }) => state === "complete").map(({ parameters, value }) => [JSON.stringify([...parameters]), value]),
  );

it.runIf(exhaustive)("kill -9 of one of four commands with a device each leaves the others to go on, and its trials to them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-"));
  await writeFile(join(folder, "shared.yaml"), search(budget));
  // Commands that ask at once may ask for a few more than the budget.
  await writeFile(join(folder, "alone.yaml"), search(2 * budget));
  const killed = 2;
  const command = (engine: string, name: string, kill = false) => {
    let isKilled = !kill;
    return spillway(
      ["search", `${name}.yaml`, "--engine", engine, "--storage", `${name}.log`, "--out", join(folder, engine), "--no-refit"],
      {
        cwd: folder,
        env: { SPILLWAY_SIM_DEVICES: "4" },
        // After its first batch, with trials in work.
        watch: (stderr, child) => {
          if (isKilled || !stderr.includes("(trial ")) return;
          isKilled = true;
          child.kill("SIGKILL");
        },
      },
    );
  };
  const ended = await Promise.all([0, 1, 2, 3].map((device) => command(`sim:${device}`, "shared", device === killed)));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, null, 0]);
  expect((await command("cpu", "alone")).code).toBe(0);
  const [shared, alone] = [await studyIn(join(folder, "shared.log")), await studyIn(join(folder, "alone.log"))];
  const running = shared.trials.filter(({ state }) => state === "running").length;
  const done = valuesOf(shared);
  expect(done.size).toBe(shared.trials.filter(({ state }) => state === "complete").length);
  expect(done.size).toBeGreaterThanOrEqual(budget);
  expect(running).toBeLessThanOrEqual(4);
  // What is done has the bits of one process on the CPU.
  for (const [parameters, value] of done) expect(valuesOf(alone).get(parameters)).toBe(value);
  // What the killed one had in work, and no other has taken over so far, the next one takes over: at
  // once if the system tells of processes, else after the grace.
  const storage = journalFile(join(folder, "shared.log"));
  const study = await Study.open({ space: { "reservoir.spectralRadius": { float: [0.1, 1.4] } }, storage, name: shared.name });
  const taken = await study.beat(20);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(taken + (await study.beat(20))).toBe(running);
  expect(study.counts.waiting).toBe(running);
  await study.close();
});
