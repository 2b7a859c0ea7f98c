// A closed loop step by step on the host, for what an engine's own loop does not know: outputs that
// are held in a range, a readout that sees lags, and a model of the user's.
import { allocate, type FloatArray, firstNonFinite, Matrix } from "@spillway/numerics";
import {
  type AnyReservoirComputer,
  evaluateReadout,
  type LinearReadout,
  NonFiniteStateError,
  type WorkOptions,
  writeFeatures,
} from "../../reservoir/index.js";
import { WorkPacer } from "../../reservoir/work.js";
import type { LoopModel } from "./hybrid.js";
import type { Range } from "./preprocessing.js";
import { type ReadoutFeatures, ReadoutWindow } from "./readout-features.js";

/** One closed loop, all in the z-scores of the loop. */
export interface ClosedLoop {
  readonly readout: LinearReadout;
  readonly steps: number;
  /** Inputs from outside, one row a step; known inputs are those of the step that is predicted. */
  readonly outside: Matrix | undefined;
  /** With known inputs: the last row of the series, which has not driven the reservoir yet. */
  readonly pending: FloatArray | undefined;
  readonly held: Range | undefined;
  /** What the readout sees beside the state; undefined if it is what drives the reservoir. */
  readonly readoutFeatures: ReadoutFeatures | undefined;
  /** The last rows of the series, oldest first, as many as the readout sees. */
  readonly recent: Matrix;
  /** The user's model, after the last row of the series. */
  readonly model: LoopModel | undefined;
}

/**
 * Outputs, steps x O in the model's precision, from the state that the computer has and moves
 * on from. The order of events is that of `ReservoirComputer.generate`; with known inputs a step
 * comes first, x = step([y, known]), and then y = readout(x).
 * @throws NonFiniteStateError, WorkInterruptedError
 */
export async function closedLoop(computer: AnyReservoirComputer, loop: ClosedLoop, work: WorkOptions): Promise<Matrix> {
  const { precision, outputSize } = computer.model;
  const { readout, steps, outside, pending, held, readoutFeatures, model } = loop;
  const outputs = readout.weights.rows;
  const out = new Matrix(steps, outputs, allocate(precision, steps * outputs)) as Matrix;
  const features = new Float64Array(readout.weights.cols);
  const pacer = new WorkPacer(work, steps);
  const window = readoutFeatures && new ReadoutWindow(readoutFeatures, loop.recent, precision);
  const { state } = computer;
  const input = state.input;
  let values = state.values;
  const answer = (t: number): FloatArray => {
    const y = out.row(t);
    writeFeatures(readout.features, values, window ? window.inputs(input, model?.feature) : input, features);
    evaluateReadout(readout, features, y);
    if (firstNonFinite(y) >= 0) throw new NonFiniteStateError(computer.state.step, -1);
    if (held) for (let o = 0; o < outputs; o++) y[o] = Math.min(held.upper[o]!, Math.max(held.lower[o]!, y[o]!));
    return y;
  };
  const take = (y: FloatArray, t: number): void => {
    input.set(y);
    if (outside) input.set(outside.row(t), outputs);
    if (model) input.set(model.driving, input.length - model.driving.length);
    values = computer.step(input);
  };
  const follow = (y: FloatArray): void => {
    if (model && !model.follow(y)) throw new NonFiniteStateError(computer.state.step, -1);
  };
  let before = pending;
  for (let t = 0; t < steps; t++) {
    if (outputSize > 0) {
      if (outside) input.set(outside.row(t));
      values = computer.step(input);
      const y = answer(t);
      computer.state = { ...computer.state, output: y };
    } else if (before) {
      take(before, t);
      before = answer(t);
      window?.push(before);
      if (t + 1 < steps) follow(before);
    } else {
      const y = answer(t);
      window?.push(y);
      if (t + 1 < steps) {
        follow(y);
        take(y, t);
      }
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
