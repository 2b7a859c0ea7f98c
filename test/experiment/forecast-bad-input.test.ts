// What a first user gets wrong about a forecast: every one a sentence that says what to do, from a
// file and from a program.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExperimentInput, runExperiment } from "../../src/experiment/index.js";
import { Forecaster } from "../../src/index.js";

const rows = 300;
const wave = (t: number) => 10 + 3 * Math.sin((2 * Math.PI * t) / 7) + 0.3 * Math.sin(1.7 * t * t);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-bad-forecast-"));
  const lines = Array.from({ length: rows }, (_, t) => {
    const day = new Date(Date.UTC(2021, 0, 1 + t)).toISOString().slice(0, 10);
    // Minutes between rows that have no step in common.
    const odd = new Date(Date.UTC(2021, 0, 1, 0, t * t * 7919 + t)).toISOString().slice(0, 16);
    return `${day},${wave(t).toFixed(3)},5,,${odd}`;
  });
  await writeFile(join(folder, "days.csv"), `date,load,flat,empty,odd\n${lines.join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a file that asks for a forecast", () => {
  it.each([
    [
      "with a horizon longer than the data",
      {},
      { horizon: 500 },
      "the test part has 60 rows; a horizon of 500 takes more: take a shorter horizon",
    ],
    [
      "of a series that never changes",
      { columns: ["flat"] },
      {},
      "never changes in the 240 rows of its training part, so there is nothing to learn; forecast other columns",
    ],
    [
      "of a column without a value",
      { columns: ["empty"], text: undefined },
      {},
      'column "empty": all 300 values of this column are missing; leave the column out',
    ],
    ["that fills a column without a value", { columns: ["empty", "load"], text: undefined, missing: "hold" }, {}, "leave the column out"],
    ["with an unknown zone", { timeZone: "Mars/Phobos" }, {}, 'it takes the name of a time zone, such as "Europe/Berlin"'],
    [
      "with stamps that fit no step",
      { time: "odd" },
      {},
      "the most frequent difference); there are 298 such rows. Bring the rows to one step first",
    ],
    ["with more lags than rows", {}, { lags: 400 }, "task.lags is 400; it takes fewer than the 240 rows of the training part"],
    [
      "with a season longer than half of the rows",
      {},
      { season: 365 },
      "task.season is 365; it takes seasons two of which fit into the 240 rows of the training part",
    ],
    [
      "with a logarithm of what is below 0",
      { columns: ["flat", "load"] },
      { transforms: [{ difference: 1 }, "log", "standardise"] },
      "add a constant by { log: c }, or leave the transform out",
    ],
  ] as [string, object, { readonly transforms?: object; readonly [field: string]: unknown }, string][])(
    "%s",
    async (_, data, { transforms, ...task }, sentence) => {
      const experiment = {
        name: "bad",
        data: { file: join(folder, "days.csv"), columns: ["load"], time: "date", text: ["empty"], ...data },
        reservoir: { size: 20 },
        task: { type: "forecast", horizon: 7, starts: 3, ...task },
        ...(transforms && { transforms }),
        outputs: { report: false },
      } as unknown as ExperimentInput;
      await expect(runExperiment(experiment)).rejects.toThrow(sentence);
    },
  );
});

describe("a program that asks for a forecast", () => {
  const series = Float64Array.from({ length: rows }, (_, t) => wave(t));
  const options = { horizon: 5, members: 1, reservoir: { size: 20 }, choose: { lambdas: [1], starts: 3 } } as const;
  const hours = Array.from({ length: rows }, (_, t) => new Date(Date.UTC(2021, 0, 4, t)).toISOString().slice(0, 16));
  const combined = { members: ["theta", "ets"], choose: undefined } as const;
  const two = (count: number) => Array.from({ length: count }, (_, t) => [Math.sin(t), Math.cos(t)]);

  it.each([
    ["with a horizon longer than the data", series, { horizon: 400 }, "Take a shorter horizon, a shorter washout or more rows"],
    ["with a horizon that no member can say anything of", series, { horizon: 2000, ...combined }, "take fewer steps, or more rows"],
    [
      "with stamps that fit no step",
      { series, times: hours.map((_, t) => new Date(Date.UTC(2021, 0, 1, 0, t * t * 7919 + t)).toISOString().slice(0, 16)) },
      combined,
      "Bring the rows to one step first",
    ],
    [
      "of a series that never changes",
      series.map(() => 5),
      {},
      "the series never changes in its training part, so there is nothing to choose by; leave horizon out",
    ],
    [
      "of a column without a value",
      series.map(() => Number.NaN),
      { missing: "hold" as const },
      "all 300 values of this column are missing; leave the column out",
    ],
    ["with more lags than rows", series, { lags: 250 }, "take fewer lags"],
    ["with a season longer than the rows", series, { season: 365 }, "take shorter seasons, lags: 0, or more rows"],
  ])("%s", async (_, data, more, sentence) => {
    await expect(Forecaster.fit(data, { ...options, ...more })).rejects.toThrow(sentence);
  });

  it("with what is known ending before the horizon", async () => {
    await using forecaster = await Forecaster.fit({ series, known: series.map((value) => 2 * value), times: hours }, options);
    const known = series.subarray(0, 3);
    await expect(forecaster.forecast(5, { known })).rejects.toThrow(
      "known has 3 rows; 5 steps take as many; the first that is missing is that of 2021-01-16T15:00; add them, or forecast fewer steps",
    );
    await expect(forecaster.forecast(5)).rejects.toThrow("known is missing; this forecaster takes 1 known inputs for each of the 5 steps");
  });

  it("of a model for another number of channels", async () => {
    await using forecaster = await Forecaster.fit(series, options);
    const sentence = "has 2 columns; this forecaster takes 1";
    await expect(forecaster.predict(two(3))).rejects.toThrow(sentence);
    await expect(forecaster.score(two(30))).rejects.toThrow(sentence);
    await expect(forecaster.forecast(2, { warmup: two(30) })).rejects.toThrow(sentence);
  });
});
