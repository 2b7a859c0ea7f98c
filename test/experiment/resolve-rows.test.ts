// What an experiment leaves to its rows: washout and warm-up follow from how many there are, so
// that a short table runs by the defaults.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveRows } from "../../src/experiment/data/resolve-rows.js";
import { rowsNeeded } from "../../src/experiment/data/split.js";
import { parseExperiment, runExperiment, searchExperiment } from "../../src/experiment/index.js";
import { Matrix } from "../../src/index.js";
import { casesOf } from "../exhaustive.js";
import { runsInFolder } from "./run-text.js";

const runs = runsInFolder();
const wave = (t: number) => 10 + 3 * Math.sin((2 * Math.PI * t) / 7) + 0.02 * t + 0.4 * Math.sin(1.7 * t * t);

/** A table of so many days, in the folder of the test. */
async function table(rows: number, name = `days-${rows}.csv`): Promise<string> {
  const lines = Array.from({ length: rows }, (_, t) => `${new Date(Date.UTC(2021, 0, 1 + t)).toISOString().slice(0, 10)},${wave(t)}`);
  const path = join(runs.out, name);
  await writeFile(path, `date,load\n${lines.join("\n")}\n`);
  return path;
}

const small = "reservoir: { size: 20 }\noutputs: { report: false }\n";
const text = (file: string, task: string, rest = "") => `name: small\ndata: { file: ${file}, time: date }\ntask: ${task}\n${small}${rest}`;
const forecast = (horizon: number) => `{ type: forecast, horizon: ${horizon} }`;

describe("a table that is short", () => {
  it.each(
    casesOf(
      [
        [100, 6, 16, 40],
        [60, 4, 9, 24],
        [30, 2, 4, 12],
      ] as const,
      ([rows]) => rows === 30,
    ),
  )("of %i rows is forecast by the defaults, beside baselines", async (rows, horizon, washout, warmup) => {
    const { result } = await runs.runText(text(await table(rows), forecast(horizon)));
    expect(result.config).toMatchObject({ washout, task: { warmup } });
    const [score] = result.scores;
    expect(Number.isFinite(score!.value)).toBe(true);
    const { against, starts } = result.verdict!;
    expect(score!.baselines.map(({ name }) => name)).toEqual([...new Set(["persistence", "mean", against])]);
    // Every row of the test part that has a horizon after it.
    expect(starts).toBe(0.2 * rows - horizon + 1);
    expect(result.data["task"]).toContain(`(${washout} of them washout)`);
  });

  it.each([100, 60, 30])("of %i rows is predicted row by row", async (rows) => {
    const { result } = await runs.runText(text(await table(rows), "predict"));
    expect(result.config.washout).toBe(Math.floor(Math.round(0.8 * (rows - 1)) / 5));
    expect(result.scores.every(({ value }) => Number.isFinite(value))).toBe(true);
  });

  it.each([
    ["with too few rows to train on", 9, 1, "7 rows train, and it takes at least 10: give more rows (12 in all)"],
    ["with too few for both parts", 9, 6, "7 rows train, and it takes at least 10: give more rows (28 in all)"],
    [
      "with too few to test",
      100,
      24,
      "the test part has 20 rows; a horizon of 24 takes more: take a shorter horizon, more rows (118 in all)",
    ],
  ])("%s says how many it takes, and those are enough", async (_, rows, horizon, sentence) => {
    await expect(runs.runText(text(await table(rows), forecast(horizon)))).rejects.toThrow(sentence);
    const needed = Number(/\((\d+) in all\)/.exec(sentence)![1]);
    await expect(runs.runText(text(await table(needed - 1), forecast(horizon)))).rejects.toThrow("in all)");
    const { result } = await runs.runText(text(await table(needed), forecast(horizon)));
    expect(result.scores.length).toBeGreaterThan(0);
  });

  it("is searched over, and each trial has a washout of its own rows", async () => {
    const { trials, test } = await searchExperiment(
      {
        name: "small",
        data: { file: await table(100), columns: ["load"], time: "date" },
        reservoir: { size: 20 },
        readout: { type: "ridge", lambda: 0.1 },
        task: { type: "forecast", horizon: 4, season: 7, lags: 0 },
        outputs: { report: false },
        search: { space: { "reservoir.leakRate": { float: [0.3, 1] } }, seeds: 1, budget: { trials: 2 }, refit: { seeds: 1 } },
      },
      { out: runs.out },
    ).then(({ result }) => result);
    expect(trials).toEqual({ complete: 2, pruned: 0, failed: 0 });
    expect(test).toBeGreaterThan(0);
  });
});

