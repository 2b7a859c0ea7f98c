// The learning parameters that go together, by name. What a rule does with them is in its own file.
import { ArgumentError, checkFields } from "../../core/errors.js";
import { checkNotNegative, checkPositive } from "../errors.js";

/**
 * What a plasticity rule learns with. Weights are bounded in size: a synapse keeps its sign, and
 * |w| stays in [minimumWeight, maximumWeight].
 */
export interface PlasticityProfile {
  /** eta: the change by one pair of spikes that coincide, or by one step of full activity. */
  readonly learningRate: number;
  /** tau+ in ms: how long before a spike of the target a spike of the source still strengthens. */
  readonly potentiationTimeConstantMs: number;
  /** tau- in ms: how long after it one still weakens. */
  readonly depressionTimeConstantMs: number;
  readonly maximumWeight: number;
  readonly minimumWeight: number;
  /** Whether the sum of a neuron's weights of each sign is held (heterosynaptic normalisation). */
  readonly heterosynaptic: boolean;
  /** The share of |w| that is lost at each update. */
  readonly decay: number;
  /** Whether a neuron's excitation is scaled towards its target activity. */
  readonly homeostatic: boolean;
  /**
   * The target: mean activity of a rate neuron, or the share of maximumRateHz at which a spiking
   * neuron fires.
   */
  readonly targetActivity: number;
}

/** The profiles that have a name. */
export type PlasticityProfileName = "conservative" | "balanced" | "aggressive" | "financial" | "optical";

function profile(
  learningRate: number,
  potentiationTimeConstantMs: number,
  depressionTimeConstantMs: number,
  [minimumWeight, maximumWeight]: readonly [number, number],
  heterosynaptic: boolean,
  decay: number,
  homeostatic: boolean,
  targetActivity: number,
): PlasticityProfile {
  return {
    learningRate,
    potentiationTimeConstantMs,
    depressionTimeConstantMs,
    maximumWeight,
    minimumWeight,
    heterosynaptic,
    decay,
    homeostatic,
    targetActivity,
  };
}

/**
 * The named profiles, from slow and guarded to fast and free; "financial" and "optical" have time
 * constants that differ.
 */
export const plasticityProfiles: Readonly<Record<PlasticityProfileName, PlasticityProfile>> = {
  conservative: profile(0.001, 20, 20, [0.1, 2], false, 0.0001, true, 0.1),
  balanced: profile(0.005, 15, 15, [0.05, 3], true, 0.0005, true, 0.15),
  aggressive: profile(0.02, 10, 10, [0.01, 5], true, 0.001, false, 0.2),
  financial: profile(0.008, 12, 18, [0.1, 4], true, 0.0008, true, 0.12),
  optical: profile(0.015, 8, 12, [0.01, 6], true, 0.002, false, 0.25),
};

/** A named profile, or a custom one: what it does not say is as in "balanced". */
export type PlasticityChoice = PlasticityProfileName | Partial<PlasticityProfile>;

/**
 * The profile of a choice. @throws ArgumentError on an unknown name or a value that it does not
 * take.
 */
export function plasticityProfile(choice: PlasticityChoice = "balanced"): PlasticityProfile {
  if (typeof choice === "string") {
    const found = Object.hasOwn(plasticityProfiles, choice) ? plasticityProfiles[choice] : undefined;
    const names = Object.keys(plasticityProfiles).map((name) => `"${name}"`);
    if (!found) throw new ArgumentError("profile", choice, `${names.join(", ")}, or the fields of one`);
    return found;
  }
  checkFields(choice, Object.keys(plasticityProfiles.balanced), "profile");
  const custom: PlasticityProfile = { ...plasticityProfiles.balanced, ...choice };
  checkNotNegative("learningRate", custom.learningRate);
  checkPositive("potentiationTimeConstantMs", custom.potentiationTimeConstantMs, "ms");
  checkPositive("depressionTimeConstantMs", custom.depressionTimeConstantMs, "ms");
  checkNotNegative("minimumWeight", custom.minimumWeight);
  checkPositive("maximumWeight", custom.maximumWeight);
  if (custom.maximumWeight < custom.minimumWeight) {
    throw new ArgumentError("maximumWeight", custom.maximumWeight, `at least minimumWeight, ${custom.minimumWeight}`);
  }
  if (!(custom.decay >= 0 && custom.decay < 1)) throw new ArgumentError("decay", custom.decay, "a number from 0 to below 1");
  checkPositive("targetActivity", custom.targetActivity);
  return custom;
}
