// z-scores of series: fitted on training data, applied to what comes in, undone on what goes out.
import { type FloatArray, Matrix } from "@spillway/numerics";
import { noteFinite } from "@spillway/numerics/known-finite.js";

/** One mean and one deviation a column: z = (x - mean) / deviation. */
export interface Standardisation {
  readonly mean: Float64Array;
  readonly deviation: Float64Array;
}

/** z = x. */
export function noStandardisation(cols: number): Standardisation {
  return { mean: new Float64Array(cols), deviation: new Float64Array(cols).fill(1) };
}

/**
 * Mean and standard deviation (over T, not T - 1) of each column over all rows of all series. The
 * deviation of a column that never changes, or by less than its mean is rounded by (T |mean| 2^-53),
 * counts as 0, and the column is divided by 1: z = x - mean. So is one whose deviation overflows.
 */
export function fitStandardisation(series: readonly Matrix[]): Standardisation {
  const cols = series[0]!.cols;
  const rows = series.reduce((sum, matrix) => sum + matrix.rows, 0);
  const out = noStandardisation(cols);
  for (let c = 0; c < cols; c++) {
    const first = series[0]!.data[c];
    if (series.every((matrix) => everyInColumn(matrix, c, (value) => value === first))) {
      out.mean[c] = first!;
      continue;
    }
    let sum = 0;
    for (const matrix of series) for (let t = 0; t < matrix.rows; t++) sum += matrix.data[t * cols + c]!;
    const mean = sum / rows;
    let squares = 0;
    for (const matrix of series) {
      for (let t = 0; t < matrix.rows; t++) {
        const difference = matrix.data[t * cols + c]! - mean;
        squares += difference * difference;
      }
    }
    const deviation = Math.sqrt(squares / rows);
    if (Number.isFinite(mean)) out.mean[c] = mean;
    if (Number.isFinite(deviation) && deviation > rows * 2 ** -53 * Math.abs(mean)) out.deviation[c] = deviation;
  }
  return out;
}

/** z-scores of a series, in binary64, in memory of their own: noted as finite if they are. */
export function standardised({ mean, deviation }: Standardisation, series: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(series.rows, series.cols);
  let differences = 0;
  for (let i = 0, c = 0; i < out.data.length; i++) {
    const score = (series.data[i]! - mean[c]!) / deviation[c]!;
    out.data[i] = score;
    // 0 as long as every score is finite, else NaN.
    differences += score - score;
    if (++c === series.cols) c = 0;
  }
  return differences === 0 ? noteFinite(out) : out;
}

/** The series that has these z-scores, in binary64. */
export function restored(scale: Standardisation, scores: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(scores.rows, scores.cols);
  restoreInto(out.data, scale, scores.data);
  return out;
}

/** The same in memory that is there, row after row. */
export function restoreInto(out: Float64Array, { mean, deviation }: Standardisation, scores: FloatArray): void {
  const { length: cols } = mean;
  for (let i = 0, c = 0; i < out.length; i++) {
    out[i] = scores[i]! * deviation[c]! + mean[c]!;
    if (++c === cols) c = 0;
  }
}

function everyInColumn(matrix: Matrix, c: number, accept: (value: number) => boolean): boolean {
  for (let t = 0; t < matrix.rows; t++) if (!accept(matrix.data[t * matrix.cols + c]!)) return false;
  return true;
}
