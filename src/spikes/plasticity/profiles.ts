// The learning parameters that go together, by name. What a rule does with them is in its own file.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  choice,
  either as eitherOf,
  flag,
  type Kind,
  number,
  type Option,
  object,
  option,
  type Resolved,
  resolve,
} from "@spillway/core/options.js";
import { notNegativeNumber, positive, positiveNumber } from "../options.js";

/** The fields of a profile, with the values of "balanced". */
export const profileTable = {
  /** eta: the change by one pair of spikes that coincide, or by one step of full activity. */
  learningRate: option(notNegativeNumber, 0.005, "eta: the change by one pair of spikes that coincide."),
  /** tau+ in ms: how long before a spike of the target a spike of the source still strengthens. */
  potentiationTimeConstantMs: option(positive("ms"), 15, "tau+."),
  /** tau- in ms: how long after it one still weakens. */
  depressionTimeConstantMs: option(positive("ms"), 15, "tau-."),
  /** The largest |w|. */
  maxWeight: option(positiveNumber, 3, "The largest |w|."),
  /** The smallest |w|. */
  minWeight: option(notNegativeNumber, 0.05, "The smallest |w|."),
  /** Whether the sum of a neuron's weights of each sign is held (heterosynaptic normalisation). */
  heterosynaptic: option(flag, true, "Whether the sum of a neuron's weights of each sign is held."),
  /** The share of |w| that is lost at each update. */
  decay: option(
    number({ atLeast: 0, below: 1, takes: "a number from 0 to below 1" }),
    0.0005,
    "The share of |w| that is lost at each update.",
  ),
  /** Whether a neuron's excitation is scaled towards its target activity. */
  homeostatic: option(flag, true, "Whether a neuron's excitation is scaled towards its target activity."),
  /**
   * The target: mean activity of a rate neuron, or the share of maxRateHz at which a spiking
   * neuron fires.
   */
  targetActivity: option(positiveNumber, 0.15, "The target."),
};

/**
 * What a plasticity rule learns with. Weights are bounded in size: a synapse keeps its sign, and
 * |w| stays in [minWeight, maxWeight].
 */
export interface PlasticityProfile extends Resolved<typeof profileTable> {}

/** The profiles that have a name. */
export type PlasticityProfileName = "conservative" | "balanced" | "aggressive" | "financial" | "optical";

type Pair = readonly [number, number];
const balanced = resolve(profileTable, {});

function profile(
  learningRate: number,
  [potentiationTimeConstantMs, depressionTimeConstantMs]: Pair,
  [minWeight, maxWeight]: Pair,
  decay: number,
  others: Partial<PlasticityProfile>,
): PlasticityProfile {
  const times = { potentiationTimeConstantMs, depressionTimeConstantMs };
  return { ...balanced, learningRate, ...times, minWeight, maxWeight, decay, ...others };
}

/**
 * The named profiles, from slow and guarded to fast and free; "financial" and "optical" have time
 * constants that differ.
 */
export const plasticityProfiles: Readonly<Record<PlasticityProfileName, PlasticityProfile>> = {
  conservative: profile(0.001, [20, 20], [0.1, 2], 0.0001, { heterosynaptic: false, targetActivity: 0.1 }),
  balanced,
  aggressive: profile(0.02, [10, 10], [0.01, 5], 0.001, { homeostatic: false, targetActivity: 0.2 }),
  financial: profile(0.008, [12, 18], [0.1, 4], 0.0008, { targetActivity: 0.12 }),
  optical: profile(0.015, [8, 12], [0.01, 6], 0.002, { homeostatic: false, targetActivity: 0.25 }),
};

/** A named profile, or a custom one: what it does not say is as in "balanced". */
export type PlasticityChoice = PlasticityProfileName | Partial<PlasticityProfile>;

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
