// The options of the kind "oscillator" of reservoirs, which src/oscillators makes.
import { choice, flag, type InputOf, number, option, optional, whole } from "@spillway/core/options.js";

/** The options of the kind. Those without a default follow from others. */
export const oscillatorTable = {
  /**
   * "random" (default): W normal with deviation strength / sqrt(connections of a row); "meanField":
   * every oscillator pulls at every other with strength / N.
   */
  coupling: option(choice("random", "meanField"), "random", "A random W, or every oscillator with every other by their mean."),
  /** K; default 0.7 for "random", 0.45 for "meanField". 0 couples nothing. */
  strength: optional(number({ atLeast: 0 }), "K, the strength of coupling; left out, 0.7 for random and 0.45 for meanField."),
  /** Share of the connections of a random W that there are; default 1. Below 1, W is sparse. */
  connectionProbability: option(number({ above: 0, atMost: 1 }), 1, "Share of the connections of a random W; below 1, W is sparse."),
  /** F > 0: how strongly input and bias pull at a phase; default 1. */
  pull: option(number({ above: 0 }), 1, "F, how strongly input and bias pull at a phase."),
  /**
   * "phase" (default): pulled towards the phase b + W_in u. "field": the field that pulls is F (cos
   * b, sin b + W_in u), and no sine is taken of the input.
   */
  input: option(choice("phase", "field"), "phase", "Pulled towards the phase b + W_in u, or by the field F (cos b, sin b + W_in u)."),
  /** W_in is uniform in [-gain, gain], radians for an input of 1; default 0.15. */
  gain: option(number({ atLeast: 0 }), 0.15, "W_in is uniform in [-gain, gain]."),
  /** How many inputs reach an oscillator: "all" (default), or "one", drawn for each. */
  inputs: option(choice("all", "one"), "all", "How many inputs reach an oscillator."),
  /** The middle of the natural frequencies, in radians for a unit of time; default 0. */
  frequency: option(number(), 0, "The middle of the natural frequencies, radians for a unit of time."),
  /** Natural frequencies scatter this much around it; default 0.1. */
  frequencySpread: option(number({ atLeast: 0 }), 0.1, "How far natural frequencies scatter around it."),
  /** "uniform" (default): frequency +- spread. "lorentz": spread is the half width. */
  frequencyDistribution: option(choice("uniform", "lorentz"), "uniform", "frequency +- spread, or lorentz with spread as half width."),
  /** The time that an input lasts; default 0.7. */
  tau: option(number({ above: 0 }), 0.7, "The time that an input lasts."),
  /** Heun steps for an input; left out, as many as the fastest phase needs, at least 2. */
  steps: optional(whole({ atLeast: 1, atMost: 10_000 }), "Heun steps for an input; left out, as many as the fastest phase needs."),
  /** D, the strength of Langevin noise: each phase spreads by 2 D t; default 0. */
  noise: option(number({ atLeast: 0 }), 0, "D, the strength of Langevin noise."),
  /** States are cos(m phi) and sin(m phi) for m = 1 to this, 2 N each; default 1. */
  harmonics: option(whole({ atLeast: 1, atMost: 8 }), 1, "States are cos(m phi) and sin(m phi) for m = 1 to this."),
  /**
   * Whether the order parameter R, the length of the mean of exp(i phi), is one more state; default
   * false.
   */
  order: option(flag, false, "Whether the order parameter R is one more state."),
};

/**
 * Phase oscillators that pull at one another, and that the input pulls at. See the kind
 * "oscillator" in docs/substrates.md for the equation.
 */
export interface OscillatorReservoirOptions extends InputOf<typeof oscillatorTable> {}
