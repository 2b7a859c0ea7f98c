// A forecast task whose members are named: how they are weighed, scored and saved, and what of a
// file does not go with them.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Matrix } from "@spillway/numerics";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ForecastTask } from "../../src/experiment/description/description.js";
import { parseExperiment } from "../../src/experiment/description/parse.js";
import { type ExperimentInput, readRun, runExperiment, searchExperiment } from "../../src/experiment/index.js";
import { forecastAhead } from "../../src/experiment/runs/ahead.js";
import { Forecaster } from "../../src/model/index.js";
import { continueSmoothing, fitClassical } from "../../src/series/index.js";
import "../../src/index.js";

let folder: string;
/** Days with a week, a level that wanders a little, and noise. */
const load = Array.from({ length: 170 }, (_, t) =>
  Number((40 + 6 * Math.sin((2 * Math.PI * t) / 7) + 3 * Math.sin(t / 31) + Math.sin(1.7 * t * t)).toFixed(3)),
);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-combined-"));
  const dates = load.map((_, t) => new Date(Date.UTC(2021, 0, 1 + t)).toISOString().slice(0, 10));
  await writeFile(join(folder, "days.csv"), ["date,load", ...load.map((value, t) => `${dates[t]},${value}`)].join("\n"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const horizon = 5;
const deciles = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const classical = ["theta", "damped", "ets", "seasonalNaive"] as const;
const described = (more: Partial<ExperimentInput> = {}, task: object = {}): ExperimentInput => ({
  name: "days",
  data: { file: join(folder, "days.csv"), columns: ["load"], time: "date" },
  task: { type: "forecast", horizon, starts: 6, members: classical, ...task },
  split: { test: 20 },
  outputs: { report: false },
  ...more,
});
/** The figures of forecasts.csv by its columns. */
const linesOf = async (runFolder: string) => {
  const [head, ...lines] = (await readFile(join(runFolder, "forecasts.csv"), "utf8")).trimEnd().split("\n");
  const names = head!.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, c) => [names[c]!, cell])));
};

