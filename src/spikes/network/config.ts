// A network of populations and projections, described as JSON. The fields are documented here and
// checked in schema.ts.
import type { Precision, Seed } from "@spillway/numerics";
import type { NeuronConfig, NeuronOptions } from "../../reservoir/spiking-config.js";

/**
 * The adaptive exponential integrate-and-fire neuron (Brette and Gerstner 2005, "Adaptive
 * exponential integrate-and-fire model as an effective description of neuronal activity", Journal
 * of Neurophysiology 94:3637), with conductances as shares of the leak's and currents in mV:
 *
 *     tau dV/dt = -(V - E) + slopeFactor exp((V - threshold) / slopeFactor) - w + I
 *     tau_w dw/dt = subthresholdAdaptation (V - E) - w
 *
 * At `peakPotential` it fires: V becomes `resetPotential`, and w rises by `adaptationStep`.
 * Defaults are those of the paper: C 281 pF, g_L 30 nS, a 4 nS, b 80.5 pA.
 */
export interface AdaptiveExponentialConfig {
  /** Tells the neuron models apart. */
  readonly type: "adaptiveExponential";
  /** tau, ms; default 281 / 30. */
  readonly membraneTimeConstant: number;
  /** E, mV; default -70.6. */
  readonly restingPotential: number;
  /** Where the upswing of a spike begins, mV; default -50.4. */
  readonly threshold: number;
  /** How sharply it begins, mV; default 2. */
  readonly slopeFactor: number;
  /** The potential at which a neuron fires, mV; default 20. */
  readonly peakPotential: number;
  /** mV; default -70.6. */
  readonly resetPotential: number;
  /** ms in which the potential is held after a spike; default 0. */
  readonly refractoryPeriod: number;
  /** tau_w, ms; default 144. */
  readonly adaptationTimeConstant: number;
  /** a / g_L; default 4 / 30. */
  readonly subthresholdAdaptation: number;
  /** b / g_L, mV; default 80.5 / 30. */
  readonly adaptationStep: number;
}

/** A neuron of a network with every field filled in; `type` tells the models apart. */
export type NetworkNeuronConfig = NeuronConfig | AdaptiveExponentialConfig;

/** A neuron of a network by name, or by name and what differs from the defaults. */
export type NetworkNeuronOptions =
  | NeuronOptions
  | "adaptiveExponential"
  | ({ readonly type: "adaptiveExponential" } & Optional<Omit<AdaptiveExponentialConfig, "type">>);

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

/**
 * What spikes do to a neuron: a current, or, with a `reversalPotential`, a conductance. A spike of
 * weight w at time 0 adds
 *
 *     exponential:  I(t) = w exp(-t / timeConstant)
 *     alpha:        I(t) = w (t / timeConstant) exp(1 - t / timeConstant)
 *
 * the second with its peak, w, at t = timeConstant, as NEST's iaf_psc_alpha. Both are exact in
 * leaky neurons (Rotter and Diesmann 1999, Biological Cybernetics 81:381).
 */
export interface ReceptorConfig {
  /** ms; 0, of exponential ones: the whole charge at once, so that the potential jumps. */
  readonly timeConstant: number;
  /** The course of the current after a spike; default "exponential". */
  readonly shape: "exponential" | "alpha";
  /**
   * mV; default null, a current. With it a conductance g draws the potential towards it: the
   * current is g (reversalPotential - V). Weights are then shares of the leak's conductance, or nS
   * if the population has a capacitance. Other receptors of such a population stay currents, of a
   * time constant above 0.
   */
  readonly reversalPotential: number | null;
}

/** What a user writes of a receptor. */
export interface ReceptorOptions {
  /** ms; 0: the whole charge at once, so that the potential jumps. */
  readonly timeConstant: number;
  /** The course of the current after a spike; default "exponential". */
  readonly shape?: "exponential" | "alpha" | undefined;
  /** mV; default null, a current. With it, a conductance. */
  readonly reversalPotential?: number | null | undefined;
}

