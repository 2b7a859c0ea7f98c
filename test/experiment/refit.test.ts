// The model that a run saves is trained on all rows; its scores are those of a model that never saw
// the test part.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExperimentInput } from "../../src/experiment/index.js";
import { forecastAhead } from "../../src/experiment/runs/ahead.js";
import { runExperiment } from "../../src/experiment/runs/run.js";
import { Forecaster, NvarForecaster } from "../../src/model/index.js";
import "../../src/index.js";

let folder: string;
const rows = 240;
const dayOf = (t: number) => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10);
const series = Array.from({ length: rows }, (_, t) => Number((50 + 9 * Math.sin(t / 3) + 4 * Math.cos(t / 17)).toFixed(3)));
const times = series.map((_, t) => dayOf(t));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-refit-"));
  await writeFile(join(folder, "days.csv"), `day,flow\n${series.map((value, t) => `${times[t]},${value}`).join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const described = (name: string, more: object = {}): ExperimentInput =>
  ({
    name,
    data: { file: join(folder, "days.csv"), time: "day", calendar: [] },
    reservoir: { size: 30, seed: 3 },
    readout: { lambda: 1e-3 },
    washout: 20,
    metrics: ["rmse"],
    task: { type: "forecast", horizon: 7, starts: 5, warmup: 40, lags: 3, members: 1 },
    ...more,
  }) as unknown as ExperimentInput;
const run = (experiment: ExperimentInput) => runExperiment(experiment, { out: folder });
const modelOf = (made: string) => join(made, "model.safetensors");
const fitted = (last: number) =>
  Forecaster.fit(
    { series: series.slice(0, last), times: times.slice(0, last) },
    { reservoir: { size: 30, seed: 3 }, readout: { lambda: 1e-3 }, washout: 20, lags: 3, members: 1, calendar: [] },
  );

describe("the model that a run saves", () => {
  it("forecasts to the bit what one does that was trained on all rows, as forecasts.csv says", async () => {
    const { folder: made } = await run(described("all"));
    await using saved = await Forecaster.load(modelOf(made));
    await using all = await fitted(rows);
    expect((await saved.forecast(7)).data).toEqual((await all.forecast(7)).data);
    const ahead = await forecastAhead(made, { steps: 7 });
    const file = await readFile(join(made, "forecasts.csv"), "utf8");
    const last = file.split("\n").filter((line) => line.startsWith("last,"));
    expect(ahead.forecasts[0]!.times).toEqual(last.map((line) => line.split(",")[2]));
    expect(ahead).toMatchObject({ after: dayOf(rows - 1), trainedTo: dayOf(rows - 1), scoredFrom: dayOf(0.8 * rows) });
    // They are warmed up on 40 rows, and the saved state has seen all of them.
    const warm = await all.forecast(7, { warmup: { series: series.slice(-40), times: times.slice(-40) } });
    expect(last.map((line) => Number(line.split(",")[5]))).toEqual([...warm.data]);
  });

  it("is the one that was scored with refit: false, and the scores are the same", async () => {
    const { result: refitted } = await run(described("refitted"));
    const { result, folder: made } = await run(described("kept", { outputs: { refit: false } }));
    expect(result.scores).toEqual(refitted.scores);
    expect(result.verdict).toEqual(refitted.verdict);
    await using saved = await Forecaster.load(modelOf(made));
    await using first = await fitted(0.8 * rows);
    expect((await saved.forecast(7)).data).toEqual((await first.forecast(7)).data);
    expect(saved.settings.table).toMatchObject({ trainedTo: dayOf(0.8 * rows - 1), scoredFrom: dayOf(0.8 * rows) });
  });

  it("chooses anew among all rows, and is so for other models", async () => {
    const model = { type: "nvar", delays: 4, degrees: [] };
    const { reservoir: _, readout: __, ...rest } = described("nvar", { model }) as unknown as Record<string, unknown>;
    const task = { type: "forecast", horizon: 7, starts: 5, warmup: 40 };
    const { folder: made } = await run({ ...rest, task } as unknown as ExperimentInput);
    await using saved = await NvarForecaster.load(modelOf(made));
    // A washout of 20 rows, of which the delays of the first target reach over 3.
    const data = { series: series.slice(17), times: times.slice(17) };
    await using all = await NvarForecaster.fit(data, { delays: 4, degrees: [], horizon: 7, calendar: [] });
    expect(saved.choice!.kept).toEqual(all.choice!.kept);
    expect((await saved.forecast(7)).data).toEqual((await all.forecast(7)).data);
  });

  it("predicts row by row as one does that was trained on all rows", async () => {
    const { data } = described("") as unknown as { data: object };
    const { folder: made } = await run(described("rows", { task: "predict", data: { ...data, calendar: undefined } }));
    await using saved = await Forecaster.load(modelOf(made));
    // The last row has no target; the rows after it follow.
    await using all = await Forecaster.fit(
      { inputs: series.slice(0, -1), targets: series.slice(1) },
      { reservoir: { size: 30, seed: 3 }, readout: { lambda: 1e-3 }, washout: 20 },
    );
    expect((await saved.predict([51, 52, 53])).data).toEqual((await all.predict([series.at(-1)!, 51, 52, 53])).data.slice(1));
    expect(saved.settings.table).toMatchObject({ trainedTo: dayOf(rows - 1) });
  });
});

describe("split.train: 1", () => {
  it("trains on all rows, tests on none, and forecasts beyond the end", async () => {
    const { result, folder: made } = await run(described("whole", { split: { train: 1 } }));
    expect(result.scores).toEqual([]);
    expect(result.verdict).toBeUndefined();
    expect(result.data["task"]).toContain(`without a test part; trained on ${rows} rows`);
    await using saved = await Forecaster.load(modelOf(made));
    await using all = await fitted(rows);
    expect((await saved.forecast(7)).data).toEqual((await all.forecast(7)).data);
    expect((await readFile(join(made, "forecasts.csv"), "utf8")).split("\n").filter((line) => line.startsWith("last,"))).toHaveLength(7);
    const { data } = described("") as unknown as { data: object };
    const plain = await run(described("plain", { split: { train: 1 }, task: "predict", data: { ...data, calendar: undefined } }));
    expect(plain.result.scores).toEqual([]);
  });

  it("leaves no cases to test, and is refused for them", async () => {
    const data = { patterns: { types: ["rhythmic", "poisson"], count: 4, neuronCount: 5, durationMs: 100 } };
    const classify = { name: "c", data, liquid: { size: 20 }, task: "classify", split: { train: 1 } } as unknown as ExperimentInput;
    await expect(runExperiment(classify)).rejects.toThrow("split.train is 1; it takes a share below 1");
  });
});
