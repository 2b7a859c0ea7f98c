// Softmax regression: its minimum, its probabilities, and that it is found by the gradient.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { NotConvergedError, softmax, softmaxRegression } from "../../src/readout/index.js";
import { bits, randomMatrix } from "../numerics/linear-algebra-reference.js";

const rows = 90;
const states = randomMatrix(rows, 8, "states");
const noise = randomMatrix(rows, 1, "noise");
/** Class 0, 1 or 2 by two thresholds on a noisy sum. */
const classes = Array.from({ length: rows }, (_, t) => {
  const score = states.at(t, 0) - 2 * states.at(t, 5) + noise.at(t, 0);
  return score < -0.5 ? 0 : score < 0.6 ? 1 : 2;
});

/** The largest element of the gradient of the loss, in plain loops with the platform's exp. */
function gradientNorm(weights: Matrix, intercept: Float64Array, l2: number, penalised = true): number {
  const gradient = weights.toArrays().map((row) => [...row.map((w) => (penalised ? l2 * w : 0)), 0]);
  for (let t = 0; t < rows; t++) {
    const x = [...states.row(t), 1];
    const scores = gradient.map((_, k) => x.reduce((sum, value, i) => sum + value * (i < 8 ? weights.at(k, i) : intercept[k]!), 0));
    const exps = scores.map(Math.exp);
    const total = exps.reduce((sum, value) => sum + value, 0);
    gradient.forEach((row, k) => {
      const error = exps[k]! / total - (classes[t] === k ? 1 : 0);
      for (let i = 0; i < 9; i++) row[i]! += error * x[i]!;
    });
  }
  return Math.max(...gradient.flat().map(Math.abs));
}

describe("softmax regression", () => {
  it.each([1e-6, 0.01, 1, 100])("ends where the gradient of its loss is 0, with l2 = %d", (l2) => {
    const readout = softmaxRegression({ l2, tolerance: 1e-12 }).fit(states, classes);
    expect(gradientNorm(readout.weights, readout.intercept, l2)).toBeLessThan(1e-9);
  });

  it("gives the shares of the classes where the features say nothing", () => {
    const silent = Matrix.zeros(rows, 2);
    const readout = softmaxRegression({ tolerance: 1e-13 }).fit(silent, classes);
    const probabilities = readout.predictProba(Matrix.zeros(1, 2));
    for (let k = 0; k < 3; k++) {
      expect(probabilities.at(0, k)).toBeCloseTo(classes.filter((value) => value === k).length / rows, 11);
    }
  });

  it("gives the shares in each group where one feature names the group and nothing is penalised", () => {
    const group = [0, 0, 0, 0, 1, 1, 1, 1, 1];
    const labels = [0, 0, 0, 1, 0, 1, 1, 1, 1];
    const readout = softmaxRegression({ l2: 0, tolerance: 1e-13 }).fit(group, labels);
    expect(readout.predictProba([0]).at(0, 1)).toBeCloseTo(1 / 4, 10);
    expect(readout.predictProba([1]).at(0, 1)).toBeCloseTo(4 / 5, 10);
  });

  it("takes probabilities of classes as targets, of which class numbers are the special case", () => {
    const oneHot = Matrix.from(classes.map((label) => [0, 1, 2].map((k) => (k === label ? 1 : 0))));
    const byNumber = softmaxRegression().fit(states, classes);
    expect(bits(softmaxRegression().fit(states, oneHot).weights.data)).toEqual(bits(byNumber.weights.data));
    const soft = Matrix.from(classes.map((label) => [0, 1, 2].map((k) => (k === label ? 0.8 : 0.1))));
    expect(softmaxRegression().fit(states, soft).predictProba(states).at(0, 0)).not.toBe(byNumber.predictProba(states).at(0, 0));
  });

  it("gives scores, probabilities that sum to 1, and the class of the largest", () => {
    const readout = softmaxRegression().fit(states, classes);
    const scores = readout.predict(states);
    const probabilities = readout.predictProba(states);
    const predicted = readout.predictClasses(states);
    for (let t = 0; t < rows; t++) {
      const row = Array.from(probabilities.row(t));
      expect(row.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 14);
      expect(predicted[t]).toBe(row.indexOf(Math.max(...row)));
      expect(Math.log(row[1]! / row[0]!)).toBeCloseTo(scores.at(t, 1) - scores.at(t, 0), 12);
    }
    expect(predicted.filter((value, t) => value === classes[t]).length).toBeGreaterThan(60);
  });

  it("separates what can be separated without a penalty", () => {
    const readout = softmaxRegression({ l2: 0 }).fit([-3, -2, -1, 1, 2, 3], [0, 0, 0, 1, 1, 1]);
    expect(Array.from(readout.predictClasses([-1, 1]))).toEqual([0, 1]);
  });

  it("works for many classes, some without rows, and for large scores", () => {
    const readout = softmaxRegression().fit([0, 1, 2, 3], [0, 2, 5, 5]);
    expect(readout.outputSize).toBe(6);
    expect(softmax(Matrix.from([[1000, 0, -1000]])).toArrays()).toEqual([[1, 0, 0]]);
    expect(softmax(Matrix.from([[7, 7]])).toArrays()).toEqual([[0.5, 0.5]]);
  });

  it("leaves the intercept out where it is told to", () => {
    const readout = softmaxRegression({ intercept: false }).fit(states, classes);
    expect(Array.from(readout.intercept)).toEqual([0, 0, 0]);
    expect(readout.predictProba(Matrix.zeros(1, 8)).at(0, 0)).toBeCloseTo(1 / 3, 15);
  });

  it("trains on several sequences with washout and inputs", () => {
    const inputs = randomMatrix(rows, 2, "inputs");
    const trainer = softmaxRegression({ input: true });
    const readout = trainer.fit([states.slice(0, 40), states.slice(40)], [classes.slice(0, 40), classes.slice(40)], {
      washout: 10,
      inputs: [inputs.slice(0, 40), inputs.slice(40)],
    });
    const joined = Matrix.from([...range(10, 40), ...range(50, rows)].map((t) => [...states.row(t), ...inputs.row(t)]));
    const labels = [...classes.slice(10, 40), ...classes.slice(50)];
    expect(bits(readout.weights.data)).toEqual(bits(softmaxRegression().fit(joined, labels).weights.data));
    expect(readout.training?.rows).toBe(70);
  });

  it("says so where it does not converge", () => {
    const thrown = (() => {
      try {
        softmaxRegression({ maxIterations: 1, l2: 1e-9 }).fit(states, classes);
      } catch (error) {
        return error;
      }
      return undefined;
    })();
    expect(thrown).toBeInstanceOf(NotConvergedError);
    expect((thrown as Error).message).toMatch(
      /^the fit did not converge: after 1 Newton steps the gradient is .* and must be at most 9\.00e-7/,
    );
  });

  it.each([
    [[0, 1.5, 1], "targets: row 1 is 1.5; classes are whole numbers 0, 1, 2, ..."],
    [[0, -1, 1], "targets: row 1 is -1; classes are whole numbers 0, 1, 2, ..."],
    [
      [
        [1, 0],
        [0.5, 0.4],
        [0, 1],
      ],
      "targets: row 1 sums to 0.9; probabilities of classes sum to 1",
    ],
    [
      [
        [1, 0],
        [1, 0],
        [-1, 2],
      ],
      "targets: row 2 holds -1; probabilities of classes are at least 0",
    ],
  ])("refuses the targets %j", (targets, message) => {
    expect(() => softmaxRegression().fit([1, 2, 3], targets)).toThrow(message);
  });
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
