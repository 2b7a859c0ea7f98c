// The projections of a network, described as JSON: random numbers, rules of connection, plasticity;
// what they take, and what they are if they are left out.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  byName,
  choice,
  either,
  flag,
  given,
  type InputOf,
  type Kind,
  list,
  nothing,
  number,
  option,
  optional,
  type Resolved,
  text,
  whole,
} from "@spillway/core/options.js";
import { finite, grid, notNegative, notNegativeNumber, positive, positiveNumber, share } from "../options.js";

/**
 * A random number. `least` and `most` bound it: a number beyond them is drawn again
 * (`outside: "redraw"`, the default), or is put on the bound ("clip").
 */
export type DistributionOptions =
  | { readonly distribution: "constant"; readonly value: number }
  | ({ readonly distribution: "uniform"; readonly from: number; readonly to: number } & BoundsOptions)
  | ({ readonly distribution: "normal"; readonly mean: number; readonly deviation: number } & BoundsOptions)
  /** exp of a normal number: `mean` and `deviation` are of the logarithm. */
  | ({ readonly distribution: "lognormal"; readonly mean: number; readonly deviation: number } & BoundsOptions)
  | ({ readonly distribution: "exponential"; readonly mean: number } & BoundsOptions);

/** Bounds of a distribution. */
export interface BoundsOptions {
  /** The least it can be; left out, open. */
  readonly least?: number | undefined;
  /** The most it can be; left out, open. */
  readonly most?: number | undefined;
  /** Default "redraw". */
  readonly outside?: "redraw" | "clip" | undefined;
}

/** The same with every default filled in; an open bound is left out. */
export type DistributionConfig = DistributionOptions;

/** One number for all, a list with one for each neuron, or a distribution. */
export type Values = number | readonly number[] | DistributionOptions;

const bounds = {
  least: optional(finite, "The least it can be."),
  most: optional(finite, "The most it can be."),
  outside: option(choice("redraw", "clip"), "redraw", "What becomes of a number beyond the bounds."),
};
const centred = { mean: given(finite, "The mean."), deviation: given(notNegative("its unit"), "The standard deviation."), ...bounds };
const distribution = byName<DistributionConfig>("distribution", {
  constant: { value: given(finite, "The number.") },
  uniform: { from: given(finite, "The least."), to: given(finite, "The most."), ...bounds },
  normal: centred,
  lognormal: centred,
  exponential: { mean: given(positive("its unit"), "The mean."), ...bounds },
});
const drawnTakes = 'a number, or an object whose "distribution" is constant, uniform, normal, lognormal or exponential';

/** A number or a distribution, as a distribution. */
const drawn: Kind<DistributionConfig, number | DistributionOptions> = {
  takes: drawnTakes,
  schema: { anyOf: [finite.schema, distribution.schema] },
  read(value, field) {
    if (typeof value === "number") return { distribution: "constant", value: finite.read(value, field) };
    if (typeof value !== "object" || value === null) throw new ArgumentError(field, value, drawnTakes);
    return distribution.read(value, field);
  },
};
/** One number for all, a list, or a distribution. */
export const values = either(
  "a number, a list with one for each neuron, or a distribution",
  finite,
  list(finite, "a list of numbers"),
  distribution,
) as Kind<Values>;

/**
 * Which neurons of two populations are connected. Numbers are of synapses.
 *
 * - fixedTotalNumber: so many, source and target of each drawn independently
 * - fixedInDegree: so many onto each target; fixedOutDegree: so many from each source
 * - bernoulli: each pair with this chance
 * - oneToOne: the neurons of equal number; allToAll: all pairs
 * - list: the pairs that are listed, numbered within their populations, with weights and delays of
 *   their own if the entries have four numbers. With `inDegree` they are those that fixedInDegree drew,
 *   so many onto each target: other projections are drawn as beside that
 * - distance: C exp(-(D / lambda)^2) at distance D, both populations on a grid of `grid` points
 *   (null: the smallest box near a cube) whose points are assigned at random
 */
export type ConnectOptions =
  | "oneToOne"
  | "allToAll"
  | { readonly rule: "fixedTotalNumber" | "fixedInDegree" | "fixedOutDegree"; readonly number: number }
  | { readonly rule: "bernoulli"; readonly probability: number }
  | { readonly rule: "oneToOne" | "allToAll" }
  | { readonly rule: "list"; readonly synapses: readonly (readonly number[])[]; readonly inDegree?: number | undefined }
  | {
      readonly rule: "distance";
      readonly probability: number;
      readonly lambda?: number | undefined;
      readonly grid?: readonly [number, number, number] | null | undefined;
    };

