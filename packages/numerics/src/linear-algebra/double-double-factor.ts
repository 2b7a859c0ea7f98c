// The triangular factor of X = Q R in double-double, of rows that come in any portions: for few
// features of nearly the same direction, whose differences binary64 loses.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  type DoubleDoubles,
  ddAt,
  ddBackSubstitute,
  ddDotOf,
  ddEliminate,
  ddIsPivot,
  ddSet,
  doubleDoubles,
} from "../double-double-rows.js";
import { Matrix } from "../matrix.js";
import { type ColumnSource, sourceColumns } from "./panels.js";

/** Where rows are reflected into a triangle: here, or on a device with the same bits. */
export interface DoubleDoubleReflections {
  /** Where, for people. */
  readonly library: string;
  /**
   * Makes the first `rows` numbers of the columns of X a triangle, column by column, and reflects
   * those of Y with them (`ddEliminate`). What is beneath the triangle becomes 0.
   */
  triangularise(x: readonly DoubleDoubles[], y: readonly DoubleDoubles[], rows: number): void;
}

const reflectionsHere: DoubleDoubleReflections = {
  library: "portable",
  triangularise(x, y, rows) {
    for (const [k, column] of x.entries()) {
      const pivot = ddEliminate(x, y, k, rows);
      column.high.fill(0, k + 1, rows);
      column.low.fill(0, k + 1, rows);
      ddSet(column, k, pivot);
    }
  },
};

/** Rows that wait before they are reflected, at least. */
const leastPending = 256;

/**
 * R (F x F) and Q^T Y (F x O) of min |X W - Y|^2 in about 106 bits, as {@link TriangularFactor} in
 * binary64. Householder reflections of the triangle so far with the rows that wait beneath it, each
 * time as many have come as there are features (at least 256), and at the end; the same bits
 * everywhere.
 */
export class DoubleDoubleFactor {
  readonly features: number;
  readonly targets: number;
  readonly residualSquares: Float64Array;
  #rows = 0;
  /** Rows behind the first F, which are the triangle. */
  #pending = 0;
  readonly #capacity: number;
  #x: DoubleDoubles[];
  #y: DoubleDoubles[];
  /** Squared lengths of the columns, penalties with them: what a pivot is measured by. */
  readonly #norms: Float64Array;
  readonly #reflections: DoubleDoubleReflections;

  constructor(features: number, targets: number, reflections: DoubleDoubleReflections = reflectionsHere) {
    this.#reflections = reflections;
    this.features = features;
    this.targets = targets;
    this.#capacity = Math.max(leastPending, features);
    this.#x = Array.from({ length: features }, () => doubleDoubles(features + this.#capacity));
    this.#y = Array.from({ length: targets }, () => doubleDoubles(features + this.#capacity));
    this.residualSquares = new Float64Array(targets);
    this.#norms = new Float64Array(features);
  }

