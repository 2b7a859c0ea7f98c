// A row of W times the sines and the cosines at once: `rowDot` of both, with the same bits, in a
// tenth of its time.
import { type FloatArray, isSparse, type Matrix, type SparseMatrix } from "../numerics/index.js";

/**
 * Row i of W times x into `p[i]` and times y into `q[i]`, in the order of docs/numerics.md, rules 1
 * and 2.
 */
export type RowDots = (i: number, x: FloatArray, y: FloatArray, p: FloatArray, q: FloatArray) => void;

/** The products of a matrix with two vectors of its precision. */
export function rowDots(weights: Matrix | SparseMatrix): RowDots {
  if (isSparse(weights)) return sparseDots(weights);
  return weights.data instanceof Float32Array ? denseDots32(weights, weights.data) : denseDots64(weights, weights.data);
}

function denseDots32({ cols }: Matrix, data: Float32Array): RowDots {
  const sums = [new Float32Array(32), new Float32Array(32)] as const;
  return (i, x, y, p, q) => {
    const row = i * cols;
    for (let l = 0; l < 32; l++) {
      let a = 0;
      let b = 0;
      for (let k = l; k < cols; k += 32) {
        const w = data[row + k]!;
        a = Math.fround(a + Math.fround(w * x[k]!));
        b = Math.fround(b + Math.fround(w * y[k]!));
      }
      sums[0][l] = a;
      sums[1][l] = b;
    }
    p[i] = folded(sums[0]);
    q[i] = folded(sums[1]);
  };
}

function denseDots64({ cols }: Matrix, data: Float64Array | Float32Array): RowDots {
  const sums = [new Float64Array(32), new Float64Array(32)] as const;
  return (i, x, y, p, q) => {
    const row = i * cols;
    for (let l = 0; l < 32; l++) {
      let a = 0;
      let b = 0;
      for (let k = l; k < cols; k += 32) {
        const w = data[row + k]!;
        a += w * x[k]!;
        b += w * y[k]!;
      }
      sums[0][l] = a;
      sums[1][l] = b;
    }
    p[i] = folded(sums[0]);
    q[i] = folded(sums[1]);
  };
}

function sparseDots({ rowOffsets, columns, values }: SparseMatrix): RowDots {
  const isSingle = values instanceof Float32Array;
  const sums = isSingle ? [new Float32Array(8), new Float32Array(8)] : [new Float64Array(8), new Float64Array(8)];
  const [first, second] = sums as [FloatArray, FloatArray];
  return (i, x, y, p, q) => {
    first.fill(0);
    second.fill(0);
    const start = rowOffsets[i]!;
    for (let m = start; m < rowOffsets[i + 1]!; m++) {
      const l = (m - start) & 7;
      const k = columns[m]!;
      const [a, b] = [values[m]! * x[k]!, values[m]! * y[k]!];
      // A sum is rounded as it is stored.
      first[l] = first[l]! + (isSingle ? Math.fround(a) : a);
      second[l] = second[l]! + (isSingle ? Math.fround(b) : b);
    }
    p[i] = folded(first);
    q[i] = folded(second);
  };
}

/** The butterfly over partial sums; each sum is rounded as it is stored. */
function folded(sums: FloatArray): number {
  for (let half = sums.length / 2; half >= 1; half /= 2) for (let l = 0; l < half; l++) sums[l] = sums[l]! + sums[l + half]!;
  return sums[0]!;
}
