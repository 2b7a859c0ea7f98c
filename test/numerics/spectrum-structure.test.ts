// Matrices whose spectral radius is known from their structure: the answers are exact where the
// mathematics is.
import { describe, expect, it } from "vitest";
import { Matrix, matrixSpectralRadius, type SparseMatrix, toSparse } from "../../packages/numerics/src/index.js";
import { exhaustive } from "../exhaustive.js";
import { matrixOf, referenceMatrix, reflected, ring } from "./spectrum-matrices.js";

const structure = "structure";

describe("rings", () => {
  it("of equal weights give the weight, exactly", () => {
    for (const [size, weight] of [
      [2, 0.1],
      [7, -0.7],
      [100, 0.9],
      [1000, 0.9],
      [5000, 1 / 3],
    ] as const) {
      expect(matrixSpectralRadius(toSparse(ring(size, () => weight)))).toEqual({ radius: Math.abs(weight), method: structure });
    }
  });

  it("of mixed signs give the same", () => {
    expect(matrixSpectralRadius(ring(31, (r) => (r % 3 === 0 ? -0.9 : 0.9)))).toEqual({ radius: 0.9, method: structure });
  });

  it("of unequal weights give the geometric mean", () => {
    // 2 * 1/2 = 1 and 9 * 1 = 3^2, in every bit.
    expect(matrixSpectralRadius(ring(2, (r) => [2, 0.5][r]!)).radius).toBe(1);
    expect(matrixSpectralRadius(ring(2, (r) => [9, 1][r]!)).radius).toBe(3);
    // (100!)^(1/100) = 37.99268934483432..., with Python's decimal at 50 digits.
    expect(matrixSpectralRadius(ring(100, (r) => r + 1)).radius).toBeCloseTo(37.99268934483432, 13);
  });

  it("neither overflow nor underflow", () => {
    expect(matrixSpectralRadius(ring(300, (r) => (r % 2 === 0 ? 1e300 : 1e-300))).radius).toBeCloseTo(1, 14);
    expect(matrixSpectralRadius(ring(300, () => 1e-310))).toEqual({ radius: 1e-310, method: structure });
    expect(matrixSpectralRadius(ring(50, (r) => (r % 2 === 0 ? 1.5e308 : 1.6e308))).radius / 1.549193338482967e308).toBeCloseTo(1, 14);
  });

  it("[0 -1; 1 0] gives exactly 1", () => {
    expect(
      matrixSpectralRadius(
        Matrix.from([
          [0, -1],
          [1, 0],
        ]),
      ),
    ).toEqual({ radius: 1, method: structure });
  });

  it("a permutation matrix is several of them", () => {
    const size = 97;
    const matrix = matrixOf(
      size,
      Array.from({ length: size }, (_, r) => [r, (r * 5 + 3) % size, 0.75]),
    );
    expect(matrixSpectralRadius(matrix)).toEqual({ radius: 0.75, method: structure });
  });
});

describe("nilpotent and triangular matrices", () => {
  it("no element, or none that is not 0, gives 0", () => {
    expect(matrixSpectralRadius(Matrix.zeros(0, 0))).toEqual({ radius: 0, method: structure });
    expect(matrixSpectralRadius(Matrix.zeros(5, 5))).toEqual({ radius: 0, method: structure });
    const explicit: SparseMatrix = { ...toSparse(ring(4, () => 1)), values: new Float64Array(4) };
    expect(matrixSpectralRadius(explicit)).toEqual({ radius: 0, method: structure });
  });

  it("a chain, however long, gives exactly 0", () => {
    const chain = matrixOf(
      2000,
      Array.from({ length: 1999 }, (_, i) => [i + 1, i, 3]),
    );
    expect(matrixSpectralRadius(toSparse(chain))).toEqual({ radius: 0, method: structure });
  });

  it("a strictly triangular matrix with its rows and columns permuted gives exactly 0", () => {
    const size = 60;
    const dense = referenceMatrix({ size, density: 1, kind: "uniform", seed: 50 });
    const permuted = (i: number): number => (i * 37 + 11) % size;
    const matrix = Matrix.zeros(size, size);
    for (let r = 0; r < size; r++) for (let c = 0; c < r; c++) matrix.data[permuted(r) * size + permuted(c)] = dense.at(r, c);
    expect(matrixSpectralRadius(matrix)).toEqual({ radius: 0, method: structure });
  });

  it("1 x 1 gives |w|", () => {
    expect(matrixSpectralRadius(Matrix.from([[-3]]))).toEqual({ radius: 3, method: structure });
  });

  it("a triangular matrix, a Jordan block among them, gives its largest diagonal element exactly", () => {
    const jordan = matrixOf(
      40,
      Array.from({ length: 79 }, (_, i) => (i < 40 ? [i, i, 0.7] : [i - 40, i - 39, 1])),
    );
    expect(matrixSpectralRadius(jordan)).toEqual({ radius: 0.7, method: structure });
  });
});

