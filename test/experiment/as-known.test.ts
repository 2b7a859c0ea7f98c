// What is predicted, and what it is held against, is made of rows that were measured by then: a
// value that was filled in from later rows neither drives nor scores.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExperimentInput } from "../../src/experiment/index.js";
import { runExperiment } from "../../src/experiment/runs/run.js";
import "../../src/index.js";
import { amount } from "../exhaustive.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-known-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A random walk from a linear congruential generator, with steps of a uniform variable. */
function walk(rows: number): number[] {
  let state = 7;
  let value = 50;
  return Array.from({ length: rows }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    value += state / 2 ** 31 - 1;
    return value;
  });
}

async function tableOf(name: string, columns: Readonly<Record<string, readonly (number | undefined)[]>>): Promise<string> {
  const path = join(folder, `${name}.csv`);
  const names = Object.keys(columns);
  const rows = columns[names[0]!]!.length;
  const lines = Array.from({ length: rows }, (_, t) => names.map((each) => columns[each]![t] ?? "").join(","));
  await writeFile(path, `${names.join(",")}\n${lines.join("\n")}\n`);
  return path;
}

const stamp = (t: number) => Date.UTC(2024, 0, 1, t) / 1000;

const described = (data: object, task: object): ExperimentInput =>
  ({
    name: "known",
    data,
    reservoir: { size: 20, seed: 1 },
    readout: { lambda: 1e-2 },
    washout: 10,
    metrics: ["rmse", "mae"],
    task,
  }) as unknown as ExperimentInput;

describe("scores of a table with gaps", () => {
  const train = 200;
  const rows = 300;
  const isGone = (t: number) => t > 5 && t % 7 === 3;
  const whole = walk(rows);
  const given = whole.map((value, t) => (isGone(t) ? undefined : value));
  /** Of each row that was measured, the last value before it that was. */
  const persistence = () => {
    const squares: number[] = [];
    for (let t = train + 1; t < rows; t++) {
      if (isGone(t)) continue;
      let last = t - 1;
      while (isGone(last)) last--;
      squares.push((whole[t]! - whole[last]!) ** 2);
    }
    return { rmse: Math.sqrt(squares.reduce((sum, each) => sum + each, 0) / squares.length), count: squares.length };
  };

  for (const missing of ["interpolate", "hold"])
    it(`of persistence is that of measured values after measured ones, filled by ${missing}`, async () => {
      const file = await tableOf(`walk-${missing}`, { y: given });
      const { result } = await runExperiment({
        ...described({ file, missing }, { type: "predict" }),
        baselines: ["persistence"],
        split: { train },
      });
      const { rmse, count } = persistence();
      expect(result.scores[0]!.baselines[0]!.value).toBeCloseTo(rmse, 12);
      expect(result.data["task"]).toContain(`${rows - train - 1 - count} of ${rows - train - 1} test values were not measured`);
      expect(result.data["missing"]).toContain("test values were not measured");
    });

  it("of targets from inputs are those of measured targets", async () => {
    const file = await tableOf("driven", { u: whole, y: given });
    const { result } = await runExperiment({
      ...described({ file, inputs: ["u"], targets: ["y"], missing: "interpolate" }, { type: "predict" }),
      baselines: ["mean"],
      split: { train },
    });
    // The mean of the training targets: a line fills the gaps, but not the one at the end.
    const filled = whole
      .map((value, t) => (isGone(t) ? (whole[t - 1]! + whole[t === train - 1 ? t - 1 : t + 1]!) / 2 : value))
      .slice(10, train);
    const mean = filled.reduce((sum, value) => sum + value, 0) / filled.length;
    const errors = whole.flatMap((value, t) => (t >= train && !isGone(t) ? [(value - mean) ** 2] : []));
    const rmse = Math.sqrt(errors.reduce((sum, each) => sum + each, 0) / errors.length);
    expect(result.scores[0]!.baselines[0]!.value).toBeCloseTo(rmse, 9);
  });

  it("need a measured value to test, and one in each column to train", async () => {
    const late = await tableOf("late", { y: whole, z: whole.map((value, t) => (t > 0 && t < 220 ? undefined : value)) });
    const early = await tableOf("early", { y: whole.map((value, t) => (t > train && t < 250 ? undefined : value)) });
    const data = { file: early, missing: "interpolate", rows: { to: 251 } };
    await expect(runExperiment({ ...described(data, { type: "predict" }), split: { train, test: 49 } })).rejects.toThrow(
      "the test part has no measured value",
    );
    const held = { file: late, missing: "hold", rows: { from: 1 } };
    await expect(runExperiment({ ...described(held, { type: "predict" }), split: { train: 100 } })).rejects.toThrow(
      'none of the 100 training rows of column "z" was measured',
    );
  });
});

