// Targets of which some values were not measured, as metrics take them.
import { Matrix } from "../numerics/index.js";

/** The rows that were measured in every column: those whose target has no NaN. */
export function measuredAlone({ prediction, target }: { readonly prediction: Matrix; readonly target: Matrix }) {
  const kept = Array.from({ length: target.rows }, (_, t) => t).filter((t) => !target.row(t).some(Number.isNaN));
  if (kept.length === target.rows) return { prediction, target };
  const rowsOf = (matrix: Matrix): Matrix => {
    const out = Matrix.zeros(kept.length, matrix.cols);
    for (const [k, t] of kept.entries()) out.row(k).set(matrix.row(t));
    return out;
  };
  return { prediction: rowsOf(prediction), target: rowsOf(target) };
}
