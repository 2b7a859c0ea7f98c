// The spectral radius against NumPy, and what each method answers for.
import { describe, expect, it } from "vitest";
import {
  eigenvalues,
  Matrix,
  matrixSpectralRadius,
  PowerIterationError,
  SpectralRadiusError,
  toSparse,
} from "../../packages/numerics/src/index.js";
import { balanced } from "../../packages/numerics/src/spectrum/balance.js";
import { stronglyConnectedComponents } from "../../packages/numerics/src/spectrum/components.js";
import { casesOf, exhaustive } from "../exhaustive.js";
import { matrixOf, reference, referenceMatrix, reflected, ring, ringWithChord } from "./spectrum-matrices.js";

describe("the spectral radius of random matrices", () => {
  it("is tried on twenty matrices of 50 to 2000 rows, most with a complex dominant pair", () => {
    expect(reference.radii).toHaveLength(20);
    expect(reference.radii.filter((r) => r.dominant === "complex").length).toBeGreaterThanOrEqual(10);
    expect(reference.radii.filter((r) => r.dominant === "real").length).toBeGreaterThanOrEqual(5);
  });

  for (const expected of reference.radii) {
    const { size, density, kind, dominant, radius } = expected;
    it.runIf(exhaustive || size < 1000)(
      `agrees with NumPy to 1e-9: ${size} rows, density ${density}, ${kind}, dominant ${dominant}`,
      () => {
        const matrix = referenceMatrix(expected);
        expect(toSparse(matrix).values.length).toBe(expected.count);
        expect(matrix.data.reduce((sum, x) => sum + x, 0)).toBe(expected.sum);
        const found = matrixSpectralRadius(density < 1 ? toSparse(matrix) : matrix);
        expect(found.method).toBe(size <= 300 ? "dense" : "krylov");
        expect(Math.abs(found.radius / radius - 1)).toBeLessThan(1e-9);
      },
    );
  }

  it("is the same number whether the matrix is dense or sparse", () => {
    for (const size of [120, 400]) {
      const matrix = referenceMatrix({ size, density: 0.1, kind: "uniform", seed: 31 });
      expect(matrixSpectralRadius(toSparse(matrix))).toEqual(matrixSpectralRadius(matrix));
    }
  });

  it("has pinned bits, one matrix for each method", () => {
    // Recorded from this implementation: any change of the order of operations changes them.
    const small = referenceMatrix({ size: 120, density: 0.1, kind: "uniform", seed: 31 });
    const large = toSparse(referenceMatrix({ size: 400, density: 0.1, kind: "uniform", seed: 31 }));
    const thin = toSparse(referenceMatrix({ size: 2100, density: 0.003, kind: "uniform", seed: 31 }));
    expect([small, large, thin].map((matrix) => matrixSpectralRadius(matrix))).toEqual([
      { radius: 2.3530650733261127, method: "dense" },
      { radius: 3.7243015304293943, method: "krylov" },
      { radius: 1.4774579015124396, method: "krylov" },
    ]);
  });

  it("does not depend on the precision of the container", () => {
    const matrix = referenceMatrix({ size: 60, density: 0.2, kind: "bernoulli", seed: 5 });
    expect(matrixSpectralRadius(Matrix.from(matrix, "float32"))).toEqual(matrixSpectralRadius(matrix));
  });

  it("scales with the matrix, far from 1 too", () => {
    const matrix = referenceMatrix({ size: 80, density: 1, kind: "uniform", seed: 6 });
    const { radius } = matrixSpectralRadius(matrix);
    for (const exponent of [-900, 900]) {
      const factor = 2 ** exponent;
      expect(
        matrixSpectralRadius(
          new Matrix(
            80,
            80,
            matrix.data.map((x) => x * factor),
          ),
        ).radius,
      ).toBe(radius * factor);
    }
  });
});

