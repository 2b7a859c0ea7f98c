import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { effectiveRank, numericalRank, singularValues } from "../../src/analysis/index.js";
import { Matrix } from "../../src/index.js";

describe("singular values", () => {
  it("of [[3, 0], [4, 5]] are sqrt(45) and sqrt(5)", () => {
    const [first, second] = singularValues(Matrix.from([[3, 0], [4, 5]])); // biome-ignore format: a matrix
    expect(first).toBeCloseTo(Math.sqrt(45), 14);
    expect(second).toBeCloseTo(Math.sqrt(5), 14);
  });

  it("of the 5 x 5 Hilbert matrix are those of NumPy", () => {
    const hilbert = Matrix.from(Array.from({ length: 5 }, (_, i) => Array.from({ length: 5 }, (_, j) => 1 / (i + j + 1))));
    // numpy.linalg.svd, LAPACK in binary64.
    const known = [1.5670506910982314, 0.20853421861101337, 0.0114074916234198, 0.0003058980401511861, 3.2879287721717e-6];
    singularValues(hilbert).forEach((value, k) => {
      expect(Math.abs(value - known[k]!)).toBeLessThan(1e-14);
    });
  });

  it("of a diagonal matrix are its absolute values, falling, however large or small", () => {
    const data = new Float64Array(16);
    data.set([1e200, 0, 0, 0, 0, -3e200, 0, 0, 0, 0, 5e190]);
    expect(Array.from(singularValues(new Matrix(4, 4, data)), (value) => value / 1e200)).toEqual([
      expect.closeTo(3, 12),
      expect.closeTo(1, 12),
      expect.closeTo(5e-10, 15),
      0,
    ]);
    expect(Array.from(singularValues(Matrix.zeros(3, 5)))).toEqual([0, 0, 0]);
    expect(singularValues(Matrix.zeros(0, 5)).length).toBe(0);
    expect(Array.from(singularValues(Matrix.from([[0, -7]])))).toEqual([expect.closeTo(7, 12)]);
  });

  it.each([
    {
      name: "a tiny column",
      rows: [
        [1e-170, 1, 2],
        [1e-162, 0, 3],
        [1e-165, 0, 0],
      ],
      squares: 14,
      product: 3,
    },
    {
      name: "a pivot of 0 on the way",
      rows: [
        [-8e-93, -1],
        [0, 0],
        [0, 1],
      ],
      squares: 2,
      product: 0,
    },
  ])("keep their digits in spite of $name", ({ rows, squares, product }) => {
    const [first, second] = singularValues(Matrix.from(rows)) as unknown as [number, number];
    expect(first * first + second * second).toBeCloseTo(squares, 13);
    expect(first * second).toBeCloseTo(product, 13);
  });

  const matrices = fc
    .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }))
    .chain(([rows, cols]) =>
      fc
        .array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: rows * cols, maxLength: rows * cols })
        .map((values) => new Matrix(rows, cols, Float64Array.from(values))),
    );

  it("have the sum of squares of the entries, and are those of the transpose", () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        const values = singularValues(matrix);
        expect(values.length).toBe(Math.min(matrix.rows, matrix.cols));
        const squares = matrix.data.reduce((sum, x) => sum + x * x, 0);
        expect(values.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(squares, 8);
        const transpose = Matrix.zeros(matrix.cols, matrix.rows);
        for (let r = 0; r < matrix.rows; r++) for (let c = 0; c < matrix.cols; c++) transpose.data[c * matrix.rows + r] = matrix.at(r, c);
        singularValues(transpose).forEach((value, k) => {
          expect(value).toBeCloseTo(values[k]!, 12);
        });
      }),
    );
  });

  it("give the rank of a product of thin matrices", () => {
    const wave = (rows: number, cols: number, f: number) =>
      new Matrix(
        rows,
        cols,
        Float64Array.from({ length: rows * cols }, (_, i) => Math.sin(f * (i + 1) * (i + 1))),
      );
    const a = wave(40, 6, 0.37);
    const b = wave(6, 30, 0.73);
    const product = Matrix.zeros(40, 30);
    for (let r = 0; r < 40; r++) {
      for (let c = 0; c < 30; c++) for (let k = 0; k < 6; k++) product.data[r * 30 + c]! += a.at(r, k) * b.at(k, c);
    }
    expect(numericalRank(singularValues(product), 40 * 2 ** -52)).toBe(6);
  });

  it("give an effective rank between 1 and their number, whatever their scale", () => {
    expect(effectiveRank(Float64Array.of(3, 3, 3, 3))).toBeCloseTo(4, 14);
    expect(effectiveRank(Float64Array.of(1e300, 0, 0))).toBe(1);
    expect(effectiveRank(Float64Array.of(1e-300, 1e-300))).toBeCloseTo(2, 14);
    // p = 2/3, 1/3: exp(ln 3 - 2/3 ln 2).
    expect(effectiveRank(Float64Array.of(2, 1))).toBeCloseTo(3 / 2 ** (2 / 3), 14);
    expect(effectiveRank(new Float64Array(3))).toBe(0);
    expect(() => effectiveRank(Float64Array.of(1, -1))).toThrow("values[1] is -1; it takes a finite number of at least 0");
    expect(() => effectiveRank(undefined as never)).toThrow("values is missing; it takes a list of singular values");
  });

  it("of a matrix with an infinity: the error names its place", () => {
    expect(() => singularValues(Matrix.from([[1, 2], [3, 1 / 0]]))).toThrow("matrix[1, 1] is Infinity; it takes finite numbers"); // biome-ignore format: a matrix
  });
});
