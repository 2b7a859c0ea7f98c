// A reservoir described as JSON. What the fields mean stands here; what they take is checked in
// config-schema.ts.
import type { Seed } from "@spillway/numerics";
import type { CellConfig } from "./cell.js";
import type { Activation } from "./model.js";
import type { TopologyConfig } from "./topologies/index.js";
import type { WeightPrecision } from "./weight-rounding.js";

/** Where random weights come from: U(-1, 1), N(0, 1), or -1 and 1 with equal chance. */
export type WeightDistribution = "uniform" | "normal" | "bernoulli";

/** What the numbers of a step are, and what an engine may make of their sums. */
export type Arithmetic = "portable" | "fast" | "integer";

/** Output feedback W_fb (N x O). */
export interface FeedbackConfig {
  /** O: how many outputs are fed back; default 1. */
  readonly size: number;
  /** Factor on every feedback weight, or one per output. */
  readonly scaling: number | readonly number[];
  /** Share of nonzero feedback weights, 0 to 1. */
  readonly density: number;
  /** Distribution of the nonzero feedback weights; default "uniform". */
  readonly distribution: WeightDistribution;
}

/**
 * Leak rates between two, as many in each octave: `from` (`to` / `from`)^u, u uniform in [0, 1),
 * drawn from the seed. A reservoir then sees slow and fast changes at once.
 */
export interface LeakRange {
  readonly from: number;
  readonly to: number;
}

/** A random initial state: distribution times scaling, drawn from the seed. */
export interface RandomInitialState {
  readonly distribution: WeightDistribution;
  readonly scaling: number;
}

/**
 * A reservoir's description with every default filled in. It is JSON and determines every weight
 * bit.
 */
export interface ReservoirConfig {
  /** N, the number of neurons. */
  readonly size: number;
  /** I, the number of input channels; default 1. */
  readonly inputSize: number;
  /**
   * Target spectral radius of W; default 0.95. `null` leaves W as it was drawn. So does a W without
   * a cycle, which has radius 0: of 10 neurons with connectionProbability 0.1 every second one. A
   * warning says so.
   */
  readonly spectralRadius: number | null;
  /**
   * How the radius of W is measured before W is scaled: "auto" (default; docs/numerics.md, rule 7),
   * "dense" (all eigenvalues), "krylov" (only the largest), "power" (power iteration, which throws
   * an error for a complex pair, as most random W have), or "circularLaw", an estimate from the
   * variance that is within a percent or two for independent weights and takes no time.
   */
  readonly radiusMethod: "auto" | "dense" | "krylov" | "power" | "circularLaw";
  /**
   * Chance of a connection between two neurons; default 0.1. Topologies with a fixed pattern do not
   * use it.
   */
  readonly connectionProbability: number;
  /** Distribution of the nonzero weights of W; default "uniform". */
  readonly weightDistribution: WeightDistribution;
  /** Whether neurons may connect to themselves; default false. */
  readonly selfConnections: boolean;
  /** Share of nonzero input weights; default 1. */
  readonly inputConnectivity: number;
  /** Distribution of the nonzero input weights; default "uniform". */
  readonly inputDistribution: WeightDistribution;
  /** Factor on every input weight, or one per input; default 1. */
  readonly inputScaling: number | readonly number[];
  /** Factor on the bias of every neuron, drawn from `biasDistribution`; default 0, no bias. */
  readonly bias: number;
  /** Distribution of the nonzero biases; default "uniform". */
  readonly biasDistribution: WeightDistribution;
  /** Share of neurons with a bias; default 1. */
  readonly biasDensity: number;
  /**
   * a in (0, 1], one per neuron, or a range to draw one for each neuron from; default 0.3. 1 is the
   * plain echo state network.
   */
  readonly leakRate: number | readonly number[] | LeakRange;
  /**
   * What a step keeps of the state and what it adds, if not (1 - a) x + a f(z). `leakRate` is then
   * left out. Default the leaky cell.
   */
  readonly cell?: CellConfig | undefined;
  /** Uniform noise in [-noiseLevel, noiseLevel) on every pre-activation; default 0. */
  readonly noiseLevel: number;
  /** f; default "tanh". */
  readonly activation: Activation;
  /** Which neurons are connected; default "erdosRenyi", at random. */
  readonly topology: TopologyConfig;
  /** Output feedback, or `null` for none. */
  readonly feedback: FeedbackConfig | null;
  /** x before the first step: "zeros" (default), N numbers, or random. */
  readonly initialState: "zeros" | readonly number[] | RandomInitialState;
  /** Any number or text; default "spillway". */
  readonly seed: Seed;
  /**
   * How W is stored, which decides the order of its sums; "auto" follows the density and is
   * resolved when the model is made.
   */
  readonly storage: "auto" | "dense" | "sparse";
  /**
   * "bfloat16" rounds every weight of W once more when it is made; arithmetic stays in the model's
   * precision. "int8" and "q4_k" (4.5 bits a weight) round to steps that each row, or each 32
   * weights of a row, has; they take a dense float32 W and `arithmetic: "fast"`. Zeros stay zeros.
   * With `arithmetic: "integer"` weights have 16 bits, or 8 with "int8", dense or sparse. Default
   * "full".
   */
  readonly weightPrecision: WeightPrecision;
  /**
   * "portable": the same bits on every engine. "fast" lets an engine that has something faster use
   * it. "integer": states in 16 bits, weights in 16 or 8, tanh by a table, sums in 32 bits, for
   * machines without floating point; docs/numerics.md, rule 18.
   */
  readonly arithmetic: Arithmetic;
  /** Precision of states and weights; default "float32". */
  readonly precision: "float32" | "float64";
}

/** What a user writes: `size` and every field that differs from the defaults. */
export type ReservoirOptions = Pick<ReservoirConfig, "size"> & {
  readonly [Field in Exclude<keyof ReservoirConfig, "size" | "topology" | "feedback">]?: ReservoirConfig[Field] | undefined;
} & {
  /** A topology by name, or by name and settings. */
  readonly topology?: TopologyConfig | TopologyConfig["type"] | undefined;
  readonly feedback?: Partial<FeedbackConfig> | null | undefined;
  /** Other kinds of reservoir have one. */
  readonly kind?: undefined;
};
