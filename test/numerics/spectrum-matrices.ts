// The matrices of the spectrum tests: those that fixtures/spectrum.py makes, by the same integer
// hash, and small structured ones.
import { readFileSync } from "node:fs";
import { Matrix, type SparseMatrix, toSparse } from "../../packages/numerics/src/index.js";

/** A matrix that NumPy has seen; `count` and `sum` of its nonzeros are exact. */
export interface ReferenceMatrix {
  readonly size: number;
  readonly density: number;
  readonly kind: "uniform" | "bernoulli" | "shifted";
  readonly seed: number;
  readonly count: number;
  readonly sum: number;
}

export interface SpectrumReference {
  readonly radii: readonly (ReferenceMatrix & { readonly radius: number; readonly dominant: "real" | "complex" })[];
  readonly lists: readonly (ReferenceMatrix & { readonly re: readonly number[]; readonly im: readonly number[] })[];
}

export const reference = JSON.parse(readFileSync(new URL("./fixtures/spectrum.json", import.meta.url), "utf8")) as SpectrumReference;

/** The finalizer of MurmurHash3. */
function mix(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

export function referenceMatrix({ size, density, kind, seed }: Omit<ReferenceMatrix, "count" | "sum">): Matrix<Float64Array> {
  const matrix = Matrix.zeros(size, size);
  const key = mix(seed);
  for (let index = 0; index < size * size; index++) {
    const choice = mix(index ^ key);
    if (choice >= density * 4294967296) continue;
    const value = mix((choice + 0x9e3779b9) | 0);
    if (kind === "bernoulli") matrix.data[index] = value < 2147483648 ? -1 : 1;
    else matrix.data[index] = (value - 2147483648 + (kind === "shifted" ? 268435456 : 0)) / 2147483648;
  }
  return matrix;
}

/** A matrix from its nonzeros, [row, column, value]. */
export function matrixOf(size: number, entries: Iterable<readonly [number, number, number]>): Matrix<Float64Array> {
  const matrix = Matrix.zeros(size, size);
  for (const [r, c, value] of entries) matrix.data[r * size + c] = value;
  return matrix;
}

/** The ring 0 -> 1 -> ... -> 0, weight of the edge into row r given by `weight`. */
export function ring(size: number, weight: (row: number) => number): Matrix<Float64Array> {
  return matrixOf(
    size,
    Array.from({ length: size }, (_, r) => [r, (r + size - 1) % size, weight(r)]),
  );
}

/**
 * A ring of `size` rows with one chord into row 5: its eigenvalues crowd on a circle, and no
 * iteration tells them apart.
 */
export function ringWithChord(size: number, weight: number, from = size - 21): SparseMatrix {
  const matrix = ring(size, () => 1);
  matrix.data[5 * size + from] = weight;
  return toSparse(matrix);
}

/**
 * H M H for the Householder reflection H = I - 2 v v^T / v^T v: dense, and with the spectrum of M.
 */
export function reflected(matrix: Matrix, v: readonly number[]): Matrix<Float64Array> {
  const n = matrix.rows;
  const out = Matrix.from(matrix);
  const square = v.reduce((sum, x) => sum + x * x, 0);
  for (const [step, next] of [
    [n, 1],
    [1, n],
  ] as const) {
    for (let line = 0; line < n; line++) {
      let dot = 0;
      for (let i = 0; i < n; i++) dot += v[i]! * out.data[line * next + i * step]!;
      for (let i = 0; i < n; i++) out.data[line * next + i * step]! -= ((2 * dot) / square) * v[i]!;
    }
  }
  return out;
}
