// Readouts that learn row by row.
import { describe, expect, it } from "vitest";
import { cholesky, Matrix } from "../../packages/numerics/src/index.js";
import { leastMeanSquares, recursiveLeastSquares, ridge } from "../../src/readout/index.js";
import { bits, plainGram, randomMatrix } from "../numerics/linear-algebra-reference.js";

const rows = 120;
const states = randomMatrix(rows, 15, "states");
const noise = randomMatrix(rows, 2, "noise");
const targets = Matrix.from(
  Array.from({ length: rows }, (_, t) => [2 * states.at(t, 1) - states.at(t, 9) + 0.1 * noise.at(t, 0), 0.5 + 0.1 * noise.at(t, 1)]),
);

describe("recursive least squares", () => {
  it("without forgetting is ridge regression with lambda alpha", () => {
    const online = recursiveLeastSquares({ alpha: 0.5, intercept: false }).fit(states, targets);
    const batch = ridge({ lambda: 0.5, intercept: false }).fit(states, targets);
    online.weights.data.forEach((value, i) => {
      expect(value).toBeCloseTo(batch.weights.data[i]!, 11);
    });
  });

  it("has the intercept as one more feature with the same alpha", () => {
    const online = recursiveLeastSquares({ alpha: 0.5 }).fit(states, targets);
    const withOnes = Matrix.from(states.toArrays().map((row) => [...row, 1]));
    const batch = ridge({ lambda: 0.5, intercept: false }).fit(withOnes, targets);
    expect(online.intercept[1]).toBeCloseTo(batch.weights.at(1, 15), 11);
    expect(online.weights.at(0, 9)).toBeCloseTo(batch.weights.at(0, 9), 11);
  });

  it("forgets: rows k steps back count forgetting^k, and so does the start", () => {
    const forgetting = 0.9;
    const online = recursiveLeastSquares({ alpha: 0.1, forgetting, intercept: false }).fit(states, targets);
    const weight = (t: number): number => Math.sqrt(forgetting ** (rows - 1 - t));
    const weighted = Matrix.from(states.toArrays().map((row, t) => [...row, ...targets.row(t)].map((value) => value * weight(t))));
    const all = plainGram(weighted);
    const gram = Matrix.from(Array.from({ length: 15 }, (_, i) => Array.from(all.row(i).subarray(0, 15))));
    const cross = Matrix.from(Array.from({ length: 15 }, (_, i) => [all.at(i, 15), all.at(i, 16)]));
    const expected = cholesky(gram, new Float64Array(15).fill(0.1 * forgetting ** rows)).solve(cross);
    for (let i = 0; i < 15; i++) for (let o = 0; o < 2; o++) expect(online.weights.at(o, i)).toBeCloseTo(expected.at(i, o), 8);
  });

  it("follows a target that changes", () => {
    const flipped = Matrix.from(Array.from({ length: rows }, (_, t) => (t < 60 ? 1 : -1) * states.at(t, 0)));
    const trainer = recursiveLeastSquares({ forgetting: 0.8, alpha: 1e-3 });
    trainer.partialFit(states, flipped);
    expect(trainer.solve().weights.at(0, 0)).toBeCloseTo(-1, 3);
  });

  it("says so where it loses positive definiteness", () => {
    const trainer = recursiveLeastSquares({ forgetting: 0.01, alpha: 1e-12 });
    expect(() => {
      for (let repeat = 0; repeat < 50; repeat++) trainer.partialFit(states, targets);
    }).toThrow(/lost positive definiteness|diverged/);
  });
});

