// What a forecast's file leaves open is chosen by forecasts of its horizon inside the training
// part, and said; what it sets is held.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ChosenSettings, ExperimentInput } from "../../src/experiment/index.js";
import { runExperiment } from "../../src/experiment/runs/run.js";
import { Forecaster } from "../../src/model/index.js";
import type { CalendarFeature } from "../../src/series/index.js";
import "../../src/index.js";
import { exhaustive } from "../exhaustive.js";

let folder: string;
/**
 * Hours of a day that are lower on two days of the week, a slow swing, and what looks like noise.
 */
const load = (t: number) =>
  100 + 20 * Math.sin((2 * Math.PI * t) / 24) + (Math.floor(t / 24) % 7 > 4 ? -15 : 0) + 10 * Math.sin(t / 61) + 2 * Math.sin(1.7 * t * t);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-choice-"));
  const rows = Array.from({ length: 900 }, (_, t) => {
    const hour = new Date(Date.UTC(2021, 0, 4, t)).toISOString().slice(0, 16);
    return `${hour},${load(t).toFixed(3)},5`;
  });
  await writeFile(join(folder, "hours.csv"), `time,load,flat\n${rows.join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const hours = (calendar?: CalendarFeature[]) => ({
  // The path of a test that is not running yet is not known.
  get file() {
    return join(folder, "hours.csv");
  },
  columns: ["load"],
  time: "time",
  ...(calendar && { calendar }),
});
const lagsOf = (choice: ChosenSettings | undefined) => choice!.among.settings.map(({ lags }) => lags);
type Forecast = Exclude<ExperimentInput["task"], string>;
const described = (more: Partial<ExperimentInput> = {}, task: object = {}): ExperimentInput => ({
  name: "hours",
  data: hours(),
  reservoir: { size: 30 },
  task: { type: "forecast", horizon: 12, starts: 8, warmup: 40, members: 2, ...task } as Forecast,
  washout: 30,
  baselines: [{ seasonalNaive: 24 }],
  outputs: { report: false, model: false },
  ...more,
});
const run = async (more?: Partial<ExperimentInput>, task?: object) => (await runExperiment(described(more, task))).result;

describe("a forecast whose file says nothing of lambda and lags", () => {
  it("chooses by forecasts after as many rows as those of its starts", async () => {
    const fit = vi.spyOn(Forecaster, "fit");
    try {
      await run();
      expect(fit.mock.calls[0]![1].choose).toEqual({ warmup: 192 });
    } finally {
      fit.mockRestore();
    }
  });

  it("chooses both by forecasts of its horizon, and says what, and among what", async () => {
    const result = await run();
    const { choice } = result.seeds[0]!;
    expect(choice!.among).toEqual({
      settings: [...[0, 28, 192].map((lags) => ({ lags, calendar: false })), ...[28, 192].map((lags) => ({ lags, calendar: true }))],
      lambdas: [1e-8, 1e-6, 1e-4, 1e-2, 0.1, 1, 10, 100],
      starts: 25,
      horizon: 12,
    });
    expect(choice!.among.settings).toContainEqual({ lags: choice!.lags, calendar: choice!.calendar.length > 0 });
    expect(result.choice!.sentence).toMatch(
      /^(no|28|192) lags( with the calendar)?, lambda \S+ \(of no lags, 28 lags, 192 lags, 28 lags with the calendar, 192 lags with the calendar, and 8 lambdas from 1e-8 to 100, by 25 forecasts of 12 steps inside the training part\); the median of 2 reservoirs forecasts$/,
    );
    expect(result.data["task"]).toContain("each after 192 rows");
  });

  it("beats the seasonal naive forecast and says so", async () => {
    const { verdict } = await run({ baselines: [{ seasonalNaive: 168 }] });
    expect(verdict!.sentence).toMatch(/Better than seasonal naive \(168\): rmse \S+ against \S+/);
  });

  it("has bands of the errors that it chose by, without a second training", async () => {
    const fit = vi.spyOn(Forecaster, "fit");
    const { bands } = await run();
    expect(fit).toHaveBeenCalledTimes(1);
    fit.mockRestore();
    expect(bands!.calibratedOn).toBe(25);
  });

  it.runIf(exhaustive)("is the median of five reservoirs of 300 neurons if it says nothing of those either", async () => {
    const { seeds, config } = await run({ reservoir: undefined }, { members: undefined });
    expect(seeds[0]!.choice!.members).toBe(5);
    expect(config.reservoir).toMatchObject({ size: 300 });
  });

  it("takes the season that the rows show if there are no time stamps", async () => {
    const { seeds } = await run({ data: { file: join(folder, "hours.csv"), columns: ["load"], text: ["time"] }, baselines: [] });
    expect(lagsOf(seeds[0]!.choice)).toEqual([0, 28]);
  });
});

describe("what a forecast's file sets", () => {
  it("is held: one lambda, one number of lags", async () => {
    const lambda = await run({ readout: { lambda: 0.5 } });
    expect(lambda.seeds[0]!.choice).toMatchObject({ lambda: 0.5, among: { lambdas: [0.5] } });
    const lags = await run({}, { lags: 5 });
    expect(lagsOf(lags.seeds[0]!.choice)).toEqual([5, 5]);
    const seasons = await run({}, { season: 12 });
    expect(lagsOf(seasons.seeds[0]!.choice)).toEqual([0, 14, 14]);
    const lambdas = await run({ readout: { lambdas: [0.1, 1] }, data: hours([]) }, { lags: 0 });
    expect(lambdas.seeds[0]!.choice!.among).toMatchObject({ settings: [{ lags: 0, calendar: false }], lambdas: [0.1, 1] });
    expect(lambdas.choice!.sentence).toMatch(/^lambda \S+ \(of 2 lambdas from 0.1 to 1, by/);
    const calendar = await run({ data: hours(["hour"]) }, { lags: 3 });
    expect(calendar.seeds[0]!.choice).toMatchObject({ calendar: ["hour"], among: { settings: [{ lags: 3, calendar: true }] } });
  });

  it.each([
    ["lambda, lags and calendar", { readout: { lambda: 0.5 }, data: hours([]) }, { lags: 3 }],
    ["how lambda is chosen", { readout: { lambdas: [0.1, 1], selection: "gcv" as const } }, {}],
    ["another readout", { readout: { type: "rls" as const } }, {}],
  ])("leaves nothing to choose if it is %s", async (_, more, task) => {
    const result = await run(more, task);
    expect(result.seeds[0]!.choice).toBeUndefined();
    expect(result.choice).toBeUndefined();
  });

  it("is run as it stands by a training part that is too short to choose by", async () => {
    expect((await run({ split: { train: 70, test: 100 } }, { warmup: 10 })).choice).toBeUndefined();
  });
});