describe("the methods", () => {
  const matrix = toSparse(referenceMatrix({ size: 200, density: 0.1, kind: "uniform", seed: 40 }));

  it("dense and krylov agree to 1e-9", () => {
    const dense = matrixSpectralRadius(matrix, { method: "dense" });
    const krylov = matrixSpectralRadius(matrix, { method: "krylov" });
    expect([dense.method, krylov.method]).toEqual(["dense", "krylov"]);
    expect(Math.abs(krylov.radius / dense.radius - 1)).toBeLessThan(1e-9);
  });

  it("krylov is right on matrices smaller than its basis, and on one of rank one", () => {
    // All ones: rank one, eigenvalue N.
    expect(matrixSpectralRadius(new Matrix(50, 50, new Float64Array(2500).fill(1)), { method: "krylov" }).radius).toBeCloseTo(50, 11);
    // [1 -2; 2 1]: 1 +- 2i.
    expect(
      matrixSpectralRadius(
        Matrix.from([
          [1, -2],
          [2, 1],
        ]),
        { method: "krylov" },
      ).radius,
    ).toBeCloseTo(Math.sqrt(5), 14);
  });

  it("circularLaw gives sqrt(N p var) within the fluctuations of a random matrix", () => {
    const { radius, method } = matrixSpectralRadius(matrix, { method: "circularLaw" });
    expect(method).toBe("circularLaw");
    let squares = 0;
    for (const w of matrix.values) squares += w * w;
    // sqrt(N p var) from the stored values; their mean is some 1e-3 here, and counts for 1e-5 of
    // it.
    expect(radius).toBeCloseTo(Math.sqrt(squares / 200), 4);
    expect(Math.abs(radius / matrixSpectralRadius(matrix).radius - 1)).toBeLessThan(0.1);
  });

  it("circularLaw finds the outlier N mean(w) of a positive matrix", () => {
    const positive = new Matrix(200, 200, referenceMatrix({ size: 200, density: 1, kind: "uniform", seed: 41 }).data.map(Math.abs));
    const exact = matrixSpectralRadius(positive).radius;
    expect(Math.abs(matrixSpectralRadius(positive, { method: "circularLaw" }).radius / exact - 1)).toBeLessThan(0.01);
  });

  it("krylov alone refuses what does not converge, with the size and the residual", () => {
    const matrix = ringWithChord(900, 0.5);
    let error: unknown;
    try {
      matrixSpectralRadius(matrix, { method: "krylov" });
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(SpectralRadiusError);
    const { size, residual, restarts, message } = error as SpectralRadiusError;
    expect(size).toBe(900);
    expect(residual).toBeGreaterThan(1e-10);
    expect(restarts).toBeGreaterThan(0);
    expect(message).toContain("900 rows");
    expect(message).toContain(String(residual));
  });

  it("krylov refuses a converged leader that another Ritz value could still pass", () => {
    // It would be 9e-9 below the radius 1.0053130488691773 = max |x|, x^1300 = 1 + 2 x^1169.
    expect(() => matrixSpectralRadius(ringWithChord(1300, 2, 135), { method: "krylov" })).toThrow(SpectralRadiusError);
  });

  it("auto goes to the dense method where the iteration does not converge", () => {
    const { radius, method } = matrixSpectralRadius(ringWithChord(600, 0.5));
    expect(method).toBe("dense");
    expect(radius).toBeCloseTo(chordRadius(600, 0.5), 12);
  });

  /**
   * The largest root of x^N = 1 + w x^(N - L): the ring has N edges, and the cycle through the
   * chord L.
   */
  function chordRadius(n: number, w: number): number {
    const length = n - 25;
    let low = 1;
    let high = 2;
    for (let i = 0; i < 60; i++) {
      const x = (low + high) / 2;
      if (x ** n > 1 + w * x ** (n - length)) high = x;
      else low = x;
    }
    return low;
  }
});

describe("power iteration", () => {
  const power = { method: "power" } as const;
  const refusal = (matrix: Matrix): PowerIterationError => {
    try {
      return expect.unreachable(String(matrixSpectralRadius(matrix, power).radius)) as never;
    } catch (error) {
      expect(error).toBeInstanceOf(PowerIterationError);
      return error as PowerIterationError;
    }
  };

  it("finds a real dominant eigenvalue: of known spectra, of positive matrices, of a negative one", () => {
    // Eigenvalues 1 and 3; -4 and 1.
    expect(matrixSpectralRadius(Matrix.from([[2, 1], [1, 2]]), power)).toEqual({ radius: 3, method: "power" }); // biome-ignore format: a matrix
    expect(matrixSpectralRadius(Matrix.from([[-2, 3], [2, -1]]), power).radius).toBeCloseTo(4, 12); // biome-ignore format: a matrix
    // All ones: rank one, eigenvalue N.
    expect(matrixSpectralRadius(new Matrix(300, 300, new Float64Array(90_000).fill(1)), power).radius).toBeCloseTo(300, 10);
    const positive = new Matrix(200, 200, referenceMatrix({ size: 200, density: 1, kind: "uniform", seed: 41 }).data.map(Math.abs));
    const exact = matrixSpectralRadius(positive).radius;
    for (const matrix of [positive, toSparse(positive)])
      expect(Math.abs(matrixSpectralRadius(matrix, power).radius / exact - 1)).toBeLessThan(1e-10);
  });

  it("is the same number whether the matrix is dense or sparse, and 0 if W is nilpotent", () => {
    const matrix = new Matrix(120, 120, referenceMatrix({ size: 120, density: 0.1, kind: "uniform", seed: 31 }).data.map(Math.abs));
    expect(matrixSpectralRadius(toSparse(matrix), power)).toEqual(matrixSpectralRadius(matrix, power));
    expect(matrixSpectralRadius(Matrix.from([[0, 1], [0, 0]]), power)).toEqual({ radius: 0, method: "power" }); // biome-ignore format: a matrix
  });

  it("says that it did not converge on a rotation, whose eigenvalues are a complex pair, and what to take", () => {
    const { size, iterations, residual, message, estimates } = refusal(Matrix.from([[0, -2], [2, 0]])); // biome-ignore format: a matrix
    expect([size, iterations]).toEqual([2, 512]);
    expect(residual).toBeGreaterThan(0.1);
    expect(estimates).toEqual([2, 2]);
    expect(message).toMatch(
      /^power iteration on 2 rows did not converge in 512 iterations: its last estimates are 2\.00000 and 2\.00000, its residual is 1\.41, and it takes 1e-10; several eigenvalues .* a complex pair .* ask for the method "krylov"/,
    );
  });

  it("says so of a symmetric matrix with l and -l", () => {
    // Eigenvalues 3, -3 and 1: the vectors of odd steps differ from those of even ones.
    const { residual, message } = refusal(Matrix.from([[0, 3, 0], [3, 0, 0], [0, 0, 1]])); // biome-ignore format: a matrix
    expect(residual).toBeGreaterThan(0.1);
    expect(message).toContain("l and -l");
  });

  it("says so of a random matrix with a complex dominant pair, and krylov takes it", () => {
    const matrix = referenceMatrix(reference.radii.find(({ dominant, size }) => dominant === "complex" && size <= 300)!);
    const { estimates } = refusal(matrix);
    const { radius } = matrixSpectralRadius(matrix, { method: "krylov" });
    for (const estimate of estimates) expect(Math.abs(estimate / radius - 1)).toBeLessThan(2);
  });
});

/** D W D^-1 for the scale of each row: the spectrum of W. */
function scaled(matrix: Matrix, scale: (row: number) => number): Matrix<Float64Array> {
  const n = matrix.rows;
  const scales = Array.from({ length: n }, (_, r) => scale(r));
  return new Matrix(
    n,
    n,
    Float64Array.from(matrix.data, (value, i) => (scales[Math.floor(i / n)]! * value) / scales[i % n]!),
  );
}

/** Symmetric, with w at this distance from the diagonal. */
function band(size: number, weights: readonly number[]): Matrix<Float64Array> {
  const matrix = Matrix.zeros(size, size);
  for (let r = 0; r < size; r++) for (let c = 0; c < size; c++) if (r !== c) matrix.data[r * size + c] = weights[Math.abs(r - c) - 1] ?? 0;
  return matrix;
}

describe("badly scaled matrices", () => {
  const methods = ["auto", "krylov", "dense"] as const;
  const uneven = (row: number) => 10 ** (12 * ((row * 0.6180339887498949) % 1) - 6);

  it.each(
    casesOf(
      [
        { size: 350, density: 1 },
        { size: 350, density: 0.1 },
        { size: 600, density: 0.01 },
      ],
      ({ density }) => density === 0.1,
    ),
  )("D W D^-1 has the radius of W, D from 1e-6 to 1e6: %o", ({ size, density }) => {
    const matrix = referenceMatrix({ size, density, kind: "uniform", seed: 50 });
    const { radius } = matrixSpectralRadius(matrix, { method: "dense" });
    const badly = toSparse(scaled(matrix, uneven));
    for (const method of methods) expect(Math.abs(matrixSpectralRadius(badly, { method }).radius / radius - 1)).toBeLessThan(1e-9);
  });

  it("D W D^-1 of an acyclic W has radius 0, though D spans 1e200", () => {
    const chain = matrixOf(
      400,
      Array.from({ length: 399 }, (_, r) => [r + 1, r, 1] as const),
    );
    for (const method of methods) {
      const badly = scaled(chain, (row) => 10 ** (row / 2 - 100));
      expect(matrixSpectralRadius(badly, { method })).toEqual({ radius: 0, method: "structure" });
    }
  });

  it.each(casesOf([200, 350], (size) => size === 200))(
    "a band of %d rows that is stronger on one side, where every row but the outer ones looks balanced",
    (size) => {
      const symmetric = band(size, [0.5, 0.2]);
      const { radius } = matrixSpectralRadius(symmetric, { method: "dense" });
      for (const ratio of [1.2, 2]) {
        const badly = scaled(symmetric, (row) => ratio ** (row - size / 2));
        for (const method of methods) expect(Math.abs(matrixSpectralRadius(badly, { method }).radius / radius - 1)).toBeLessThan(1e-9);
        expect(Math.abs(eigenvalues(badly).re[0]! / radius - 1)).toBeLessThan(1e-9);
      }
    },
  );

  it.each(casesOf([1e-12, 1e-100, 1e-250], (weight) => weight === 1e-250))(
    "a chain of 350 rows closed by %d, nearly defective: 0.5 + w^(1/N)",
    (weight) => {
      const chain = matrixOf(350, [
        ...Array.from({ length: 350 }, (_, r) => [r, r, 0.5] as const),
        ...Array.from({ length: 349 }, (_, r) => [r, r + 1, 1] as const),
        [349, 0, weight],
      ]);
      for (const method of methods) {
        expect(Math.abs(matrixSpectralRadius(chain, { method }).radius / (0.5 + weight ** (1 / 350)) - 1)).toBeLessThan(1e-10);
      }
    },
  );

  it("keep their bits if their scales do not differ grossly", () => {
    const matrix = referenceMatrix({ size: 350, density: 0.1, kind: "uniform", seed: 51 });
    const [component] = stronglyConnectedComponents(matrix);
    expect(balanced(component!)).toBe(component);
    const [slightly] = stronglyConnectedComponents(scaled(matrix, (row) => 1 + (row % 3) / 2));
    expect(balanced(slightly!)).toBe(slightly);
  });

  it("krylov refuses what rounding hides, and auto goes to the dense method", () => {
    // Eigenvalues +-1e6 beside small ones, |W| = 1e12; mixed by a reflection: no diagonal scaling
    // helps.
    const matrix = referenceMatrix({ size: 350, density: 1, kind: "uniform", seed: 52 });
    for (const [i, value] of [0, 1e12].entries()) matrix.data[i] = value;
    matrix.data[350] = 1;
    for (let c = 2; c < 350; c++) matrix.data[c] = matrix.data[350 + c] = matrix.data[350 * c] = matrix.data[350 * c + 1] = 0;
    matrix.data[351] = 0;
    const mixed = reflected(
      matrix,
      Array.from({ length: 350 }, (_, i) => 1 + ((i * 7) % 5)),
    );
    expect(() => matrixSpectralRadius(mixed, { method: "krylov" })).toThrow(SpectralRadiusError);
    const { radius, method } = matrixSpectralRadius(mixed);
    expect(method).toBe("dense");
    expect(Math.abs(radius / 1e6 - 1)).toBeLessThan(1e-2);
  });
});

describe("bad input", () => {
  it("a matrix that is not square", () => {
    expect(() => matrixSpectralRadius(Matrix.zeros(2, 3))).toThrow("the matrix is 2 x 3; eigenvalues take a square matrix");
  });

  it("a NaN or an infinity, by row and column", () => {
    expect(() =>
      matrixSpectralRadius(
        Matrix.from([
          [1, 0],
          [Number.NaN, 1],
        ]),
      ),
    ).toThrow("the matrix is NaN at row 1, column 0; eigenvalues take finite elements");
    const sparse = toSparse(
      matrixOf(4, [
        [0, 1, 1],
        [2, 3, Number.NEGATIVE_INFINITY],
      ]),
    );
    expect(() => matrixSpectralRadius(sparse)).toThrow("the matrix is -Infinity at row 2, column 3");
  });

  it("a CSR matrix whose columns do not rise", () => {
    const sparse = { ...toSparse(ring(3, () => 1)), columns: Uint32Array.of(2, 0, 7) };
    expect(() => matrixSpectralRadius(sparse)).toThrow("the matrix: row 2 has column 7; it takes columns below 3");
  });

  it("a method that does not exist", () => {
    expect(() => matrixSpectralRadius(Matrix.zeros(1, 1), { method: "powers" as "auto" })).toThrow(
      'method is "powers"; it takes "auto", "dense", "krylov", "power" or "circularLaw"',
    );
  });
});
