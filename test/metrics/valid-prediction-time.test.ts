// The valid prediction time, and the baseline of seasonal series.
import { describe, expect, it } from "vitest";
import { seasonalNaive, validPredictionTime } from "../../src/metrics/index.js";
import { knownLyapunovExponent, lorenz } from "../../src/tasks/index.js";

describe("validPredictionTime", () => {
  // Target of variance 1; errors 0, .1, .2, .3, ...
  const target = [1, -1, 1, -1, 1, -1, 1, -1];
  const prediction = target.map((value, t) => value + 0.1 * t);

  it("counts the rows before the first error above the threshold", () => {
    expect(validPredictionTime(target, prediction, { threshold: 0.35 })).toEqual({
      steps: 4,
      time: null,
      lyapunovTimes: null,
      reachedEnd: false,
    });
  });

  it("is not ended by an error that equals the threshold", () => {
    expect(validPredictionTime([2, -2], [2.5, -2], { threshold: 0.25 }).steps).toBe(2);
  });

  it("ends at the first excess even if the forecast comes back", () => {
    expect(validPredictionTime([1, -1, 1, -1], [1, 5, 1, -1]).steps).toBe(1);
  });

  it("may be 0, and says when the end was reached", () => {
    expect(validPredictionTime([1, -1], [9, -1])).toMatchObject({ steps: 0, reachedEnd: false });
    expect(validPredictionTime(target, target)).toMatchObject({ steps: 8, reachedEnd: true });
  });

  it("takes 0.4 as its threshold", () => {
    expect(validPredictionTime(target, prediction)).toEqual(validPredictionTime(target, prediction, { threshold: 0.4 }));
    expect(validPredictionTime([1, -1], [1.39, -1]).steps).toBe(2);
    expect(validPredictionTime([1, -1], [1.41, -1]).steps).toBe(0);
  });

  it("gives time and Lyapunov times where it is told dt and the exponent", () => {
    const found = validPredictionTime(target, prediction, { threshold: 0.35, dt: 0.25, lyapunovExponent: 0.5 });
    expect(found).toMatchObject({ steps: 4, time: 1, lyapunovTimes: 0.5 });
    expect(validPredictionTime(target, prediction, { lyapunovExponent: 0.5 }).lyapunovTimes).toBeNull();
  });

  // Variances 1 and 100; an error of 2 in the first column is sqrt(4/101) = .199 of the total and
  // sqrt(4/2) = 1.41 by columns.
  const wide = [
    [1, 10],
    [-1, -10],
  ];
  const off = [
    [3, 10],
    [-1, -10],
  ];

  it("normalises by the sum of variances, or column by column", () => {
    expect(validPredictionTime(wide, off, { threshold: 0.2 }).steps).toBe(2);
    expect(validPredictionTime(wide, off, { threshold: 0.198 }).steps).toBe(0);
    expect(validPredictionTime(wide, off, { threshold: 1.42, norm: "perColumn" }).steps).toBe(2);
    expect(validPredictionTime(wide, off, { threshold: 1.41, norm: "perColumn" }).steps).toBe(0);
  });

  it("takes the variances from a reference", () => {
    expect(validPredictionTime([5], [5.7], { reference: [-1, 1] }).steps).toBe(0);
    expect(validPredictionTime([5], [5.7], { reference: [-2, 2] }).steps).toBe(1);
  });

  it("counts a prediction that is not finite as wrong", () => {
    expect(validPredictionTime([1, -1, 1], [1, Number.NaN, 1]).steps).toBe(1);
    expect(validPredictionTime([1, -1, 1], [1, -1, Infinity]).steps).toBe(2);
  });

  it("finds for two Lorenz trajectories 1e-8 apart what their exponent foretells", () => {
    // The distance 1e-8 grows to .4 of the attractor's size (16.6, root of the summed variances)
    // after ln(6.6e8) = 20 Lyapunov times; the finite-time growth rate varies from start to start.
    const options = { dt: 0.02, discard: 2000 };
    const start = Array.from(lorenz(1, options).data);
    const truth = lorenz(2000, { dt: 0.02, initialState: start });
    const other = lorenz(2000, { dt: 0.02, initialState: [start[0]! + 1e-8, start[1]!, start[2]!] });
    const found = validPredictionTime(truth, other, { dt: 0.02, lyapunovExponent: knownLyapunovExponent("lorenz")!.value });
    expect(found.lyapunovTimes!).toBeGreaterThan(16);
    expect(found.lyapunovTimes!).toBeLessThan(26);
  });

  it.each([
    [[1, 2], [1], {}, "target is 2 x 1 and prediction is 1 x 1; the two take the same shape"],
    [[], [], {}, "target is 0 x 1; it takes at least one value"],
    [[1, Number.NaN], [1, 2], {}, "target is NaN at row 1, column 0; it takes finite numbers"],
    [[5, 5], [5, 5], {}, "the series that normalises the error is constant; give a reference that varies"],
    [[1, 2], [1, 2], { reference: [3, 3] }, "the series that normalises the error is constant; give a reference that varies"],
    [[1, 2], [1, 2], { reference: [[1, 2]] }, "reference has 2 columns and target 1; the two take the same number"],
    [[1, 2], [1, 2], { reference: [] }, "reference is 0 x 1; it takes at least one value"],
    [
      [
        [1, 1],
        [1, 2],
      ],
      [
        [1, 1],
        [1, 2],
      ],
      { norm: "perColumn" },
      "column 0 of the series that normalises the error is constant",
    ],
    [[1, 2], [1, 2], { threshold: 0 }, "threshold is 0; it takes a number above 0"],
    [[1, 2], [1, 2], { dt: Number.NaN }, "dt is NaN; it takes a number above 0"],
    [[1, 2], [1, 2], { norm: "max" }, 'norm is "max"; it takes "total" or "perColumn"'],
  ] as const)("refuses %j, %j, %j", (y, p, options, sentence) => {
    expect(() => validPredictionTime(y, p, options as never)).toThrow(`validPredictionTime: ${sentence}`);
  });
});

