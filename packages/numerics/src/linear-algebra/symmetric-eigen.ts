// Eigenvalues and vectors of a symmetric matrix: Householder tridiagonal form, then implicit QR
// steps with Wilkinson's shift (Golub and Van Loan, Matrix Computations, sections 8.3.1 and 8.3.3).
// Plain arithmetic in one order: the same bits everywhere.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { firstNonFinite, Matrix } from "../matrix.js";

/** A = V^T diag(values) V. */
export interface SymmetricEigen {
  /** n eigenvalues, falling. */
  readonly values: Float64Array;
  /** V, n x n: row k is the eigenvector of value k, of length 1. */
  readonly vectors: Matrix<Float64Array>;
}

/** QR steps an eigenvalue; a few are enough. */
const mostSteps = 60;

/**
 * The eigenvalues and vectors of a symmetric matrix, whose errors are of the order of 2^-52 times
 * the largest. Cost: about 9 n^3 operations.
 * @throws ArgumentError for a matrix that is not square, or a value that is not finite
 */
export function symmetricEigen(matrix: Matrix): SymmetricEigen {
  checkHas("matrix", matrix, "a Matrix", "rows", "cols", "data");
  const { rows: n, cols } = matrix;
  if (n !== cols) throw ArgumentError.shape(`a ${n} x ${cols} matrix has no eigenvalues; it takes a square one`);
  const bad = firstNonFinite(matrix.data);
  if (bad >= 0) throw new ArgumentError(`matrix[${Math.floor(bad / n)}, ${bad % n}]`, matrix.data[bad], "finite numbers");
  let largest = 0;
  for (const value of matrix.data) largest = Math.max(largest, Math.abs(value));
  const scale = largest === 0 ? 1 : largest;
  const a = Float64Array.from(matrix.data, (value) => value / scale);
  const z = new Float64Array(n * n);
  for (let i = 0; i < n; i++) z[i * n + i] = 1;
  tridiagonalise(a, z, n);
  const diagonal = Float64Array.from({ length: n }, (_, i) => a[i * n + i]!);
  const beside = Float64Array.from({ length: Math.max(0, n - 1) }, (_, i) => a[(i + 1) * n + i]!);
  diagonalise(diagonal, beside, z, n);
  const order = Array.from(diagonal.keys()).sort((i, j) => diagonal[j]! - diagonal[i]! || i - j);
  const vectors = Matrix.zeros(n, n);
  for (const [k, i] of order.entries()) vectors.data.set(z.subarray(i * n, (i + 1) * n), k * n);
  return { values: Float64Array.from(order, (i) => diagonal[i]! * scale), vectors };
}

/** A becomes Z A Z^T, tridiagonal, and Z the product of the reflections. */
function tridiagonalise(a: Float64Array, z: Float64Array, n: number): void {
  const v = new Float64Array(n);
  const w = new Float64Array(n);
  for (let k = 0; k + 2 < n; k++) {
    let squares = 0;
    for (let i = k + 1; i < n; i++) squares += a[i * n + k]! * a[i * n + k]!;
    const first = a[(k + 1) * n + k]!;
    if (squares === first * first) continue;
    const length = Math.sqrt(squares);
    const result = first > 0 ? -length : length;
    for (let i = k + 1; i < n; i++) v[i] = a[i * n + k]!;
    v[k + 1] = first - result;
    // H = I - beta v v^T takes column k to (result, 0, 0, ...).
    const beta = 1 / (squares - first * result);
    let sum = 0;
    for (let i = k + 1; i < n; i++) {
      let dot = 0;
      for (let j = k + 1; j < n; j++) dot += a[i * n + j]! * v[j]!;
      w[i] = beta * dot;
      sum += w[i]! * v[i]!;
    }
    for (let i = k + 1; i < n; i++) w[i] = w[i]! - 0.5 * beta * sum * v[i]!;
    for (let i = k + 1; i < n; i++) {
      const vi = v[i]!;
      const wi = w[i]!;
      for (let j = k + 1; j < n; j++) a[i * n + j] = a[i * n + j]! - (vi * w[j]! + wi * v[j]!);
    }
    a[(k + 1) * n + k] = result;
    reflectRows(z, v, beta, k + 1, n);
  }
}

/** Z becomes (I - beta v v^T) Z; v begins at row `from`. */
function reflectRows(z: Float64Array, v: Float64Array, beta: number, from: number, n: number): void {
  const sums = new Float64Array(n);
  for (let i = from; i < n; i++) for (let j = 0; j < n; j++) sums[j] = sums[j]! + v[i]! * z[i * n + j]!;
  for (let i = from; i < n; i++) {
    const factor = beta * v[i]!;
    for (let j = 0; j < n; j++) z[i * n + j] = z[i * n + j]! - factor * sums[j]!;
  }
}

/**
 * Diagonal d and what is beside it, e, become eigenvalues and 0; rotations are done to the rows of
 * Z, too.
 */
function diagonalise(d: Float64Array, e: Float64Array, z: Float64Array, n: number): void {
  const isSmall = (i: number) => Math.abs(e[i]!) <= 2 ** -53 * (Math.abs(d[i]!) + Math.abs(d[i + 1]!)) || Math.abs(e[i]!) < 2 ** -500;
  let steps = 0;
  for (let high = n - 1; high > 0; ) {
    if (isSmall(high - 1)) {
      high--;
      continue;
    }
    let low = high - 1;
    while (low > 0 && !isSmall(low - 1)) low--;
    if (++steps > mostSteps * n) throw new SpillwayError("numeric", `the eigenvalues of a ${n} x ${n} matrix were not found`);
    step(d, e, z, n, low, high);
  }
}

/** One implicit QR step on rows `low` to `high`. */
function step(d: Float64Array, e: Float64Array, z: Float64Array, n: number, low: number, high: number): void {
  const half = (d[high - 1]! - d[high]!) / 2;
  const last = e[high - 1]!;
  const root = Math.sqrt(half * half + last * last);
  const shift = d[high]! - (last * last) / (half + (half > 0 ? root : -root));
  let x = d[low]! - shift;
  let fill = e[low]!;
  for (let k = low; k < high; k++) {
    const length = Math.sqrt(x * x + fill * fill);
    const c = length === 0 ? 1 : x / length;
    const s = length === 0 ? 0 : fill / length;
    if (k > low) e[k - 1] = length;
    const p = d[k]!;
    const q = d[k + 1]!;
    const r = e[k]!;
    d[k] = c * c * p + 2 * c * s * r + s * s * q;
    d[k + 1] = s * s * p - 2 * c * s * r + c * c * q;
    e[k] = c * s * (q - p) + (c * c - s * s) * r;
    if (k + 1 < high) {
      x = e[k]!;
      fill = s * e[k + 1]!;
      e[k + 1] = c * e[k + 1]!;
    }
    const at = k * n;
    for (let j = at; j < at + n; j++) {
      const upper = z[j]!;
      const lower = z[j + n]!;
      z[j] = c * upper + s * lower;
      z[j + n] = c * lower - s * upper;
    }
  }
}
