// A trained linear readout: plain data, and its evaluation over whole series. How it was trained is
// another file's matter.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, optional, resolve } from "@spillway/core/options.js";
import { allocate, asMatrix, describe, evaluateRows, Matrix, type MatrixLike, type Precision, precisionOf } from "@spillway/numerics";
import { applyReadout, type FeatureSpec, featureCount, type LinearReadout, writeFeatures } from "../reservoir/features.js";
import { checkFeatures, checkSizes } from "./features-option.js";

/** Products below which plain code is done before a WebAssembly instance is ready. */
const smallWork = 65536;

/** How a readout came about: for people, reports and result files. */
export interface ReadoutTraining {
  /** "ridge", "recursiveLeastSquares", ... */
  readonly method: string;
  /** Rows it was trained on, after washout. */
  readonly rows: number;
  readonly details: Readonly<Record<string, string | number | boolean | readonly number[]>>;
}

/** A readout as JSON: `weights` is O rows of F numbers. */
export interface ReadoutJson {
  readonly features: FeatureSpec;
  readonly stateSize: number;
  readonly inputSize: number;
  readonly weights: readonly (readonly number[])[];
  readonly intercept: readonly number[];
  readonly training?: ReadoutTraining;
}

const predictTable = { precision: optional(choice("float32", "float64"), "Of the outputs; left out, that of the states.") };

/** y = weights . features + intercept (docs/numerics.md, rule 10). */
export class TrainedReadout implements LinearReadout {
  readonly features: FeatureSpec;
  /** N. */
  readonly stateSize: number;
  /** I. */
  readonly inputSize: number;
  /** O x F. */
  readonly weights: Matrix<Float64Array>;
  /** O values. */
  readonly intercept: Float64Array;
  readonly training: ReadoutTraining | undefined;
  /**
   * T x O: the outputs for each training row of the fit without that row, if ridge chose lambda by
   * leave-one-out in dual form. A fit has them; no file keeps them.
   */
  readonly leftOut: Matrix<Float64Array> | undefined;

  /**
   * @throws ArgumentError for a field of another kind, or if the weights do not fit
   * the features or the intercept
   */
  constructor(data: LinearReadout, training?: ReadoutTraining, leftOut?: Matrix<Float64Array>) {
    checkSizes(data, "the readout", ["stateSize", "inputSize"]);
    checkFeatures(data.features);
    if (!(data.weights instanceof Matrix && data.weights.data instanceof Float64Array))
      throw new ArgumentError("weights", data.weights, "a Matrix of Float64Array");
    if (!(data.intercept instanceof Float64Array)) throw new ArgumentError("intercept", data.intercept, "a Float64Array");
    const expected = featureCount(data.features, data.stateSize, data.inputSize);
    if (data.weights.cols !== expected) {
      throw ArgumentError.shape(`the weights have ${data.weights.cols} columns; the features of this readout take ${expected}`);
    }
    if (data.intercept.length !== data.weights.rows) {
      throw ArgumentError.shape(`the intercept holds ${data.intercept.length} values; ${data.weights.rows} outputs take as many`);
    }
    this.features = data.features;
    this.stateSize = data.stateSize;
    this.inputSize = data.inputSize;
    this.weights = data.weights;
    this.intercept = data.intercept;
    this.training = training;
    this.leftOut = leftOut;
  }

  /** O. */
  get outputSize(): number {
    return this.weights.rows;
  }

  /**
   * T x O outputs for T x N states (and T x I inputs if the readout sees them), each summed in
   * binary64 and rounded once to
   * `precision`, by default the precision of the states: the same bits as an engine's closed loop.
   * @throws ArgumentError if the columns are not those it was trained on, or if inputs are missing
   */
  predict(states: MatrixLike, inputs: MatrixLike | undefined, options: { readonly precision: "float64" }): Matrix<Float64Array>;
  predict(states: MatrixLike, inputs?: MatrixLike, options?: { readonly precision?: Precision | undefined }): Matrix;
  predict(states: MatrixLike, inputs?: MatrixLike, options: { readonly precision?: Precision | undefined } = {}): Matrix {
    const { precision: wanted } = resolve(predictTable, options, "predict");
    const x = asMatrix(states, "states");
    if (x.cols !== this.stateSize) {
      throw ArgumentError.shape(`states has ${x.cols} columns; this readout was trained on ${this.stateSize} neurons`, { field: "states" });
    }
    const u = this.#inputs(inputs, x.rows);
    const precision = wanted ?? precisionOf(x.data);
    if (x.rows * this.weights.data.length < smallWork) return new Matrix(x.rows, this.outputSize, applyReadout(this, x, u, precision));
    const out = new Matrix(x.rows, this.outputSize, allocate(precision, x.rows * this.outputSize));
    const none = new Float64Array(0);
    const writeRow = (t: number, features: Float64Array): void => {
      writeFeatures(this.features, x.row(t), u ? u.row(t) : none, features);
    };
    evaluateRows(this.weights, this.intercept, x.rows, writeRow, out.data);
    return out;
  }

  /** The readout as plain JSON: numbers in full, so `fromJSON` gives the same bits back. */
  toJSON(): ReadoutJson {
    const { features, stateSize, inputSize, weights, intercept, training } = this;
    const json = { features, stateSize, inputSize, weights: weights.toArrays(), intercept: Array.from(intercept) };
    return training ? { ...json, training } : json;
  }

  /** A readout from what `toJSON` gave. @throws ArgumentError for fields that it did not give */
  static fromJSON(json: ReadoutJson): TrainedReadout {
    checkSizes(json, "the readout", ["stateSize", "inputSize"]);
    const { features, stateSize, inputSize, training } = json;
    checkFeatures(features);
    const rows = asMatrix(json.weights, "weights");
    const weights = rows.rows === 0 ? Matrix.zeros(0, featureCount(features, stateSize, inputSize)) : rows;
    const intercept = asMatrix(json.intercept, "intercept").data;
    return new TrainedReadout({ features, stateSize, inputSize, weights, intercept } as LinearReadout, training);
  }

  #inputs(inputs: MatrixLike | undefined, rows: number): Matrix | undefined {
    if (!this.features.input) return undefined;
    if (inputs === undefined)
      throw ArgumentError.because(`inputs is ${describe(inputs)}; this readout sees the input beside the state`, { field: "inputs" });
    const u = asMatrix(inputs, "inputs");
    if (u.cols !== this.inputSize)
      throw ArgumentError.shape(`inputs has ${u.cols} columns; this readout was trained on ${this.inputSize}`, { field: "inputs" });
    if (u.rows !== rows)
      throw ArgumentError.shape(`inputs has ${u.rows} rows and states has ${rows}; the two take the same number`, { field: "inputs" });
    return u;
  }
}
