// ln |det A|, which exponents that are all there add up to.
import { Matrix } from "../../packages/numerics/src/index.js";

/** By elimination with row exchanges. */
export function logDeterminant(source: Matrix): number {
  const n = source.rows;
  const a = Matrix.from(source, "float64");
  let sum = 0;
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let r = k + 1; r < n; r++) if (Math.abs(a.data[r * n + k]!) > Math.abs(a.data[pivot * n + k]!)) pivot = r;
    const row = a.row(pivot).slice();
    a.row(pivot).set(a.row(k));
    a.row(k).set(row);
    sum += Math.log(Math.abs(row[k]!));
    for (let r = k + 1; r < n; r++) {
      const factor = a.data[r * n + k]! / row[k]!;
      for (let c = k; c < n; c++) a.data[r * n + c] = a.data[r * n + c]! - factor * row[c]!;
    }
  }
  return sum;
}
