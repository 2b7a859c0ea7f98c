// The triangular factor of rule 11, bit for bit, and that it keeps the digits that normal equations
// lose.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cholesky,
  Matrix,
  MemoryLimitError,
  mirrorLowerTriangle,
  NotPositiveDefiniteError,
  PortableGram,
  TriangularFactor,
} from "../../packages/numerics/src/index.js";
import { amount } from "../exhaustive.js";
import { bits, PlainTriangle, plainGram, randomMatrix } from "./linear-algebra-reference.js";

function factorOf(x: Matrix, y: Matrix, portions: readonly number[] = [x.rows]): TriangularFactor {
  const factor = new TriangularFactor(x.cols, y.cols);
  for (let first = 0, p = 0; first < x.rows; p++) {
    const rows = Math.min(portions[p % portions.length]!, x.rows - first);
    factor.add(
      [{ matrix: x.subarray(first, first + rows), square: "none" }],
      [{ matrix: y.subarray(first, first + rows), square: "none" }],
      rows,
    );
    first += rows;
  }
  return factor;
}

function plainOf(x: Matrix, y: Matrix): PlainTriangle {
  const plain = new PlainTriangle(x.cols, y.cols);
  const rows = Array.from({ length: x.rows }, (_, t) => [...x.row(t), ...y.row(t)]);
  for (let first = 0; first < rows.length; first += 256) plain.add(rows.slice(first, first + 256));
  return plain;
}

function addPlainDiagonal(plain: PlainTriangle, diagonal: readonly number[], targets: number): void {
  const width = diagonal.length + targets;
  for (let first = 0; first < diagonal.length; first += 256) {
    const block = diagonal.slice(first, first + 256).map((value, t) => {
      const row = new Array<number>(width).fill(0);
      row[first + t] = value;
      return row;
    });
    plain.add(block, first);
  }
}

