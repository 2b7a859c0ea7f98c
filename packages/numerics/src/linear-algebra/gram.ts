// The Gram matrix X^T X of rows that come in any portions, in binary64 and in the order of
// docs/numerics.md, rule 9. It does not know what the columns mean.
import { ArgumentError, DisposedError } from "@spillway/core/errors.js";
import { Matrix } from "../matrix.js";
import { type FusedExports, fusedKernels } from "../wasm/index.js";
import { allocateRegions, float64View, type Regions, releaseRegions } from "./memory.js";
import { type ColumnSource, exactColumns, packSources, panelBytes, panelColumns, panelRows, panelsFor, rawBytes } from "./panels.js";

/** Rows of a block of rule 9. */
export const gramBlockRows = 1024;

const tileValues = panelColumns * panelColumns;

/** What a Gram matrix is made of while rows come: lower triangles, C x C, whose sum it is. */
export interface GramBlocks {
  readonly rows: number;
  /** Rows of the unfinished block, 0 to 1023. */
  readonly rowsInBlock: number;
  /** Of the unfinished block. */
  readonly sums: Matrix<Float64Array>;
  /** Of the blocks before it. */
  readonly totals: Matrix<Float64Array>;
}

/** Something that sums X^T X over rows. */
export interface GramSum {
  readonly columns: number;
  readonly rows: number;
  /** Adds `rows` rows, put together from the sources from left to right. */
  add(sources: readonly ColumnSource[], rows: number): void;
  /**
   * The lower triangle of X^T X of the rows so far, C x C; what is above the diagonal is
   * unspecified.
   */
  lowerTriangle(): Matrix<Float64Array>;
  /** Its diagonal: the sum of squares of each column. */
  diagonal(): Float64Array;
  /** Gives the memory back; it takes no row afterwards. */
  dispose(): void;
}

/**
 * X^T X in the portable order: the products of each pair of columns are added in rising order of
 * rows to the sum of a block of 1024 rows, and block sums to the total. The bits do not depend on
 * how the rows were cut into calls.
 */
export class PortableGram implements GramSum {
  readonly columns: number;
  #rows = 0;
  #rowsInBlock = 0;
  #pending = 0;
  readonly #panels: number;
  /** Of the rows that wait: the first panels whose products are all exact. */
  #exactPanels: number;
  #fused: FusedExports | undefined;
  #memory: Regions<"raw" | "panels" | "sums" | "totals"> | undefined;