describe("an experiment with members by name", () => {
  it("weighs them, scores forecasts and quantiles by the formulas, and says so", async () => {
    const metrics = ["smape", "mase", "rmsse", "owa", "wql", "crps", "msis", "coverage"];
    const { folder: runFolder, result } = await runExperiment(described({ metrics }, { quantiles: [...deciles, 0.05, 0.95] }), {
      out: join(folder, "runs"),
    });
    const { members, origins, horizons } = result.seeds[0]!.weighed!;
    expect(members.map(({ name }) => name)).toEqual(classical);
    expect(members.reduce((sum, { weights: [own] }) => sum + own!, 0)).toBeCloseTo(1, 12);
    // 150 rows train; the last quarter of them validates.
    expect([origins, horizons]).toEqual([8, (150 - 112) / horizon]);
    expect(result.choice!.sentence).toMatch(/^(\w+ [01]\.\d\d, ){3}\w+ [01]\.\d\d: weights by forecasts from 8 earlier rows$/);
    expect(result.bands!.sentence).toMatch(/^bands of 90 % from 7\.6 horizons of earlier rows hold \d+(\.\d)? % of the test values$/);
    expect(result.config.task).toMatchObject({ members: classical, warmup: 3000 });
    expect(result.seeds[0]!.readout).toEqual({});

    const lines = await linesOf(runFolder);
    const scored = lines.filter(({ target }) => target !== "");
    expect(scored).toHaveLength(6 * horizon);
    const rows = scored.map((line) => Object.fromEntries(Object.entries(line).map(([name, cell]) => [name, Number(cell)])));
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const loss = (level: number, { target: y, [`quantile ${level}`]: f }: (typeof rows)[number]) =>
      2 * Math.max(level * (y! - f!), (level - 1) * (y! - f!));
    const season = mean(load.slice(7, 150).map((value, t) => Math.abs(value - load[t]!)));
    const width = (row: (typeof rows)[number]) => {
      const [y, l, u] = [row["target"]!, row["quantile 0.05"]!, row["quantile 0.95"]!];
      return u - l + 20 * Math.max(0, l - y) + 20 * Math.max(0, y - u);
    };
    const expected = {
      smape: 200 * mean(rows.map(({ target: y, prediction: f }) => Math.abs(y! - f!) / (Math.abs(y!) + Math.abs(f!)))),
      mase: mean(rows.map(({ target: y, prediction: f }) => Math.abs(y! - f!))) / season,
      wql: mean(rows.map((row) => mean(deciles.map((q) => loss(q, row))))) / mean(rows.map(({ target: y }) => Math.abs(y!))),
      crps: mean(rows.map((row) => mean(deciles.map((q) => loss(q, row))))),
      msis: mean(rows.map(width)) / season,
      coverage: mean(rows.map((row) => (row["quantile 0.05"]! <= row["target"]! && row["target"]! <= row["quantile 0.95"]! ? 1 : 0))),
    };
    const scores = Object.fromEntries(result.scores.map(({ metric, value }) => [metric, value]));
    for (const [name, value] of Object.entries(expected)) expect([name, scores[name]]).toEqual([name, expect.closeTo(value, 9)]);
    for (const name of ["rmsse", "owa"]) expect(scores[name]).toBeGreaterThan(0);
    // The band of forecasts.csv is that between its quantiles; a baseline has no quantiles.
    for (const row of rows) expect([row["lower"], row["upper"]]).toEqual([row["quantile 0.05"], row["quantile 0.95"]]);
    expect(result.scores.filter(({ baselines }) => baselines.length === 0).map(({ metric }) => metric)).toEqual(metrics.slice(4));
  });

  it("is held against Theta and ETS, fitted on all rows before each start", async () => {
    const { folder: runFolder, result } = await runExperiment(described({}, { members: ["theta", "damped"] }), {
      out: join(folder, "held"),
    });
    const lines = (await linesOf(runFolder)).filter(({ target }) => target !== "");
    for (const [method, name] of [
      ["theta", "Theta (7)"],
      ["ets", "ETS (7)"],
    ] as const) {
      const said = lines.map((line) => Number(line[`baseline ${name}`]));
      const starts = [...new Set(lines.map(({ start }) => Number(start)))];
      const expected = starts.flatMap((start) => [...continueSmoothing(fitClassical(method, load.slice(0, start), 7), horizon)]);
      expect(said).toEqual(expected);
      expect(result.verdict!.baselines.map((each) => each.name)).toContain(name);
    }
  });

  it("saves a model that forecasts the same beyond the end, with quantiles", async () => {
    const members = ["loop", "direct", ...classical];
    const reservoir = { size: 20 };
    const { folder: runFolder } = await runExperiment(described({ reservoir }, { members, starts: 2, quantiles: [0.1, 0.9] }), {
      out: join(folder, "saved"),
    });
    const last = (await linesOf(runFolder)).filter(({ start }) => start === "last");
    const { forecasts } = await forecastAhead(runFolder, { data: join(folder, "days.csv"), quantiles: [0.1, 0.5, 0.9] });
    const [{ prediction, quantiles }] = forecasts as [(typeof forecasts)[number]];
    expect(last.map((line) => Number(line["prediction"]))).toEqual([...prediction.data]);
    expect(quantiles!.map(({ level }) => level)).toEqual([0.1, 0.5, 0.9]);
    expect([...quantiles![1]!.values.data]).toEqual([...prediction.data]);
    const [low, , high] = quantiles!.map(({ values }) => values.data);
    for (let k = 0; k < horizon; k++) {
      expect(low![k]).toBeLessThan(prediction.data[k]!);
      expect(high![k]).toBeGreaterThan(prediction.data[k]!);
    }
    expect((await readRun(runFolder)).config.reservoir).toMatchObject({ size: 20 });
  });

  it("gives the same result again from the configuration that it writes", async () => {
    const { result } = await runExperiment(described({ seeds: [3] }));
    const again = await runExperiment(JSON.parse(JSON.stringify(result.config)) as ExperimentInput);
    expect(again.result.scores).toEqual(result.scores);
  });

  it("trains on two rows and more", async () => {
    await writeFile(join(folder, "short.csv"), "value\n3\n5\n4\n6\n");
    const data = { file: join(folder, "short.csv") };
    const { result } = await runExperiment(described({ data, split: { test: 2 } }, { horizon: 2, starts: 1 }));
    expect(result.seeds[0]!.weighed!.members.map(({ name }) => name)).toEqual(["theta", "damped", "ets"]);
    expect(result.scores.every(({ value }) => Number.isFinite(value))).toBe(true);
  });

  it("weighs each series of a group by itself beside a pooled readout, and forecasts each by its name", async () => {
    const value = (s: number, t: number) => 10 ** s * (20 + s + 3 * Math.sin(0.7 * t + s));
    const table = (name: string, shops: readonly string[], from: number, rows: number) =>
      writeFile(
        join(folder, name),
        ["shop,sales", ...shops.flatMap((shop, s) => Array.from({ length: rows }, (_, t) => `${shop},${value(from + s, t)}`))].join("\n"),
      );
    const shops = ["north", "south", "east"];
    await table("shops.csv", shops, 0, 70);
    const data = { file: join(folder, "shops.csv"), columns: ["sales"], group: "shop" };
    const members = ["theta", "damped", "ets", "pooled"];
    const metrics = ["mase", "coverage"];
    const { folder: runFolder, result } = await runExperiment(described({ data, metrics }, { members, starts: 3 }), {
      out: join(folder, "shops"),
    });
    const { weighed } = result.seeds[0]!;
    expect(weighed).toMatchObject({ series: 3, members: members.map((name) => ({ name })) });
    expect(weighed!.members.at(-1)!.weights[0]).toBeGreaterThan(0.5);
    expect(result.choice!.sentence).toContain("mean of 3 series");
    expect(result.scores[0]!.value).toBeLessThan(0.5);
    const last = (await linesOf(runFolder)).filter(({ start }) => start === "last");
    expect([...new Set(last.map(({ group }) => group))]).toEqual(shops);
    for (const { lower, prediction, upper } of last) {
      expect(Number(lower)).toBeLessThan(Number(prediction));
      expect(Number(prediction)).toBeLessThan(Number(upper));
    }
    // Every series that was trained, without a table; of a table each by its name, and one that is new.
    const own = await forecastAhead(runFolder);
    expect(own.forecasts.map(({ group }) => group)).toEqual(shops);
    expect(own.forecasts.flatMap(({ prediction }) => [...prediction.data])).toEqual(last.map(({ prediction }) => Number(prediction)));
    await table("more.csv", [...shops, "west"], 0, 70);
    const { forecasts } = await forecastAhead(runFolder, { data: join(folder, "more.csv") });
    expect(forecasts.map(({ group }) => group)).toEqual([...shops, "west"]);
    expect(forecasts.slice(0, 3).map(({ prediction }) => [...prediction.data])).toEqual(
      own.forecasts.map(({ prediction }) => [...prediction.data]),
    );
    for (let k = 0; k < horizon; k++) expect(forecasts[3]!.prediction.data[k]! / value(3, 70 + k)).toBeCloseTo(1, 1);
  });

  it("is the default, that of Forecaster.fit, of a file that describes no loop", async () => {
    const file = { ...described(), task: { type: "forecast", horizon, starts: 2 } } as const;
    const { folder: runFolder, result } = await runExperiment(file, { out: join(folder, "default") });
    const rows = load.map((value) => [value]);
    const times = load.map((_, t) => new Date(Date.UTC(2021, 0, 1 + t)).toISOString().slice(0, 10));
    await using forecaster = await Forecaster.fit({ series: Matrix.from(rows), times }, { horizon, season: 7 });
    const expected = await forecaster.forecast(horizon);
    const last = (await linesOf(runFolder)).filter(({ start }) => start === "last");
    expect(last.map((line) => Number(line["prediction"]))).toEqual([...(expected as { values: Matrix }).values.data]);
    expect(result.seeds[0]!.weighed!.members.map(({ name }) => name)).toEqual([
      ...["loop", "direct", "theta", "damped", "ets", "seasonalNaive"],
    ]);
    expect(result.choice!.sentence).toMatch(/loop [01]\.\d\d/);
    // The loop may take the calendar, so an autoregression is given the same.
    expect(result.verdict!.baselines.map((each) => each.name)).toContain("ridge ARX(8)");
    // 150 rows train: the loop has the neurons of so few.
    expect(result.config.reservoir).toMatchObject({ size: 60 });
  });

  it.each([
    ["reservoir", { reservoir: { size: 9 } }, {}],
    ["liquid", { liquid: { size: 9 } }, {}],
    ["readout", { readout: "ridge" }, {}],
    ["transforms", { transforms: ["standardise"] }, {}],
    ["washout", { washout: 5 }, {}],
    ["model", { model: "nvar" }, {}],
    ["lags", {}, { lags: 0 }],
    ["a number of members", {}, { members: 2 }],
    ["adaptive", {}, { adaptive: true }],
    ["states", { outputs: { states: "npy" } }, {}],
    ["split gaps", { data: { file: "x.csv", time: "date", gaps: "split" } }, {}],
  ] as const)("is not the default with %s", (_, more, task) => {
    const { members } = parseExperiment({ ...described(), ...more, task: { type: "forecast", horizon, ...task } }).task as ForecastTask;
    expect(Array.isArray(members)).toBe(false);
  });

  it("is the default with group, as each series has weights of its own", () => {
    const grouped = { ...described(), data: { file: "x.csv", group: "shop" }, task: { type: "forecast", horizon } };
    expect((parseExperiment(grouped).task as ForecastTask).members).toContain("pooled");
  });

  it('is what "loop" alone turns off: the run of a file that names a default of the loop', async () => {
    const of = async (more: object, task: object) =>
      (await runExperiment({ ...described(more), task: { type: "forecast", horizon, starts: 2, ...task } } as ExperimentInput)).result;
    const [loop, same] = [await of({}, { members: ["loop"] }), await of({ washout: "auto" }, {})];
    expect(loop.seeds[0]!.weighed).toBeUndefined();
    expect(loop.scores).toEqual(same.scores);
  });

  it("is searched by a score of its quantiles", async () => {
    const search = {
      space: { "task.weights": { choice: ["validation", "equal"] } },
      sampler: "grid",
      objective: { score: "wql" },
    } as const;
    const { result } = await searchExperiment({ ...described({ metrics: ["wql"] }), search }, { refit: false });
    expect(result.validation).toBeGreaterThan(0);
    expect(result.trials).toMatchObject({ complete: 2, failed: 0 });
  });

  it.each([
    [{ readout: { type: "ridge", lambda: 1 } }, {}, "readout.lambda is 1"],
    [{}, { lags: 3 }, "task.lags is 3"],
    [{ transforms: ["log"] }, {}, 'transforms is "log"'],
    [{ washout: 10 }, {}, "washout is 10"],
    [{ outputs: { states: "npy" } }, {}, 'outputs.states is "npy"'],
    [{ reservoir: { kind: "spiking", size: 20 } }, {}, "reservoir is "],
    [{ model: "nvar" }, {}, "task.members is "],
    [{}, { members: 3, weights: "equal" }, 'task.weights is "equal"'],
    [{}, { members: ["theta", "prophet"] }, "task.members"],
    [{}, { quantiles: [0.1, 1] }, "task.quantiles[1] is 1"],
  ] as const)("refuses %j with %j", async (more, task, message) => {
    await expect(runExperiment(described(more as Partial<ExperimentInput>, task))).rejects.toThrow(message);
  });
});
