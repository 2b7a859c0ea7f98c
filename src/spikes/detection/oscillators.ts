// A bank of Kuramoto oscillators, free or driven by spikes, and the order parameter that says how
// coherent it is.
import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, choice, either, type InputOf, option, optional, resolve, tuple } from "@spillway/core/options.js";
import { Matrix, portableSin, portableSinCos, type Seed, type SineCosine } from "@spillway/numerics";
import { count, notNegative, numbers, positive } from "../options.js";
import { binSpikes } from "../pattern/binning.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { spikeStream } from "../streams.js";

const twoPi = 6.283185307179586;
const turned: SineCosine = { sine: 0, cosine: 0 };

const rangeTakes = "two numbers of Hz, the lowest and the highest";
const phaseTakes = '"random", "aligned" or one number of rad an oscillator';

export const oscillatorTable = {
  /** M; default 128. Left out if `frequenciesHz` are given. */
  count: optional(count, "M; left out, 128 or the number of frequencies."),
  /** K in rad/s; default 0.3. */
  coupling: option(notNegative("rad/s"), 0.3, "K."),
  /** Natural frequencies, M of them; default evenly spaced over `rangeHz`. */
  frequenciesHz: optional(numbers("a list of numbers of Hz"), "Natural frequencies; left out, evenly spaced over rangeHz."),
  /** Default [0.1, 100]. */
  rangeHz: option(
    tuple<readonly [number, number]>(rangeTakes, [notNegative("Hz"), notNegative("Hz")]),
    [0.1, 100],
    "The lowest and the highest natural frequency.",
  ),
  /** Phases at the beginning in rad: uniform from the seed (default), or all 0 with "aligned". */
  phases: option(either(phaseTakes, choice("random", "aligned"), numbers(phaseTakes)), "random", "Phases at the beginning."),
  /** Default "spillway". */
  seed: option(anySeed, "spillway", "What random phases are drawn from."),
  /** The step of integration in ms; default 1. */
  stepMs: option(positive("ms"), 1, "The step of integration."),
  /**
   * How hard a full input pulls, in rad/s; default 2000: a spike of 1 ms all but sets an oscillator
   * back to phase 0.
   */
  drive: option(notNegative("rad/s"), 2000, "How hard a full input pulls."),
};

/** Size, coupling and frequencies of a bank of oscillators. */
export interface OscillatorOptions extends InputOf<typeof oscillatorTable> {}

/**
 * The mean of e^(i phi): R = |mean| from 0 (spread out) to 1 (in phase), psi its phase in [cos,
 * sin].
 */
export interface OrderParameter {
  readonly r: number;
  readonly cosine: number;
  readonly sine: number;
}

/**
 * dphi_i/dt = 2 pi f_i + (K / M) sum_j sin(phi_j - phi_i) - drive s_i(t) sin(phi_i), by the
 * classical Runge-Kutta scheme of order 4 in steps of stepMs (in equal parts of it, if the pull
 * of coupling and drive within it is above 1); the input s_i, from 0 to 1, is constant within a
 * step and pulls a driven oscillator towards phase 0. The sum is K R sin(psi - phi_i), so a step
 * costs M. Sources: Kuramoto 1984, "Chemical Oscillations, Waves, and Turbulence"; Strogatz 2000,
 * "From Kuramoto to Crawford"; the drive: Sakaguchi 1988.
 */
export class KuramotoOscillators {
  readonly count: number;
  readonly frequenciesHz: Float64Array;
  readonly coupling: number;
  readonly stepMs: number;
  readonly drive: number;
  readonly #phases: Float64Array;

  /** @throws ArgumentError on an option that it does not take. */
  constructor(options: OscillatorOptions = {}) {
    const { count, coupling, frequenciesHz, rangeHz, phases, seed, stepMs, drive } = resolve(oscillatorTable, options);
    this.frequenciesHz = frequenciesHz ? Float64Array.from(frequenciesHz) : evenly(count ?? 128, rangeHz);
    this.count = this.frequenciesHz.length;
    if (this.count === 0 || (count ?? this.count) !== this.count)
      throw new ArgumentError("count", count ?? 0, `${this.count || "at least 1"}, the number of frequencies`);
    this.coupling = coupling;
    this.stepMs = stepMs;
    this.drive = drive;
    this.#phases = startPhases(phases, this.count, seed);
  }

  /** The phases in rad, not wrapped: a copy. */
  get phases(): Float64Array {
    return this.#phases.slice();
  }

