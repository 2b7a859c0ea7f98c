// Forecasts of several columns, with missing values and with what is known beforehand: each column
// is scored by itself, every measured value counts alike, and baselines know what the model knows.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExperimentInput } from "../../src/experiment/index.js";
import { columnTable } from "../../src/experiment/report/report-section.js";
import { readRun } from "../../src/experiment/runs/read-run.js";
import type { ExperimentResult } from "../../src/experiment/runs/result.js";
import { runExperiment } from "../../src/experiment/runs/run.js";
import { seasonsOf } from "../../src/series/index.js";
import "../../src/index.js";

let folder: string;
let result: ExperimentResult;
let made: string;
let cells: readonly Readonly<Record<string, string>>[];

const rows = 400;
const isGone = (t: number) => t > 20 && (t % 9 === 2 || (t >= 350 && t < 360));
/** Hectopascal, and a share; of the second, values are missing. */
const pressure = (t: number) => 1000 + 20 * Math.sin(t / 11) + 5 * Math.sin(t * 1.7);
const share = (t: number) => 0.5 + 0.2 * Math.cos(t / 5) + 0.05 * Math.sin(t * 2.3);

/** The cells of forecasts.csv by the names of their columns. */
async function forecastsOf(path: string): Promise<Record<string, string>[]> {
  const [heads, ...lines] = (await readFile(join(path, "forecasts.csv"), "utf8")).trim().split("\n");
  const names = heads!.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, k) => [names[k]!, cell])));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-columns-"));
  const lines = Array.from({ length: rows }, (_, t) => `${pressure(t).toFixed(4)},${isGone(t) ? "" : share(t).toFixed(4)}`);
  await writeFile(join(folder, "two.csv"), `pressure,share\n${lines.join("\n")}\n`);
  const experiment = {
    name: "two",
    data: { file: join(folder, "two.csv"), missing: "hold" },
    reservoir: { size: 30 },
    readout: { lambda: 1e-2 },
    washout: 30,
    metrics: ["rmse", "mae", "nrmse", "smape", "mase", "owa"],
    task: { type: "forecast", horizon: 6, warmup: 40, lags: 4, members: 1 },
  } as unknown as ExperimentInput;
  const finished = await runExperiment(experiment, { out: folder });
  made = finished.folder;
  result = finished.result;
  cells = (await forecastsOf(made)).filter(({ start }) => start !== "last");
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const rootMean = (squares: readonly number[]) => Math.sqrt(squares.reduce((sum, each) => sum + each, 0) / squares.length);
const squaresOf = (column: string | undefined, of = "prediction") =>
  cells
    .filter((each) => (column === undefined || each["column"] === column) && each["target"] !== "")
    .map((each) => (Number(each["target"]) - Number(each[of])) ** 2);
const scoreOf = (scores: ExperimentResult["scores"], metric: string) => scores.find((each) => each.metric === metric)!;

