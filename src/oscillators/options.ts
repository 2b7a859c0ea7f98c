// What of a description of the kind "oscillator" follows from other fields, and what a model of it is.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Resolved } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import type { KindMatrix, RegisteredModel, RegisteredReservoirConfig } from "../reservoir/index.js";
import type { oscillatorTable } from "../reservoir/registered/oscillator-options.js";

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
