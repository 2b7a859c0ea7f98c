// What a user gets wrong of a metric: a sentence that names it, not a score that left it out.
import { describe, expect, it } from "vitest";
import { accuracy, confusionMatrix, nrmse, r2, seasonalNaive, validPredictionTime } from "../../src/metrics/index.js";

const y = Float64Array.of(1, 2, 4, 3);

describe("metrics", () => {
  it("refuse options they do not know", () => {
    expect(() => nrmse(y, y, { nrom: "range" } as never)).toThrow('unknown field "nrom": did you mean "norm"?');
    expect(() => r2(y, y, { column: "mean" } as never)).toThrow('did you mean "columns"?');
    expect(() => validPredictionTime(y, y, { treshold: 1 } as never)).toThrow('did you mean "threshold"?');
    expect(() => seasonalNaive(y, { period: 2, step: 3 } as never)).toThrow('did you mean "steps"?');
  });

  it("refuse options that are no object", () => {
    for (const bad of [null, "mean", []])
      expect(() => r2(y, y, bad as never)).toThrow(/^r2: options is .*; it takes an object of options$/);
    expect(() => seasonalNaive(y, undefined as never)).toThrow("seasonalNaive: options is missing; it takes an object of options");
  });

  it("refuse classes that are no list", () => {
    expect(() => accuracy(undefined as never, [1])).toThrow("accuracy: target is missing; it takes a list of classes");
    expect(() => accuracy(["a"], "a" as never)).toThrow('accuracy: prediction is "a"; it takes a list of classes');
    expect(() => confusionMatrix(["a"], ["a"], "a" as never)).toThrow('confusionMatrix: labels is "a"; it takes a list of classes');
  });

  it("repeat no season with a value that is missing", () => {
    expect(() => seasonalNaive([1, 2, Number.NaN], { period: 2, steps: 4 })).toThrow("the last season is NaN at row 1, column 0");
    expect(seasonalNaive([Number.NaN, 1, 2], { period: 2, steps: 2 }).toArrays()).toEqual([[1], [2]]);
  });
});
