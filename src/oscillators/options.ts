// The options of the kind "oscillator": what they take, and what follows from others.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, flag, number, option, optional, type Resolved, type TableOf, whole } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import type { KindMatrix, OscillatorReservoirOptions, RegisteredModel, RegisteredReservoirConfig } from "../reservoir/index.js";

/** The options of the kind. Those without a default follow from others. */
export const oscillatorTable = {
  coupling: option(choice("random", "meanField"), "random", "A random W, or every oscillator with every other by their mean."),
  strength: optional(number({ atLeast: 0 }), "K, the strength of coupling; left out, 0.7 for random and 0.45 for meanField."),
  connectionProbability: option(number({ above: 0, atMost: 1 }), 1, "Share of the connections of a random W; below 1, W is sparse."),
  pull: option(number({ above: 0 }), 1, "F, how strongly input and bias pull at a phase."),
  input: option(choice("phase", "field"), "phase", "Pulled towards the phase b + W_in u, or by the field F (cos b, sin b + W_in u)."),
  gain: option(number({ atLeast: 0 }), 0.15, "W_in is uniform in [-gain, gain]."),
  inputs: option(choice("all", "one"), "all", "How many inputs reach an oscillator."),
  frequency: option(number(), 0, "The middle of the natural frequencies, radians for a unit of time."),
  frequencySpread: option(number({ atLeast: 0 }), 0.1, "How far natural frequencies scatter around it."),
  frequencyDistribution: option(choice("uniform", "lorentz"), "uniform", "frequency +- spread, or lorentz with spread as half width."),
  tau: option(number({ above: 0 }), 0.7, "The time that an input lasts."),
  steps: optional(whole({ atLeast: 1, atMost: 10_000 }), "Heun steps for an input; left out, as many as the fastest phase needs."),
  noise: option(number({ atLeast: 0 }), 0, "D, the strength of Langevin noise."),
  harmonics: option(whole({ atLeast: 1, atMost: 8 }), 1, "States are cos(m phi) and sin(m phi) for m = 1 to this."),
  order: option(flag, false, "Whether the order parameter R is one more state."),
} satisfies TableOf<OscillatorReservoirOptions>;

/** What a model is made of: columns of N values, W_in, and W unless the mean field couples. */
export interface OscillatorMatrices {
  readonly weights?: KindMatrix;
  /** N x I. */
  readonly inputWeights: Matrix;
  readonly bias: Matrix;
  readonly frequencies: Matrix;
}

/** A model of the kind. */
export type OscillatorModel = RegisteredModel<OscillatorConfig, OscillatorMatrices>;

/** A description with its defaults, some of which follow from others. */
export type OscillatorConfig = RegisteredReservoirConfig &
  Resolved<typeof oscillatorTable> & { readonly strength: number; readonly steps: number };

/** The most that a phase may turn in a Heun step by the middle of all forces, in radians. */
const largestTurn = 1;

/**
 * Fills in strength and steps. @throws ArgumentError for steps that are too few: the mean force
 * |frequency| + spread + 1.5 K + F would turn a phase by more than a radian in one
 */
export function completeOscillators(config: OscillatorConfig): OscillatorConfig {
  const { coupling, strength = coupling === "random" ? 0.7 : 0.45, tau, pull, frequency, frequencySpread, connectionProbability } = config;
  if (coupling === "meanField" && connectionProbability !== 1)
    throw new ArgumentError("connectionProbability", connectionProbability, "1 for meanField, which connects all");
  const needed = Math.ceil((tau * (Math.abs(frequency) + frequencySpread + 1.5 * strength + pull)) / largestTurn);
  const { steps = Math.max(2, needed) } = config;
  if (steps < needed)
    throw new ArgumentError("steps", steps, `at least ${needed}: a phase would turn by more than a radian in a step; or a smaller tau`);
  if (steps > 10_000) throw new ArgumentError("tau", tau, `a time of at most 10,000 steps; it needs ${steps}`);
  return { ...config, strength, steps };
}
