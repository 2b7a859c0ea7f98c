// Cholesky factorisation of a symmetric matrix and solves with it, in the order of
// docs/numerics.md, rule 11.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError, DisposedError, SpillwayError } from "@spillway/core/errors.js";
import { Matrix } from "../matrix.js";
import { allocateRegions, float64View, type Regions, releaseRegions } from "./memory.js";
import { panelColumns, readPanel, writePanel } from "./panels.js";

/** Bytes of packed rows that the kernel works with, for each row of the matrix. */
const workBytes = 60 * 8;

/** A symmetric matrix is not positive definite in binary64. */
export class NotPositiveDefiniteError extends SpillwayError {
  override readonly name = "NotPositiveDefiniteError";
  /** The row of the pivot that failed, from 0. */
  readonly pivotIndex: number;
  /** What was left of it: NaN, or not above `leastPivot`. */
  readonly pivot: number;
  /** Up to this the pivot is the rounding of the sums that made it. */
  readonly leastPivot: number;
  readonly size: number;
  /** The matrix's condition number is at least about this. */
  readonly conditionEstimate: number;
  constructor(pivotIndex: number, pivot: number, leastPivot: number, size: number, conditionEstimate: number) {
    super(
      "numeric",
      `the ${size} x ${size} matrix is not positive definite: pivot ${pivotIndex} is ${pivot} and must be above ${leastPivot}, its rounding (condition at least about ${conditionEstimate.toExponential(1)})`,
    );
    this.pivotIndex = pivotIndex;
    this.pivot = pivot;
    this.leastPivot = leastPivot;
    this.size = size;
    this.conditionEstimate = conditionEstimate;
  }
}

/**
 * What rounding can make of a pivot, of a diagonal element of this size: 8 sqrt(n) units of 2^-52,
 * as errors of either sign add up.
 */
const roundingOfPivot = (size: number, diagonal: number): number => 8 * Math.sqrt(size) * Number.EPSILON * Math.abs(diagonal);

/**
 * The first pivot of a Cholesky factor that is nothing but rounding, or -1: L_ii^2 at most 8
 * sqrt(n) 2^-52 of A_ii. Whether such a pivot comes out above 0 depends on the order of sums, so
 * every library is judged by this. `rows` counts the rows that are factored.
 */
export function lostPivot(size: number, rows: number, factor: (i: number) => number, diagonal: (i: number) => number): number {
  for (let i = 0; i < rows; i++) if (!(factor(i) ** 2 > roundingOfPivot(size, diagonal(i)))) return i;
  return -1;
}

/** A = L L^T with L lower triangular. */
export class CholeskyFactor {
  readonly size: number;
  readonly #padded: number;
  #memory: Regions<"matrix" | "work"> | undefined;

  /** @internal Use `cholesky`. */
  constructor(size: number, padded: number, memory: Regions<"matrix" | "work">) {
    this.size = size;
    this.#padded = padded;
    this.#memory = memory;
  }

