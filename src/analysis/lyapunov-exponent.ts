// Conditional Lyapunov exponents of a driven reservoir: do small differences of state die out or
// grow, and in how many directions?
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, type Resolved, resolve, whole } from "@spillway/core/options.js";
import { allocate, type FloatArray, type Matrix, type Seed } from "@spillway/numerics";
import type { AnyModel, AnyReservoirComputer } from "../reservoir/index.js";
import { seriesOf } from "../reservoir/options.js";
import { reservoirKinds } from "../reservoir/registered/kind.js";
import { checkSlope, followRates, kaplanYorke, type LyapunovSpectrum, Tangents } from "../reservoir/tangents.js";
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

export const lyapunovExponentTable = {
  ...analysisTable,
  ...inputTable,
  /** Steps that are measured. Default 2000. */
  length: option(count, 2000, "Steps that are measured."),
  /**
   * Steps before that: the state finds its attractor and the difference its direction. Default 500.
   */
  washout: option(whole(), 500, "Steps before that, in which state and difference settle."),
  /**
   * Drive the reservoir with this T x I series in place of random input; T must be washout +
   * length.
   */
  inputs: optional(seriesOf("T x I"), "Drives the reservoir in place of random input; T is washout + length."),
};

/** What drives the reservoir while the exponent is measured, and how long. */
export interface LyapunovExponentOptions extends AnalysisOptions, InputOf<typeof inputTable>, InputOf<typeof lyapunovExponentTable> {}

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

export const lyapunovSpectrumTable = {
  ...lyapunovExponentTable,
  /** k, how many exponents, the largest first. Default all N; the time grows with k^2. */
  count: optional(count, "How many exponents, the largest first; left out, all."),
};

/** The same, and how many exponents. */
export interface LyapunovSpectrumOptions extends LyapunovExponentOptions, InputOf<typeof lyapunovSpectrumTable> {}

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
    const tangents = new Tangents(starts(seed, k, directions));
    const pacer = new WorkPacer({ signal }, total);
    let state = wholeState(computer);
    // Hidden values are known only between runs.
    const rows = below > 0 ? 1 : chunk;
    for (let from = 0; from < total && tangents.vectors.length > 0; from += rows) {
      const run = inputs.subarray(from, Math.min(total, from + rows));
      const states = await computer.run(run, { signal });
      for (let t = 0; t < states.rows; t++) {
        follow(tangents.vectors, { x: state, next: states.row(t), input: run.row(t), step: from + t });
        tangents.grow(from + t >= washout);
        state = below > 0 ? wholeState(computer) : states.row(t);
        if (pacer.due()) await pacer.pause(from + t);
      }
    }
    return tangents.exponents(length);
  });
}

/** k random differences. */
function starts(seed: Seed, k: number, directions: number): Matrix<Float64Array> {
  return uniformInputs(seed, "tangent", 0, k, directions, 1);
}

/** The difference that `lyapunovExponent` starts with, of length 1. */
export function startTangent(seed: Seed, size: number): Float64Array {
  return new Tangents(starts(seed, 1, size)).vectors[0]!;
}

/** A step of a trajectory: from x to the states `next`, under an input. */
interface Step {
  readonly x: FloatArray;
  readonly next: FloatArray;
  readonly input: FloatArray;
  readonly step: number;
}

/** How small changes of a reservoir's state follow its steps. */
interface Jacobian {
  /** How many values a small change has. */
  readonly directions: number;
  /** Hidden values of x, behind its states. */
  readonly below: number;
  follow(vectors: readonly Float64Array[], step: Step): void;
}

/** @throws ArgumentError for a reservoir whose step has no known derivative */
function jacobianOf(model: AnyModel): Jacobian {
  if (model.kind === "registered") {
    const tangent = reservoirKinds.get(model.config.kind, "kind").tangent?.(model);
    if (!tangent) throw new ArgumentError("source", `a reservoir of the kind ${model.config.kind}`, "a kind that has a tangent");
    const { directions } = tangent;
    return { directions, below: model.below, follow: (vectors, { x, input, step }) => tangent.follow(x, input, step, 0, vectors) };
  }
  if (model.kind !== undefined) throw new ArgumentError("source", `a ${model.kind} reservoir`, "one reservoir of rates");
  checkSlope(model);
  return { directions: model.size, below: 0, follow: (vectors, { x, next }) => followRates(model, vectors, x, next) };
}

/** x of a reservoir: its states, then its hidden values. */
function wholeState({ model, state: { values, below } }: AnyReservoirComputer): FloatArray {
  if (!below) return values;
  const whole = allocate(model.precision, values.length + below.length);
  whole.set(values);
  whole.set(below, values.length);
  return whole;
}
