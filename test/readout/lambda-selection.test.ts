// Choosing lambda from one factorisation, against doing it the long way.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { type RidgeOptions, ridge, type TrainedReadout } from "../../src/readout/index.js";
import { randomMatrix } from "../numerics/linear-algebra-reference.js";

const rows = 40;
const states = randomMatrix(rows, 12, "states");
const noise = randomMatrix(rows, 2, "noise");
const targets = Matrix.from(
  Array.from({ length: rows }, (_, t) => [states.at(t, 0) + 0.6 * noise.at(t, 0), 0.4 - states.at(t, 3) + 0.4 * noise.at(t, 1)]),
);
/** More features than rows. */
const wide = randomMatrix(rows, 60, "wide");
wide.data.forEach((value, i) => {
  if (i % 60 < 12) wide.data[i] = states.at(Math.floor(i / 60), i % 60);
  else wide.data[i] = value / 10;
});
const lambdas = [1e-8, 1e-3, 0.3, 2, 11, 500];

function scores(readout: TrainedReadout): number[] {
  return readout.training!.details["scores"] as number[];
}

/** The rows without row t. */
function without(matrix: Matrix, t: number): Matrix {
  return Matrix.from(matrix.toArrays().filter((_, i) => i !== t));
}

function squaredError(readout: TrainedReadout, x: Matrix, y: Matrix): number {
  return Array.from(readout.predict(x).data).reduce((sum, value, i) => sum + (value - y.data[i]!) ** 2, 0);
}

/**
 * RSS / T over (1 - d / T)^2, with d the trace of the matrix that turns targets into predictions,
 * found column by column.
 */
function gcvByHand(options: RidgeOptions, x: Matrix): number {
  let freedom = 0;
  for (let t = 0; t < rows; t++) {
    const unit = new Float64Array(rows);
    unit[t] = 1;
    freedom += ridge({ ...options, solver: "qr" })
      .fit(x, unit)
      .predict(x)
      .at(t, 0);
  }
  const residual = squaredError(ridge({ ...options, solver: "qr" }).fit(x, targets), x, targets);
  return residual / rows / (1 - freedom / rows) ** 2;
}

function leaveOneOutByHand(options: RidgeOptions, x: Matrix): number {
  let sum = 0;
  for (let t = 0; t < rows; t++) {
    const readout = ridge(options).fit(without(x, t), without(targets, t));
    sum += squaredError(readout, x.slice(t, t + 1), targets.slice(t, t + 1));
  }
  return sum / (rows * 2);
}

describe.each([true, false])("the choice of lambda (intercept: %s)", (intercept) => {
  describe.each([
    ["cholesky", states, lambdas],
    ["qr", states, lambdas],
    // With the smallest one hardly anything is left over: both sides lose half of their digits.
    ["dual", wide, lambdas.slice(1)],
  ] as const)("by %s", (solver, x, lambdas) => {
    it("scores by generalised cross-validation as its definition does", () => {
      const readout = ridge({ lambdas, solver, intercept }).fit(x, targets);
      scores(readout).forEach((score, l) => {
        expect(score).toBeCloseTo(gcvByHand({ lambda: lambdas[l]!, intercept }, x), 9);
      });
      expect(readout.training?.details["selection"]).toBe("gcv");
    });

    it("scores by leave-one-out as fits without each row do", () => {
      const readout = ridge({ lambdas, selection: "leaveOneOut", solver, intercept }).fit(x, targets);
      scores(readout).forEach((score, l) => {
        expect(score).toBeCloseTo(leaveOneOutByHand({ lambda: lambdas[l]!, intercept }, x), 9);
      });
    });

    it("takes the lambda of the smallest score and solves as if it had been given", () => {
      for (const selection of ["gcv", "leaveOneOut"] as const) {
        const readout = ridge({ lambdas, selection, solver, intercept }).fit(x, targets);
        const all = scores(readout);
        const best = lambdas[all.indexOf(Math.min(...all))]!;
        expect([0.3, 2, 11]).toContain(best);
        expect(readout.training?.details["lambda"]).toBe(best);
        expect(readout.weights.data).toEqual(ridge({ lambda: best, solver, intercept }).fit(x, targets).weights.data);
      }
    });
  });
});

describe("the choice of lambda", () => {
  it("works from partial fits by generalised cross-validation, and says why not by leave-one-out", () => {
    const trainer = ridge({ lambdas })
      .partialFit(states.slice(0, 13), targets.slice(0, 13))
      .partialFit(states.slice(13), targets.slice(13));
    expect(trainer.solve().training?.details).toEqual(ridge({ lambdas }).fit(states, targets).training?.details);
    expect(() => ridge({ lambdas, selection: "leaveOneOut" }).partialFit(states, targets).solve()).toThrow(
      'selection "leaveOneOut" goes over the rows once more, which are gone; use fit, or selection "gcv"',
    );
  });

  it("gives an infinite score where rows do not determine the fit", () => {
    const few = states.slice(0, 6);
    const readout = ridge({ lambdas: [1e-30, 0.5], solver: "qr", selection: "leaveOneOut" }).fit(few, targets.slice(0, 6));
    expect(readout.training?.details["lambda"]).toBe(0.5);
  });

  it("goes over several sequences with washout", () => {
    const parts = [states.slice(0, 15), states.slice(15)];
    const targetParts = [targets.slice(0, 15), targets.slice(15)];
    const whole = Matrix.from([...states.toArrays().slice(3, 15), ...states.toArrays().slice(18)]);
    const wholeTargets = Matrix.from([...targets.toArrays().slice(3, 15), ...targets.toArrays().slice(18)]);
    const options = { lambdas, selection: "leaveOneOut" } as const;
    const expected = scores(ridge(options).fit(whole, wholeTargets));
    scores(ridge(options).fit(parts, targetParts, { washout: 3 })).forEach((score, l) => {
      expect(score).toBeCloseTo(expected[l]!, 12);
    });
  });
});
