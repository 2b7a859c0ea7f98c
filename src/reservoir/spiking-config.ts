// A spiking reservoir described as JSON. What the fields mean stands here; what they take is
// checked in spikes/liquid/schema.ts.
import type { Precision, Seed } from "@spillway/numerics";

/**
 * Current-based leaky integrate-and-fire. Potentials in mV, times in ms. See
 * spikes/neurons/leaky-integrate-and-fire.ts.
 */
export interface LeakyIntegrateAndFireConfig {
  /** Tells the neuron models apart. */
  readonly type: "leakyIntegrateAndFire";
  /** ms; default 30. */
  readonly membraneTimeConstant: number;
  /** mV; default -70. */
  readonly restingPotential: number;
  /** mV; default -55. */
  readonly threshold: number;
  /**
   * "value": a spike puts the potential to `resetPotential`. "subtract": it takes threshold -
   * restingPotential off the potential. Default "value".
   */
  readonly reset: "value" | "subtract";
  /** mV; default -56.5. Not used if `reset` is "subtract". */
  readonly resetPotential: number;
  /** ms in which the potential is held after a spike; default 3, inhibitory neurons 2. */
  readonly refractoryPeriod: number;
}

/**
 * The same with a threshold that rises by `adaptationStep` with every spike and falls back
 * exponentially.
 */
export interface AdaptiveIntegrateAndFireConfig extends Omit<LeakyIntegrateAndFireConfig, "type"> {
  /** Tells the neuron models apart. */
  readonly type: "adaptiveIntegrateAndFire";
  /** ms; default 200. */
  readonly adaptationTimeConstant: number;
  /** mV; default 1. */
  readonly adaptationStep: number;
}

/**
 * Izhikevich's neuron by the scheme of the paper's program (2003, "Simple model of spiking
 * neurons", IEEE Transactions on Neural Networks 14): v by two Euler steps of dt/2, then u by one of
 * dt with the new v.
 */
export interface IzhikevichConfig {
  /** Tells the neuron models apart. */
  readonly type: "izhikevich";
  /** Rate of recovery, per ms; default 0.02, inhibitory neurons 0.1. */
  readonly a: number;
  /** Sensitivity of recovery; default 0.2. */
  readonly b: number;
  /** Potential after a spike, mV; default -65. */
  readonly c: number;
  /** Recovery after a spike; default 8, inhibitory neurons 2. */
  readonly d: number;
}

/** A neuron with every field filled in; `type` tells the models apart. */
export type NeuronConfig = LeakyIntegrateAndFireConfig | AdaptiveIntegrateAndFireConfig | IzhikevichConfig;

/**
 * A value for each kind of connection, from the first letter's population to the second's: "ei" is
 * from excitatory to inhibitory neurons.
 */
export interface PairValues<Value> {
  readonly ee: Value;
  readonly ei: Value;
  readonly ie: Value;
  readonly ii: Value;
}

/**
 * Which neurons are connected. No neuron is connected to itself, and no two by more than one
 * synapse.
 */
export type ConnectivityConfig =
  | {
      /**
       * Maass, Natschläger and Markram 2002: neurons on the points of a grid, connected with chance
       * C exp(-(D / lambda)^2) at distance D.
       */
      readonly type: "distance";
      /**
       * Points along x, y and z; `null` (default) takes the smallest box near a cube that holds all
       * neurons.
       */
      readonly grid: readonly [number, number, number] | null;
      /** In grid steps; default 2. */
      readonly lambda: number;
      /** C; default ee .3, ei .2, ie .4, ii .1. Chances below 1e-6 count as none. */
      readonly probability: PairValues<number>;
    }
  | {
      readonly type: "random";
      /** Default 0.1 for each. */
      readonly probability: PairValues<number>;
    };

/**
 * How weights and delays scatter around their means. "exponential" is the gamma distribution whose
 * deviation is its mean.
 */
export type SynapticDistribution = "constant" | "uniform" | "exponential";

/**
 * Synapses between the neurons of a liquid: exponentially decaying currents, mean weights and their
 * distribution, delays.
 */
export interface SynapsesConfig {
  /** Decay of the current of excitatory synapses, ms; default 3. 0: the whole charge at once. */
  readonly excitatoryTimeConstant: number;
  /** Decay of the current of inhibitory synapses, ms; default 6. */
  readonly inhibitoryTimeConstant: number;
  /**
   * Mean weights in mV, current times membrane resistance, as sizes: inhibitory neurons take them
   * off.
   */
  readonly weight: PairValues<number>;
  /** "constant", "uniform" (0 to twice the mean) or "exponential" (default). */
  readonly distribution: SynapticDistribution;
  /** ms, rounded to whole steps; one number, or [least, most] of a uniform draw. */
  readonly delay: PairValues<number | readonly [number, number]>;
}

/** How inputs reach the neurons of a liquid: as spikes through synapses, or as currents. */
export interface SpikingInputConfig {
  /**
   * "spikes": row t of the inputs holds the spikes of each channel in step t, as counts or
   * amplitudes; each starts a synaptic current. "current": row t is a current through W_in that
   * flows during step t.
   */
  readonly mode: "spikes" | "current";
  /** Share of neurons that a channel reaches; default 0.3. */
  readonly connectivity: number;
  /**
   * Mean weight in mV, or one per channel. Default 18 for a current and for Izhikevich neurons; for
   * spikes 1000 over the channels, from 18 to 200, so that a liquid responds to few and to many.
   */
  readonly weight: number | readonly number[];
  /** Default "exponential". */
  readonly distribution: SynapticDistribution;
  /** Share of input weights that are negative; default 0 for spikes, 0.5 for a current. */
  readonly negativeShare: number;
  /** ms, rounded to whole steps; for spikes. Default 0. */
  readonly delay: number;
  /**
   * The largest amplitude that a spike may have; the sums of synaptic input leave room for it.
   * Default 64.
   */
  readonly largestAmplitude: number;
}