/** A rule with every default filled in. */
export type ConnectConfig =
  | Exclude<ConnectOptions, string | { readonly rule: "distance" }>
  | {
      readonly rule: "distance";
      readonly probability: number;
      readonly lambda: number;
      readonly grid: readonly [number, number, number] | null;
    };

const synapse = list(finite, "[source, target], or [source, target, weight, delay]", 2);
const howMany = { number: given(whole({ atLeast: 0, below: 2 ** 32 }), "How many synapses.") };
const connect: Kind<ConnectConfig, ConnectOptions> = byName<ConnectConfig>("rule", {
  fixedTotalNumber: howMany,
  fixedInDegree: howMany,
  fixedOutDegree: howMany,
  bernoulli: { probability: given(share, "Chance of each pair.") },
  oneToOne: {},
  allToAll: {},
  list: {
    synapses: given(list(synapse, "a list of synapses"), "Each [source, target], or [source, target, weight, delay]."),
    inDegree: optional(whole(), "Of synapses that fixedInDegree drew: its number. Others are then drawn as beside it."),
  },
  distance: {
    probability: given(share, "Chance at distance 0."),
    lambda: option(positive("grid steps"), 2, "How far connections reach."),
    grid: option(grid, null, "Points along x, y and z; null takes the smallest box near a cube."),
  },
});

const shortTermTable = {
  /** U, the share of the resources that a spike after a long rest uses; above 0, at most 1. */
  release: given(number({ above: 0, atMost: 1 }), "U: the share of the resources that a spike after a long rest uses."),
  /** How fast the resources x come back, ms. */
  recoveryTimeConstant: given(positive("ms"), "How fast the resources come back."),
  /** How fast u falls back, ms; default 0: u is always `release`, and synapses only depress. */
  facilitationTimeConstant: option(notNegative("ms"), 0, "How fast u falls back; 0: u is always the release."),
};

/**
 * Short-term plasticity (Tsodyks, Pawelzik and Markram 1998, "Neural networks with dynamic
 * synapses", Neural Computation 10:821): of the weight, a spike brings the share u x, with
 *
 *     u = u e^(-t / facilitation);  u = u + release (1 - u)
 *     x = 1 - (1 - x) e^(-t / recovery);  afterwards x = x - u x
 *
 * t being the time since the source's last spike. The first spike finds u = release and x = 1.
 */
export interface ShortTermPlasticityConfig extends Resolved<typeof shortTermTable> {
  /** Tells the kinds apart. */
  readonly kind: "shortTerm";
}

const exponent = optional(share, "mu; left out, that of the rule.");
const timingTable = {
  /** How fast x decays, ms. */
  potentiationTimeConstant: given(positive("ms"), "Decay of the trace of spikes that arrived."),
  /** How fast y decays, ms. */
  depressionTimeConstant: given(positive("ms"), "Decay of the trace of the target's spikes."),
  /** lambda, a share of S. */
  learningRate: given(positiveNumber, "lambda."),
  /** alpha; default 1. */
  depressionRatio: option(notNegativeNumber, 1, "alpha: how much stronger depression is than potentiation."),
  /** How a change depends on the weight; default "bounded". */
  weightDependence: option(choice("bounded", "powerLaw"), "bounded", "How a change depends on the weight."),
  /** mu of potentiation; default 0, with powerLaw 0.4. */
  potentiationExponent: exponent,
  /** mu of depression; default 0, with powerLaw 1. */
  depressionExponent: exponent,
  /** S of powerLaw, in the unit of the projection's weights; null for bounded. */
  referenceWeight: option(
    either("a weight above 0, or null", nothing, positiveNumber),
    null,
    "The weight that powerLaw is measured in; null for bounded.",
  ),
  /** The smallest size, in the unit of the weights; default 0. */
  minimumWeight: option(notNegativeNumber, 0, "The smallest size of a weight."),
  /** The largest size. */
  maximumWeight: given(positiveNumber, "The largest size of a weight."),
  /** Which way takes the projection's delay: to the synapse, or from there; default "axonal". */
  delay: option(choice("axonal", "dendritic"), "axonal", "Which way takes the projection's delay: to the synapse, or from there."),
};

