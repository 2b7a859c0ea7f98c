// X^T Z of rows that come in portions, with columns of Z that are written as they are needed: in
// binary64 and in the order of docs/numerics.md, rule 9. What the columns mean is not known here.
import { DisposedError } from "@spillway/core/errors.js";
import { gramBlockRows } from "./gram.js";
import { allocateRegions, float64View, type Regions } from "./memory.js";
import { type ColumnSource, packSources, panelBytes, panelColumns, panelRows, panelsFor, rawBytes } from "./panels.js";

/** Panels of Z that are written and multiplied at a time: with X they stay in a core's cache. */
const stripPanels = 16;

/** Writes rows `first` to `first + rows` of column j of Z to `out[at]`, `out[at + step]`, ... */
export type WriteColumn = (j: number, first: number, rows: number, out: Float64Array, at: number, step: number) => void;

/**
 * X^T Z, L x C, each product of columns summed in the order of {@link PortableGram}. Z is never
 * held: a caller writes its columns a few at a time, 256 rows of each.
 */
export class BlockProduct {
  readonly left: number;
  readonly right: number;
  #rowsInBlock = 0;
  readonly #leftPanels: number;
  readonly #rightPanels: number;
  #memory: Regions<"raw" | "left" | "strip" | "sums" | "totals"> | undefined;

  /** @throws MemoryLimitError if two matrices of L x C binary64 values do not fit 4 GiB. */
  constructor(left: number, right: number) {
    this.left = left;
    this.right = right;
    this.#leftPanels = panelsFor(left);
    this.#rightPanels = panelsFor(right);
    const sums = this.#values * 8;
    this.#memory = allocateRegions(
      `the products of ${left} columns with ${right}`,
      { raw: rawBytes(left), left: panelBytes(this.#leftPanels), strip: panelBytes(stripPanels), sums, totals: sums },
      "use fewer columns",
    );
  }

  get #values(): number {
    return this.#leftPanels * this.#rightPanels * panelColumns * panelColumns;
  }

  /**
   * Adds rows: the left columns from their sources, from left to right, and every right column as
   * `write` gives it. Yields after every strip of right columns, so that the caller can let others
   * have a turn.
   */
  *add(sources: readonly ColumnSource[], rows: number, write: WriteColumn): Generator<void, void> {
    for (let first = 0; first < rows; ) {
      const count = Math.min(rows - first, panelRows, gramBlockRows - this.#rowsInBlock);
      yield* this.#addPanels(sources, first, count, write);
      first += count;
    }
  }

  *#addPanels(sources: readonly ColumnSource[], first: number, rows: number, write: WriteColumn): Generator<void, void> {
    const memory = this.#open();
    const { at, exports } = memory;
    packSources(memory, at.left, sources, first, rows, 0);
    const strip = float64View(memory, at.strip, panelBytes(stripPanels) / 8);
    for (let panel = 0; panel < this.#rightPanels; panel += stripPanels) {
      const panels = Math.min(stripPanels, this.#rightPanels - panel);
      const columns = Math.min(panels * panelColumns, this.right - panel * panelColumns);
      for (let c = 0; c < columns; c++) {
        const start = Math.floor(c / panelColumns) * panelRows * panelColumns + (c % panelColumns);
        write(panel * panelColumns + c, first, rows, strip, start, panelColumns);
      }
      const sums = at.sums + panel * this.#leftPanels * panelColumns * panelColumns * 8;
      exports.productAddRows(at.left, this.#leftPanels, at.strip, panels, panelRows, rows, sums);
      yield;
    }
    this.#rowsInBlock += rows;
    if (this.#rowsInBlock < gramBlockRows) return;
    exports.gramFinishBlock(at.sums, at.totals, this.#values);
    this.#rowsInBlock = 0;
  }

  /** X^T z for column j of Z: L values, the unfinished block among them. */
  column(j: number, out: Float64Array = new Float64Array(this.left)): Float64Array {
    const memory = this.#open();
    const totals = float64View(memory, memory.at.totals, this.#values);
    const sums = float64View(memory, memory.at.sums, this.#values);
    const base = Math.floor(j / panelColumns) * this.#leftPanels * panelColumns * panelColumns + (j % panelColumns);
    for (let i = 0; i < this.left; i++) out[i] = totals[base + i * panelColumns]! + sums[base + i * panelColumns]!;
    return out;
  }

  /** Gives the WebAssembly memory back; it takes no row afterwards. */
  dispose(): void {
    this.#memory = undefined;
  }

  #open(): Regions<"raw" | "left" | "strip" | "sums" | "totals"> {
    if (!this.#memory) throw new DisposedError("the products of columns");
    return this.#memory;
  }
}
