// Lyapunov exponents of a trained closed loop: how small changes grow where forecasts drive the
// reservoir.
import { ArgumentError } from "@spillway/core/errors.js";
import { allocate, firstNonFinite, Matrix, RandomStream, seedKeys } from "@spillway/numerics";
import {
  type AnyReservoirComputer,
  evaluateReadout,
  type LinearReadout,
  NonFiniteStateError,
  type ReservoirModel,
  type WorkOptions,
  writeFeatures,
} from "../../reservoir/index.js";
import { checkSlope, followRates, kaplanYorke, type LyapunovSpectrum, Tangents } from "../../reservoir/tangents.js";
import { WorkPacer } from "../../reservoir/work.js";
import type { Range } from "./preprocessing.js";

/** A closed loop whose next input is the readout's output, in z-scores, and nothing else. */
export interface AutonomousLoop {
  readonly readout: LinearReadout;
  readonly held: Range | undefined;
}

/** How long a loop is followed. */
export interface Followed extends WorkOptions {
  /** How many exponents; undefined: as many as outputs. */
  readonly count: number | undefined;
  readonly length: number;
  readonly washout: number;
  /** Time of a step. */
  readonly dt: number;
}

/**
 * Exponents of the loop from the state of the computer; moves it on. The Jacobian is that of state
 * -> readout -> state, and of the input too if the readout sees it; an output that is held does not
 * change.
 * @throws ArgumentError for a reservoir without a known derivative, and for more exponents than
 * there are directions; NonFiniteStateError
 */
export async function exponentsOf(
  computer: AnyReservoirComputer,
  { readout, held }: AutonomousLoop,
  { count, length, washout, dt, ...work }: Followed,
): Promise<LyapunovSpectrum> {
  const model = ratesOf(computer);
  const { size, precision } = model;
  const outputs = readout.weights.rows;
  const directions = size + (readout.features.input ? outputs : 0);
  const k = count ?? Math.min(outputs, directions);
  if (k > directions) throw new ArgumentError("count", k, `at most ${directions}, the directions of the loop's state`);
  const draws = new RandomStream(seedKeys("tangents").weights, 0);
  const starts = Float64Array.from({ length: k * directions }, (_, i) => draws.uniform(0, i) - 0.5);
  const tangents = new Tangents(new Matrix(k, directions, starts));
  const pacer = new WorkPacer(work, washout + length);
  const features = new Float64Array(readout.weights.cols);
  const y = allocate(precision, outputs);
  let { values: x, input } = computer.state;
  for (let t = 0; t < washout + length; t++) {
    writeFeatures(readout.features, x, input, features);
    evaluateReadout(readout, features, y);
    if (firstNonFinite(y) >= 0) throw new NonFiniteStateError(computer.state.step, -1);
    const changes = tangents.vectors.map((vector) => changeOf(readout, x, vector));
    for (let o = 0; held && o < outputs; o++) {
      if (y[o]! >= held.lower[o]! && y[o]! <= held.upper[o]!) continue;
      y[o] = Math.min(held.upper[o]!, Math.max(held.lower[o]!, y[o]!));
      for (const change of changes) change[o] = 0;
    }
    const next = computer.step(y).slice();
    const states = tangents.vectors.map((vector) => vector.subarray(0, size));
    followRates(model, states, x, next, changes);
    if (readout.features.input) for (const [i, vector] of tangents.vectors.entries()) vector.set(changes[i]!, size);
    tangents.grow(t >= washout);
    [x, input] = [next, y.slice()];
    if (pacer.due()) await pacer.pause(t + 1);
  }
  pacer.finish();
  const exponents = tangents.exponents(length).map((each) => each / dt);
  return { exponents, dimension: kaplanYorke(exponents, k === directions) };
}

function ratesOf({ model }: AnyReservoirComputer): ReservoirModel {
  if (model.kind !== undefined)
    throw ArgumentError.because(
      `the reservoir is ${model.kind === "registered" ? `of the kind ${model.config.kind}` : model.kind}; exponents of a closed loop are of one reservoir of rates`,
    );
  checkSlope(model);
  return model;
}

/** How the outputs change with the state, and with the input behind it if the readout sees that. */
function changeOf({ features, weights, stateSize }: LinearReadout, x: ArrayLike<number>, vector: Float64Array): Float64Array {
  const out = new Float64Array(weights.rows);
  const squares = features.squares ? weights.cols - stateSize : weights.cols;
  for (let o = 0; o < weights.rows; o++) {
    const row = weights.row(o);
    let sum = 0;
    for (let i = 0; i < vector.length; i++) {
      const slope = features.state === "squareHalf" && i < stateSize && i % 2 === 1 ? 2 * x[i]! : 1;
      sum += row[i]! * slope * vector[i]!;
    }
    for (let f = squares; f < weights.cols; f++) sum += row[f]! * 2 * x[f - squares]! * vector[f - squares]!;
    out[o] = sum;
  }
  return out;
}
