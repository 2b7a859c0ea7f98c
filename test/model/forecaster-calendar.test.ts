// The calendar among the candidates of a forecaster that chooses, and what becomes of it.
import { describe, expect, it } from "vitest";
import { Forecaster } from "../../src/index.js";
import { shownCycles } from "../../src/series/calendar.js";

/** Hours of a week that is the same again, with noise of a fixed stream. */
const hours = 800;
const values = Float64Array.from({ length: hours }, (_, t) => {
  const day = Math.floor(t / 24) % 7;
  return Math.sin((2 * Math.PI * t) / 24) + (day > 4 ? -1 : 0) + 0.5 * Math.sin(1.7 * t * t);
});
const stamp = (t: number) => new Date(Date.UTC(2021, 0, 4, t)).toISOString().slice(0, 16);
const times = Array.from({ length: hours }, (_, t) => stamp(t));
const swing = Float64Array.from({ length: hours }, (_, t) => Math.sin(t / 7.3) * Math.cos(t / 31));
const small = { horizon: 24, members: 2, reservoir: { size: 30, seed: 1 }, choose: { starts: 8, lambdas: [1e-4, 1, 100] } } as const;

describe("a forecaster with a horizon and time stamps", () => {
  it("tries the cycles that its rows show beside its lags, and takes them if they help", async () => {
    await using forecaster = await Forecaster.fit(
      { series: values.subarray(0, 700), times: times.slice(0, 700) },
      { ...small, season: 24 },
    );
    expect(forecaster.choice!.candidates).toEqual([
      { lags: 0, calendar: false },
      { lags: 28, calendar: false },
      { lags: 28, calendar: true },
    ]);
    expect(forecaster.calendar).toEqual(["hour", "weekday"]);
    expect(forecaster.known).toBe(0);
    const forecast = await forecaster.forecast(24);
    expect(forecast.times![0]).toBe(stamp(700));
    await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
    expect(opened.calendar).toEqual(["hour", "weekday"]);
    expect(opened.choice!.candidates).toEqual(forecaster.choice!.candidates);
    expect((await opened.forecast(24)).data).toEqual(forecast.data);
    // A warm-up says at what time it is.
    await expect(forecaster.forecast(2, { warmup: values.subarray(0, 100) })).rejects.toThrow("warmup.times is missing");
  });

  it("forecasts as one that was told what it chose", async () => {
    const data = { series: values.subarray(0, 700), times: times.slice(0, 700) };
    await using chosen = await Forecaster.fit(data, small);
    const { lambda } = chosen.choice!.kept[0]!;
    const held = { ...small, calendar: chosen.calendar, choose: { ...small.choose, lambdas: [lambda] } };
    await using told = await Forecaster.fit(data, held);
    expect(told.choice!.candidates).toEqual([{ lags: 0, calendar: true }]);
    expect((await told.forecast(24)).data).toEqual((await chosen.forecast(24)).data);
  });

  it("needs no time stamps later if it does not take them", async () => {
    await using forecaster = await Forecaster.fit({ series: swing, times }, small);
    expect(forecaster.choice!.candidates).toHaveLength(2);
    expect(forecaster.calendar).toEqual([]);
    const forecast = await forecaster.forecast(3, { warmup: swing });
    expect(forecast.times).toBeUndefined();
    await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
    expect((await opened.forecast(3)).data).toEqual((await forecaster.forecast(3)).data);
  });

  it("keeps pairs that all take the calendar, or none", async () => {
    const several = { ...small, choose: { ...small.choose, keep: 3 } };
    await using forecaster = await Forecaster.fit({ series: values, times }, several);
    const { kept, candidates } = forecaster.choice!;
    expect(new Set(kept.map(({ candidate }) => candidates[candidate]!.calendar)).size).toBe(1);
    expect((await forecaster.forecast(24)).rows).toBe(24);
  });

  it.each([
    ["[] is given", { calendar: [] }, times],
    ["it has no time stamps", {}, undefined],
    ["its reservoir takes as many inputs as the series has columns", { reservoir: { size: 30, inputSize: 1 } }, times],
  ])("leaves the calendar out if %s", async (_, more, given) => {
    await using forecaster = await Forecaster.fit({ series: values, times: given }, { ...small, ...more });
    expect(forecaster.choice!.candidates).toEqual([{ lags: 0, calendar: false }]);
  });
});

describe("the cycles that rows show", () => {
  it.each([
    ["hours of a month", { count: 3_600_000, unit: "ms" }, 720, ["hour", "weekday"]],
    ["hours of ten days", { count: 3_600_000, unit: "ms" }, 240, ["hour"]],
    ["days of a year", { count: 1, unit: "days" }, 365, ["weekday"]],
    ["days of three years", { count: 1, unit: "days" }, 1095, ["weekday", "yearday"]],
    ["months of ten years", { count: 1, unit: "months" }, 120, ["yearday"]],
    ["years", { count: 12, unit: "months" }, 120, []],
  ] as const)("of %s", (_, step, rows, cycles) => {
    expect(shownCycles(step, rows)).toEqual(cycles);
  });
});
