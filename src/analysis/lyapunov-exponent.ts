// Conditional Lyapunov exponents of a driven reservoir: do small differences of state die out or
// grow, and in how many directions?
import { ArgumentError } from "../core/errors.js";
import { option, optional, type Resolved, resolve, type TableOf, whole } from "../core/options.js";
import {
  allocate,
  type DoubleDouble,
  ddAdd,
  type FloatArray,
  isSparse,
  type Matrix,
  type MatrixLike,
  portableLog,
  type Seed,
  type SparseMatrix,
} from "../numerics/index.js";
import type { AnyModel, AnyReservoirComputer, ReservoirModel } from "../reservoir/index.js";
import { seriesOf } from "../reservoir/options.js";
import { reservoirKinds } from "../reservoir/registered/kind.js";
import { WorkPacer } from "../reservoir/work.js";
import {
  type AnalysisOptions,
  type AnyReservoirSource,
  analysisTable,
  count,
  drivingInputs,
  inputTable,
  uniformInputs,
  withAnyReservoir,
} from "./source.js";

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
 * if there is any, is that of a reservoir without a readout: constant, so it does not count. A
 * registered kind of reservoir brings a Jacobian of its own.
 *
 * Source: G. Benettin et al. 1980, "Lyapunov characteristic exponents for smooth dynamical
 * systems", Meccanica 15 (rescaling); for driven reservoirs D. Verstraeten et al. 2007, "An
 * experimental unification of reservoir computing methods", Neural Networks 20.
 * @throws ArgumentError for options and another number of rows, or for inputs that do not fit
 */
export async function lyapunovExponent(source: AnyReservoirSource, options: LyapunovExponentOptions = {}): Promise<number> {
  return (await exponents(source, resolve(lyapunovExponentTable, options), 1))[0]!;
}

/** The same, and how many exponents. */
export interface LyapunovSpectrumOptions extends LyapunovExponentOptions {
  /** k, how many exponents, the largest first. Default all N; the time grows with k^2. */
  readonly count?: number | undefined;
}

/** The options of `lyapunovSpectrum`. */
export const lyapunovSpectrumTable = {
  ...lyapunovExponentTable,
  count: optional(count, "How many exponents, the largest first; left out, all."),
} satisfies TableOf<LyapunovSpectrumOptions>;

/** The conditional Lyapunov exponents of a reservoir. */
export interface LyapunovSpectrum {
  /** Per step, falling; -Infinity for directions that are gone after finitely many steps. */
  readonly exponents: Float64Array;
  /**
   * The Kaplan-Yorke dimension j + (l_1 + ... + l_j) / |l_(j+1)|, j the most for which the sum is
   * not below 0; 0 if the first is below 0. Undefined if more exponents would be needed.
   */
  readonly dimension: number | undefined;
}

/**
 * The first k conditional Lyapunov exponents per step: k differences follow the Jacobian of {@link
 * lyapunovExponent}, and are made orthogonal again after every step (Gram-Schmidt, twice). Exponent
 * i is the mean of ln R_ii. Their sum over all N is the mean of ln |det J|. An exponent below about
 * -36 is what rounding leaves of a direction. Logarithms are summed in double-double: the sums are
 * exact to the last digit, however many steps there are.
 *
 * Sources: Benettin et al. 1980, as for `lyapunovExponent`; J. L. Kaplan and J. A. Yorke 1979,
 * "Chaotic behavior of multidimensional difference equations", Lecture Notes in Mathematics 730.
 * @throws ArgumentError as `lyapunovExponent` does, and for more exponents than neurons
 */
export async function lyapunovSpectrum(source: AnyReservoirSource, options: LyapunovSpectrumOptions = {}): Promise<LyapunovSpectrum> {
  const { count: asked, ...common } = resolve(lyapunovSpectrumTable, options);
  const found = await exponents(source, common, asked);
  return { exponents: found, dimension: kaplanYorke(found, asked === undefined) };
}

/** `complete`: there are no more exponents. */
function kaplanYorke(found: Float64Array, complete: boolean): number | undefined {
  let sum = 0;
  for (let j = 0; j < found.length; j++) {
    if (sum + found[j]! < 0) return j + sum / -found[j]!;
    sum += found[j]!;
  }
  return complete ? found.length : undefined;
}

/** The first `asked` exponents, all if that is undefined. */
async function exponents(
  source: AnyReservoirSource,
  { engine, seed, signal, length, washout, amplitude, inputs: given }: Resolved<typeof lyapunovExponentTable>,
  asked: number | undefined,
): Promise<Float64Array> {
  return withAnyReservoir(source, engine, async (computer) => {
    const { model } = computer;
    const { directions, below, follow } = jacobianOf(model);
    const k = asked ?? directions;
    if (k > directions) throw new ArgumentError("count", k, `at most ${directions}, the neurons`);
    const total = washout + length;
    const inputs = drivingInputs(model, { seed, washout, length, amplitude, inputs: given });
    const tangents = startTangents(seed, k, directions);
    const pacer = new WorkPacer({ signal }, total);
    const sums = Array.from({ length: k }, (): DoubleDouble => ({ high: 0, low: 0 }));
    let state = wholeState(computer);
    // Hidden values are known only between runs.
    const rows = below > 0 ? 1 : chunk;
    for (let from = 0; from < total; from += rows) {
      const run = inputs.subarray(from, Math.min(total, from + rows));
      const states = await computer.run(run, { signal });
      for (let t = 0; t < states.rows; t++) {
        follow(tangents, { x: state, next: states.row(t), input: run.row(t), step: from + t });
        for (let i = 0; i < tangents.length; i++) {
          const growth = tangents[i]!.orthogonalise(tangents, i);
          // This direction is gone, and with it those behind.
          if (growth === 0) tangents.length = i;
          else if (from + t >= washout) sums[i] = ddAdd(sums[i]!, { high: portableLog(growth), low: 0 });
        }
        state = below > 0 ? wholeState(computer) : states.row(t);
        if (pacer.due()) await pacer.pause(from + t);
      }
      if (tangents.length === 0) break;
    }
    return Float64Array.from(sums, ({ high }, i) => (i < tangents.length ? high / length : Number.NEGATIVE_INFINITY));
  });
}

