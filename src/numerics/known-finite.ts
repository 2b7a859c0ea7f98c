// Series whose values were checked where they entered: later rooms do not check again. Only memory
// that nobody outside this package can write is noted.
import type { Matrix } from "./matrix.js";

const checked = new WeakSet<ArrayBufferLike>();

/** Notes that all of a matrix's memory holds finite values, and gives the matrix. */
export function noteFinite<Given extends Matrix>(matrix: Given): Given {
  if (matrix.data.length > 0) checked.add(matrix.data.buffer);
  return matrix;
}

/** Whether a matrix, or the one it is a part of, was noted. */
export function isKnownFinite({ data }: Matrix): boolean {
  return checked.has(data.buffer);
}
