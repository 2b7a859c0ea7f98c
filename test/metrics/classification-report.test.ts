// Scores by class, and how calibrated probabilities are.
import { describe, expect, it } from "vitest";
import { classificationReport, reliability } from "../../src/metrics/index.js";

describe("classificationReport", () => {
  it("gives scikit-learn's figures of the example in its documentation", () => {
    const { classes, macro, weighted, accuracy } = classificationReport([0, 1, 2, 2, 2], [0, 0, 2, 2, 1]);
    const rounded = ({ precision, recall, f1, support }: typeof macro) =>
      [precision, recall, f1, support].map((value) => Number(value.toFixed(2)));
    expect(classes.map(({ label }) => label)).toEqual([0, 1, 2]);
    expect(classes.map(rounded)).toEqual([
      [0.5, 1, 0.67, 1],
      [0, 0, 0, 1],
      [1, 0.67, 0.8, 3],
    ]);
    expect(rounded(macro)).toEqual([0.5, 0.56, 0.49, 5]);
    expect(rounded(weighted)).toEqual([0.7, 0.6, 0.61, 5]);
    expect(accuracy).toBe(0.6);
  });

  it("keeps a class that has no case, in the order that is asked for", () => {
    const { classes, macro } = classificationReport(["b", "b"], ["b", "a"], ["c", "b", "a"]);
    expect(classes.map(({ label, support }) => [label, support])).toEqual([
      ["c", 0],
      ["b", 2],
      ["a", 0],
    ]);
    expect(classes[1]).toMatchObject({ precision: 1, recall: 0.5 });
    expect(macro.precision).toBeCloseTo(1 / 3, 12);
  });
});

describe("reliability", () => {
  it("compares the confidence of each bin with the share that is right, and weighs the gaps by cases", () => {
    const shares = [
      [0.9, 0.1],
      [0.96, 0.04],
      [0.45, 0.55],
      [0.42, 0.58],
    ];
    const { bins, expectedCalibrationError } = reliability(["a", "b", "b", "b"], shares, ["a", "b"]);
    expect(bins.map(({ accuracy, count }) => [accuracy, count])).toEqual([
      [1, 2],
      [0.5, 2],
    ]);
    expect(bins[1]!.confidence).toBeCloseTo(0.93, 12);
    // Gaps 0.435 and 0.43, two cases each.
    expect(expectedCalibrationError).toBeCloseTo(0.4325, 12);
  });

  it("refuses a class that has no column, and what is no share", () => {
    expect(() => reliability(["c"], [[1, 0]], ["a", "b"])).toThrow('target[0] is "c"; it takes one of a, b');
    expect(() => reliability(["a"], [[2, 0]], ["a", "b"])).toThrow("probabilities[0][0] is 2; it takes a share from 0 to 1");
    expect(() => reliability(["a"], [[1, 0]], ["a", "b"], 0)).toThrow("bins is 0");
  });
});
