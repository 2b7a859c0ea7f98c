// A search on a device: batches of trials side by side, with the values of the CPU to the bit, and
// the comparison with it that goes on beside.
import "../../../src/index.js";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DifferentResultsError } from "../../../packages/search/src/different-results.js";
import type { SearchInput } from "../../../src/experiment/index.js";
import { readSearch, searchExperiment } from "../../../src/experiment/index.js";
import { tryTrial } from "../../../src/experiment/search/search-try.js";
import { type Engine, type Evaluation, registerEngine } from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";
import { smallNarma, trialsOf } from "../../experiment/small-searches.js";
import { device } from "./engines.js";

/** Members and bases of each sweep. */
const sweeps: { readonly members: number; readonly bases: number; readonly rows: number }[] = [];
const watched = (name: string, change: (work: Evaluation) => Evaluation): string => {
  const engine: Engine = {
    ...device,
    device: {
      ...device.device,
      evaluate: (work) => {
        const { ask, members, bases } = work;
        const rows = ask.kind === "predictions" ? ask.trainRows : ask.kind === "forecasts" ? ask.series[0]!.apart!.trainRows : 0;
        sweeps.push({ members: members.length, bases: bases.length, rows });
        return device.device.evaluate(change(work));
      },
    },
  };
  registerEngine(name, async () => engine, { automatic: false });
  return name;
};
const engine = watched("device that searches", (work) => work);

const space = {
  "reservoir.spectralRadius": { float: [0.1, 1.4] },
  "reservoir.leakRate": { float: [0.2, 1] },
  "reservoir.bias": { float: [0, 1] },
} as const;
const lambda = { "readout.lambda": { float: [1e-8, 1], log: true } } as const;
const narma: SearchInput = {
  ...smallNarma,
  search: { space: { ...space, ...lambda }, seeds: 2, budget: { trials: 6 }, sampler: { type: "random", batch: 3 } },
};
const withSearch = (search: object, rest: object = {}): SearchInput => ({ ...narma, ...rest, search: { ...narma.search, ...search } });

