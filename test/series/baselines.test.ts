// Check values: by hand, and AirPassengers by NumPy (train 132 months, forecast 12).
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { rmse } from "../../src/metrics/index.js";
import {
  baselineName,
  calendarSeasons,
  findSeason,
  fitBaseline,
  predictBaseline,
  type SeriesBaseline,
  seasonsOf,
  standardBaselines,
} from "../../src/series/index.js";
import { passengers } from "./passengers.js";

const column = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));
const made = (rows: number, at: (t: number) => number) => column(...Array.from({ length: rows }, (_, t) => at(t)));
const air = column(...passengers);

describe("AirPassengers, the last year", () => {
  const [training, target] = [air.subarray(0, 132), air.subarray(132)];

  it("is forecast by the last one, without and with its mean change, as NumPy does it", () => {
    const error = (baseline: SeriesBaseline) => rmse(target, fitBaseline(baseline, [training], 12).forecast(training, 12));
    expect(error({ seasonalNaive: 12 })).toBeCloseTo(50.7083, 4);
    expect(error({ seasonalNaive: 12, drift: "mean" })).toBeCloseTo(24.4012, 4);
  });

  it("has its season found", () => {
    expect(findSeason(training)).toBe(12);
  });
});

describe("baselines", () => {
  const series = column(1, 2, 3, 4, 6, 8, 10, 12);
  const training = series.subarray(0, 4);
  const forecast = (baseline: SeriesBaseline, steps: number) => [...fitBaseline(baseline, [training]).forecast(training, steps).data];

  it("persistence repeats the last known value, the mean that of the training part, drift goes straight on", () => {
    expect(forecast("persistence", 2)).toEqual([4, 4]);
    expect(forecast("mean", 2)).toEqual([2.5, 2.5]);
    expect(forecast("drift", 3)).toEqual([5, 6, 7]);
  });

  it("the seasonal naive forecast repeats the last season; with drift it adds the mean change over it, once a season", () => {
    expect(forecast({ seasonalNaive: 2 }, 4)).toEqual([3, 4, 3, 4]);
    // The last season is 3 4, the one before 1 2: the drift is 2.
    expect(forecast({ seasonalNaive: 2, drift: true }, 4)).toEqual([5, 6, 7, 8]);
    expect(forecast({ seasonalNaive: 2, drift: "mean" }, 4)).toEqual([5, 6, 7, 8]);
  });

  it("of one-step predictions, each knows the rows up to `ahead` before it", () => {
    const predict = (baseline: SeriesBaseline, ahead: number) => [...predictBaseline(baseline, series, 4, 3, ahead, training).data];
    expect(predict("persistence", 1)).toEqual([4, 6, 8]);
    expect(predict("persistence", 2)).toEqual([3, 4, 6]);
    expect(predict({ seasonalNaive: 3 }, 1)).toEqual([2, 3, 4]);
    // Drifts 3-1, 4-2; 4-2, 6-3; 6-3, 8-4, in means 2, 2.5, 3.5.
    expect(predict({ seasonalNaive: 2, drift: true }, 1)).toEqual([5, 6.5, 9.5]);
    expect(predict("drift", 1)).toEqual([5, 7.25, 9.4]);
  });

  it("a season that is not known yet is refused", () => {
    expect(() => predictBaseline({ seasonalNaive: 2 }, series, 4, 1, 3, training)).toThrow("a season of at least 3 rows");
    expect(() => predictBaseline({ seasonalNaive: 5 }, series, 4, 1, 1, training)).toThrow("a season of at most 4 rows");
    expect(() => fitBaseline({ seasonalNaive: 3, drift: true }, [training]).forecast(training, 1)).toThrow("a season of at most 2 rows");
  });

  it("stand for every season of a series", () => {
    expect(standardBaselines([24]).map(baselineName)).toEqual([
      ...["persistence", "mean", "drift", "seasonal naive (24)", "seasonal naive with drift (24)", "seasonal naive with mean drift (24)"],
      ...["ridge AR(28)", "Theta (24)", "ETS (24)"],
    ]);
    expect(standardBaselines([168]).map(baselineName)).toContain("ridge AR(192)");
    expect(standardBaselines([]).map(baselineName)).toContain("ridge AR(24)");
    expect(standardBaselines([12, 3]).map(baselineName)).toEqual(expect.arrayContaining(["Theta (3)", "ETS (3)"]));
    expect(standardBaselines([]).map(baselineName)).toEqual(expect.arrayContaining(["Theta", "ETS"]));
  });
});

describe("seasons", () => {
  it("are those of the calendar", () => {
    const hours = (count: number) => calendarSeasons({ unit: "ms", count: count * 3_600_000 });
    expect([hours(1), hours(0.5), hours(7), calendarSeasons({ unit: "days", count: 1 })]).toEqual([[24, 168], [48, 336], [], [7]]);
    expect([1, 3, 12].map((count) => calendarSeasons({ unit: "months", count }))).toEqual([[12], [4], []]);
  });

  it("are found in the rows, past a trend, the shortest of equal ones", () => {
    expect(findSeason(made(400, (t) => 0.3 * t + 5 * Math.sin((2 * Math.PI * t) / 17)))).toBe(17);
    expect(findSeason(made(400, (t) => t))).toBeUndefined();
    expect(findSeason(made(400, () => 1))).toBeUndefined();
    expect(findSeason(made(400, (t) => Math.sin(t * t)))).toBeUndefined();
  });

  it("are as given, if two of them stand in the rows", () => {
    expect(
      seasonsOf(
        made(100, (t) => t),
        { seasons: [7, 60] },
      ),
    ).toEqual([7]);
    expect(() =>
      seasonsOf(
        made(100, (t) => t),
        { seasons: [1.5] },
      ),
    ).toThrow("whole numbers above 1");
  });
});