describe("rows that come later", () => {
  const train = 120;
  const rows = 160;
  /** Gaps, and the row from which on everything changes. */
  const cases = fc.record({
    gone: fc.uniqueArray(fc.integer({ min: 6, max: rows - 2 }), { minLength: 20, maxLength: 50 }),
    change: fc.integer({ min: train + 8, max: rows - 14 }),
    missing: fc.constantFrom("interpolate", "hold", "mask"),
    closes: fc.constantFrom("interpolate", "hold"),
  });
  const values = (gone: readonly number[], change: number, shift: number) =>
    walk(rows).map((value, t) => (gone.includes(t) && t !== change ? undefined : t >= change ? value + shift : value));

  it("change no earlier prediction, no score and no baseline", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ gone, change, missing }) => {
        if (missing === "mask") return;
        const results: unknown[] = [];
        for (const shift of [0, 5]) {
          // The gap before the change is open when the last row that is scored is predicted.
          const y = values([...gone, change - 2, change - 1], change, shift);
          const file = await tableOf("later", { y, z: walk(2 * rows).slice(rows) });
          for (const data of [{ columns: ["y", "z"] }, { inputs: ["y"], targets: ["z"] }]) {
            const { result } = await runExperiment({
              ...described({ file, missing, ...data }, { type: "predict", ahead: 1 }),
              baselines: ["persistence", { autoregression: 4 }],
              split: { train, test: change - train - 1 },
            });
            results.push(result.scores);
          }
        }
        expect(results.slice(2)).toEqual(results.slice(0, 2));
      }),
      { numRuns: amount(6, 2), seed: 20, endOnFailure: true },
    );
  }, 60_000);

  for (const model of [{ type: "forecaster" }, { type: "nvar", delays: 3, degrees: [2], lambda: 1e-2 }])
    it(`change no forecast that begins before them, of model ${model.type}`, async () => {
      await fc.assert(
        fc.asyncProperty(cases, async ({ gone, change, missing, closes }) => {
          const said: string[][] = [];
          for (const shift of [0, 5]) {
            const y = values([...gone, change - 1], change, shift);
            // Some rows are not there at all; the rest have empty cells.
            const kept = y.flatMap((value, t) => (value === undefined && t % 2 === 0 && t !== 0 ? [] : [t]));
            const file = await tableOf("ahead", { time: kept.map(stamp), y: kept.map((t) => y[t]) });
            const data = { file, time: "time", timeUnit: "s", columns: ["y"], missing, gaps: closes, calendar: [] };
            const { reservoir, readout, ...rest } = described(data, {
              type: "forecast",
              horizon: 6,
              starts: 1,
              warmup: 20,
              ...(model.type === "forecaster" && { lags: 2, members: 1 }),
            });
            const parts = model.type === "forecaster" ? { reservoir, readout } : {};
            const { folder: made } = await runExperiment(
              { ...rest, ...parts, model, split: { train: change, test: 6 } } as unknown as ExperimentInput,
              { out: folder },
            );
            const [heads, ...lines] = (await readFile(join(made, "forecasts.csv"), "utf8")).trim().split("\n");
            // Which baseline is the best depends on what came.
            const names = heads!.split(",");
            const columns = ["prediction", ...names.filter((name) => name.startsWith("baseline ")).sort()].map((name) =>
              names.indexOf(name),
            );
            said.push(lines.filter((line) => !line.startsWith("last")).map((line) => columns.map((k) => line.split(",")[k]).join(",")));
          }
          expect(said[1]).toEqual(said[0]);
          expect(said[0]!.length).toBe(6);
        }),
        // The first three cases of this seed fill in every way.
        { numRuns: amount(8, 3), seed: 22, endOnFailure: true },
      );
    }, 120_000);
});