describe("reducible matrices", () => {
  const size = 90;
  const blocks = [0, 1, 2].map((seed) => referenceMatrix({ size: 30, density: 0.5, kind: "uniform", seed: 60 + seed }));
  const upper = referenceMatrix({ size, density: 0.3, kind: "uniform", seed: 63 });
  const matrix = Matrix.zeros(size, size);
  for (let r = 0; r < size; r++) {
    for (let c = 0; c < size; c++) {
      const block = Math.floor(r / 30);
      const other = Math.floor(c / 30);
      if (block === other) matrix.data[r * size + c] = blocks[block]!.at(r % 30, c % 30);
      else if (other > block) matrix.data[r * size + c] = 100 * upper.at(r, c);
    }
  }

  it("have the largest radius of their blocks, whatever couples them", () => {
    expect(matrixSpectralRadius(matrix)).toEqual({
      radius: Math.max(...blocks.map((b) => matrixSpectralRadius(b).radius)),
      method: "dense",
    });
  });

  it("report the method of the block that won", () => {
    const withLoop = Matrix.from(matrix);
    for (let c = 0; c < 30; c++) withLoop.data[c] = 0;
    withLoop.data[0] = 50;
    expect(matrixSpectralRadius(withLoop)).toEqual({ radius: 50, method: structure });
  });

  it("rows without an element are rows of their own", () => {
    const gaps = matrixOf(10, [
      [1, 4, 2],
      [4, 1, 2],
      [4, 4, 1],
      [7, 2, 9],
    ]);
    // [0 2; 2 1]: (1 + sqrt(17)) / 2.
    expect(matrixSpectralRadius(gaps).radius).toBeCloseTo((1 + Math.sqrt(17)) / 2, 14);
  });
});

describe("orthogonal matrices", () => {
  /**
   * A product of two reflections and rotations by distinct angles: orthogonal, dense, no two
   * eigenvalues equal.
   */
  function orthogonal(size: number): Matrix {
    const rotations = Matrix.zeros(size, size);
    for (let i = 0; i + 1 < size; i += 2) {
      const angle = 0.1 + (3 * i) / size;
      rotations.data.set([Math.cos(angle), -Math.sin(angle)], i * size + i);
      rotations.data.set([Math.sin(angle), Math.cos(angle)], (i + 1) * size + i);
    }
    if (size % 2 === 1) rotations.data[size * size - 1] = 1;
    const v = Array.from({ length: size }, (_, i) => Math.sin(1 + i * i));
    const w = Array.from({ length: size }, (_, i) => Math.cos(2 + i));
    return reflected(reflected(rotations, v), w);
  }

  it("have radius 1 to 1e-12, by the dense method", () => {
    for (const size of [3, 50, 201]) expect(Math.abs(matrixSpectralRadius(orthogonal(size)).radius - 1)).toBeLessThan(1e-12);
  });

  it("have radius 1 to 1e-12 where they are large, recognized as what they are", () => {
    const { radius, method } = matrixSpectralRadius(orthogonal(700));
    expect(method).toBe(structure);
    expect(Math.abs(radius - 1)).toBeLessThan(1e-12);
  });

  it("times c have radius c, tiny or huge", () => {
    const matrix = orthogonal(400);
    for (const c of [1e-200, 0.95, 1e200]) {
      const { radius } = matrixSpectralRadius(
        new Matrix(
          400,
          400,
          Float64Array.from(matrix.data, (x) => x * c),
        ),
      );
      expect(Math.abs(radius / c - 1)).toBeLessThan(1e-12);
    }
  });

  it("with one element changed are no longer taken for one", () => {
    const matrix = orthogonal(400);
    matrix.data[5 * 400 + 17]! += 1e-6;
    expect(matrixSpectralRadius(matrix).method).not.toBe(structure);
  });
});