/**
 * Spike-timing-dependent plasticity by pairs of spikes. A synapse of size w, with traces x of the
 * spikes that reached it and y of its target's own, changes at each spike:
 *
 *     one arrives:       w = w - learningRate depressionRatio S q^depressionExponent y
 *     the target fires:  w = w + learningRate S p^potentiationExponent x
 *
 * and stays between minimumWeight and maximumWeight. x and y decay with the time constants, and
 * each spike adds 1 to its trace afterwards: every pair of spikes counts, but for two at one time.
 *
 * - "bounded" (Guetig et al. 2003, Journal of Neuroscience 23:3697): S = maximumWeight -
 *   minimumWeight, q = (w - minimumWeight) / S, p = 1 - q. Exponents of 0, the default, are the
 *   additive rule, of 1 the multiplicative one.
 * - "powerLaw" (Morrison, Aertsen and Diesmann 2007, Neural Computation 19:1437): S =
 *   referenceWeight, p = q = w / S, exponents by default 0.4 and 1.
 *
 * Weights are sizes: a projection of negative weights keeps its sign. With an axonal `delay`, the
 * default, a spike reaches its synapse after the projection's delay, and the target's own at once.
 * With a dendritic one, as in NEST, it is the other way round: a spike is at its synapse at once,
 * and takes the weight that it finds to the target, where it arrives after the delay; the target's
 * own spikes take as long to come to the synapse.
 */
export interface SpikeTimingConfig extends Resolved<typeof timingTable> {
  /** Tells the kinds apart. */
  readonly kind: "stdp";
  /** mu of potentiation; default 0, with powerLaw 0.4. */
  readonly potentiationExponent: number;
  /** mu of depression; default 0, with powerLaw 1. */
  readonly depressionExponent: number;
}

/** How the synapses of a projection change while the network runs. */
export type ProjectionPlasticityConfig = ShortTermPlasticityConfig | SpikeTimingConfig;

/** What a user writes of it. */
export type ProjectionPlasticityOptions =
  | ({ readonly kind: "shortTerm" } & InputOf<typeof shortTermTable>)
  | ({ readonly kind: "stdp" } & InputOf<typeof timingTable>);

/** The same with defaults, but for exponents that follow from the rule. */
export type ReadPlasticity = ShortTermPlasticityConfig | ({ readonly kind: "stdp" } & Resolved<typeof timingTable>);

/** The fields of a projection. */
export const projectionTable = {
  /** A population, or a slice of it: "L4E[0:100]". */
  from: given(text("the name of a population, or a slice such as E[0:100]"), "Where the synapses come from."),
  /** A population of neurons, or a slice of it. */
  to: given(text("the name of a population, or a slice such as E[0:100]"), "Where they lead."),
  /** Which receptor of the target they act on; left out, the only one. */
  receptor: optional(text(), "Which receptor of the target they act on; left out, the only one."),
  /** Which neurons are connected. */
  connect: given(connect, "Which neurons are connected."),
  /** mV, or pA if the target has a capacitance; of a conductance, shares of the leak's or nS. */
  weight: given(drawn, "mV, or pA if the target has a capacitance; onto a conductance, a share of the leak's, or nS."),
  /** ms, rounded to whole steps; default one step. */
  delay: optional(drawn, "ms, rounded to whole steps; left out, one step."),
  /** Whether a neuron may be connected to itself; default true. */
  selfConnections: option(flag, true, "Whether a neuron may be connected to itself."),
  /** Whether two neurons may be connected by several synapses; default true. */
  multiple: option(flag, true, "Whether two neurons may have several synapses."),
  /** How the synapses change while the network runs; default null, not at all. */
  plasticity: option(
    either(
      "null, or an object whose kind is shortTerm or stdp",
      nothing,
      byName<ReadPlasticity>("kind", { shortTerm: shortTermTable, stdp: timingTable }),
    ) as Kind<ReadPlasticity | null, ProjectionPlasticityOptions | null>,
    null,
    "How the synapses change while the network runs; null: not at all.",
  ),
};

/** Synapses from the neurons of one population to those of another. */
export interface ProjectionConfig extends Resolved<typeof projectionTable> {
  /** Which receptor of the target they act on. */
  readonly receptor: string;
  /** ms, rounded to whole steps. */
  readonly delay: DistributionConfig;
  /** How the synapses change while the network runs; null if they do not. */
  readonly plasticity: ProjectionPlasticityConfig | null;
}

/** What a user writes of a projection. */
export interface ProjectionOptions extends InputOf<typeof projectionTable> {}
