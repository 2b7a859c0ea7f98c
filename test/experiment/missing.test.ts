// Tables with gaps of several kinds: what was not measured is held, the reservoir is told, and no
// score, choice or band counts it.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExperimentInput } from "../../src/experiment/index.js";
import { forecastAhead } from "../../src/experiment/runs/ahead.js";
import { runExperiment } from "../../src/experiment/runs/run.js";
import { Forecaster } from "../../src/model/index.js";
import "../../src/index.js";

let folder: string;
const rows = 700;
const value = (t: number) => 50 + 10 * Math.sin((2 * Math.PI * t) / 24) + 4 * Math.sin(t / 31);
const isGone = (t: number) => t % 13 === 5 || (t >= 300 && t < 360) || (t >= 620 && t < 650);
const stamp = (t: number) => new Date(Date.UTC(2024, 0, 1, t)).toISOString().slice(0, 16);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-missing-"));
  // Single cells, days of one column, rows that are not there at all, and a column that begins
  // late.
  const lines = Array.from({ length: rows }, (_, t) => {
    const second = t < 90 ? "" : (20 + Math.cos(t / 9)).toFixed(4);
    return t >= 400 && t < 430 ? [] : `${stamp(t)},${isGone(t) ? "" : value(t).toFixed(4)},${second}`;
  }).flat();
  await writeFile(join(folder, "gaps.csv"), `time,load,wind\n${lines.join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const described = (data: object, task: object = {}): ExperimentInput =>
  ({
    name: "gaps",
    data: { file: join(folder, "gaps.csv"), columns: ["load"], time: "time", gaps: "hold", missing: "mask", calendar: [], ...data },
    reservoir: { size: 80 },
    task: { type: "forecast", horizon: 12, starts: 12, warmup: 30, members: 1, season: 24, ...task },
    washout: 30,
    metrics: ["rmse"],
    split: { train: 0.75 },
  }) as ExperimentInput;

describe("a table with gaps", () => {
  it("is forecast with a mask, and what was not measured counts for nothing", async () => {
    const { result, folder: made } = await runExperiment(described({}), { out: join(folder, "runs") });
    expect(result.data["summary"]).toContain("135 missing values: held, with a mask");
    expect(result.data["task"]).toMatch(
      /start(s are| is) left out, since no value after (them|it) was measured; \d+ of \d+ test values were not/,
    );
    expect(result.data["missing"]).toMatch(
      /^135 missing values: held, with a mask; \d+ starts? .+; \d+ of \d+ test values were not measured/,
    );
    const lines = (await readFile(join(made, "forecasts.csv"), "utf8")).trim().split("\n").slice(1);
    const cells = lines.map((line) => line.split(",")).filter(([start]) => start !== "last");
    const measured = cells.filter(([, , , , target]) => target !== "");
    expect(measured.length).toBeLessThan(cells.length);
    for (const [, , time, , target] of cells) expect(target === "").toBe(isGone((Date.parse(`${time}Z`) - Date.UTC(2024, 0, 1)) / 3.6e6));
    const squares = measured.map(([, , , , target, said]) => (Number(target) - Number(said)) ** 2);
    const rmse = Math.sqrt(squares.reduce((sum, each) => sum + each, 0) / squares.length);
    expect(result.scores[0]!.value).toBeCloseTo(rmse, 9);
    expect(result.scores[0]!.value).toBeLessThan(3);
    expect(result.bands!.covered).toBeGreaterThan(0.5);
  });

  it("goes on from its last rows with the saved model as the run itself did, from a gap too", async () => {
    const { folder: made } = await runExperiment(described({}, { warmup: 52 }), { out: join(folder, "saved") });
    const last = (await readFile(join(made, "forecasts.csv"), "utf8"))
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("last,"))
      .map((line) => Number(line.split(",")[5]));
    const ahead = await forecastAhead(made, { data: join(folder, "gaps.csv"), gaps: "hold", steps: 12 });
    expect([...ahead.forecasts[0]!.prediction.data]).toEqual(last);
  });

  it("may hold a column that begins late beside another", async () => {
    const { result } = await runExperiment(described({ columns: ["load", "wind"] }));
    expect(result.data["summary"]).toContain("wind 90");
    expect(Number.isFinite(result.scores[0]!.value)).toBe(true);
  });

  it("has no errors of filled values in its bands, whatever fills them", async () => {
    const { folder: made } = await runExperiment(described({ missing: "interpolate" }), { out: join(folder, "filled") });
    await using forecaster = await Forecaster.load(join(made, "model.safetensors"));
    const { errors, starts, horizon } = forecaster.choice!;
    for (const [k, { row }] of starts.entries())
      for (let h = 0; h < horizon; h++) {
        const t = row + h;
        expect(Number.isNaN(errors.data[k * horizon + h]!)).toBe(isGone(t) || (t >= 400 && t < 430));
      }
  });

  it("is not masked for a task that predicts row by row", async () => {
    const predict = { ...described({ calendar: undefined }), task: { type: "predict" } } as ExperimentInput;
    await expect(runExperiment(predict)).rejects.toThrow('data.missing is "mask"; it takes "hold" or "interpolate"');
  });
});

describe("rows that were filled before", () => {
  it("are said beside a series, and take the place of missing values", async () => {
    const gapped = Array.from({ length: 300 }, (_, t) => (t % 9 === 4 ? Number.NaN : value(t)));
    const held = gapped.map((each, t) => (Number.isNaN(each) ? gapped[t - 1]! : each));
    const filled = gapped.map((each) => (Number.isNaN(each) ? 1 : 0));
    const options = { reservoir: { size: 30 }, horizon: 6, members: 1, missing: "mask" } as const;
    await using one = await Forecaster.fit(gapped, options);
    await using other = await Forecaster.fit({ series: held, filled }, options);
    expect(await other.forecast(6)).toEqual(await one.forecast(6));
    expect(other.choice!.errors).toEqual(one.choice!.errors);
    await expect(Forecaster.fit({ series: held, filled: [1, 0] }, options)).rejects.toThrow("filled is 2 x 1 and series 300 x 1");
  });

  it("at the start of a series are the first measured value", async () => {
    const late = Array.from({ length: 200 }, (_, t) => (t < 20 ? Number.NaN : value(t)));
    await using forecaster = await Forecaster.fit(late, { reservoir: { size: 30 }, washout: 30, missing: "mask" });
    const made = await forecaster.forecast(4, { warmup: late.slice(10) });
    expect(made.data.every(Number.isFinite)).toBe(true);
  });
});
