// A random orthogonal matrix: every eigenvalue on the unit circle.
import { drawRows, Matrix, type RandomStream, type SparseMatrix } from "@spillway/numerics";
import type { Topology } from "./topology.js";

/** The matrix of {@link orthogonalMatrix}. Dense; the radius is 1. */
export const orthogonal: Topology = {
  name: "orthogonal",
  description: "A random orthogonal matrix.",
  options: {},
  expectedNonzeros: (_options, { size }) => size * size,
  build: (_options, { size, values }) => ({ matrix: fullRows(orthogonalMatrix(size, values)), radius: 1 }),
};

/**
 * Haar-distributed: the product of Householder reflections of Gaussian vectors v_k of length N - k
 * (draws (k, 0 ... N-k-1), normal, purpose 0), with the signs that make it uniform (Stewart 1980;
 * Mezzadri 2007, section 5).
 */
export function orthogonalMatrix(size: number, values: RandomStream): Matrix<Float64Array> {
  const q = new Float64Array(size * size);
  for (let i = 0; i < size; i++) q[i * size + i] = 1;
  // Row k has N - k draws.
  const starts = Uint32Array.from({ length: size + 1 }, (_, k) => (k * (2 * size - k + 1)) / 2);
  const normals = drawRows(values, "normal", starts);
  const dots = new Float64Array(size);
  // From the last reflection to the first, each acts on the trailing rows only.
  for (let k = size - 1; k >= 0; k--) {
    const length = size - k;
    const v = normals.subarray(starts[k]!, starts[k + 1]!);
    let norm = 0;
    for (let i = 0; i < length; i++) norm += v[i]! * v[i]!;
    norm = Math.sqrt(norm);
    const sign = v[0]! < 0 ? -1 : 1;
    v[0] = v[0]! + sign * norm;
    let square = 0;
    for (let i = 0; i < length; i++) square += v[i]! * v[i]!;
    if (square === 0) continue;
    dots.fill(0);
    for (let i = 0; i < length; i++) {
      const row = (k + i) * size;
      for (let c = k; c < size; c++) dots[c] = dots[c]! + v[i]! * q[row + c]!;
    }
    for (let i = 0; i < length; i++) {
      const row = (k + i) * size;
      const factor = (2 * v[i]!) / square;
      for (let c = k; c < size; c++) q[row + c] = q[row + c]! - factor * dots[c]!;
    }
    for (let c = k; c < size; c++) q[k * size + c] = -sign * q[k * size + c]!;
  }
  return new Matrix(size, size, q);
}

/** A dense square matrix as CSR that keeps every element. */
function fullRows({ rows: size, data: values }: Matrix<Float64Array>): SparseMatrix<Float64Array> {
  const rowOffsets = Uint32Array.from({ length: size + 1 }, (_, r) => r * size);
  const columns = Uint32Array.from({ length: size * size }, (_, p) => p % size);
  return { rows: size, cols: size, rowOffsets, columns, values };
}
