// Targets of which some values were not measured, as metrics take them.
import { firstNonFinite, Matrix } from "@spillway/numerics";

/** The rows that were measured in every column: those whose target has no NaN. */
export function measuredAlone({ prediction, target }: { readonly prediction: Matrix; readonly target: Matrix }) {
  if (!hasNaN(target.data)) return { prediction, target };
  const kept = Array.from({ length: target.rows }, (_, t) => t).filter((t) => !target.row(t).some(Number.isNaN));
  const rowsOf = (matrix: Matrix): Matrix => {
    const out = Matrix.zeros(kept.length, matrix.cols);
    for (const [k, t] of kept.entries()) out.row(k).set(matrix.row(t));
    return out;
  };
  return { prediction: rowsOf(prediction), target: rowsOf(target) };
}

/** Whether one of the values is NaN. A search on a device asks it of every reservoir. */
export function hasNaN(values: ArrayLike<number>): boolean {
  const from = firstNonFinite(values);
  for (let i = from < 0 ? values.length : from; i < values.length; i++) if (Number.isNaN(values[i])) return true;
  return false;
}
