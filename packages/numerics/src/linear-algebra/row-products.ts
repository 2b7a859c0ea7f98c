// Dot products of many rows with a few weight vectors in the portable order of docs/numerics.md,
// rule 1, and sums of weighted rows: what evaluating readouts and fitting them by gradients are
// made of.
import { checkHas } from "@spillway/core/checks.js";
import type { FloatArray, Matrix } from "../matrix.js";
import { allocateRegions, float64View, type Regions, releaseRegions } from "./memory.js";

/** Partial sums of a portable dot product: rows are padded with zeros to a multiple of it. */
const portableWidth = 32;

/** The padded width of a row. */
export function paddedWidth(columns: number): number {
  return Math.ceil(columns / portableWidth) * portableWidth;
}

/**
 * out[t][o] = weights[o] . row t + intercept[o] for T rows, rounded once to the precision of `out`
 * (T x O). `writeRow` writes row t's F values.
 */
export function evaluateRows(
  weights: Matrix<Float64Array>,
  intercept: Float64Array,
  count: number,
  writeRow: (t: number, out: Float64Array) => void,
  out: FloatArray,
): void {
  checkHas("weights", weights, "a Matrix", "rows", "cols", "data");
  const { rows: outputs, cols } = weights;
  const width = paddedWidth(cols);
  const chunk = Math.max(1, Math.min(count, Math.floor(65536 / Math.max(width, 1))));
  const memory = allocateRegions(`a readout of ${outputs} x ${cols} weights`, {
    weights: outputs * width * 8,
    intercept: outputs * 8,
    rows: chunk * width * 8,
    out: chunk * outputs * 8,
  });
  const { at, exports } = memory;
  writePadded(memory, at.weights, weights);
  float64View(memory, at.intercept, outputs).set(intercept);
  const results = float64View(memory, at.out, chunk * outputs);
  const rows = Array.from({ length: chunk }, (_, t) => float64View(memory, at.rows + t * width * 8, cols));
  for (let first = 0; first < count; first += chunk) {
    const part = Math.min(chunk, count - first);
    for (let t = 0; t < part; t++) writeRow(first + t, rows[t]!);
    exports.evaluateRows(at.rows, part, width, at.weights, outputs, at.intercept, at.out);
    out.set(results.subarray(0, part * outputs), first * outputs);
  }
  releaseRegions(memory);
}

/**
 * T rows of F values that stay in WebAssembly memory while a fit goes over them again and again.
 */
export class ResidentRows {
  readonly rows: number;
  readonly columns: number;
  readonly outputs: number;
  readonly #width: number;
  readonly #memory: Regions<"rows" | "weights" | "intercept" | "scores" | "sums">;

  /** @throws MemoryLimitError if T x F binary64 values do not fit 4 GiB. */
  constructor(matrix: Matrix<Float64Array>, outputs: number) {
    this.rows = matrix.rows;
    this.columns = matrix.cols;
    this.outputs = outputs;
    this.#width = paddedWidth(matrix.cols);
    this.#memory = allocateRegions(
      `${matrix.rows} rows of ${matrix.cols} features`,
      {
        rows: this.rows * this.#width * 8,
        weights: outputs * this.#width * 8,
        intercept: outputs * 8,
        scores: this.rows * outputs * 8,
        sums: outputs * this.#width * 8,
      },
      "use fewer rows or features",
    );
    writePadded(this.#memory, this.#memory.at.rows, matrix);
  }

  /**
   * scores[t][o] = weights[o] . row t, for weights O x F; a view that holds until the next call.
   */
  multiply(weights: Float64Array): Float64Array {
    const { at, exports } = this.#memory;
    this.#copyIn(at.weights, weights);
    exports.evaluateRows(at.rows, this.rows, this.#width, at.weights, this.outputs, at.intercept, at.scores);
    return float64View(this.#memory, at.scores, this.rows * this.outputs);
  }

  /** sums[o] = sum over t of factors[t][o] * row t, O x F, written to `out`. */
  weightedSum(factors: Float64Array, out: Float64Array): void {
    const { at, exports } = this.#memory;
    float64View(this.#memory, at.scores, factors.length).set(factors);
    float64View(this.#memory, at.sums, this.outputs * this.#width).fill(0);
    exports.addWeightedRows(at.rows, this.rows, this.#width, at.scores, this.outputs, at.sums);
    for (let o = 0; o < this.outputs; o++) {
      out.set(float64View(this.#memory, at.sums + o * this.#width * 8, this.columns), o * this.columns);
    }
  }

  #copyIn(address: number, values: Float64Array): void {
    for (let o = 0; o < this.outputs; o++) {
      float64View(this.#memory, address + o * this.#width * 8, this.columns).set(values.subarray(o * this.columns, (o + 1) * this.columns));
    }
  }
}

function writePadded(memory: Regions<string>, address: number, matrix: Matrix<Float64Array>): void {
  const width = paddedWidth(matrix.cols);
  for (let r = 0; r < matrix.rows; r++) float64View(memory, address + r * width * 8, matrix.cols).set(matrix.row(r));
}
