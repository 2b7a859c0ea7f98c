// The triangular factor R of X = Q R, and Q^T Y, of rows that come in any portions: Householder
// reflections, no normal equations, so it serves where X^T X would lose half the digits. The order
// is that of docs/numerics.md, rule 11.
import { ArgumentError, DisposedError } from "@spillway/core/errors.js";
import { Matrix } from "../matrix.js";
import { allocateRegions, float64View, type Regions, releaseRegions } from "./memory.js";
import {
  type ColumnSource,
  packRows,
  packSources,
  panelBytes,
  panelColumns,
  panelRows,
  panelsFor,
  rawBytes,
  readPanel,
  writePanel,
} from "./panels.js";

/** Columns whose reflections the kernel applies together. */
const groupColumns = 36;

type FactorMemory = Regions<"raw" | "panels" | "work" | "triangle" | "solution">;

/**
 * R (F x F, upper triangular) and Q^T Y (F x O) of the least squares problem X W = Y, in memory
 * that does not grow with the rows.
 */
export class TriangularFactor {
  /** F. */
  readonly features: number;
  /** O. */
  readonly targets: number;
  #rows = 0;
  #pending = 0;
  readonly #targetColumn: number;
  readonly #panels: number;
  readonly #residualSquares: Float64Array;
  #memory: FactorMemory | undefined;