describe("a forecast of two columns", () => {
  it("starts as often as fits, at most 50 times, and says so", () => {
    expect(new Set(cells.map(({ start }) => start)).size).toBe(50);
    expect(result.data["task"]).toContain("closed-loop forecast of 6 steps from 50 starts");
    expect(result.config.task).toMatchObject({ starts: "auto" });
  });

  it("has the scores of every measured value in forecasts.csv, together and by column", () => {
    expect(cells.some((each) => each["target"] === "")).toBe(true);
    expect(scoreOf(result.scores, "rmse").value).toBeCloseTo(rootMean(squaresOf(undefined)), 9);
    for (const { column, scores } of result.columns!) {
      expect(scoreOf(scores, "rmse").value).toBeCloseTo(rootMean(squaresOf(column)), 9);
      const persistence = scoreOf(scores, "rmse").baselines.find(({ name }) => name === "persistence")!;
      expect(persistence.value).toBeCloseTo(rootMean(squaresOf(column, "baseline persistence")), 9);
    }
    expect(result.columns!.map(({ column }) => column)).toEqual(["pressure", "share"]);
  });

  it("has scores of each forecast and their mean, by column: sMAPE, and MASE by the season of the training rows", () => {
    const train = 0.8 * rows;
    const known = Array.from({ length: train }, (_, t) =>
      [pressure(t), isGone(t) ? Number.NaN : share(t)].map((v) => Number(v.toFixed(4))),
    );
    const held = known.map((row, t) => row.map((_, c) => known.slice(0, t + 1).findLast((each) => !Number.isNaN(each[c]!))![c]!));
    const season = seasonsOf(held, {})[0] ?? 1;
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    for (const [c, { column, scores }] of result.columns!.entries()) {
      const steps = known.flatMap((row, t) => (t < season ? [] : [Math.abs(row[c]! - known[t - season]![c]!)]));
      const scale = mean(steps.filter((step) => !Number.isNaN(step)));
      const own = cells.filter((each) => each["column"] === column && each["target"] !== "");
      const starts = [...new Set(own.map(({ start }) => start))];
      const ofStarts = (error: (y: number, p: number) => number) =>
        mean(
          starts.map((start) =>
            mean(own.filter((each) => each["start"] === start).map((each) => error(Number(each["target"]), Number(each["prediction"])))),
          ),
        );
      expect(scoreOf(scores, "mase").value).toBeCloseTo(
        ofStarts((y, p) => Math.abs(y - p) / scale),
        9,
      );
      expect(scoreOf(scores, "smape").value).toBeCloseTo(
        ofStarts((y, p) => (200 * Math.abs(y - p)) / (Math.abs(y) + Math.abs(p))),
        9,
      );
      const ratio = (metric: string) =>
        scoreOf(scores, metric).value / scoreOf(scores, metric).baselines.find(({ name }) => name === "persistence")!.value;
      // Naive2 has a weak season of 3 rows here, and is persistence within a hundredth.
      expect(scoreOf(scores, "owa").value / ((ratio("smape") + ratio("mase")) / 2)).toBeCloseTo(1, 1);
    }
  });

  it("has the same errors in the verdict, and one for each column", () => {
    for (const { column, verdict } of result.columns!) {
      expect(verdict!.rmse).toBeCloseTo(rootMean(squaresOf(column)), 9);
      expect(verdict!.baselineRmse).toBeCloseTo(rootMean(squaresOf(column, `baseline ${verdict!.against}`)), 9);
      // The strongest baseline is in the table.
    }
    for (const { scores, verdict } of result.columns!)
      expect(scoreOf(scores, "rmse").baselines.map(({ name }) => name)).toContain(verdict!.against);
    expect(scoreOf(result.scores, "rmse").baselines.map(({ name }) => name)).toContain(result.verdict!.against);
  });

  it("is judged by errors in deviations of the training rows, in which both columns count", () => {
    const deviation = (of: (t: number) => number, known: (t: number) => boolean) => {
      // Rows that train after the washout; a gap holds the last value.
      const values: number[] = [];
      let last = 0;
      for (let t = 0; t < 0.8 * rows; t++) {
        if (known(t)) last = Number(of(t).toFixed(4));
        if (t >= 30) values.push(last);
      }
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return rootMean(values.map((value) => value - mean).map((value) => value ** 2));
    };
    const scales = { pressure: deviation(pressure, () => true), share: deviation(share, (t) => !isGone(t)) };
    const all = Object.entries(scales).flatMap(([column, scale]) => squaresOf(column).map((square) => square / scale ** 2));
    expect(result.verdict!.rmse).toBeCloseTo(rootMean(all), 9);
    expect(result.verdict).toMatchObject({ standardised: true, sentence: expect.stringContaining("standardised rmse") });
  });

  it("says how much the bands of each column hold", () => {
    for (const { column, covered } of result.columns!) {
      const own = cells.filter((each) => each["column"] === column && each["target"] !== "");
      const inside = own.filter(
        (each) => Number(each["target"]) >= Number(each["lower"]) && Number(each["target"]) <= Number(each["upper"]),
      );
      expect(covered).toBeCloseTo(inside.length / own.length, 9);
    }
    const measured = cells.filter((each) => each["target"] !== "");
    const inside = measured.filter(
      (each) => Number(each["target"]) >= Number(each["lower"]) && Number(each["target"]) <= Number(each["upper"]),
    );
    expect(result.bands!.covered).toBeCloseTo(inside.length / measured.length, 9);
  });

  it("is shown column by column, and read again from result.json", async () => {
    const { heads, lines } = columnTable(result);
    expect(heads).toEqual([
      "column",
      "rmse",
      "mae",
      "nrmse",
      "smape",
      "mase",
      "owa",
      "best baseline",
      "the model is",
      "skill",
      "bands hold",
    ]);
    expect(lines.map(([column]) => column)).toEqual(["pressure", "share"]);
    const again = await readRun(made);
    expect(again.columns!.map(({ verdict }) => verdict!.against)).toEqual(result.columns!.map(({ verdict }) => verdict!.against));
    expect(await readFile(join(made, "report.html"), "utf8")).toContain("Scores by column");
  });
});

describe("baselines of a series with columns that are known beforehand", () => {
  it("know them as the model does", async () => {
    // y follows u of the same row, which no lag of y foretells.
    let state = 3;
    const u = Array.from({ length: 300 }, () => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return (state >>> 16) / 32768 - 1;
    });
    const lines = u.map((value, t) => `${(4 * value + Math.sin(t / 9)).toFixed(5)},${value.toFixed(5)}`);
    await writeFile(join(folder, "known.csv"), `y,u\n${lines.join("\n")}\n`);
    const { result: known } = await runExperiment({
      name: "known",
      data: { file: join(folder, "known.csv"), columns: ["y"], known: ["u"] },
      reservoir: { size: 20 },
      readout: { lambda: 1e-2 },
      baselines: ["mean"],
      task: { type: "forecast", horizon: 5, starts: 10, warmup: 30, lags: 0, members: 1, season: 24 },
      metrics: ["rmse"],
    } as unknown as ExperimentInput);
    const { baselines, against } = known.verdict!;
    const rmseOf = (name: RegExp) => baselines.find((each) => name.test(each.name))!.rmse;
    expect(against).toMatch(/^ridge ARX\(/);
    expect(rmseOf(/^ridge ARX/)).toBeLessThan(0.2 * rmseOf(/^ridge AR\(/));
    expect(known.scores[0]!.baselines.map(({ name }) => name)).toEqual(["mean", against]);
  });
});