describe("matrices that are hard for an iteration", () => {
  it("a delay line with feedback: 2 sqrt(a b) cos(pi / (N + 1)), the radius of a tridiagonal Toeplitz matrix", () => {
    for (const size of [50, 300, 800]) {
      const line = matrixOf(
        size,
        Array.from({ length: 2 * size - 2 }, (_, i) => (i < size - 1 ? [i + 1, i, 1] : [i - size + 1, i - size + 2, 0.3])),
      );
      const exact = 2 * Math.sqrt(0.3) * Math.cos(Math.PI / (size + 1));
      expect(Math.abs(matrixSpectralRadius(toSparse(line)).radius / exact - 1)).toBeLessThan(1e-10);
    }
  });

  it("a delay line with negative feedback has the same radius", () => {
    const line = matrixOf(
      200,
      Array.from({ length: 398 }, (_, i) => (i < 199 ? [i + 1, i, 1] : [i - 199, i - 198, -0.3])),
    );
    expect(matrixSpectralRadius(line).radius).toBeCloseTo(2 * Math.sqrt(0.3) * Math.cos(Math.PI / 201), 10);
  });

  it("a lattice of equal weights: 4 neighbours give 4", () => {
    const size = 500;
    const entries: [number, number, number][] = [];
    for (let r = 0; r < size; r++) for (const d of [1, 2, size - 2, size - 1]) entries.push([r, (r + d) % size, 1]);
    expect(matrixSpectralRadius(toSparse(matrixOf(size, entries))).radius).toBeCloseTo(4, 10);
  });

  it.runIf(exhaustive)("a ring with jumps, and the same with one row and its column scaled against each other", () => {
    const size = 2100;
    const build = (scale: number): SparseMatrix => {
      const matrix = ring(size, () => 1);
      for (let i = 0; i + 7 < size; i += 7) {
        matrix.data[(i + 7) * size + i] = 0.4;
        matrix.data[i * size + i + 7] = 0.4;
      }
      for (let i = 0; i < size; i++) {
        matrix.data[70 * size + i]! *= scale;
        matrix.data[i * size + 70]! /= scale;
      }
      return toSparse(matrix);
    };
    const { radius, method } = matrixSpectralRadius(build(1));
    expect(method).toBe("krylov");
    // NumPy: 1.1760812189137573 (eigvals of the dense matrix).
    expect(radius).toBeCloseTo(1.1760812189137573, 9);
    expect(matrixSpectralRadius(build(2 ** 17)).radius).toBeCloseTo(radius, 8);
  });

  it("weights of very different size, balanced before anything else", () => {
    // x^3 = 1e200 + ...: the cycle 0 -> 1 -> 2 -> 0 rules, its cube root is 4.641588833612779e66.
    const wild = Matrix.from([
      [1e-5, 1e-200, 1],
      [1e200, 1e-5, 1],
      [0, 1, 1],
    ]);
    expect(matrixSpectralRadius(wild).radius / 4.641588833612779e66).toBeCloseTo(1, 12);
  });

  it("a Jordan block in another basis: the eigenvalue to the cube root of rounding, as the condition of the problem says", () => {
    const jordan = Matrix.from([
      [0.5, 1, 0],
      [0, 0.5, 1],
      [0, 0, 0.5],
    ]);
    expect(Math.abs(matrixSpectralRadius(reflected(jordan, [1, 2, 3])).radius - 0.5)).toBeLessThan(1e-4);
  });
});
