// What a readout sees beside the state, if that is not what drives the reservoir: lags of the
// series, what is known, and what a model of the user's says.
import { ArgumentError } from "@spillway/core/errors.js";
import { allocate, type FloatArray, Matrix, type Precision } from "@spillway/numerics";
import { beside, columnsBetween } from "./data.js";
import { drives, feedsReadout, type HybridUse } from "./hybrid.js";

/** What it sees: [y(t), ..., y(t - lags + 1), known, M(y(t))]. */
export interface ReadoutFeatures {
  /** O, columns of the series. */
  readonly outputs: number;
  /** Columns of the inputs that the data gives: the series, and what is known. */
  readonly given: number;
  /** Rows of the series. */
  readonly lags: number;
  /** Whether it sees the user's model. */
  readonly model: boolean;
}

/** What the readout of a reservoir with `inputs` inputs sees; undefined if that is those inputs. */
export function readoutFeaturesOf(inputs: number, outputs: number, lags: number, use: HybridUse | undefined): ReadoutFeatures | undefined {
  if (lags === 0 && !feedsReadout(use)) return undefined;
  return { outputs, given: givenInputs(inputs, outputs, use), lags, model: feedsReadout(use) };
}

/** The inputs of a reservoir that the data gives: all but those of the user's model. */
export function givenInputs(inputs: number, outputs: number, use: HybridUse | undefined): number {
  return drives(use) ? inputs - outputs : inputs;
}

/** How many columns it sees. */
export function readoutFeatureCount({ outputs, given, lags, model }: ReadoutFeatures): number {
  return lags * outputs + given - outputs + (model ? outputs : 0);
}

/**
 * What it sees of rows of inputs. Lags of rows before the first come from `before` (the series
 * alone), and are 0 if there are too few.
 */
export function readoutFeatureRows(
  { outputs, given, lags }: ReadoutFeatures,
  inputs: Matrix,
  modelled: Matrix | undefined,
  before?: Matrix,
): Matrix {
  const lagged = laggedInputs(columnsBetween(inputs, 0, given), outputs, lags, before);
  return modelled ? beside(lagged, modelled) : lagged;
}

/** Row t is [y(t), y(t - 1), ..., y(t - lags + 1), the other inputs at t]. */
function laggedInputs(inputs: Matrix, outputs: number, lags: number, before?: Matrix): Matrix<Float64Array> {
  const others = inputs.cols - outputs;
  if (others < 0) throw ArgumentError.shape(`lags of ${outputs} columns take as many inputs; there are ${inputs.cols}`);
  const width = lags * outputs;
  const out = Matrix.zeros(inputs.rows, width + others);
  const { data, cols } = inputs;
  for (let t = 0; t < inputs.rows; t++) {
    const at = t * out.cols;
    if (t > 0 && lags > 1) out.data.copyWithin(at + outputs, at - out.cols, at - out.cols + width - outputs);
    else if (before) {
      const known = Math.min(lags - 1, before.rows);
      for (let lag = 1; lag <= known; lag++) out.data.set(before.row(before.rows - lag), at + lag * outputs);
    }
    for (let c = 0; lags > 0 && c < outputs; c++) out.data[at + c] = data[t * cols + c]!;
    for (let c = 0; c < others; c++) out.data[at + width + c] = data[t * cols + outputs + c]!;
  }
  return out;
}

/** What it sees in a closed loop, which shifts its own outputs in. */
export class ReadoutWindow {
  readonly #readoutFeatures: ReadoutFeatures;
  readonly #rows: FloatArray;
  readonly #joined: Float64Array;

  /** @param recent the last `lags` rows of the series, oldest first */
  constructor(readoutFeatures: ReadoutFeatures, recent: Matrix, precision: Precision) {
    const { lags, outputs } = readoutFeatures;
    this.#readoutFeatures = readoutFeatures;
    this.#rows = allocate(precision, lags * outputs);
    this.#joined = new Float64Array(readoutFeatureCount(readoutFeatures));
    for (let lag = 0; lag < lags; lag++) this.#rows.set(recent.row(recent.rows - 1 - lag), lag * outputs);
  }

  push(y: FloatArray): void {
    if (this.#rows.length === 0) return;
    this.#rows.copyWithin(this.#readoutFeatures.outputs, 0, this.#rows.length - this.#readoutFeatures.outputs);
    this.#rows.set(y);
  }

  inputs(input: FloatArray, modelled: FloatArray | undefined): FloatArray {
    const { outputs, given } = this.#readoutFeatures;
    this.#joined.set(this.#rows);
    this.#joined.set(input.subarray(outputs, given), this.#rows.length);
    if (modelled) this.#joined.set(modelled, this.#rows.length + given - outputs);
    return this.#joined;
  }
}
