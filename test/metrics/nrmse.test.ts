// Which of the things that are called NRMSE is computed, and r2 beside it.
import { describe, expect, it } from "vitest";
import { nrmse, r2 } from "../../src/metrics/index.js";

// y = [1, 2, 3] with an error of 0.5 everywhere: variance 2/3, range 2, mean 2.
const y = [1, 2, 3];
const p = [1.5, 2.5, 3.5];

describe("nrmse of one column", () => {
  it.each([
    ["std", 0.5 / Math.sqrt(2 / 3)],
    ["range", 0.25],
    ["mean", 0.25],
    ["variance", 0.75], // what ReservoirPy 0.4 gives for norm="var"
  ] as const)("divides by the %s", (norm, expected) => {
    expect(nrmse(y, p, { norm })).toBeCloseTo(expected, 15);
  });

  it("divides by the standard deviation unless told otherwise: predicting the mean scores 1", () => {
    expect(nrmse([4, 8, 6, 2], [5, 5, 5, 5])).toBe(1);
    expect(nrmse(y, p)).toBe(nrmse(y, p, { norm: "std" }));
  });

  it("takes a divisor from elsewhere, as NRMSE84 takes the deviation of the whole series", () => {
    expect(nrmse([3], [3.5], { scale: 0.25 })).toBe(2);
  });

  it("takes the absolute value of a negative mean", () => {
    expect(nrmse([-1, -3], [-2, -4], { norm: "mean" })).toBe(0.5);
  });

  it.each([
    ["std", [5, 5, 5]],
    ["range", [5, 5, 5]],
    ["variance", [0.1, 0.1, 0.1]],
    ["mean", [-1, 0, 1]],
  ] as const)("refuses a target whose %s is 0", (norm, target) => {
    expect(() => nrmse(target, [1, 2, 3], { norm })).toThrow(`nrmse: the ${norm} of the target is 0; take another norm, or give a scale`);
    expect(nrmse([2, 2, 2], [3, 3, 3], { norm, scale: 2 })).toBe(0.5);
  });

  it("refuses a norm that stands where options do, which would change nothing", () => {
    expect(() => nrmse(y, p, "range" as never)).toThrow('nrmse: options is "range"; it takes an object of options');
  });

  it("refuses a norm, a scale or a way to join columns that it does not know", () => {
    expect(() => nrmse(y, p, { norm: "minmax" as never })).toThrow(
      'nrmse: norm is "minmax"; it takes "std", "range", "mean" or "variance"',
    );
    expect(() => nrmse(y, p, { scale: 0 })).toThrow("nrmse: scale is 0; it takes a number above 0");
    expect(() => nrmse(y, p, { columns: "sum" as never })).toThrow('nrmse: columns is "sum"; it takes "pooled" or "mean"');
  });
});

describe("nrmse of several columns", () => {
  // Column 0: variance 1, errors 0.5, MSE .25. Column 1: variance 100, errors 1, MSE 1.
  const target = [
    [-1, 90],
    [1, 110],
  ];
  const prediction = [
    [-0.5, 91],
    [1.5, 111],
  ];

  it("pools: sqrt(sum of MSE / sum of variances), each column about its own mean", () => {
    expect(nrmse(target, prediction)).toBeCloseTo(Math.sqrt(1.25 / 101), 15);
  });

  it("or averages the columns' own scores", () => {
    expect(nrmse(target, prediction, { columns: "mean" })).toBeCloseTo((0.5 + 0.1) / 2, 15);
    expect(nrmse(target, prediction, { columns: "mean", scale: 2 })).toBeCloseTo((0.25 + 0.5) / 2, 15);
  });

  it("pools over a constant column, and refuses to average over one", () => {
    const withConstant = [
      [7, -1],
      [7, 1],
    ];
    expect(nrmse(withConstant, [Float64Array.of(7, 0), Float64Array.of(7, 0)])).toBe(1);
    expect(() => nrmse(withConstant, withConstant, { columns: "mean" })).toThrow(
      "nrmse: the std of column 0 of the target is 0; take another norm, or leave that column out",
    );
  });
});

describe("r2", () => {
  it("is 1 - sum of squared errors / sum of squares about the mean", () => {
    // scikit-learn's example: r2_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]) = 0.9486081370449679.
    expect(r2([3, -0.5, 2, 7], [2.5, 0, 2, 8])).toBeCloseTo(0.9486081370449679, 15);
  });

  it("is 1 for the target itself, 0 for its mean, below 0 for worse", () => {
    expect(r2(y, y)).toBe(1);
    expect(r2(y, [2, 2, 2])).toBe(0);
    expect(r2(y, [3, 2, 1])).toBe(-3);
  });

  it("joins columns as scikit-learn's variance_weighted and uniform_average do", () => {
    // The example of scikit-learn's r2_score: 0.938... with variance_weighted, 0.936... with
    // uniform_average.
    const target = [
      [0.5, 1],
      [-1, 1],
      [7, -6],
    ];
    const prediction = [
      [0, 2],
      [-1, 2],
      [8, -5],
    ];
    expect(r2(target, prediction)).toBeCloseTo(0.9382566585956417, 14);
    expect(r2(target, prediction, { columns: "mean" })).toBeCloseTo(0.9368005266622779, 14);
    expect(1 - nrmse(target, prediction) ** 2).toBeCloseTo(r2(target, prediction), 14);
  });

  it("refuses a constant target", () => {
    expect(() => r2([0.1, 0.1, 0.1], [1, 2, 3])).toThrow("r2: the target is constant; r2 takes a target that varies");
    const withConstant = [Float64Array.of(1, 2), Float64Array.of(1, 3)];
    expect(() => r2(withConstant, withConstant, { columns: "mean" })).toThrow("r2: column 0 of the target is constant");
    expect(() => r2(y, p, { columns: "raw" as never })).toThrow('r2: columns is "raw"; it takes "pooled" or "mean"');
  });
});