  /**
   * The order parameter of the phases now: R from 0 (spread) to 1 (together), and the direction of
   * the mean.
   */
  get order(): OrderParameter {
    return orderOf(this.#phases);
  }

  /**
   * One step of stepMs; `input` is s, M values from 0 to 1, or nothing. @throws ArgumentError on
   * inputs of another number.
   */
  step(input?: ArrayLike<number>): void {
    if (input && input.length !== this.count)
      throw new ArgumentError("the number of inputs", input.length, `${this.count}, one an oscillator`, { code: "shape" });
    const parts = this.parts(input !== undefined);
    for (let part = 0; part < parts; part++) this.#advance(this.stepMs / 1000 / parts, input);
  }

  /**
   * Equal parts of a step that the scheme takes. A pull of more than one time constant a step would
   * leave it neither accurate nor stable.
   */
  parts(driven: boolean): number {
    return Math.max(1, Math.ceil((this.stepMs / 1000) * (this.coupling + (driven ? this.drive : 0))));
  }

  #advance(h: number, input: ArrayLike<number> | undefined): void {
    const start = this.#phases;
    const k1 = this.#slope(start, input);
    const after = (time: number, slope: Float64Array) =>
      this.#slope(
        start.map((phase, i) => phase + time * slope[i]!),
        input,
      );
    const k2 = after(h / 2, k1);
    const k3 = after(h / 2, k2);
    const k4 = after(h, k3);
    for (let i = 0; i < this.count; i++) start[i] = start[i]! + (h / 6) * (k1[i]! + 2 * k2[i]! + 2 * k3[i]! + k4[i]!);
  }

  /**
   * Steps through T inputs, T x M (or through `steps` without any), as a reservoir of oscillators
   * does.
   * @returns sin(phi) after each step, T x M, and R after each step, T values.
   */
  run(inputs: Matrix | number): { readonly states: Matrix<Float64Array>; readonly order: Float64Array } {
    const steps = typeof inputs === "number" ? checkWhole("steps", inputs, 0) : inputs.rows;
    const states = Matrix.zeros(steps, this.count);
    const order = new Float64Array(steps);
    for (let t = 0; t < steps; t++) {
      this.step(typeof inputs === "number" ? undefined : inputs.row(t));
      for (let i = 0; i < this.count; i++) states.data[t * this.count + i] = portableSin(this.#phases[i]!);
      order[t] = this.order.r;
    }
    return { states, order };
  }

  /**
   * How coherent a pattern makes the bank: the largest R that it brings it to. Neuron n drives
   * oscillator floor(n M / N) (if there are fewer neurons, each drives its share of oscillators)
   * in the steps in which it fires.
   */
  coherence(pattern: SpikePattern): number {
    const channels = Math.min(this.count, pattern.neuronCount);
    const counts = binSpikes(pattern, { binMs: this.stepMs, channels });
    const input = new Float64Array(this.count);
    let largest = 0;
    for (let t = 0; t < counts.rows; t++) {
      for (let i = 0; i < this.count; i++) {
        input[i] = Math.min(1, counts.data[t * channels + Math.floor((i * channels) / this.count)]!);
      }
      this.step(input.some((value) => value > 0) ? input : undefined);
      largest = Math.max(largest, this.order.r);
    }
    return largest;
  }

  #slope(phases: Float64Array, input: ArrayLike<number> | undefined): Float64Array {
    const sines = new Float64Array(this.count);
    const cosines = new Float64Array(this.count);
    let cosine = 0;
    let sine = 0;
    for (let i = 0; i < this.count; i++) {
      portableSinCos(phases[i]!, turned);
      sines[i] = turned.sine;
      cosines[i] = turned.cosine;
      cosine += turned.cosine;
      sine += turned.sine;
    }
    const scale = this.coupling / this.count;
    return sines.map((own, i) => {
      const pull = scale * (sine * cosines[i]! - cosine * own);
      return twoPi * this.frequenciesHz[i]! + pull - (input ? this.drive * input[i]! * own : 0);
    });
  }
}

/**
 * R e^(i psi) = mean of e^(i phi). For M phases drawn at random R is about 1 / sqrt(M). @throws
 * ArgumentError if there are none.
 */
export function orderOf(phases: ArrayLike<number>): OrderParameter {
  if (phases.length === 0) throw new ArgumentError("the number of phases", 0, "at least 1", { code: "shape" });
  let cosine = 0;
  let sine = 0;
  for (let i = 0; i < phases.length; i++) {
    portableSinCos(phases[i]!, turned);
    cosine += turned.cosine;
    sine += turned.sine;
  }
  const r = Math.sqrt(cosine * cosine + sine * sine) / phases.length;
  return { r, cosine: cosine / phases.length / (r || 1), sine: sine / phases.length / (r || 1) };
}

function evenly(count: number, [lowest, highest]: readonly [number, number]): Float64Array {
  if (highest < lowest) throw new ArgumentError("rangeHz[1]", highest, `at least the lowest, ${lowest} Hz`);
  return Float64Array.from({ length: count }, (_, i) => (count === 1 ? lowest : lowest + (i * (highest - lowest)) / (count - 1)));
}

function startPhases(phases: "random" | "aligned" | ArrayLike<number>, count: number, seed: Seed): Float64Array {
  if (typeof phases === "string") {
    const draws = spikeStream("oscillators", seed);
    return Float64Array.from({ length: count }, (_, i) => (phases === "random" ? twoPi * draws.uniform(0, i) : 0));
  }
  if (phases.length !== count)
    throw new ArgumentError("the number of phases", phases.length, `${count}, one an oscillator`, { code: "shape" });
  return Float64Array.from(phases);
}