/** Spikes that reach every neuron of a population from outside the network. */
export interface NetworkBackground {
  /** Spikes per second and neuron. */
  readonly rate: number;
  /** Weight of each, as of a synapse. */
  readonly weight: number;
  /** Which receptor they reach; left out, the only one. */
  readonly receptor?: string | undefined;
}

/** A group of neurons of one kind, or of sources that spikes are given to. */
export interface PopulationConfig {
  /** How many neurons, or channels of inputs. */
  readonly size: number;
  /**
   * A neuron, or null for inputs: a population without neurons of its own, whose spikes are given.
   */
  readonly neuron: NetworkNeuronConfig | null;
  /**
   * pF: currents and weights are then in pA, times the membrane's resistance in mV; conductances in
   * nS.
   */
  readonly capacitance: number | null;
  /** Currents or conductances that synapses act on, by name; default one, "current", of 0.5 ms. */
  readonly receptors: Readonly<Record<string, ReceptorConfig>>;
  /** A constant current, mV or pA. */
  readonly current: Values;
  /** Poisson spikes from outside; default null, none. */
  readonly background: NetworkBackground | null;
  /** mV; "rest" is c for Izhikevich neurons. */
  readonly initialPotential: "rest" | Values;
  /** Decay of the filtered spikes that a readout sees, ms; null keeps none. */
  readonly stateTimeConstant: number | null;
}

/**
 * Short-term plasticity (Tsodyks, Pawelzik and Markram 1998, "Neural networks with dynamic
 * synapses", Neural Computation 10:821): of the weight, a spike brings the share u x, with
 *
 *     u = u e^(-t / facilitation);  u = u + release (1 - u)
 *     x = 1 - (1 - x) e^(-t / recovery);  afterwards x = x - u x
 *
 * t being the time since the source's last spike. The first spike finds u = release and x = 1.
 */
export interface ShortTermPlasticityConfig {
  /** Tells the kinds apart. */
  readonly kind: "shortTerm";
  /** U, the share of the resources that a spike after a long rest uses; above 0, at most 1. */
  readonly release: number;
  /** How fast the resources x come back, ms. */
  readonly recoveryTimeConstant: number;
  /** How fast u falls back, ms; default 0: u is always `release`, and synapses only depress. */
  readonly facilitationTimeConstant: number;
}

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
export interface SpikeTimingConfig {
  /** Tells the kinds apart. */
  readonly kind: "stdp";
  /** How fast x decays, ms. */
  readonly potentiationTimeConstant: number;
  /** How fast y decays, ms. */
  readonly depressionTimeConstant: number;
  /** lambda, a share of S. */
  readonly learningRate: number;
  /** alpha; default 1. */
  readonly depressionRatio: number;
  /** How a change depends on the weight; default "bounded". */
  readonly weightDependence: "bounded" | "powerLaw";
  /** mu of potentiation; default 0, with powerLaw 0.4. */
  readonly potentiationExponent: number;
  /** mu of depression; default 0, with powerLaw 1. */
  readonly depressionExponent: number;
  /** S of powerLaw, in the unit of the projection's weights; null for bounded. */
  readonly referenceWeight: number | null;
  /** The smallest size, in the unit of the weights; default 0. */
  readonly minimumWeight: number;
  /** The largest size. */
  readonly maximumWeight: number;
  /** Which way takes the projection's delay: to the synapse, or from there; default "axonal". */
  readonly delay: "axonal" | "dendritic";
}

/** How the synapses of a projection change while the network runs. */
export type ProjectionPlasticityConfig = ShortTermPlasticityConfig | SpikeTimingConfig;

/** What a user writes of it. */
export type ProjectionPlasticityOptions =
  | (Pick<ShortTermPlasticityConfig, "kind" | "release" | "recoveryTimeConstant"> & {
      readonly facilitationTimeConstant?: number | undefined;
    })
  | (Pick<SpikeTimingConfig, "kind" | "potentiationTimeConstant" | "depressionTimeConstant" | "learningRate" | "maximumWeight"> &
      Optional<Omit<SpikeTimingConfig, "kind">>);