const folder = mkdtempSync(join(tmpdir(), "spillway-device-search-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let searches = 0;

const trialsOn = (source: SearchInput, on: string) => trialsOf(source, on, join(folder, `${++searches}.log`));

describe("a search on a device", () => {
  it.each<[string, SearchInput, number, number]>(
    casesOf(
      [
        ["inputs and targets", narma, 2, 6],
        [
          "a series, a sweep, squares and inputs in the readout, no intercept",
          withSearch(
            { space: { ...space, "readout.lambda": { sweep: [1e-300, 1], points: 3 } } },
            {
              data: { task: "mackeyGlass" },
              transforms: ["standardise"],
              readout: { input: true, transform: "squares", intercept: false },
              metrics: ["mae"],
            },
          ),
          2,
          18,
        ],
        [
          "closed loops from starts, with a transform, by the time that forecasts stay near",
          withSearch(
            { objective: { starts: 3, horizon: 6 } },
            {
              data: { task: "mackeyGlass" },
              transforms: [{ difference: 1 }, "standardise"],
              reservoir: { size: 10, connectionProbability: 0.4, precision: "float64", noiseLevel: 0.001 },
              task: { type: "forecast", horizon: 10, warmup: 7 },
              metrics: ["validPredictionTime"],
            },
          ),
          2,
          6,
        ],
        [
          "closed loops, a sweep, inputs in the readout",
          withSearch(
            { space: { ...space, "readout.lambda": { sweep: [1e-8, 1], points: 2 } }, seeds: 1, budget: { trials: 3 } },
            {
              data: { task: "lorenz" },
              readout: { input: true, transform: "squareHalf" },
              task: { type: "forecast", horizon: 4, starts: 2, warmup: 5 },
              metrics: ["nrmseAtHorizon"],
            },
          ),
          1,
          6,
        ],
      ],
      ([name]) => !name.startsWith("closed loops from starts"),
    ),
  )("gives the values of the CPU, a batch in one sweep: %s", async (_, source, batches, members) => {
    sweeps.length = 0;
    const ours = await trialsOn(source, engine);
    expect(sweeps.map((each) => each.members)).toEqual(Array.from({ length: batches }, () => members));
    expect(ours).toEqual(await trialsOn(source, "cpu"));
    const values = ours.map(([, value]) => value as number);
    expect(values.every(Number.isFinite) && new Set(values).size > values.length / 2).toBe(true);
  });

  it("says before it begins what a batch takes", async () => {
    sweeps.length = 0;
    const { together, outcome, seconds, secondsFor } = await tryTrial(await readSearch(narma), { engine }, new AbortController().signal);
    expect(sweeps.map(({ members }) => members)).toEqual([6]);
    expect([together, secondsFor(7, 1)]).toEqual([3, 3 * seconds]);
    const [first] = await trialsOn(narma, "cpu");
    expect(outcome).toMatchObject({ value: first![1] });
  });

  it("runs reservoirs of one shape together, whatever drew them, and draws a seed once", async () => {
    const topologies = { "reservoir.topology.type": { choice: ["erdosRenyi", "fixedInDegree"] }, "reservoir.size": { choice: [10, 14] } };
    const source = withSearch({ space: { ...space, ...topologies }, sampler: { type: "grid", batch: 8 }, seeds: 1, budget: { trials: 8 } });
    const grid = { ...source, search: { ...source.search, space: { ...topologies, "reservoir.bias": { choice: [0, 0.3] } } } };
    sweeps.length = 0;
    const ours = await trialsOn(grid, engine);
    expect(sweeps).toEqual([
      { members: 4, bases: 2, rows: 67 },
      { members: 4, bases: 2, rows: 67 },
    ]);
    expect(ours).toEqual(await trialsOn(grid, "cpu"));
  });

  it("refills the slots of trials that stop at a stage", async () => {
    const halving = withSearch({
      halving: { rows: [30, 50, 67], keep: 0.34 },
      seeds: 1,
      budget: { trials: 9 },
      sampler: { type: "random", batch: 4 },
    });
    sweeps.length = 0;
    const ours = await trialsOn(halving, engine);
    const rounds = sweeps.map(({ members, rows }) => `${members} x ${rows}`);
    // Four at a time, as long as the budget has new ones: those that go on, and new ones for the
    // others.
    expect(rounds).toMatchInlineSnapshot(`
      [
        "4 x 30",
        "2 x 50",
        "2 x 30",
        "1 x 67",
        "2 x 50",
        "1 x 30",
        "1 x 67",
        "2 x 30",
        "2 x 50",
        "1 x 67",
      ]
    `);
    expect(ours).toEqual(await trialsOn(halving, "cpu"));
    expect(ours).toHaveLength(9);
  });

  it("evaluates what a sweep does not take one by one, beside the others", async () => {
    const cells = { space: { "reservoir.feedback.size": { choice: [1] }, ...lambda } };
    const source = withSearch(
      { ...cells, seeds: 1, budget: { trials: 2 } },
      { data: { task: "mackeyGlass" }, split: { train: 40, test: 10 } },
    );
    sweeps.length = 0;
    expect(await trialsOn(source, engine)).toEqual(await trialsOn(source, "cpu"));
    expect(sweeps).toEqual([]);
  });

  it("ends with one sentence if the CPU has other bits, and keeps no trial of that batch", async () => {
    const wrong = watched("device with a wrong bit", (work) => ({
      ...work,
      members: work.members.map((each) => ({ ...each, bias: each.bias + 1e-5 })),
    }));
    const storage = join(folder, "wrong.log");
    const found = searchExperiment(narma, { engine: wrong, refit: false, storage });
    await expect(found).rejects.toThrow(DifferentResultsError);
    await expect(found).rejects.toThrow(
      /scored a reservoir of seed \d with [\d.]+, and the CPU [\d.]+: .* no trial of this batch was kept$/,
    );
  });

  it("gives a batch back that is stopped, and goes on with it", async () => {
    const stop = new AbortController();
    const stopping = watched("device that is stopped", (work) => {
      stop.abort();
      return work;
    });
    const storage = join(folder, "stopped.log");
    const { result } = await searchExperiment(narma, { engine: stopping, refit: false, storage, signal: stop.signal });
    expect([result.interrupted, result.trials.complete]).toEqual([true, 0]);
    const again = await searchExperiment(narma, { engine, refit: false, storage });
    expect(again.result.trials).toEqual({ complete: 6, pruned: 0, failed: 0 });
  });
});
