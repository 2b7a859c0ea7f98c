// The learning parameters that go together, by name. What a rule does with them is in its own file.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, either as eitherOf, flag, type Kind, number, type Option, object, option, type TableOf } from "@spillway/core/options.js";
import { notNegativeNumber, positive, positiveNumber } from "../options.js";

/**
 * What a plasticity rule learns with. Weights are bounded in size: a synapse keeps its sign, and
 * |w| stays in [minWeight, maxWeight].
 */
export interface PlasticityProfile {
  /** eta: the change by one pair of spikes that coincide, or by one step of full activity. */
  readonly learningRate: number;
  /** tau+ in ms: how long before a spike of the target a spike of the source still strengthens. */
  readonly potentiationTimeConstantMs: number;
  /** tau- in ms: how long after it one still weakens. */
  readonly depressionTimeConstantMs: number;
  readonly maxWeight: number;
  readonly minWeight: number;
  /** Whether the sum of a neuron's weights of each sign is held (heterosynaptic normalisation). */
  readonly heterosynaptic: boolean;
  /** The share of |w| that is lost at each update. */
  readonly decay: number;
  /** Whether a neuron's excitation is scaled towards its target activity. */
  readonly homeostatic: boolean;
  /**
   * The target: mean activity of a rate neuron, or the share of maxRateHz at which a spiking
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
  [minWeight, maxWeight]: readonly [number, number],
  heterosynaptic: boolean,
  decay: number,
  homeostatic: boolean,
  targetActivity: number,
): PlasticityProfile {
  return {
    learningRate,
    potentiationTimeConstantMs,
    depressionTimeConstantMs,
    maxWeight,
    minWeight,
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

const { balanced } = plasticityProfiles;

/** The fields of a user's own profile. */
export const profileTable = {
  learningRate: option(notNegativeNumber, balanced.learningRate, "eta: the change by one pair of spikes that coincide."),
  potentiationTimeConstantMs: option(positive("ms"), balanced.potentiationTimeConstantMs, "tau+."),
  depressionTimeConstantMs: option(positive("ms"), balanced.depressionTimeConstantMs, "tau-."),
  maxWeight: option(positiveNumber, balanced.maxWeight, "The largest |w|."),
  minWeight: option(notNegativeNumber, balanced.minWeight, "The smallest |w|."),
  heterosynaptic: option(flag, balanced.heterosynaptic, "Whether the sum of a neuron's weights of each sign is held."),
  decay: option(
    number({ atLeast: 0, below: 1, takes: "a number from 0 to below 1" }),
    balanced.decay,
    "The share of |w| that is lost at each update.",
  ),
  homeostatic: option(flag, balanced.homeostatic, "Whether a neuron's excitation is scaled towards its target activity."),
  targetActivity: option(positiveNumber, balanced.targetActivity, "The target."),
} satisfies TableOf<PlasticityProfile>;

const names = Object.keys(plasticityProfiles) as [PlasticityProfileName, ...PlasticityProfileName[]];
const takes = `${names.map((name) => `"${name}"`).join(", ")}, or the fields of one`;
const either = eitherOf(takes, choice(...names), object(profileTable, takes));
const profileKind: Kind<PlasticityProfile, PlasticityChoice> = {
  takes,
  schema: either.schema,
  read(value, field) {
    const chosen = either.read(value, field);
    if (typeof chosen === "string") return plasticityProfiles[chosen];
    const { minWeight, maxWeight } = chosen;
    if (maxWeight < minWeight) throw new ArgumentError(`${field}.maxWeight`, maxWeight, `at least minWeight, ${minWeight}`);
    return chosen;
  },
};

/** The profile of a rule, as an option. */
export const profileOption: Option<PlasticityProfile, PlasticityChoice> = option(
  profileKind,
  balanced,
  "What the rule learns with, by name or with your own fields; left out, balanced.",
);

/**
 * The profile of a choice. @throws ArgumentError on an unknown name or a value that it does not
 * take.
 */
export function plasticityProfile(choice: PlasticityChoice = "balanced"): PlasticityProfile {
  return profileKind.read(choice, "profile");
}