  /** L, n x n, zeros above the diagonal. */
  lower(): Matrix<Float64Array> {
    const memory = this.#open();
    const values = float64View(memory, memory.at.matrix, this.#padded * this.#padded);
    const out = Matrix.zeros(this.size, this.size);
    for (let i = 0; i < this.size; i++) {
      out.data.set(values.subarray(i * this.#padded, i * this.#padded + i + 1), i * this.size);
    }
    return out;
  }

  /** Z with L Z = B; B is n x O. */
  solveLower(rhs: Matrix): Matrix<Float64Array> {
    return this.#solve(rhs, false);
  }

  /** W with A W = B; B is n x O. */
  solve(rhs: Matrix): Matrix<Float64Array> {
    return this.#solve(rhs, true);
  }

  /** Gives the memory back; it solves nothing afterwards. Idempotent. */
  dispose(): void {
    if (this.#memory) releaseRegions(this.#memory);
    this.#memory = undefined;
  }

  #open(): Regions<"matrix" | "work"> {
    if (!this.#memory) throw new DisposedError("the Cholesky factor");
    return this.#memory;
  }

  #solve(rhs: Matrix, both: boolean): Matrix<Float64Array> {
    if (rhs.rows !== this.size) throw ArgumentError.shape(`the right-hand side has ${rhs.rows} rows; the matrix has ${this.size}`);
    const memory = this.#open();
    const { exports, at } = memory;
    const out = Matrix.zeros(rhs.rows, rhs.cols);
    for (let first = 0; first < rhs.cols; first += panelColumns) {
      writePanel(memory, at.work, this.#padded, rhs, first);
      exports.solveLower(at.matrix, this.#padded, at.work);
      if (both) exports.solveLowerTransposed(at.matrix, this.#padded, at.work);
      readPanel(memory, at.work, out, first);
    }
    return out;
  }
}

/**
 * Factors the leading n x n block of a symmetric matrix after adding `diagonal[i]` to element (i,
 * i). Only the lower triangle is read.
 *
 * L[i][j] = (A[i][j] - L[i][0] L[j][0] - ... - L[i][j-1] L[j][j-1]) / L[j][j], one product after
 * the other, and L[j][j] the square root of what is left of the diagonal (Golub and Van Loan,
 * Matrix Computations, section 4.2).
 * @throws NotPositiveDefiniteError, MemoryLimitError
 */
export function cholesky(matrix: Matrix, diagonal?: ArrayLike<number>, size?: number): CholeskyFactor {
  checkHas("matrix", matrix, "a Matrix", "rows", "cols", "data");
  const n = size ?? matrix.rows;
  const ld = matrix.cols;
  if (matrix.rows !== ld) throw ArgumentError.shape(`a ${matrix.rows} x ${ld} matrix has no Cholesky factor; it takes a square one`);
  const padded = Math.ceil(n / panelColumns) * panelColumns;
  const memory = allocateRegions(`the factorisation of a ${n} x ${n} matrix`, { matrix: padded * padded * 8, work: padded * workBytes });
  const values = float64View(memory, memory.at.matrix, padded * padded);
  for (let i = 0; i < n; i++) {
    values.set(matrix.data.subarray(i * ld, i * ld + i + 1), i * padded);
    if (diagonal) values[i * padded + i] = values[i * padded + i]! + diagonal[i]!;
  }
  for (let i = n; i < padded; i++) values[i * padded + i] = 1;
  const failed = memory.exports.choleskyFactor(memory.at.matrix, padded, memory.at.work);
  const original = (i: number): number => matrix.data[i * ld + i]! + (diagonal?.[i] ?? 0);
  const pivotRows = failed === 0 ? n : failed - 1;
  const lost = lostPivot(n, pivotRows, (i) => values[i * padded + i]!, original);
  const index = lost >= 0 ? lost : pivotRows;
  if (index < n) {
    const found = values[index * padded + index]!;
    const pivot = lost >= 0 ? found * found : found;
    const least = roundingOfPivot(n, original(index));
    const condition = conditionEstimate(values, padded, n, index, original);
    releaseRegions(memory);
    throw new NotPositiveDefiniteError(index, pivot, least, n, condition);
  }
  return new CholeskyFactor(n, padded, memory);
}

/**
 * A lower bound of the condition: the largest eigenvalue is at least the largest diagonal element
 * and the smallest at most the smallest pivot; a pivot that failed is at most the rounding error of
 * the `index` products that made it.
 */
function conditionEstimate(values: Float64Array, padded: number, n: number, index: number, original: (i: number) => number): number {
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, original(i));
  let smallest = (index + 1) * Number.EPSILON * Math.abs(original(index));
  for (let i = 0; i < index; i++) smallest = Math.min(smallest, values[i * padded + i]! ** 2);
  return smallest > 0 ? largest / smallest : Number.POSITIVE_INFINITY;
}
