// The options of registered kinds of reservoir, by name. A user's own package adds its kind to the
// interface.
import type { Precision, Seed } from "@spillway/numerics";
import type { StateAffineReservoirOptions } from "../state-affine/options.js";

/**
 * The options of each registered kind, by its name. To have the type of your own kind checked, add
 * it:
 * @example
 * declare module "spillway/reservoir" {
 *   interface ReservoirKindOptions {
 *     delayLoop: { readonly delay?: number };
 *   }
 * }
 */
export interface ReservoirKindOptions {
  /** Coupled phase oscillators. */
  oscillator: OscillatorReservoirOptions;
  /** State-affine systems, and quantum reservoirs. */
  stateAffine: StateAffineReservoirOptions;
}

/** What every registered kind takes. */
export interface CommonKindOptions {
  /** How many units: neurons, oscillators. */
  readonly size: number;
  /** I, the number of input channels; default 1. */
  readonly inputSize?: number | undefined;
  /** Any number or text; default "spillway". */
  readonly seed?: Seed | undefined;
  /** Precision of states and matrices; default "float32" unless the kind says otherwise. */
  readonly precision?: Precision | undefined;
  /** A reservoir of a registered kind feeds no outputs back. */
  readonly feedback?: null | undefined;
}

/** What a user writes of a reservoir of a registered kind: its name as `kind`, and its options. */
export type RegisteredReservoirOptions = {
  [Name in keyof ReservoirKindOptions]: { readonly kind: Name } & Omit<CommonKindOptions, keyof ReservoirKindOptions[Name]> &
    Readonly<ReservoirKindOptions[Name]>;
}[keyof ReservoirKindOptions];

/** A reservoir of a registered kind with every default filled in: JSON, with the kind's options. */
export interface RegisteredReservoirConfig {
  /** The name of its kind. */
  readonly kind: keyof ReservoirKindOptions;
  /** How many units: neurons, oscillators. */
  readonly size: number;
  /** I, the number of input channels. */
  readonly inputSize: number;
  /** What its numbers are drawn from. */
  readonly seed: Seed;
  /** Of states and matrices. */
  readonly precision: Precision;
}

/**
 * Phase oscillators that pull at one another, and that the input pulls at. See the kind
 * "oscillator" in docs/substrates.md for the equation.
 */
export interface OscillatorReservoirOptions {
  /**
   * "random" (default): W normal with deviation strength / sqrt(connections of a row); "meanField":
   * every oscillator pulls at every other with strength / N.
   */
  readonly coupling?: "random" | "meanField" | undefined;
  /** K; default 0.7 for "random", 0.45 for "meanField". 0 couples nothing. */
  readonly strength?: number | undefined;
  /** Share of the connections of a random W that there are; default 1. Below 1, W is sparse. */
  readonly connectionProbability?: number | undefined;
  /** F > 0: how strongly input and bias pull at a phase; default 1. */
  readonly pull?: number | undefined;
  /**
   * "phase" (default): pulled towards the phase b + W_in u. "field": the field that pulls is F (cos
   * b, sin b + W_in u), and no sine is taken of the input.
   */
  readonly input?: "phase" | "field" | undefined;
  /** W_in is uniform in [-gain, gain], radians for an input of 1; default 0.15. */
  readonly gain?: number | undefined;
  /** How many inputs reach an oscillator: "all" (default), or "one", drawn for each. */
  readonly inputs?: "all" | "one" | undefined;
  /** The middle of the natural frequencies, in radians for a unit of time; default 0. */
  readonly frequency?: number | undefined;
  /** Natural frequencies scatter this much around it; default 0.1. */
  readonly frequencySpread?: number | undefined;
  /** "uniform" (default): frequency +- spread. "lorentz": spread is the half width. */
  readonly frequencyDistribution?: "uniform" | "lorentz" | undefined;
  /** The time that an input lasts; default 0.7. */
  readonly tau?: number | undefined;
  /** Heun steps for an input; left out, as many as the fastest phase needs, at least 2. */
  readonly steps?: number | undefined;
  /** D, the strength of Langevin noise: each phase spreads by 2 D t; default 0. */
  readonly noise?: number | undefined;
  /** States are cos(m phi) and sin(m phi) for m = 1 to this, 2 N each; default 1. */
  readonly harmonics?: number | undefined;
  /**
   * Whether the order parameter R, the length of the mean of exp(i phi), is one more state; default
   * false.
   */
  readonly order?: boolean | undefined;
}