  /** Rows that were added so far. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds rows of features and targets, each put together from its sources from left to right. */
  add(features: readonly ColumnSource[], targets: readonly ColumnSource[], rows: number): void {
    for (let t = 0; t < rows; t++) {
      const at = this.features + this.#pending;
      writeRow(features, t, this.#x, at);
      writeRow(targets, t, this.#y, at);
      for (let f = 0; f < this.features; f++) this.#norms[f] = this.#norms[f]! + this.#x[f]!.high[at]! * this.#x[f]!.high[at]!;
      if (++this.#pending === this.#capacity) this.#reflect(true);
    }
    this.#rows += rows;
  }

  /** Adds the triangle of another one as rows. */
  merge(other: DoubleDoubleFactor): void {
    if (other.features !== this.features || other.targets !== this.targets) {
      throw ArgumentError.because(
        `a triangular factor of ${other.features} features and ${other.targets} targets cannot be added to one of ${this.features} and ${this.targets}`,
      );
    }
    const theirs = other.clone();
    this.#reflect(true);
    for (let r = 0; r < theirs.features; r++) {
      const at = this.features + this.#pending;
      theirs.#x.forEach((column, f) => {
        ddSet(this.#x[f]!, at, ddAt(column, r));
      });
      theirs.#y.forEach((column, o) => {
        ddSet(this.#y[o]!, at, ddAt(column, r));
      });
      this.#pending++;
    }
    this.#reflect(true);
    theirs.residualSquares.forEach((value, o) => {
      this.residualSquares[o] = this.residualSquares[o]! + value;
    });
    theirs.#norms.forEach((value, f) => {
      this.#norms[f] = this.#norms[f]! + value;
    });
    this.#rows += theirs.#rows;
  }

  /** A copy without rows that wait; this one goes on unchanged. */
  clone(): DoubleDoubleFactor {
    const copy = new DoubleDoubleFactor(this.features, this.targets, this.#reflections);
    const copied = ({ high, low }: DoubleDoubles) => ({ high: high.slice(), low: low.slice() });
    copy.#x = this.#x.map(copied);
    copy.#y = this.#y.map(copied);
    copy.#norms.set(this.#norms);
    copy.residualSquares.set(this.residualSquares);
    copy.#rows = this.#rows;
    copy.#pending = this.#pending;
    copy.#reflect(true);
    return copy;
  }

  /** Adds the rows diag(d) with targets 0, which count neither as rows nor as residual. */
  addDiagonal(diagonal: ArrayLike<number>): void {
    this.#reflect(true);
    for (let f = 0; f < this.features; f++) {
      this.#x[f]!.high[this.features + f] = diagonal[f]!;
      this.#norms[f] = this.#norms[f]! + diagonal[f]! * diagonal[f]!;
    }
    this.#pending = this.features;
    this.#reflect(false);
  }

  /** R, F x F, rounded to binary64. */
  triangle(): Matrix<Float64Array> {
    this.#reflect(true);
    const out = Matrix.zeros(this.features, this.features);
    for (let r = 0; r < this.features; r++) for (let c = r; c < this.features; c++) out.data[r * this.features + c] = this.#x[c]!.high[r]!;
    return out;
  }

  /** Q^T Y, F x O, rounded to binary64. */
  transformedTargets(): Matrix<Float64Array> {
    this.#reflect(true);
    const out = Matrix.zeros(this.features, this.targets);
    for (let r = 0; r < this.features; r++) for (let o = 0; o < this.targets; o++) out.data[r * this.targets + o] = this.#y[o]!.high[r]!;
    return out;
  }

  /** W (F x O) with R W = Q^T Y, rounded to binary64. NaN if X has not full rank. */
  solve(): Matrix<Float64Array> {
    this.#reflect(true);
    const out = Matrix.zeros(this.features, this.targets);
    const diagonal = doubleDoubles(this.features);
    for (let k = 0; k < this.features; k++) {
      const pivot = ddAt(this.#x[k]!, k);
      if (!ddIsPivot(pivot, this.#norms[k]!, this.#rows + this.features)) {
        out.data.fill(Number.NaN);
        return out;
      }
      ddSet(diagonal, k, pivot);
    }
    this.#y.forEach((target, o) => {
      const { high } = ddBackSubstitute(this.#x, diagonal, target);
      for (let f = 0; f < this.features; f++) out.data[f * this.targets + o] = high[f]!;
    });
    return out;
  }

  /** Gives the memory back; it takes no row afterwards. */
  dispose(): void {
    this.#x = [];
    this.#y = [];
  }

  /** Reflects the rows that wait into the triangle. */
  #reflect(countsResidual: boolean): void {
    if (this.#pending === 0) return;
    const rows = this.features + this.#pending;
    this.#reflections.triangularise(this.#x, this.#y, rows);
    this.#y.forEach((target, o) => {
      if (countsResidual) this.residualSquares[o] = this.residualSquares[o]! + ddDotOf(target, target, this.features, rows).high;
      target.high.fill(0, this.features);
      target.low.fill(0, this.features);
    });
    this.#pending = 0;
  }
}

function writeRow(sources: readonly ColumnSource[], t: number, columns: readonly DoubleDoubles[], at: number): void {
  let column = 0;
  for (const source of sources) {
    for (let c = 0; c < sourceColumns(source); c++) {
      const value = source === "ones" ? 1 : source.matrix.data[t * source.matrix.cols + c]!;
      // Squares are those that a readout predicts with, rounded to binary64.
      const squares = source !== "ones" && (source.square === "all" || (source.square === "odd" && c % 2 === 1));
      columns[column]!.high[at] = squares ? value * value : value;
      columns[column++]!.low[at] = 0;
    }
  }
}
