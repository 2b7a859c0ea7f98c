// Scores of targets of which some values were not measured: every measured value counts alike,
// against figures worked out by hand.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { metrics } from "../../src/metrics/index.js";

const gone = Number.NaN;
// Errors of the first column: 1, 2, 3, 4; of the second, where it was measured: 2, 2.
const target = Matrix.from([
  [1, 10],
  [3, gone],
  [5, 14],
  [7, gone],
]);
const prediction = Matrix.from([
  [2, 12],
  [5, 9],
  [8, 12],
  [11, 3],
]);
const context = { norm: "std", threshold: 0.4 } as const;
const scoreOf = (name: string, more: object = {}) => {
  const metric = metrics.get(name);
  if (metric.of === "classes") throw new Error(name);
  expect(metric.takesMissing).toBe(true);
  return metric.score(target, prediction, {}, { ...context, ...more });
};

describe("a score of six measured values of eight", () => {
  // Squares: 1 + 4 + 9 + 16 + 4 + 4 = 38. About the columns' own means, 4 and 12, targets vary by
  // 9 + 1 + 1 + 9 + 4 + 4 = 28.
  it.each([
    ["mse", 38 / 6],
    ["rmse", Math.sqrt(38 / 6)],
    ["mae", (1 + 2 + 3 + 4 + 2 + 2) / 6],
    ["r2", 1 - 38 / 28],
    ["nrmse", Math.sqrt(38 / 28)],
  ])("%s counts each of them once", (name, value) => {
    expect(scoreOf(name)).toBeCloseTo(value, 12);
  });

  it("nrmse has the norm of measured values, or of a reference", () => {
    expect(scoreOf("nrmse", { norm: "range" })).toBeCloseTo(Math.sqrt(38 / 6) / 13, 12);
    expect(scoreOf("nrmse", { norm: "mean" })).toBeCloseTo(Math.sqrt(38 / 6) / (40 / 6), 12);
    const reference = Matrix.from([
      [0, 0],
      [2, 2],
    ]);
    expect(scoreOf("nrmse", { reference })).toBeCloseTo(Math.sqrt(38 / 6), 12);
  });
});
