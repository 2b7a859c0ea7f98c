// The echo-state index: do runs from different initial states meet under the same input? It
// measures; it proves nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, resolve, whole } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { series } from "../reservoir/inputs.js";
import { stateSteps } from "../reservoir/integer/weights.js";
import { seriesOf } from "../reservoir/options.js";
import {
  type AnalysisOptions,
  type AnyReservoirSource,
  analysisTable,
  count as countKind,
  inputTable,
  positive,
  uniformInputs,
  withAnyReservoir,
} from "./source.js";

export const echoStateIndexTable = {
  ...analysisTable,
  ...inputTable,
  /** P, random initial states, uniform in [-1, 1). Default 10. */
  initialStates: option(countKind, 10, "P, random initial states."),
  /** Steps in all. Default 2000. */
  length: option(whole({ atLeast: 2 }), 2000, "Steps in all."),
  /** Steps before the distance counts. Default half of the length. */
  washout: optional(whole(), "Steps before the distance counts; left out, half of the length."),
  /**
   * Drive the reservoir with this series in place of random input; `length` is then its number of
   * rows.
   */
  inputs: optional(seriesOf("T x I"), "Drives the reservoir in place of random input; length is then its number of rows."),
  /** Share of the mean initial distance below which the runs have met. Default 1e-4. */
  tolerance: option(positive, 1e-4, "Share of the mean initial distance below which the runs have met."),
};

/** The initial states, inputs and lengths of the measure. */
export interface EchoStateIndexOptions extends AnalysisOptions, InputOf<typeof inputTable>, InputOf<typeof echoStateIndexTable> {}

/** How far trajectories from different initial states stay apart. */
export interface EchoStateIndex {
  /** Mean distance after the washout. */
  readonly index: number;
  /** Whether the index is at most `tolerance` times the mean distance at the start. */
  readonly meets: boolean;
  /** Mean distance over the initial states before the first step (0) and after each step t (t). */
  readonly curve: Float64Array;
}

/**
 * Runs the reservoir from its own initial state and from P random ones under the same input (and
 * the same noise). With d_p(t) the Euclidean distance of run p from the first,
 *
 *     index = mean over p and over t > washout of d_p(t).
 *
 * 0 (to rounding: some 1e-7 in float32, 1e-16 in float64) means that the states meet, which is the
 * echo state property for this input; clearly above 0 it does not hold. Leaky reservoirs forget
 * slowly: give them a washout of several 1 / ((1 - spectralRadius) leakRate) steps.
 *
 * Source: C. Gallicchio 2018, "Chasing the echo state property", arXiv 1811.10892 (the ESP index).
 * @throws ArgumentError for options, or for inputs that do not fit; NonFiniteStateError if a run
 * leaves the finite numbers
 */
export async function echoStateIndex(source: AnyReservoirSource, options: EchoStateIndexOptions = {}): Promise<EchoStateIndex> {
  const { engine, seed, signal, initialStates: count, tolerance, amplitude, ...asked } = resolve(echoStateIndexTable, options);
  return withAnyReservoir(source, engine, async (computer) => {
    const { model } = computer;
    if (model.kind === "spiking" || model.kind === "composite")
      throw new ArgumentError("source", `a ${model.kind} reservoir`, "one reservoir of rates, or of a registered kind");
    const { size, precision } = model;
    const hidden = model.kind === "registered" ? model.below : 0;
    const inputs = asked.inputs
      ? series(asked.inputs, "inputs", model.inputSize, "inputSize", precision)
      : uniformInputs(seed, "inputs", 0, asked.length, model.inputSize, amplitude);
    const length = inputs.rows;
    const { washout = Math.floor(length / 2) } = asked;
    if (washout >= length) throw new ArgumentError("washout", washout, `fewer than the ${length} steps there are`);
    const start = computer.state;
    const starts = uniformInputs(seed, "initialStates", 0, count, size + hidden, 1);
    const reference = await computer.run(inputs, { signal });
    const states = Matrix.zeros(length, size, precision);
    const curve = new Float64Array(length + 1);
    for (let p = 0; p < count; p++) {
      const values = start.values.slice();
      values.set(starts.row(p).subarray(0, size));
      if (model.kind === undefined && model.config.arithmetic === "integer") values.set(stateSteps(values));
      const below = hidden > 0 ? { below: Float64Array.from(starts.row(p).subarray(size)) } : {};
      computer.state = { ...start, values, ...below };
      await computer.run(inputs, { signal, into: states });
      curve[0] = curve[0]! + distance(values, start.values) / count;
      for (let t = 0; t < length; t++) curve[t + 1] = curve[t + 1]! + distance(states.row(t), reference.row(t)) / count;
    }
    const after = curve.subarray(washout + 1);
    const index = after.reduce((sum, value) => sum + value, 0) / after.length;
    return { index, meets: index <= tolerance * curve[0]!, curve };
  });
}

function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = a[i]! - b[i]!;
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}
