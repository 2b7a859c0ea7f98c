// Singular values of a small dense matrix in binary64, without vectors: what a numerical rank is
// counted from.
import { ArgumentError } from "@spillway/core/errors.js";
import { firstNonFinite, isList, Matrix } from "@spillway/numerics";

/**
 * The singular values of A, falling; min(rows, cols) of them. Householder bidiagonalisation (Golub
 * and Kahan 1965), then bisection with Sturm counts on the tridiagonal matrix whose eigenvalues are
 * plus and minus the singular values. The error is of the order of 2^-52 times the largest one, as
 * in LAPACK. Cost: about 8/3 n^3 operations.
 * @throws ArgumentError for a value that is not finite.
 */
export function singularValues(matrix: Matrix): Float64Array {
  if (!(matrix instanceof Matrix)) throw new ArgumentError("matrix", matrix, "a Matrix");
  const bad = firstNonFinite(matrix.data);
  if (bad >= 0) {
    throw new ArgumentError(`matrix[${Math.floor(bad / matrix.cols)}, ${bad % matrix.cols}]`, matrix.data[bad], "finite numbers");
  }
  const m = Math.max(matrix.rows, matrix.cols);
  const n = Math.min(matrix.rows, matrix.cols);
  const out = new Float64Array(n);
  const a = tall(matrix, m, n);
  let largest = 0;
  for (const value of a) largest = Math.max(largest, Math.abs(value));
  if (largest === 0) return out;
  for (let i = 0; i < a.length; i++) a[i] = a[i]! / largest;
  const between = bidiagonalise(a, m, n);
  const squares = between.map((value) => value * value);
  let bound = 0;
  for (let i = 0; i <= between.length; i++) bound = Math.max(bound, Math.abs(between[i - 1] ?? 0) + Math.abs(between[i] ?? 0));
  for (let k = 0; k < n; k++) out[k] = largest * bisect(squares, n, k, bound);
  return out;
}

/** What stands for a pivot of 0; a square over it is still finite. */
const smallestPivot = 2 ** -1000;

/**
 * The number of singular values, given in falling order, that exceed `tolerance` times the largest.
 * @throws ArgumentError if the values are no list, or the tolerance is none
 */
export function numericalRank(values: Float64Array, tolerance: number): number {
  if (!isList(values)) throw new ArgumentError("values", values, "a list of singular values");
  if (!(Number.isFinite(tolerance) && tolerance >= 0)) throw new ArgumentError("tolerance", tolerance, "a finite number of at least 0");
  const limit = tolerance * (values[0] ?? 0);
  return values.reduce((rank, value) => rank + (value > limit ? 1 : 0), 0);
}

/**
 * exp(-sum of p ln p), p the singular values over their sum: from 1 for one direction to their
 * number for equal ones, without a threshold; 0 if all are 0. Source: O. Roy and M. Vetterli 2007,
 * "The effective rank: a measure of effective dimensionality", European Signal Processing
 * Conference.
 * @throws ArgumentError if the values are no list, or no singular values
 */
export function effectiveRank(values: Float64Array): number {
  if (!isList(values)) throw new ArgumentError("values", values, "a list of singular values");
  const bad = values.findIndex((value) => !(value >= 0 && value < Infinity));
  if (bad >= 0) throw new ArgumentError(`values[${bad}]`, values[bad], "a finite number of at least 0");
  const largest = values.reduce((most, value) => Math.max(most, value), 0);
  if (largest === 0) return 0;
  const total = values.reduce((sum, value) => sum + value / largest, 0);
  const entropy = values.reduce((sum, value) => {
    const share = value / largest / total;
    return share > 0 ? sum - share * Math.log(share) : sum;
  }, 0);
  return Math.exp(entropy);
}

/**
 * The matrix or its transpose, whichever has at least as many rows as columns, as a copy in
 * binary64.
 */
function tall(matrix: Matrix, m: number, n: number): Float64Array {
  const { rows, cols, data } = matrix;
  if (rows >= cols) return Float64Array.from(data);
  const out = new Float64Array(m * n);
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) out[c * n + r] = data[r * cols + c]!;
  return out;
}

/**
 * Reduces A in place; returns d0, e0, d1, e1, ..., d(n-1): diagonal and superdiagonal of the
 * bidiagonal matrix in turn.
 */
function bidiagonalise(a: Float64Array, m: number, n: number): Float64Array {
  const out = new Float64Array(2 * n - 1);
  const v = new Float64Array(m);
  const w = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    for (let i = k; i < m; i++) v[i] = a[i * n + k]!;
    out[2 * k] = reflector(v, k, m);
    w.fill(0, k + 1);
    for (let i = k; i < m; i++) for (let j = k + 1; j < n; j++) w[j] = w[j]! + v[i]! * a[i * n + j]!;
    for (let i = k; i < m; i++) for (let j = k + 1; j < n; j++) a[i * n + j] = a[i * n + j]! - v[i]! * w[j]!;
    if (k + 1 >= n) break;
    for (let j = k + 1; j < n; j++) w[j] = a[k * n + j]!;
    out[2 * k + 1] = reflector(w, k + 1, n);
    for (let i = k + 1; i < m; i++) {
      let sum = 0;
      for (let j = k + 1; j < n; j++) sum += w[j]! * a[i * n + j]!;
      for (let j = k + 1; j < n; j++) a[i * n + j] = a[i * n + j]! - w[j]! * sum;
    }
  }
  return out;
}

/** Turns v[from..to) into u with H = I - u uT and H v = (result, 0, 0, ...); u is zero if v is. */
function reflector(v: Float64Array, from: number, to: number): number {
  let largest = 0;
  for (let i = from; i < to; i++) largest = Math.max(largest, Math.abs(v[i]!));
  if (largest === 0) return 0;
  // Squares of tiny values would lose their digits, and H would not be orthogonal.
  let sum = 0;
  for (let i = from; i < to; i++) {
    v[i] = v[i]! / largest;
    sum += v[i]! * v[i]!;
  }
  const norm = Math.sqrt(sum);
  const first = v[from]!;
  const result = first > 0 ? -norm : norm;
  v[from] = first - result;
  const scale = Math.sqrt(norm * (norm + Math.abs(first)));
  for (let i = from; i < to; i++) v[i] = v[i]! / scale;
  return result * largest;
}

/**
 * The k-th largest eigenvalue of the symmetric tridiagonal matrix with zero diagonal and these
 * squared off-diagonals.
 */
function bisect(squares: Float64Array, n: number, k: number, bound: number): number {
  let low = 0;
  let high = bound;
  while (high - low > 2 ** -51 * high && high > bound * 2 ** -60) {
    const middle = (low + high) / 2;
    if (countAtLeast(squares, n, middle) > k) low = middle;
    else high = middle;
  }
  return high > bound * 2 ** -60 ? (low + high) / 2 : 0;
}

/**
 * How many of the 2n eigenvalues are x or more, by the signs of the pivots of T - xI (x > 0). A
 * pivot of 0 counts as a small negative one.
 */
function countAtLeast(squares: Float64Array, n: number, x: number): number {
  let below = 0;
  let pivot = -x;
  for (let i = 0; ; i++) {
    if (Math.abs(pivot) < smallestPivot) pivot = -smallestPivot;
    if (pivot < 0) below++;
    if (i === squares.length) return 2 * n - below;
    pivot = -x - squares[i]! / pivot;
  }
}
