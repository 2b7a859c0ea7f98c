// Square systems that are not symmetric: elimination with row exchanges, in binary64 and one order.
import { checkHas } from "@spillway/core/checks.js";
import { Matrix } from "../matrix.js";

/**
 * X with A X = B, A n x n, B n x O: LU with partial pivoting (Golub and Van Loan, Matrix
 * Computations, section 3.4), the first of equal pivots, every product and difference rounded in
 * rising order. Undefined if a pivot is 0 or not finite. For n up to some hundreds.
 */
export function solveSquare(a: Matrix<Float64Array>, b: Matrix<Float64Array>): Matrix<Float64Array> | undefined {
  checkHas("a", a, "a Matrix", "rows", "cols", "data");
  const n = a.rows;
  const width = n + b.cols;
  const rows = Array.from({ length: n }, (_, r) => {
    const row = new Float64Array(width);
    row.set(a.row(r));
    row.set(b.row(r), n);
    return row;
  });
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let r = k + 1; r < n; r++) if (Math.abs(rows[r]![k]!) > Math.abs(rows[pivot]![k]!)) pivot = r;
    [rows[k], rows[pivot]] = [rows[pivot]!, rows[k]!];
    const head = rows[k]!;
    if (!(Math.abs(head[k]!) > 0 && Number.isFinite(head[k]!))) return undefined;
    for (let r = k + 1; r < n; r++) {
      const row = rows[r]!;
      const factor = row[k]! / head[k]!;
      if (factor === 0) continue;
      for (let c = k + 1; c < width; c++) row[c] = row[c]! - factor * head[c]!;
    }
  }
  const out = Matrix.zeros(n, b.cols);
  for (let o = 0; o < b.cols; o++) {
    for (let k = n - 1; k >= 0; k--) {
      const row = rows[k]!;
      let value = row[n + o]!;
      for (let c = k + 1; c < n; c++) value -= row[c]! * out.data[c * b.cols + o]!;
      out.data[k * b.cols + o] = value / row[k]!;
    }
  }
  return out;
}
