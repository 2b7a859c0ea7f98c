// Ridge problems min |A w - z|^2 + shift |w|^2 with one A and many shifts, through A = U B V^T with
// B upper bidiagonal, in which each shift costs a few operations per unknown (Eldén 1977,
// "Algorithms for the regularization of ill-conditioned least squares problems").
import { Matrix } from "../matrix.js";
import { allocateRegions, float64View, type Regions } from "./memory.js";

/** Rows that are rotated at a time. */
const chunkRows = 32;

/** The ridge problem at one shift: B^T B + shift I = R^T R with R upper bidiagonal. */
export interface ShiftedProblem {
  /** V^T w, n x O. */
  readonly weights: Matrix<Float64Array>;
  /** |B V^T w - U^T z|^2, a value for each target. */
  readonly residualSquares: Float64Array;
  /** The trace of (A^T A + shift I)^-1. */
  readonly inverseTrace: number;
  /** p^T (B^T B + shift I)^-1 p for a row p = V^T x. */
  leverage(row: Float64Array): number;
}

/** A = U B V^T for a square A, with U^T Z for the columns of Z. */
export class Bidiagonal {
  readonly size: number;
  readonly #diagonal: Float64Array;
  readonly #superdiagonal: Float64Array;
  readonly #targets: Matrix<Float64Array>;
  readonly #memory: Regions<"matrix" | "diagonal" | "superdiagonal" | "factors" | "work" | "rows">;
  readonly #rowBytes: number;

  /** A is n x n, Z is n x O. @throws MemoryLimitError */
  constructor(a: Matrix<Float64Array>, z: Matrix<Float64Array>) {
    const n = a.rows;
    const width = n + z.cols;
    this.size = n;
    this.#rowBytes = width * 8;
    const memory = allocateRegions(`the bidiagonal form of a ${n} x ${n} matrix`, {
      matrix: n * width * 8,
      diagonal: n * 8,
      superdiagonal: n * 8,
      factors: n * 8,
      work: (2 * n + width) * 8,
      rows: chunkRows * n * 8,
    });
    this.#memory = memory;
    const { at, exports } = memory;
    const values = float64View(memory, at.matrix, n * width);
    for (let i = 0; i < n; i++) {
      values.set(a.row(i), i * width);
      values.set(z.row(i), i * width + n);
    }
    exports.bidiagonalize(at.matrix, n, z.cols, this.#rowBytes, at.diagonal, at.superdiagonal, at.factors, at.work);
    this.#diagonal = float64View(memory, at.diagonal, n);
    this.#superdiagonal = float64View(memory, at.superdiagonal, n);
    this.#targets = Matrix.zeros(n, z.cols);
    for (let i = 0; i < n; i++) this.#targets.data.set(values.subarray(i * width + n, (i + 1) * width), i * z.cols);
  }

  /** Rows x (m x n) become V^T x, in place. */
  rotate(rows: Matrix<Float64Array>): void {
    const { at, exports } = this.#memory;
    const view = float64View(this.#memory, at.rows, chunkRows * this.size);
    for (let first = 0; first < rows.rows; first += chunkRows) {
      const part = rows.subarray(first, first + chunkRows);
      view.set(part.data);
      exports.applyRightReflections(at.matrix, this.size, this.#rowBytes, at.factors, at.rows, part.rows, this.size * 8);
      part.data.set(view.subarray(0, part.data.length));
    }
  }

  /** Solves at a shift of at least 0. Values are not finite if the shifted problem is singular. */
  shifted(shift: number): ShiftedProblem {
    const n = this.size;
    const outputs = this.#targets.cols;
    const { diagonal, superdiagonal, weights } = this.#eliminate(shift);
    let inverseTrace = 0;
    let below = 0;
    for (let i = n - 1; i >= 0; i--) {
      const d = diagonal[i]!;
      const e = superdiagonal[i]!;
      below = (1 + e * e * below) / (d * d);
      inverseTrace += below;
      for (let o = 0; o < outputs; o++) {
        const next = i + 1 < n ? e * weights.data[(i + 1) * outputs + o]! : 0;
        weights.data[i * outputs + o] = (weights.data[i * outputs + o]! - next) / d;
      }
    }
    const leverage = (row: Float64Array): number => {
      let previous = 0;
      let sum = 0;
      for (let i = 0; i < n; i++) {
        previous = (row[i]! - (i > 0 ? superdiagonal[i - 1]! * previous : 0)) / diagonal[i]!;
        sum += previous * previous;
      }
      return sum;
    };
    return { weights, residualSquares: this.#residuals(weights), inverseTrace, leverage };
  }

  /**
   * Rotates the rows sqrt(shift) I into B from the top: what is left is R and the right-hand side
   * that goes with it.
   */
  #eliminate(shift: number): { diagonal: Float64Array; superdiagonal: Float64Array; weights: Matrix<Float64Array> } {
    const n = this.size;
    const outputs = this.#targets.cols;
    const diagonal = new Float64Array(n);
    const superdiagonal = new Float64Array(n);
    const weights = new Matrix(n, outputs, this.#targets.data.slice());
    const root = Math.sqrt(shift);
    let extra = root;
    const extraTargets = new Float64Array(outputs);
    for (let i = 0; i < n; i++) {
      const d = this.#diagonal[i]!;
      const length = Math.sqrt(d * d + extra * extra);
      const cos = length === 0 ? 1 : d / length;
      const sin = length === 0 ? 0 : extra / length;
      diagonal[i] = length;
      superdiagonal[i] = cos * this.#superdiagonal[i]!;
      const fill = -sin * this.#superdiagonal[i]!;
      extra = Math.sqrt(shift + fill * fill);
      const share = extra === 0 ? 0 : fill / extra;
      for (let o = 0; o < outputs; o++) {
        const target = weights.data[i * outputs + o]!;
        const other = extraTargets[o]!;
        weights.data[i * outputs + o] = cos * target + sin * other;
        extraTargets[o] = share * (cos * other - sin * target);
      }
    }
    return { diagonal, superdiagonal, weights };
  }

  #residuals(weights: Matrix<Float64Array>): Float64Array {
    const outputs = this.#targets.cols;
    const out = new Float64Array(outputs);
    for (let i = 0; i < this.size; i++) {
      for (let o = 0; o < outputs; o++) {
        const next = i + 1 < this.size ? this.#superdiagonal[i]! * weights.data[(i + 1) * outputs + o]! : 0;
        const residual = this.#diagonal[i]! * weights.data[i * outputs + o]! + next - this.#targets.data[i * outputs + o]!;
        out[o] = out[o]! + residual * residual;
      }
    }
    return out;
  }
}