describe("seasonalNaive", () => {
  it("repeats the last season", () => {
    expect(Array.from(seasonalNaive([9, 9, 9, 1, 2, 3], { period: 3, steps: 8 }).data)).toEqual([1, 2, 3, 1, 2, 3, 1, 2]);
  });

  it("with period 1 repeats the last value", () => {
    expect(Array.from(seasonalNaive([4, 7], { period: 1, steps: 3 }).data)).toEqual([7, 7, 7]);
  });

  it("keeps columns and precision", () => {
    const history = [
      [1, 10],
      [2, 20],
    ];
    expect(seasonalNaive(history, { period: 2, steps: 3 }).toArrays()).toEqual([
      [1, 10],
      [2, 20],
      [1, 10],
    ]);
    expect(seasonalNaive(Float32Array.of(1, 2), { period: 1, steps: 1 }).data).toBeInstanceOf(Float32Array);
  });

  it("is perfect for a series of that period", () => {
    const series = Float64Array.from({ length: 60 }, (_, t) => Math.sin((2 * Math.PI * (t % 12)) / 12));
    expect(seasonalNaive(series.subarray(0, 24), { period: 12, steps: 36 }).data).toEqual(series.slice(24));
  });

  it("refuses a history shorter than a period, and periods and steps that are not whole", () => {
    expect(() => seasonalNaive([1, 2], { period: 3, steps: 1 })).toThrow(
      "seasonalNaive: history has 2 rows; a period of 3 takes at least that many",
    );
    expect(() => seasonalNaive([1, 2], { period: 0, steps: 1 })).toThrow(
      "seasonalNaive: period is 0; it takes a whole number of at least 1",
    );
    expect(() => seasonalNaive([1, 2], { period: 1, steps: 1.5 })).toThrow(
      "seasonalNaive: steps is 1.5; it takes a whole number of at least 1",
    );
  });
});
