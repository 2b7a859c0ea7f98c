// Matrices whose rows will all be written: memory that the process used before is not cleared
// first.
import { Matrix, type Precision } from "@spillway/numerics";

/** Memory of more bytes is new to the process, and the system clears it as it is written. */
const mostReused = 32 * 2 ** 20;

/** A matrix with memory of its own and any values. */
export function unwritten(rows: number, cols: number, precision: Precision): Matrix {
  const bytes = rows * cols * (precision === "float32" ? 4 : 8);
  if (bytes === 0 || bytes > mostReused) return Matrix.zeros(rows, cols, precision);
  const { buffer } = Buffer.allocUnsafeSlow(bytes);
  return new Matrix(rows, cols, precision === "float32" ? new Float32Array(buffer) : new Float64Array(buffer));
}