/** What reaches every neuron from outside the network. */
export interface BackgroundConfig {
  /** A constant current, mV; default 0. */
  readonly current: number;
  /**
   * Standard deviation of a current that is drawn anew for every neuron and step, mV; default 0.
   */
  readonly deviation: number;
  /** Spikes per second and neuron, at most one a step; default 0. */
  readonly rate: number;
  /** Weight of these spikes, mV; default 10. */
  readonly weight: number;
}

/**
 * A spiking reservoir's description with every default filled in. It is JSON and determines every
 * bit.
 */
export interface SpikingReservoirConfig {
  /** Tells it from a rate reservoir. */
  readonly kind: "spiking";
  /** N, the number of neurons; excitatory ones come first. */
  readonly size: number;
  /** I, the number of input channels; default 1. */
  readonly inputSize: number;
  /** Length of a step in ms; default 1. */
  readonly timeStep: number;
  /** The excitatory neurons; default leaky integrate-and-fire. */
  readonly neuron: NeuronConfig;
  /** The inhibitory neurons: their share (default 0.2), and what differs from `neuron`. */
  readonly inhibitory: { readonly share: number; readonly neuron: NeuronConfig };
  /** Which neurons are connected; default by distance. */
  readonly connectivity: ConnectivityConfig;
  /** Weights, time constants and delays between neurons. */
  readonly synapses: SynapsesConfig;
  /** How inputs reach the neurons. */
  readonly input: SpikingInputConfig;
  /** Noise and current from outside the network. */
  readonly background: BackgroundConfig;
  /**
   * Potentials at the start: "rest" (default; c for Izhikevich), or uniform between two values in
   * mV.
   */
  readonly initialPotential: "rest" | { readonly from: number; readonly to: number };
  /**
   * Decay of the filtered spikes that are the reservoir's state, ms; default 30. 0: the state is 1
   * in the step of a spike, else 0.
   */
  readonly stateTimeConstant: number;
  /** Synaptic input is summed in units of 2^-fractionBits mV; default 12. */
  readonly fractionBits: number;
  /** Any number or text; default "spillway". */
  readonly seed: Seed;
  /** Of potentials, currents and states; default "float32". */
  readonly precision: Precision;
}

/** A value that may be given for all kinds of connection at once, or for some of them. */
export type PairOptions<Value> = Value | Partial<PairValues<Value>>;

type Optional<Config> = { readonly [Field in keyof Config]?: Config[Field] | undefined };
/** The name of a neuron model. */
export type NeuronType = NeuronConfig["type"];
type NeuronFields =
  | Optional<Omit<LeakyIntegrateAndFireConfig, "type">>
  | Optional<Omit<AdaptiveIntegrateAndFireConfig, "type">>
  | Optional<Omit<IzhikevichConfig, "type">>;
/** A neuron by name, or by name and what differs from the defaults. */
export type NeuronOptions =
  | NeuronType
  | { [Type in NeuronType]: { readonly type: Type } & Optional<Omit<Extract<NeuronConfig, { type: Type }>, "type">> }[NeuronType];

/** What a user writes: `kind`, `size` and every field that differs from the defaults. */
export interface SpikingReservoirOptions
  extends Optional<
    Pick<
      SpikingReservoirConfig,
      "inputSize" | "timeStep" | "initialPotential" | "stateTimeConstant" | "fractionBits" | "seed" | "precision"
    >
  > {
  /** Tells it from a rate reservoir. */
  readonly kind: "spiking";
  /** N, the number of neurons. */
  readonly size: number;
  /** The excitatory neurons; default "leakyIntegrateAndFire". */
  readonly neuron?: NeuronOptions | undefined;
  /** Their share of the neurons, default 0.2, and what differs from `neuron`. */
  readonly inhibitory?: { readonly share?: number | undefined; readonly neuron?: NeuronFields | undefined } | undefined;
  /** By distance (default) or at random, and what differs from the defaults. */
  readonly connectivity?:
    | "distance"
    | "random"
    | {
        readonly type: "distance";
        readonly grid?: readonly [number, number, number] | null | undefined;
        readonly lambda?: number | undefined;
        readonly probability?: PairOptions<number> | undefined;
      }
    | { readonly type: "random"; readonly probability?: PairOptions<number> | undefined }
    | undefined;
  /** What differs from the defaults of {@link SynapsesConfig}. */
  readonly synapses?:
    | (Optional<Omit<SynapsesConfig, "weight" | "delay">> & {
        readonly weight?: PairOptions<number> | undefined;
        readonly delay?: PairOptions<number | readonly [number, number]> | undefined;
      })
    | undefined;
  /** What differs from the defaults of {@link SpikingInputConfig}. */
  readonly input?: Optional<SpikingInputConfig> | undefined;
  /** What differs from the defaults of {@link BackgroundConfig}. */
  readonly background?: Optional<BackgroundConfig> | undefined;
  /** A spiking reservoir feeds no outputs back. */
  readonly feedback?: null | undefined;
}