describe("auto", () => {
  const experiment = (rest: object) => parseExperiment({ name: "x", data: { file: "x.csv" }, reservoir: { size: 5 }, ...rest });
  const series = (rows: number) => ({
    kind: "series" as const,
    series: Matrix.zeros(rows, 1) as Matrix<Float64Array>,
    names: ["x"],
    summary: "",
  });
  const resolved = (rest: object, data: Parameters<typeof resolveRows>[1]) => {
    const { washout, task } = resolveRows(experiment(rest), data);
    return [washout, "warmup" in task ? task.warmup : undefined];
  };
  const forecasting = { task: { type: "forecast", horizon: 10 } };

  it("is 100 rows of washout and of warm-up if 500 rows train", () => {
    expect(resolved(forecasting, series(625))).toEqual([100, 100]);
    expect(resolved(forecasting, series(100_000))).toEqual([100, 100]);
  });

  it("is a fifth and a half of a shorter training part", () => {
    expect(resolved(forecasting, series(200))).toEqual([32, 80]);
  });

  it("leaves what is named as it is", () => {
    expect(resolved({ ...forecasting, washout: 7, task: { ...forecasting.task, warmup: 9 } }, series(200))).toEqual([7, 9]);
  });

  it("leaves rows of a short test file to score and to forecast", () => {
    const data = { ...series(1000), test: series(40).series };
    expect(resolved({ task: "predict" }, data)).toEqual([7, undefined]);
    expect(resolved(forecasting, data)).toEqual([100, 30]);
  });

  it("is of the longest of several series", () => {
    const data = { ...series(100), group: "a", more: [{ series: series(400).series, group: "b" }] };
    expect(resolved(forecasting, data)).toEqual([64, 100]);
  });

  it("is no washout for classes", () => {
    expect(experiment({ task: "classify", washout: "auto" }).washout).toBe(0);
  });

  it("is counted behind the rows that transforms take", () => {
    expect(resolved({ ...forecasting, transforms: [{ difference: 50 }] }, series(250))).toEqual([32, 80]);
  });

  it("is the washout of a saved result, which runs again as it was", async () => {
    const first = await runExperiment({
      name: "again",
      data: { task: "mackeyGlass", length: 150 },
      reservoir: { size: 20 },
      task: { type: "forecast", horizon: 5 },
      outputs: { report: false },
    });
    expect(first.result.config.washout).toBe(24);
    const { seeds: _, ...config } = JSON.parse(JSON.stringify(first.result.config));
    const second = await runExperiment(config);
    expect(second.result.scores).toEqual(first.result.scores);
  });
});

describe("the rows that a split needs", () => {
  it.each([
    [{}, { train: 10, test: 1 }, 12],
    [{ train: 0.5 }, { train: 1, test: 30 }, 60],
    [{ train: 40 }, { train: 1, test: 30 }, 70],
    [{ test: 10 }, { train: 25, test: 10 }, 35],
    [{ test: 10 }, { train: 1, test: 11 }, undefined],
  ])("of %j are the fewest for parts of %j: %s", (split, parts, rows) => {
    expect(rowsNeeded(split, false, parts)).toBe(rows);
  });
});
