// The options of registered kinds of reservoir, by name. A user's own package adds its kind to the
// interface.
import type { Precision, Seed } from "@spillway/numerics";
import type { StateAffineReservoirOptions } from "../state-affine/options.js";
import type { OscillatorReservoirOptions } from "./oscillator-options.js";

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