  /** @throws MemoryLimitError if F x (F + O) binary64 values do not fit 4 GiB. */
  constructor(features: number, targets: number) {
    this.features = features;
    this.targets = targets;
    this.#targetColumn = panelsFor(features) * panelColumns;
    this.#panels = panelsFor(features) + panelsFor(targets);
    this.#residualSquares = new Float64Array(targets);
    const width = this.#panels * panelColumns;
    this.#memory = allocateRegions(`the triangular factor of ${features} features and ${targets} targets`, {
      raw: rawBytes(width),
      panels: panelBytes(this.#panels),
      work: panelRows * groupColumns * 8 + groupColumns * groupColumns * 8 + groupColumns * 48 + groupColumns * 8,
      triangle: features * width * 8,
      solution: features * panelColumns * 8,
    });
  }

  /** Rows that were added so far. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * Sum over the rows of the squared residuals of the least squares fit, a value for each target;
   * complete after `finish`.
   */
  get residualSquares(): Float64Array {
    return this.#residualSquares;
  }

  /**
   * Adds `rows` rows of features and targets, each put together from its sources from left to
   * right.
   */
  add(features: readonly ColumnSource[], targets: readonly ColumnSource[], rows: number): void {
    const memory = this.#open();
    for (let first = 0; first < rows; ) {
      const count = Math.min(rows - first, panelRows - this.#pending);
      packSources(memory, memory.at.panels, features, first, count, this.#pending);
      packSources(memory, memory.at.panels, targets, first, count, this.#pending, this.#targetColumn);
      this.#pending += count;
      first += count;
      if (this.#pending === panelRows) this.finish();
    }
    this.#rows += rows;
  }

  /**
   * Adds what another one has gathered: its triangle as rows. Both finish their blocks; the next
   * row begins a new one.
   */
  merge(other: TriangularFactor): void {
    if (other.features !== this.features || other.targets !== this.targets) {
      throw ArgumentError.because(
        `a triangular factor of ${other.features} features and ${other.targets} targets cannot be added to one of ${this.features} and ${this.targets}`,
      );
    }
    const theirs = other.#memory === this.#memory ? other.clone() : other;
    theirs.finish();
    this.finish();
    const memory = this.#open();
    const width = this.#panels * panelColumns;
    const source = theirs.#open();
    const rows = new Matrix(this.features, width, float64View(source, source.at.triangle, this.features * width));
    for (let first = 0; first < this.features; first += panelRows) {
      const count = Math.min(panelRows, this.features - first);
      packRows(memory, memory.at.raw, memory.at.panels, { matrix: rows, square: "none" }, first, count, 0, 0);
      this.#eliminate(count, first);
    }
    for (let o = 0; o < this.targets; o++) this.#residualSquares[o] = this.#residualSquares[o]! + theirs.#residualSquares[o]!;
    this.#rows += theirs.#rows;
  }

  /** Eliminates the rows of an unfinished block. */
  finish(): void {
    if (this.#pending === 0) return;
    this.#eliminate(this.#pending, 0);
    this.#pending = 0;
  }

  /** A copy with its block finished; this one goes on unchanged. */
  clone(): TriangularFactor {
    const copy = new TriangularFactor(this.features, this.targets);
    const from = this.#open();
    const to = copy.#open();
    new Uint8Array(to.memory.buffer, 0, to.end).set(new Uint8Array(from.memory.buffer, 0, from.end));
    copy.#residualSquares.set(this.#residualSquares);
    copy.#rows = this.#rows;
    copy.#pending = this.#pending;
    copy.finish();
    return copy;
  }

  /**
   * Adds the rows diag(d) with targets 0: with d = sqrt(lambda), the rows of ridge regression. They
   * count neither as rows nor as residual.
   */
  addDiagonal(diagonal: ArrayLike<number>): void {
    this.finish();
    const memory = this.#open();
    const panels = float64View(memory, memory.at.panels, panelBytes(this.#panels) / 8);
    for (let first = 0; first < this.features; first += panelRows) {
      const count = Math.min(panelRows, this.features - first);
      panels.fill(0);
      for (let t = 0; t < count; t++) {
        const column = first + t;
        panels[(Math.floor(column / panelColumns) * panelRows + t) * panelColumns + (column % panelColumns)] = diagonal[column]!;
      }
      this.#reduce(count, first);
    }
  }

  /** R, F x F. Finishes the block. */
  triangle(): Matrix<Float64Array> {
    const out = Matrix.zeros(this.features, this.features);
    this.#readRows((row, i) => {
      out.data.set(row.subarray(i, this.features), i * this.features + i);
    });
    return out;
  }

  /** Q^T Y, F x O. Finishes the block. */
  transformedTargets(): Matrix<Float64Array> {
    const out = Matrix.zeros(this.features, this.targets);
    this.#readRows((row, i) => {
      out.data.set(row.subarray(this.#targetColumn, this.#targetColumn + this.targets), i * this.targets);
    });
    return out;
  }

  /** W (F x O) with R W = Q^T Y. Finishes the block. Values are not finite if R is singular. */
  solve(): Matrix<Float64Array> {
    const rhs = this.transformedTargets();
    const memory = this.#open();
    const out = Matrix.zeros(this.features, this.targets);
    for (let first = 0; first < this.targets; first += panelColumns) {
      writePanel(memory, memory.at.solution, this.features, rhs, first);
      memory.exports.solveUpper(memory.at.triangle, this.#panels * panelColumns * 8, this.features, memory.at.solution);
      readPanel(memory, memory.at.solution, out, first);
    }
    return out;
  }

  /** Gives the WebAssembly memory back; it takes no row afterwards. */
  dispose(): void {
    if (this.#memory) releaseRegions(this.#memory);
    this.#memory = undefined;
  }

  #open(): FactorMemory {
    if (!this.#memory) throw new DisposedError("the triangular factor");
    return this.#memory;
  }

  /** Reflects the panels' rows into R; their columns before `firstColumn` are 0. */
  #reduce(rows: number, firstColumn: number): FactorMemory {
    const memory = this.#open();
    const { exports, at } = memory;
    const group = Math.floor(firstColumn / groupColumns) * groupColumns;
    exports.qrAddRows(at.panels, panelRows, rows, group, this.features, this.#panels, at.triangle, at.work);
    return memory;
  }

  /** The same, counting what is left of the targets as residual. */
  #eliminate(rows: number, firstColumn: number): void {
    const memory = this.#reduce(rows, firstColumn);
    const panels = float64View(memory, memory.at.panels, panelBytes(this.#panels) / 8);
    for (let o = 0; o < this.targets; o++) {
      const column = this.#targetColumn + o;
      const start = Math.floor(column / panelColumns) * panelRows * panelColumns + (column % panelColumns);
      let sum = 0;
      for (let t = 0; t < rows; t++) sum += panels[start + t * panelColumns]! * panels[start + t * panelColumns]!;
      this.#residualSquares[o] = this.#residualSquares[o]! + sum;
    }
  }

  #readRows(visit: (row: Float64Array, i: number) => void): void {
    this.finish();
    const memory = this.#open();
    const width = this.#panels * panelColumns;
    const values = float64View(memory, memory.at.triangle, this.features * width);
    for (let i = 0; i < this.features; i++) visit(values.subarray(i * width, (i + 1) * width), i);
  }
}
