// Information of Gaussian variables from their covariances: the estimator that costs least, blind
// to what is not linear.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, optional, resolve } from "@spillway/core/options.js";
import { type MatrixLike, portableLog } from "@spillway/numerics";
import { seriesOf } from "../../reservoir/options.js";
import { chiSquaredProbability } from "../chi-squared.js";
import { checkedColumns, delayedColumns, firstRow, pastTable } from "./columns.js";

/** Shares of variance below this are taken for it: what rounding leaves of nothing. */
const leastVariance = 2 ** -52;

/**
 * I(X; Y | Z) = 0.5 ln(var(y | z) / var(y | x, z)) in nats for one y, from the covariances of all
 * variables; x and z are lists of their indices. Residual variances are those of least squares. A y
 * that the others determine counts as known to 2^-52 of its variance: I is at most 18 nats.
 */
export function gaussianInformation(
  covariance: (i: number, j: number) => number,
  y: number,
  x: readonly number[],
  z: readonly number[],
): number {
  const variables = [...z, ...x, y];
  const n = variables.length;
  const scale = variables.map((v) => Math.sqrt(covariance(v, v)));
  if (!(scale[n - 1]! > 0)) return 0;
  // The Cholesky factor of the correlations, row by row: the last row, y's, is what each variable
  // adds to the ones before it.
  const factor = variables.map(() => new Float64Array(n));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = i === j ? 1 : scale[i]! > 0 && scale[j]! > 0 ? covariance(variables[i]!, variables[j]!) / (scale[i]! * scale[j]!) : 0;
      for (let k = 0; k < j; k++) sum -= factor[i]![k]! * factor[j]![k]!;
      // A variable that those before it determine adds nothing.
      if (i === j) factor[i]![i] = sum > leastVariance * n ? Math.sqrt(sum) : 0;
      else factor[i]![j] = factor[j]![j]! > 0 ? sum / factor[j]![j]! : 0;
    }
  }
  const last = factor[n - 1]!;
  let without = 1;
  for (let k = 0; k < z.length; k++) without -= last[k]! * last[k]!;
  let withX = without;
  for (let k = z.length; k < n - 1; k++) withX -= last[k]! * last[k]!;
  return Math.max(0, 0.5 * portableLog(Math.max(without, leastVariance) / Math.max(withX, leastVariance)));
}

export const gaussianTransferTable = {
  ...pastTable,
  /**
   * Other series, T x C, whose values of one step ago are known already: conditional transfer
   * entropy.
   */
  given: optional(seriesOf("T x C"), "Other series whose values of one step ago are known already."),
};

/** Which past values take part, and what else is known. */
export interface GaussianTransferOptions extends InputOf<typeof gaussianTransferTable> {}

/** Information of Gaussian variables. */
export interface GaussianInformation {
  /** In nats, at least 0. */
  readonly nats: number;
  /** `nats` less what chance gives, degrees of freedom / (2 n). */
  readonly effectiveNats: number;
  /** The probability of such a value by chance: 2 n nats is chi-squared. */
  readonly pValue: number;
}

/**
 * Transfer entropy between Gaussian series in nats, 0.5 ln(var(y(t) | past) / var(y(t) | past, x)),
 * residual variances by least squares, the past as in {@link nearestNeighbourTransferEntropy}. It
 * is half of Granger's measure. 2 n nats is chi-squared with `sourceHistory` degrees of freedom, so
 * the p-value needs no surrogates. What is not linear, it does not see. Source and target are
 * single series. Source: Barnett, Barrett and Seth 2009, "Granger causality and transfer entropy
 * are equivalent for Gaussian variables", Physical Review Letters 103.
 * @throws ArgumentError on series of different lengths or too short, and for options
 */
export function gaussianTransferEntropy(
  source: MatrixLike,
  target: MatrixLike,
  options: GaussianTransferOptions = {},
): GaussianInformation {
  const asked = resolve(gaussianTransferTable, options);
  const { lag, targetHistory, sourceHistory, given } = asked;
  const first = firstRow(asked);
  const [x, y, others] = checkedColumns({ source, target, given }, { least: first + targetHistory + sourceHistory + 3, standardise: true });
  for (const [name, { length }] of Object.entries({ source: x, target: y }))
    if (length !== 1) throw new ArgumentError(`the columns of ${name}`, length, "1", { code: "shape" });
  const past = [...delayedColumns(y, first, 1, targetHistory), ...delayedColumns(others, first, 1, 1)];
  const cause = delayedColumns(x, first, lag, sourceHistory);
  const columns = [...delayedColumns(y, first, 0, 1), ...past, ...cause].map(centred);
  const n = columns[0]!.length;
  const indices = columns.map((_, i) => i).slice(1);
  const nats = gaussianInformation((i, j) => dot(columns[i]!, columns[j]!), 0, indices.slice(past.length), indices.slice(0, past.length));
  return { nats, effectiveNats: nats - sourceHistory / (2 * n), pValue: chiSquaredProbability(2 * n * nats, sourceHistory) };
}

function centred(column: Float64Array): Float64Array {
  const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
  return column.map((value) => value - mean);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let t = 0; t < a.length; t++) sum += a[t]! * b[t]!;
  return sum;
}
