// The largest conditional Lyapunov exponent of a driven reservoir: do small differences of state
// die out or grow?
import { ArgumentError } from "../core/errors.js";
import { option, optional, resolve, type TableOf, whole } from "../core/options.js";
import { isSparse, type Matrix, type MatrixLike, type SparseMatrix } from "../numerics/index.js";
import type { ReservoirModel } from "../reservoir/index.js";
import { series } from "../reservoir/inputs.js";
import { seriesOf } from "../reservoir/options.js";
import { type AnalysisOptions, analysisTable, count, inputTable, type ReservoirSource, uniformInputs, withReservoir } from "./source.js";

/** What drives the reservoir while the exponent is measured, and how long. */
export interface LyapunovExponentOptions extends AnalysisOptions {
  /** Steps that are measured. Default 2000. */
  readonly length?: number | undefined;
  /**
   * Steps before that: the state finds its attractor and the difference its direction. Default 500.
   */
  readonly washout?: number | undefined;
  /** Random inputs are uniform in [-amplitude, amplitude). Default 0.8. */
  readonly amplitude?: number | undefined;
  /**
   * Drive the reservoir with this T x I series in place of random input; T must be washout +
   * length.
   */
  readonly inputs?: MatrixLike | undefined;
}

/** The options of `lyapunovExponent`. */
export const lyapunovExponentTable = {
  ...analysisTable,
  ...inputTable,
  length: option(count, 2000, "Steps that are measured."),
  washout: option(whole(), 500, "Steps before that, in which state and difference settle."),
  inputs: optional(seriesOf("T x I"), "Drives the reservoir in place of random input; T is washout + length."),
} satisfies TableOf<LyapunovExponentOptions>;

/** States kept at a time. */
const chunk = 256;

/**
 * The largest conditional Lyapunov exponent per step, the mean of ln |v(t+1)| / |v(t)| for a small
 * difference v of two states under the same input. v follows the Jacobian of the step at the state
 * the reservoir is in:
 *
 *     v(t+1) = (1 - a) v(t) + a f'(z(t+1)) (W v(t))
 *
 * in binary64, rescaled to length 1 after every step; the states come in the reservoir's precision,
 * and float32 moves the exponent by some 1e-8 unless it is chaotic. Below 0 the reservoir forgets
 * where it started (the echo state property under this input), above 0 it is chaotic; -Infinity if
 * every difference is gone after finitely many steps (a nilpotent W without leak). Output feedback,
 * if there is any, is that of a reservoir without a readout: constant, so it does not count.
 *
 * Source: G. Benettin et al. 1980, "Lyapunov characteristic exponents for smooth dynamical
 * systems", Meccanica 15 (rescaling); for driven reservoirs D. Verstraeten et al. 2007, "An
 * experimental unification of reservoir computing methods", Neural Networks 20.
 * @throws ArgumentError for options and another number of rows, or for inputs that do not fit
 */
export async function lyapunovExponent(source: ReservoirSource, options: LyapunovExponentOptions = {}): Promise<number> {
  const { engine, seed, signal, length, washout, amplitude, inputs: given } = resolve(lyapunovExponentTable, options);
  return withReservoir(source, engine, async (computer) => {
    const { model } = computer;
    if (!Object.hasOwn(slopes, model.activation))
      throw new ArgumentError("activation", model.activation, `one of ${Object.keys(slopes).join(", ")}, whose slopes are known`);
    const total = washout + length;
    const inputs = given
      ? series(given, "inputs", model.inputSize, "inputSize", model.precision)
      : uniformInputs(seed, "inputs", 0, total, model.inputSize, amplitude);
    if (inputs.rows !== total) {
      throw new ArgumentError("inputs", `${inputs.rows} rows`, `${total}: washout ${washout} and length ${length}`, { code: "shape" });
    }
    const tangent = new Tangent(model, uniformInputs(seed, "tangent", 0, 1, model.size, 1).data);
    let state: ArrayLike<number> = computer.state.values;
    let sum = 0;
    for (let from = 0; from < total; from += chunk) {
      const states = await computer.run(inputs.subarray(from, Math.min(total, from + chunk)), { signal });
      for (let t = 0; t < states.rows; t++) {
        const growth = tangent.step(state, states.row(t));
        if (growth === 0) return Number.NEGATIVE_INFINITY;
        if (from + t >= washout) sum += Math.log(growth);
        state = states.row(t);
      }
    }
    return sum / length;
  });
}

/** f'(z), written in f(z). */
const slopes: Readonly<Record<string, (f: number) => number>> = {
  tanh: (f) => 1 - f * f,
  identity: () => 1,
  relu: (f) => (f > 0 ? 1 : 0),
  sigmoid: (f) => f * (1 - f),
};

/** A difference of length 1 that follows a trajectory. */
class Tangent {
  readonly #model: ReservoirModel;
  #vector: Float64Array;
  #next: Float64Array;

  constructor(model: ReservoirModel, start: Float64Array) {
    this.#model = model;
    this.#vector = start;
    this.#next = new Float64Array(start.length);
    this.#rescale(start);
  }

  /**
   * Follows one step from state x to state `next` and returns the factor by which the difference
   * grew.
   */
  step(x: ArrayLike<number>, next: ArrayLike<number>): number {
    const { leakRate, weights, activation, size, cell } = this.#model;
    const slope = slopes[activation]!;
    const v = this.#vector;
    const out = this.#next;
    multiply(weights, v, out);
    const keptState = this.#kept(x);
    const keptVector = this.#kept(v);
    for (let r = 0; r < size; r++) {
      const a = leakRate[r]!;
      const keep = cell?.keep[r] ?? 1 - a;
      const f = (next[r]! - keep * keptState[r]!) / a;
      out[r] = keep * keptVector[r]! + (a === 0 ? 0 : a * slope(f) * out[r]!);
    }
    this.#vector = out;
    this.#next = v;
    return this.#rescale(out);
  }

  /** O times a vector, if the cell has an O. */
  #kept(vector: ArrayLike<number>): ArrayLike<number> {
    const { cell, size } = this.#model;
    if (!cell?.orthogonal) return vector;
    const out = new Float64Array(size);
    multiply(cell.orthogonal, vector, out);
    return out;
  }

  #rescale(v: Float64Array): number {
    let sum = 0;
    for (const value of v) sum += value * value;
    const norm = Math.sqrt(sum);
    if (norm > 0) for (let i = 0; i < v.length; i++) v[i] = v[i]! / norm;
    return norm;
  }
}

/** out = W v. */
function multiply(weights: Matrix | SparseMatrix, v: ArrayLike<number>, out: Float64Array): void {
  for (let r = 0; r < weights.rows; r++) {
    let sum = 0;
    if (isSparse(weights)) {
      for (let p = weights.rowOffsets[r]!; p < weights.rowOffsets[r + 1]!; p++) sum += weights.values[p]! * v[weights.columns[p]!]!;
    } else {
      for (let c = 0, p = r * weights.cols; c < weights.cols; c++) sum += weights.data[p++]! * v[c]!;
    }
    out[r] = sum;
  }
}
