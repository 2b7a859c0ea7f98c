// How closed-loop forecasts are scored, compared and combined.
import { Matrix, portableLog } from "@spillway/numerics";

/** How validation forecasts are scored. */
export type ForecastLoss = "rmse" | "mae" | "smape" | "validTime";

/** What a score knows beside forecasts and targets, starts * horizon x D. */
export interface LossContext {
  /** Of each column over the training part. */
  readonly deviation: Float64Array;
  /** Whether a column changes at all; one that does not counts for nothing. */
  readonly changing: readonly boolean[];
  readonly horizon: number;
  /**
   * starts * horizon x D: 1 where the target was filled and not measured; undefined if none was.
   */
  readonly filled?: Float64Array | undefined;
}

/** Smaller is better. */
interface Loss {
  /** One cost for each start that has a measured target. */
  costs(forecasts: Matrix<Float64Array>, targets: Matrix<Float64Array>, context: LossContext): Float64Array;
  score(costs: Float64Array): number;
}

/** Error, in deviations, beyond which a forecast is no longer valid. */
const validWithin = 0.4;

/**
 * - "rmse": the root mean square of errors over each column's deviation.
 * - "mae": their mean absolute value.
 * - "smape": the mean of 200 |y - p| / (|y| + |p|), 0 if both are 0.
 * - "validTime": minus the median over starts of the steps before the root mean square over columns
 *   of errors over deviations is above 0.4.
 */
export const losses: Readonly<Record<ForecastLoss, Loss>> = {
  rmse: { costs: meanCosts((error) => error * error), score: (costs) => Math.sqrt(mean(costs)) },
  mae: { costs: meanCosts(Math.abs), score: mean },
  smape: { costs: meanCosts((_, y, p) => (y === p ? 0 : (200 * Math.abs(y - p)) / (Math.abs(y) + Math.abs(p)))), score: mean },
  validTime: { costs: validCosts, score: (costs) => middle(costs.slice().sort()) },
};

/**
 * Whether the costs of a pair do not differ clearly from those of the best: the mean over starts of
 * the logarithm of their ratio is at most its standard error, of `apart` forecasts that do not
 * overlap. Costs below 0 are not compared.
 */
export function isNoWorse(costs: Float64Array, best: Float64Array, apart: number): boolean {
  if (costs.some((cost) => cost < 0) || best.some((cost) => cost < 0)) return false;
  const least = 1e-12 * mean(best);
  if (!(least > 0)) return mean(costs) === mean(best);
  const ratios = costs.map((cost, k) => portableLog((cost + least) / (best[k]! + least)));
  const average = mean(ratios);
  const variance = ratios.length > 1 ? ratios.reduce((sum, ratio) => sum + (ratio - average) ** 2, 0) / (ratios.length - 1) : 0;
  return average <= Math.sqrt(variance / apart);
}

function meanCosts(each: (error: number, target: number, forecast: number) => number): Loss["costs"] {
  return (forecasts, targets, { deviation, changing, horizon, filled }) => {
    const costs = new Float64Array(targets.rows / horizon);
    const counted = new Float64Array(costs.length);
    for (let i = 0, c = 0, t = 0; i < targets.data.length; i++) {
      if (changing[c] && !filled?.[i]) {
        const y = targets.data[i]!;
        const p = forecasts.data[i]!;
        const k = Math.floor(t / horizon);
        costs[k] = costs[k]! + each((y - p) / deviation[c]!, y, p);
        counted[k] = counted[k]! + 1;
      }
      if (++c < targets.cols) continue;
      c = 0;
      t++;
    }
    return costs.map((cost, k) => cost / counted[k]!).filter((_, k) => counted[k]! > 0);
  };
}

function validCosts(
  forecasts: Matrix<Float64Array>,
  targets: Matrix<Float64Array>,
  { deviation, changing, horizon, filled }: LossContext,
): Float64Array {
  return Float64Array.from({ length: targets.rows / horizon }, (_, k) => {
    let steps = 0;
    for (; steps < horizon; steps++) {
      let squares = 0;
      let columns = 0;
      for (let c = 0; c < targets.cols; c++) {
        const i = (k * horizon + steps) * targets.cols + c;
        if (!changing[c] || filled?.[i]) continue;
        squares += ((targets.data[i]! - forecasts.data[i]!) / deviation[c]!) ** 2;
        columns++;
      }
      // A step without a measured value says nothing against a forecast.
      if (!(squares <= validWithin * validWithin * columns)) break;
    }
    return -steps;
  });
}

/** The median of forecasts, or why one of them is missing. */
export function medianOrError(made: readonly (Matrix<Float64Array> | Error)[]): Matrix<Float64Array> | Error {
  return made.find((one) => one instanceof Error) ?? medianOf(made as readonly Matrix<Float64Array>[]);
}

/** The median of each element; of an even number the mean of the middle two. */
export function medianOf(matrices: readonly Matrix<Float64Array>[]): Matrix<Float64Array> {
  const [first] = matrices;
  if (matrices.length === 1) return first!;
  const out = Matrix.zeros(first!.rows, first!.cols);
  const values = new Float64Array(matrices.length);
  for (let i = 0; i < out.data.length; i++) {
    for (let m = 0; m < matrices.length; m++) values[m] = matrices[m]!.data[i]!;
    out.data[i] = middle(values.sort());
  }
  return out;
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function middle(sorted: Float64Array): number {
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