/** k random differences of length 1, orthogonal to each other. */
function startTangents(seed: Seed, k: number, directions: number): Tangent[] {
  const starts = uniformInputs(seed, "tangent", 0, k, directions, 1);
  const tangents = Array.from({ length: k }, (_, i) => new Tangent(starts.row(i)));
  tangents.forEach((tangent, i) => {
    tangent.orthogonalise(tangents.slice(0, i));
  });
  return tangents;
}

/** The difference that `lyapunovExponent` starts with, of length 1. */
export function startTangent(seed: Seed, size: number): Float64Array {
  return startTangents(seed, 1, size)[0]!.vector;
}

/** f'(z), written in f(z). */
const slopes: Readonly<Record<string, (f: number) => number>> = {
  tanh: (f) => 1 - f * f,
  identity: () => 1,
  relu: (f) => (f > 0 ? 1 : 0),
  sigmoid: (f) => f * (1 - f),
};

/** A step of a trajectory: from x to the states `next`, under an input. */
interface Step {
  readonly x: FloatArray;
  readonly next: ArrayLike<number>;
  readonly input: FloatArray;
  readonly step: number;
}

/** How small changes of a reservoir's state follow its steps. */
interface Jacobian {
  /** How many values a small change has. */
  readonly directions: number;
  /** Hidden values of x, behind its states. */
  readonly below: number;
  /** Each tangent's length is then the factor by which it grew. */
  follow(tangents: readonly Tangent[], step: Step): void;
}

/** @throws ArgumentError for a reservoir whose step has no known derivative */
function jacobianOf(model: AnyModel): Jacobian {
  if (model.kind === "registered") {
    const tangent = reservoirKinds.get(model.config.kind, "kind").tangent?.(model);
    if (!tangent) throw new ArgumentError("source", `a reservoir of the kind ${model.config.kind}`, "a kind that has a tangent");
    const { directions } = tangent;
    const follow: Jacobian["follow"] = (tangents, { x, input, step }) =>
      tangent.follow(
        x,
        input,
        step,
        0,
        tangents.map(({ vector }) => vector),
      );
    return { directions, below: model.below, follow };
  }
  if (model.kind !== undefined) throw new ArgumentError("source", `a ${model.kind} reservoir`, "one reservoir of rates");
  if (!Object.hasOwn(slopes, model.activation))
    throw new ArgumentError("activation", model.activation, `one of ${Object.keys(slopes).join(", ")}, whose slopes are known`);
  return { directions: model.size, below: 0, follow: (tangents, step) => followRates(model, tangents, step) };
}

/** x of a reservoir: its states, then its hidden values. */
function wholeState({ model, state: { values, below } }: AnyReservoirComputer): FloatArray {
  if (!below) return values;
  const whole = allocate(model.precision, values.length + below.length);
  whole.set(values);
  whole.set(below, values.length);
  return whole;
}

function followRates(model: ReservoirModel, tangents: readonly Tangent[], { x, next }: Step): void {
  const { leakRate, weights, activation, size, cell } = model;
  const slope = slopes[activation]!;
  const keptState = kept(model, x);
  for (const tangent of tangents) {
    const out = new Float64Array(size);
    multiply(weights, tangent.vector, out);
    const keptVector = kept(model, tangent.vector);
    for (let r = 0; r < size; r++) {
      const a = leakRate[r]!;
      const keep = cell?.keep[r] ?? 1 - a;
      const f = (next[r]! - keep * keptState[r]!) / a;
      out[r] = keep * keptVector[r]! + (a === 0 ? 0 : a * slope(f) * out[r]!);
    }
    tangent.vector.set(out);
  }
}

/** O times a vector, if the cell has an O. */
function kept({ cell, size }: ReservoirModel, vector: ArrayLike<number>): ArrayLike<number> {
  if (!cell?.orthogonal) return vector;
  const out = new Float64Array(size);
  multiply(cell.orthogonal, vector, out);
  return out;
}

/** A difference of length 1 that follows a trajectory. */
class Tangent {
  readonly vector: Float64Array;

  constructor(start: Float64Array) {
    this.vector = start;
  }

  /**
   * Takes away what lies along the first `count` others, of length 1 and orthogonal, and rescales
   * what is left to length 1. Returns the length it had; a second pass takes what rounding left.
   */
  orthogonalise(others: readonly Tangent[], count = others.length): number {
    let length = 1;
    for (let pass = 0; pass < (count === 0 ? 1 : 2); pass++) {
      for (let i = 0; i < count; i++) subtractAlong(this.vector, others[i]!.vector);
      length *= this.#rescale(this.vector);
    }
    return length;
  }

  #rescale(v: Float64Array): number {
    let sum = 0;
    for (const value of v) sum += value * value;
    const norm = Math.sqrt(sum);
    if (norm > 0) for (let i = 0; i < v.length; i++) v[i] = v[i]! / norm;
    return norm;
  }
}

/** v -= (v . q) q, q of length 1. */
function subtractAlong(v: Float64Array, q: Float64Array): void {
  let dot = 0;
  for (let i = 0; i < v.length; i++) dot += v[i]! * q[i]!;
  for (let i = 0; i < v.length; i++) v[i] = v[i]! - dot * q[i]!;
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