describe("least mean squares", () => {
  it("takes one gradient step a row", () => {
    const trainer = leastMeanSquares({ learningRate: 0.1 });
    expect(Array.from(trainer.step([1, -2], [3]).error)).toEqual([3]);
    expect(trainer.solve().weights.toArrays()).toEqual([[0.1 * 3, 0.1 * -2 * 3]]);
    expect(trainer.solve().intercept[0]).toBe(0.1 * 3);
    const second = trainer.step([1, 0], [1]);
    expect(second.prediction[0]).toBeCloseTo(0.6, 15);
    expect(second.error[0]).toBeCloseTo(0.4, 15);
  });

  it("normalised with learning rate 1 fits the last row exactly", () => {
    const trainer = leastMeanSquares({ learningRate: 1, normalised: true });
    trainer.partialFit(states, targets);
    const last = trainer.solve().predict(states.slice(-1));
    expect(last.at(0, 0)).toBeCloseTo(targets.at(rows - 1, 0), 9);
    expect(last.at(0, 1)).toBeCloseTo(targets.at(rows - 1, 1), 9);
  });

  it("comes near the weights that make the targets, given enough rows", () => {
    const trainer = leastMeanSquares({ normalised: true });
    for (let repeat = 0; repeat < 40; repeat++) trainer.partialFit(states, targets);
    expect(trainer.solve().weights.at(0, 1)).toBeCloseTo(2, 1);
    expect(trainer.solve().weights.at(0, 9)).toBeCloseTo(-1, 1);
  });

  it("says so where it diverges", () => {
    const trainer = leastMeanSquares({ learningRate: 50 });
    expect(() => {
      for (let repeat = 0; repeat < 50; repeat++) trainer.partialFit(states, targets);
    }).toThrow(/^leastMeanSquares diverged: the error at row \d+ is .*Take a smaller learning rate or more regularisation$/);
  });
});

describe.each([
  ["recursive least squares", recursiveLeastSquares],
  ["least mean squares", leastMeanSquares],
])("%s", (_, make) => {
  it("learns the same step by step as from whole series, with washout and several sequences", () => {
    const inputs = randomMatrix(rows, 2, "inputs");
    const options = { input: true, transform: "squares" } as const;
    const whole = make(options).fit([states.slice(0, 50), states.slice(50)], [targets.slice(0, 50), targets.slice(50)], {
      washout: 5,
      inputs: [inputs.slice(0, 50), inputs.slice(50)],
    });
    const steps = make(options);
    for (let t = 0; t < rows; t++) {
      if (t < 5 || (t >= 50 && t < 55)) continue;
      const { prediction, error } = steps.step(states.row(t), targets.row(t), inputs.row(t));
      expect(error[0]).toBe(targets.at(t, 0) - prediction[0]!);
    }
    expect(bits(steps.solve().weights.data)).toEqual(bits(whole.weights.data));
    expect(bits(steps.solve().intercept)).toEqual(bits(whole.intercept));
    expect(whole.training?.rows).toBe(110);
  });

  it("predicts a step as its readout would", () => {
    const trainer = make();
    trainer.partialFit(states.slice(0, 70), targets.slice(0, 70));
    const expected = trainer.solve().predict(states.slice(70, 71));
    expect(bits(trainer.step(states.row(70), targets.row(70)).prediction)).toEqual(bits(expected.data));
  });

  it("gives readouts that later rows do not change, and starts anew with fit", () => {
    const trainer = make();
    const first = trainer.fit(states, targets);
    const kept = first.weights.data.slice();
    trainer.partialFit(states, targets);
    expect(first.weights.data).toEqual(kept);
    expect(trainer.fit(states, targets).weights.data).toEqual(kept);
  });

  it("refuses rows it cannot take", () => {
    expect(() => make().solve()).toThrow("there are no training rows; call step, partialFit or fit first");
    expect(() => make().step([1, Number.NaN], [0])).toThrow("state: value 1 is NaN; it takes finite numbers");
    expect(() => make({ input: true }).step([1], [0])).toThrow("input is missing");
    expect(() => make().step(undefined as never, [0])).toThrow("state is missing; it takes a list of numbers");
    expect(() => make().step([1], [null] as never)).toThrow("target: row 0, column 0 is null; it takes a number");
    const trainer = make();
    trainer.step([1, 2], [0]);
    expect(() => trainer.step([1], [0])).toThrow("step: states has 1 columns; it takes 2, as before");
  });
});
