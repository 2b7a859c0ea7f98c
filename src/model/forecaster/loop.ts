// A closed loop step by step on the host, for what an engine's own loop does not know: outputs that
// are held in a range, and a readout that sees lags.
import { ArgumentError } from "../../core/errors.js";
import { allocate, type FloatArray, firstNonFinite, Matrix } from "../../numerics/index.js";
import {
  type AnyReservoirComputer,
  evaluateReadout,
  type LinearReadout,
  NonFiniteStateError,
  type WorkOptions,
  writeFeatures,
} from "../../reservoir/index.js";
import { WorkPacer } from "../../reservoir/work.js";
import type { Range } from "./road.js";

/** One closed loop, all in the z-scores of the loop. */
export interface ClosedLoop {
  readonly readout: LinearReadout;
  readonly steps: number;
  /** Inputs from outside, one row a step; known inputs are those of the step that is predicted. */
  readonly outside: Matrix | undefined;
  /** With known inputs: the last row of the series, which has not driven the reservoir yet. */
  readonly pending: FloatArray | undefined;
  readonly held: Range | undefined;
  /** Rows of the series that the readout sees beside the state; 0 for none. */
  readonly lags: number;
  /** The last `lags` rows of the series, oldest first; the loop shifts its own outputs in. */
  readonly recent: Matrix;
}

/**
 * Outputs, steps x O in the model's precision, from the state that the computer stands at and moves
 * on from. The order of events is that of `ReservoirComputer.generate`; with known inputs a step
 * comes first, x = step([y, known]), and then y = readout(x).
 * @throws NonFiniteStateError, WorkInterruptedError
 */
export async function closedLoop(computer: AnyReservoirComputer, loop: ClosedLoop, work: WorkOptions): Promise<Matrix> {
  const { model } = computer;
  const { readout, steps, outside, pending, held, lags } = loop;
  const outputs = readout.weights.rows;
  const out = new Matrix(steps, outputs, allocate(model.precision, steps * outputs)) as Matrix;
  const features = new Float64Array(readout.weights.cols);
  const pacer = new WorkPacer(work, steps);
  const window = new LagWindow(loop.recent, lags, outputs, model.precision);
  const { state } = computer;
  const input = state.input;
  let values = state.values;
  const answer = (t: number): FloatArray => {
    const y = out.row(t);
    writeFeatures(readout.features, values, lags > 0 ? window.inputs(input) : input, features);
    evaluateReadout(readout, features, y);
    if (firstNonFinite(y) >= 0) throw new NonFiniteStateError(computer.state.step, -1);
    if (held) for (let o = 0; o < outputs; o++) y[o] = Math.min(held.upper[o]!, Math.max(held.lower[o]!, y[o]!));
    return y;
  };
  const take = (y: FloatArray, t: number): void => {
    input.set(y);
    if (outside) input.set(outside.row(t), outputs);
    values = computer.step(input);
  };
  let before = pending;
  for (let t = 0; t < steps; t++) {
    if (model.outputSize > 0) {
      if (outside) input.set(outside.row(t));
      values = computer.step(input);
      const y = answer(t);
      computer.state = { ...computer.state, output: y };
    } else if (before) {
      take(before, t);
      before = answer(t);
      window.push(before);
    } else {
      const y = answer(t);
      window.push(y);
      if (t + 1 < steps) take(y, t);
    }
    if (pacer.due()) await pacer.pause(t + 1);
  }
  pacer.finish();
  return out;
}

/** Whether every output lies in its range. */
export function isWithin({ lower, upper }: Range, outputs: Matrix): boolean {
  const { data, cols } = outputs;
  for (let i = 0, c = 0; i < data.length; i++) {
    if (!(data[i]! >= lower[c]! && data[i]! <= upper[c]!)) return false;
    if (++c === cols) c = 0;
  }
  return true;
}

/** The last rows of a series as a readout sees them: newest first, then the other inputs. */
class LagWindow {
  readonly #rows: FloatArray;
  readonly #outputs: number;
  #joined: FloatArray | undefined;

  constructor(recent: Matrix, lags: number, outputs: number, precision: "float32" | "float64") {
    this.#outputs = outputs;
    this.#rows = allocate(precision, lags * outputs);
    for (let lag = 0; lag < lags; lag++) this.#rows.set(recent.row(recent.rows - 1 - lag), lag * outputs);
  }

  push(y: FloatArray): void {
    if (this.#rows.length === 0) return;
    this.#rows.copyWithin(this.#outputs, 0, this.#rows.length - this.#outputs);
    this.#rows.set(y);
  }

  inputs(input: FloatArray): FloatArray {
    this.#joined ??= allocate("float64", this.#rows.length + input.length - this.#outputs);
    this.#joined.set(this.#rows);
    this.#joined.set(input.subarray(this.#outputs), this.#rows.length);
    return this.#joined;
  }
}

/**
 * What a readout with lags sees of inputs whose first `outputs` columns are the series: row t is
 * [y(t), y(t - 1), ..., y(t - lags + 1), the other inputs at t]. Rows before the first come from
 * `before`, and are 0 if there are too few.
 */
export function laggedInputs(inputs: Matrix, outputs: number, lags: number, before?: Matrix): Matrix<Float64Array> {
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
    for (let c = 0; c < outputs; c++) out.data[at + c] = data[t * cols + c]!;
    for (let c = 0; c < others; c++) out.data[at + width + c] = data[t * cols + outputs + c]!;
  }
  return out;
}