describe("the triangular factor", () => {
  it("has the bits of plain loops, with a diagonal and without, however the rows are cut", () => {
    const shape = fc.record({
      rows: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constantFrom(255, 256, 257, 600)),
      features: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(35, 36, 37, 42, 73, 80)),
      targets: fc.integer({ min: 1, max: 8 }),
      portions: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }),
      precision: fc.constantFrom("float32" as const, "float64" as const),
    });
    fc.assert(
      fc.property(shape, ({ rows, features, targets, portions, precision }) => {
        const x = randomMatrix(rows, features, "x", precision);
        const y = randomMatrix(rows, targets, "y");
        const factor = factorOf(x, y, portions);
        const plain = plainOf(x, y);
        const triangle = factor.clone().triangle();
        for (let i = 0; i < features; i++) {
          expect(bits(triangle.row(i).subarray(i))).toEqual(bits(plain.r[i]!.slice(i, features)));
          expect(bits(factor.clone().transformedTargets().row(i))).toEqual(bits(plain.r[i]!.slice(features)));
        }
        const diagonal = Array.from({ length: features }, (_, i) => (i === features - 1 ? 0 : 0.125));
        if (rows < features) return;
        factor.addDiagonal(diagonal);
        addPlainDiagonal(plain, diagonal, targets);
        const solved = factor.solve();
        for (let o = 0; o < targets; o++) expect(bits(solved.column(o))).toEqual(bits(plain.solve(o)));
      }),
      { numRuns: amount(40, 10), seed: 3 },
    );
  });

  it("has them for more features than one block of the diagonal holds", () => {
    const x = randomMatrix(300, 290, "wide");
    const y = randomMatrix(300, 1, "y");
    const factor = factorOf(x, y);
    const plain = plainOf(x, y);
    const diagonal = new Array<number>(290).fill(0.5);
    factor.addDiagonal(diagonal);
    addPlainDiagonal(plain, diagonal, 1);
    expect(bits(factor.solve().column(0))).toEqual(bits(plain.solve(0)));
  });

  it("gives R^T R = X^T X and R^T Q^T Y = X^T Y", () => {
    const x = randomMatrix(700, 50, "x");
    const y = randomMatrix(700, 3, "y");
    const factor = factorOf(x, y);
    const r = factor.triangle();
    const z = factor.transformedTargets();
    const expected = plainGram(Matrix.from(Array.from({ length: 700 }, (_, t) => [...x.row(t), ...y.row(t)])));
    for (let i = 0; i < 50; i++) {
      for (let j = 0; j < 53; j++) {
        let sum = 0;
        for (let k = 0; k <= i; k++) sum += r.at(k, i) * (j < 50 ? r.at(k, j) : z.at(k, j - 50));
        expect(sum).toBeCloseTo(expected.at(i, j), 10);
      }
    }
  });

  it("counts what no weights explain as residual", () => {
    const x = Matrix.from([1, 1, 1, 1]);
    const factor = factorOf(x, Matrix.from([1, 2, 3, 6]));
    factor.finish();
    expect(factor.residualSquares[0]).toBeCloseTo(4 + 1 + 0 + 9, 12);
    expect(factor.solve().at(0, 0)).toBeCloseTo(3, 12);
  });

  it("can be asked in the middle of a block without changing what follows", () => {
    const x = randomMatrix(400, 12, "x");
    const y = randomMatrix(400, 1, "y");
    const factor = factorOf(x.subarray(0, 150), y.subarray(0, 150));
    expect(bits(factor.clone().solve().data)).toEqual(bits(factorOf(x.subarray(0, 150), y.subarray(0, 150)).solve().data));
    factor.add([{ matrix: x.subarray(150), square: "none" }], [{ matrix: y.subarray(150), square: "none" }], 250);
    expect(bits(factor.solve().data)).toEqual(bits(factorOf(x, y).solve().data));
  });

  it("adds another one by taking in its triangle as rows", () => {
    const x = randomMatrix(900, 40, "x");
    const y = randomMatrix(900, 2, "y");
    const first = factorOf(x.subarray(0, 333), y.subarray(0, 333));
    const second = factorOf(x.subarray(333), y.subarray(333));
    const plain = plainOf(x.subarray(0, 333), y.subarray(0, 333));
    plain.add(plainOf(x.subarray(333), y.subarray(333)).r);
    first.merge(second);
    const merged = first.solve();
    expect(bits(merged.column(1))).toEqual(bits(plain.solve(1)));
    const whole = factorOf(x, y);
    const expected = whole.solve();
    merged.data.forEach((value, i) => {
      expect(value).toBeCloseTo(expected.data[i]!, 11);
    });
    expect(first.rows).toBe(900);
    expect(first.residualSquares[0]).toBeCloseTo(whole.residualSquares[0]!, 9);
  });

  it("keeps the digits that normal equations lose: polynomials of degree 11 on 60 points", () => {
    // Condition about 1e8: its square is beyond binary64. The targets are the exact sum of all
    // powers, so every weight is 1.
    const points = Array.from({ length: 60 }, (_, t) => t / 64);
    const x = Matrix.from(points.map((p) => Array.from({ length: 12 }, (_, k) => p ** k)));
    const y = Matrix.from(Array.from({ length: 60 }, (_, t) => x.row(t).reduce((sum, value) => sum + value, 0)));
    const worst = (weights: Float64Array): number => Math.max(...weights.map((value) => Math.abs(value - 1)));
    expect(worst(factorOf(x, y).solve().data)).toBeLessThan(1e-5);
    const gram = new PortableGram(13);
    gram.add(
      [
        { matrix: x, square: "none" },
        { matrix: y, square: "none" },
      ],
      60,
    );
    const all = mirrorLowerTriangle(gram.lowerTriangle());
    const a = Matrix.from(Array.from({ length: 12 }, (_, i) => Array.from(all.row(i).subarray(0, 12))));
    const c = Matrix.from(Array.from({ length: 12 }, (_, i) => all.at(i, 12)));
    let normal = Number.POSITIVE_INFINITY;
    try {
      normal = worst(cholesky(a).solve(c).data);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(NotPositiveDefiniteError);
    }
    expect(normal).toBeGreaterThan(1e-3);
  });

  it("refuses what does not fit 4 GiB before it allocates, and use after dispose", () => {
    expect(() => new TriangularFactor(24000, 1)).toThrow(MemoryLimitError);
    const factor = new TriangularFactor(2, 1);
    factor.dispose();
    expect(() => factor.solve()).toThrow("the triangular factor was disposed; create a new one");
  });
});