  /** @throws MemoryLimitError if two triangles of C x C binary64 values do not fit 4 GiB. */
  constructor(columns: number) {
    this.columns = columns;
    this.#panels = panelsFor(columns);
    this.#exactPanels = this.#panels;
    const sums = this.#tiles * tileValues * 8;
    this.#memory = allocateRegions(`the Gram matrix of ${columns} columns`, {
      raw: rawBytes(columns),
      panels: panelBytes(this.#panels),
      sums,
      totals: sums,
    });
    this.#fused = fusedKernels(this.#memory);
  }

  /** Rows that were added so far. */
  get rows(): number {
    return this.#rows;
  }

  get #tiles(): number {
    return (this.#panels * (this.#panels + 1)) / 2;
  }

  add(sources: readonly ColumnSource[], rows: number): void {
    const memory = this.#open();
    const exact = exactColumns(sources);
    const exactPanels = exact === this.columns ? this.#panels : Math.floor(exact / panelColumns);
    for (let first = 0; first < rows; ) {
      this.#exactPanels = Math.min(this.#exactPanels, exactPanels);
      const count = Math.min(rows - first, panelRows - this.#pending, gramBlockRows - this.#rowsInBlock - this.#pending);
      packSources(memory, memory.at.panels, sources, first, count, this.#pending);
      this.#pending += count;
      first += count;
      if (this.#pending === panelRows || this.#rowsInBlock + this.#pending === gramBlockRows) this.#sumPending();
    }
    this.#rows += rows;
  }

  /**
   * Adds what another one has summed: both finish their blocks and the totals are added. The next
   * row begins a new block.
   */
  merge(other: PortableGram): void {
    if (other.columns !== this.columns) {
      throw ArgumentError.because(`a Gram matrix of ${other.columns} columns cannot be added to one of ${this.columns}`);
    }
    const [theirTotals, theirSums] = other.#parts();
    const theirs = theirTotals.map((total, i) => total + theirSums[i]!);
    this.#sumPending();
    const { at, exports } = this.#open();
    exports.gramFinishBlock(at.sums, at.totals, this.#tiles * tileValues);
    this.#rowsInBlock = 0;
    const [totals] = this.#parts();
    for (let i = 0; i < theirs.length; i++) totals[i] = totals[i]! + theirs[i]!;
    this.#rows += other.#rows;
  }

  lowerTriangle(): Matrix<Float64Array> {
    const [totals, sums] = this.#parts();
    const out = Matrix.zeros(this.columns, this.columns);
    this.#elements((index, at) => {
      out.data[index] = totals[at]! + sums[at]!;
    });
    return out;
  }

  diagonal(): Float64Array {
    const [totals, sums] = this.#parts();
    const out = new Float64Array(this.columns);
    for (let i = 0, tile = 0; i < this.columns; i++) {
      const inPanel = i % panelColumns;
      const at = tile + inPanel * panelColumns + inPanel;
      out[i] = totals[at]! + sums[at]!;
      // A row of tiles begins with the one on the diagonal.
      if (inPanel === panelColumns - 1) tile += Math.ceil((this.columns - (i - inPanel)) / panelColumns) * tileValues;
    }
    return out;
  }

  /** The sums so far, which another accumulator can continue. */
  blocks(): GramBlocks {
    const [from, pending] = this.#parts();
    const sums = Matrix.zeros(this.columns, this.columns);
    const totals = Matrix.zeros(this.columns, this.columns);
    this.#elements((index, at) => {
      sums.data[index] = pending[at]!;
      totals.data[index] = from[at]!;
    });
    return { rows: this.#rows, rowsInBlock: this.#rowsInBlock, sums, totals };
  }

  /**
   * Replaces what is summed so far by sums that another accumulator made in the same order.
   * @throws ArgumentError if they have other columns
   */
  restore({ rows, rowsInBlock, sums, totals }: GramBlocks): void {
    if (sums.rows !== this.columns || totals.rows !== this.columns) {
      throw ArgumentError.because(`sums of ${sums.rows} and ${totals.rows} columns cannot replace those of ${this.columns}`);
    }
    const [into, pending] = this.#parts();
    this.#elements((index, at) => {
      pending[at] = sums.data[index]!;
      into[at] = totals.data[index]!;
    });
    this.#rows = rows;
    this.#rowsInBlock = rowsInBlock;
  }

  /**
   * Visits the lower triangle: an element's index in a C x C matrix, and where its values are in
   * memory.
   */
  #elements(visit: (index: number, at: number) => void): void {
    const n = this.columns;
    let tile = 0;
    for (let i0 = 0; i0 < n; i0 += panelColumns) {
      const columns = Math.min(panelColumns, n - i0);
      for (let j0 = i0; j0 < n; j0 += panelColumns) {
        const rows = Math.min(panelColumns, n - j0);
        for (let j = 0; j < rows; j++)
          for (let i = 0; i < columns; i++) if (i0 + i <= j0 + j) visit((j0 + j) * n + i0 + i, tile + i * panelColumns + j);
        tile += tileValues;
      }
    }
  }

  /** Gives the WebAssembly memory back; it takes no row afterwards. */
  dispose(): void {
    if (this.#memory) releaseRegions(this.#memory);
    this.#memory = undefined;
    this.#fused = undefined;
  }

  #open(): Regions<"raw" | "panels" | "sums" | "totals"> {
    if (!this.#memory) throw new DisposedError("the Gram matrix");
    return this.#memory;
  }

  #sumPending(): void {
    const { exports, at } = this.#open();
    const exact = this.#fused ? this.#exactPanels : 0;
    this.#fused?.gramAddRows(at.panels, panelRows, this.#pending, this.#panels, 0, exact, at.sums);
    exports.gramAddRows(at.panels, panelRows, this.#pending, this.#panels, exact, this.#panels, at.sums);
    this.#exactPanels = this.#panels;
    this.#rowsInBlock += this.#pending;
    this.#pending = 0;
    if (this.#rowsInBlock === gramBlockRows) {
      exports.gramFinishBlock(at.sums, at.totals, this.#tiles * tileValues);
      this.#rowsInBlock = 0;
    }
  }

  /**
   * The totals and the sums of the unfinished block, which are 0 if there is none: value by
   * value they add up to the result.
   */
  #parts(): readonly [totals: Float64Array, sums: Float64Array] {
    const memory = this.#open();
    this.#sumPending();
    const length = this.#tiles * tileValues;
    return [float64View(memory, memory.at.totals, length), float64View(memory, memory.at.sums, length)];
  }
}

/** Copies the lower triangle of a square matrix to the upper one, in place. */
export function mirrorLowerTriangle(matrix: Matrix<Float64Array>): Matrix<Float64Array> {
  const { rows: n, data } = matrix;
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) data[j * n + i] = data[i * n + j]!;
  return matrix;
}
