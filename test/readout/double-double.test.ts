// Ridge regression in double-double: systems that binary64 cannot solve, with weights that are
// known exactly.
import { describe, expect, it } from "vitest";
import { DoubleDoubleFactor, Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { ridge } from "../../src/index.js";

const draws = new RandomStream(seedKeys("double-double").weights, 0);
const random = (rows: number, cols: number, row = 0) =>
  new Matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, (_, i) => 2 * draws.uniform(row, i) - 1),
  );
const plain = { lambda: 0, intercept: false } as const;

/**
 * Rows of the Hilbert matrix times the least common multiple of its denominators: whole numbers.
 */
function hilbert(n: number): { rows: Matrix<Float64Array>; targets: Matrix<Float64Array>; weights: number[] } {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let multiple = 1;
  for (let k = 2; k < 2 * n; k++) multiple = (multiple * k) / divisor(multiple, k);
  const weights = Array.from({ length: n }, (_, i) => (i % 2 === 0 ? i + 1 : -i));
  const rows = Matrix.zeros(n, n);
  const targets = Matrix.zeros(n, 1);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      rows.data[i * n + j] = multiple / (i + j + 1);
      targets.data[i] = targets.data[i]! + rows.data[i * n + j]! * weights[j]!;
    }
  }
  return { rows, targets, weights };
}

describe('ridge with solver "doubleDouble"', () => {
  it("solves Hilbert's matrix of 12 to fourteen digits, where binary64 has none", () => {
    const { rows, targets, weights } = hilbert(12);
    const worst = (solver: "qr" | "doubleDouble") => {
      const found = ridge({ ...plain, solver }).fit(rows, targets).weights.data;
      return Math.max(...weights.map((weight, i) => Math.abs(found[i]! / weight - 1)));
    };
    expect(worst("doubleDouble")).toBeLessThan(1e-14);
    expect(worst("qr")).toBeGreaterThan(1e-3);
  });

  it("is what binary64 gives for rows that it can solve, with intercept, squares, lambda and grids", () => {
    const states = random(700, 8);
    const targets = random(700, 2, 1);
    for (const options of [
      { lambda: 0.1 },
      { lambda: 1e-8, transform: "squares" as const },
      { lambdas: [1e-4, 1, 100] },
      { lambda: 1, subtractMean: true },
    ]) {
      const qr = ridge({ ...options, solver: "qr" }).fit(states, targets);
      const exact = ridge({ ...options, solver: "doubleDouble" }).fit(states, targets);
      exact.weights.data.forEach((weight, i) => {
        expect(weight).toBeCloseTo(qr.weights.data[i]!, 12);
      });
      exact.intercept.forEach((value, o) => {
        expect(value).toBeCloseTo(qr.intercept[o]!, 12);
      });
      expect(exact.training!.details["lambda"]).toBe(qr.training!.details["lambda"]);
      expect(exact.training!.details["solver"]).toBe("doubleDouble");
    }
  });

  it("does not depend on how rows are cut into calls, and goes on after a solution", () => {
    const states = random(600, 5);
    const targets = random(600, 1, 2);
    const trainer = ridge({ solver: "doubleDouble", lambda: 1e-3 });
    for (const [from, to] of [
      [0, 7],
      [7, 300],
      [300, 600],
    ] as const) {
      trainer.partialFit(states.subarray(from, to), targets.subarray(from, to));
    }
    const whole = ridge({ solver: "doubleDouble", lambda: 1e-3 }).fit(states, targets);
    expect(trainer.solve().weights.data).toEqual(whole.weights.data);
    expect(trainer.solve().weights.data).toEqual(whole.weights.data);
  });

  it("says that rows do not determine the weights", () => {
    const states = random(50, 3);
    const doubled = new Matrix(
      50,
      4,
      Float64Array.from({ length: 200 }, (_, i) => states.data[(i >> 2) * 3 + Math.min(i & 3, 2)]!),
    );
    expect(() => ridge({ ...plain, solver: "doubleDouble" }).fit(doubled, random(50, 1, 3))).toThrow(/do not determine|singular/i);
  });
});

describe("the factor", () => {
  it("adds another one as its rows would be, residuals with them, and refuses one of another shape", () => {
    const [x, y] = [random(400, 4), random(400, 2, 5)];
    const factorOf = (from: number, to: number) => {
      const factor = new DoubleDoubleFactor(4, 2);
      factor.add([{ matrix: x.subarray(from, to), square: "none" }], [{ matrix: y.subarray(from, to), square: "none" }], to - from);
      return factor;
    };
    const whole = factorOf(0, 400);
    const parts = factorOf(0, 150);
    parts.merge(factorOf(150, 400));
    expect(parts.rows).toBe(400);
    const [ours, theirs] = [parts.solve(), whole.solve()];
    ours.data.forEach((value, i) => {
      expect(value).toBeCloseTo(theirs.data[i]!, 14);
    });
    parts.residualSquares.forEach((value, o) => {
      expect(value).toBeCloseTo(whole.residualSquares[o]!, 11);
    });
    expect(() => parts.merge(new DoubleDoubleFactor(3, 2))).toThrow("cannot be added");
  });
});