/** Synapses from the neurons of one population to those of another. */
export interface ProjectionConfig {
  /** A population, or a slice of it: "L4E[0:100]". */
  readonly from: string;
  /** A population of neurons, or a slice of it. */
  readonly to: string;
  /** Which receptor of the target they act on. */
  readonly receptor: string;
  /** Which neurons are connected. */
  readonly connect: ConnectConfig;
  /** mV, or pA if the target has a capacitance; of a conductance, shares of the leak's or nS. */
  readonly weight: DistributionConfig;
  /** ms, rounded to whole steps. */
  readonly delay: DistributionConfig;
  /** Whether a neuron may be connected to itself. */
  readonly selfConnections: boolean;
  /** Whether two neurons may be connected by several synapses. */
  readonly multiple: boolean;
  /** How the synapses change while the network runs; null if they do not. */
  readonly plasticity: ProjectionPlasticityConfig | null;
}

/** A network's description with every default filled in. It is JSON and determines every bit. */
export interface NetworkConfig {
  /** Tells it from a reservoir. */
  readonly kind: "network";
  /** Length of a step in ms; default 0.1. */
  readonly timeStep: number;
  /** Any number or text; default "spillway". */
  readonly seed: Seed;
  /** Of potentials and currents; default "float32". */
  readonly precision: Precision;
  /**
   * Synaptic input is summed in units of 2^-fractionBits mV. null: the most, up to 24, with which
   * every weight has 16 bits; more, as far as sums fit, if over one in a thousand weights of
   * a projection were rounded by more than a thousandth of themselves.
   */
  readonly fractionBits: number | null;
  /** By name, in the order in which their neurons are numbered. */
  readonly populations: Readonly<Record<string, PopulationConfig>>;
  /** The synapses. */
  readonly projections: readonly ProjectionConfig[];
}

type Optional<Config> = { readonly [Field in keyof Config]?: Config[Field] | undefined };

/** What a user writes of a population: its size, and what differs from the defaults. */
export interface PopulationOptions extends Omit<Optional<PopulationConfig>, "neuron" | "receptors" | "size"> {
  /** Another population, whose fields this one has unless it gives its own. */
  readonly like?: string | undefined;
  /** How many neurons, or channels of inputs. */
  readonly size?: number | undefined;
  /** A neuron by name or with settings; null for inputs. */
  readonly neuron?: NetworkNeuronOptions | null | undefined;
  /** Currents or conductances that synapses act on, by name. */
  readonly receptors?: Readonly<Record<string, ReceptorOptions>> | undefined;
}

/** What a user writes of a projection. */
export interface ProjectionOptions extends Omit<Optional<ProjectionConfig>, "from" | "to" | "connect" | "weight" | "delay" | "plasticity"> {
  /** A population, or a slice of it: "L4E[0:100]". */
  readonly from: string;
  /** A population of neurons, or a slice of it. */
  readonly to: string;
  /** Which neurons are connected. */
  readonly connect: ConnectOptions;
  /** mV, or pA if the target has a capacitance; of a conductance, shares of the leak's or nS. */
  readonly weight: number | DistributionOptions;
  /** ms, rounded to whole steps; default one step. */
  readonly delay?: number | DistributionOptions | undefined;
  /** How the synapses change while the network runs; default null, not at all. */
  readonly plasticity?: ProjectionPlasticityOptions | null | undefined;
}

/** What a user writes: populations, projections, and every field that differs from the defaults. */
export interface NetworkOptions extends Optional<Pick<NetworkConfig, "timeStep" | "seed" | "precision" | "fractionBits">> {
  /** Tells it from a reservoir. */
  readonly kind: "network";
  /** By name, in the order in which their neurons are numbered. */
  readonly populations: Readonly<Record<string, PopulationOptions>>;
  /** The synapses. */
  readonly projections?: readonly ProjectionOptions[] | undefined;
}
