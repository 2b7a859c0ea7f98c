// What the fields of a reservoir's description are: the one description from which come checks,
// defaults, types and JSON Schema.
import {
  byType,
  choice,
  choiceOf,
  either,
  flag,
  given,
  type Kind,
  list,
  nothing,
  number,
  object,
  option,
  optional,
  seed,
  whole,
} from "@spillway/core/options.js";
import { type Activation, activations } from "./activations.js";
import { cellKind } from "./cell-options.js";
import { type TopologyConfig, topologies } from "./topologies/index.js";
import type { WeightDistribution } from "./topologies/random-rows.js";

/**
 * Leak rates between two, as many in each octave: `from` (`to` / `from`)^u, u uniform in [0, 1),
 * drawn from the seed. A reservoir then sees slow and fast changes at once.
 */
export interface LeakRange {
  readonly from: number;
  readonly to: number;
}

const distribution: Kind<WeightDistribution> = choice("uniform", "normal", "bernoulli");
const share = number({ atLeast: 0, atMost: 1 });
const factor = number();
const factors = (each: string): Kind<number | readonly number[]> => {
  const takes = `a finite number, or one per ${each}`;
  return either(takes, factor, list(factor, takes));
};
const leakTakes = "a number above 0 and at most 1, one per neuron, or {from, to}";
const leak = number({ above: 0, atMost: 1 });
const leakRange: Kind<LeakRange> = object(
  { from: given(leak, "The slowest neuron's."), to: given(leak, "The fastest neuron's.") },
  leakTakes,
);
const radiusTakes = "a number of at least 0, or null to leave the weights as drawn";

const feedbackTakes = "null, or an object with size, scaling, density and distribution";
export const feedbackTable = {
  /** O: how many outputs are fed back; default 1. */
  size: optional(whole({ atLeast: 1 }), "O, how many outputs are fed back."),
  /** Factor on every feedback weight, or one per output. */
  scaling: option(factors("output"), 1, "Factor on every feedback weight, or one per output."),
  /** Share of nonzero feedback weights, 0 to 1. */
  density: option(share, 1, "Share of nonzero feedback weights."),
  /** Distribution of the nonzero feedback weights; default "uniform". */
  distribution: option(distribution, "uniform", "Distribution of the nonzero feedback weights."),
};
const feedback = object(feedbackTable, feedbackTakes);
const stateTakes = '"zeros", one number per neuron, or {distribution, scaling}';
const randomState = object(
  {
    distribution: option(distribution, "uniform", "Where the values come from."),
    scaling: option(factor, 1, "Factor on every value."),
  },
  stateTakes,
);

/** Every field of a rate reservoir's description. */
export const reservoirTable = {
  /** N, the number of neurons. */
  size: given(whole({ atLeast: 1, atMost: 2 ** 31, takes: "a whole number of at least 1" }), "N, the number of neurons."),
  /** I, the number of input channels; default 1. */
  inputSize: option(whole(), 1, "I, the number of input channels; left out, it follows from the data."),
  /**
   * Target spectral radius of W; default 0.95. `null` leaves W as it was drawn. So does a W without
   * a cycle, which has radius 0: of 10 neurons with connectionProbability 0.1 every second one. A
   * warning says so.
   */
  spectralRadius: option(
    either(radiusTakes, number({ atLeast: 0 }), nothing),
    0.95,
    "Target spectral radius of W; null leaves W as it was drawn.",
  ),
  /**
   * How the radius of W is measured before W is scaled: "auto" (default; docs/numerics.md, rule 7),
   * "dense" (all eigenvalues), "krylov" (only the largest), "power" (power iteration, which throws
   * an error for a complex pair, as most random W have), or "circularLaw", an estimate from the
   * variance that is within a percent or two for independent weights and takes no time.
   */
  radiusMethod: option(
    choice("auto", "dense", "krylov", "power", "circularLaw"),
    "auto",
    "How the radius of W is measured; circularLaw is a quick estimate, power fails for complex pairs.",
  ),
  /**
   * Chance of a connection between two neurons; default 0.1. Topologies with a fixed pattern do not
   * use it.
   */
  connectionProbability: option(share, 0.1, "Chance of a connection between two neurons."),
  /** Distribution of the nonzero weights of W; default "uniform". */
  weightDistribution: option(distribution, "uniform", "Distribution of the nonzero weights of W."),
  /** Whether neurons may connect to themselves; default false. */
  selfConnections: option(flag, false, "Whether neurons may connect to themselves."),
  /** Share of nonzero input weights; default 1. */
  inputConnectivity: option(share, 1, "Share of nonzero input weights."),
  /** Distribution of the nonzero input weights; default "uniform". */
  inputDistribution: option(distribution, "uniform", "Distribution of the nonzero input weights."),
  /** Factor on every input weight, or one per input; default 1. */
  inputScaling: option(factors("input"), 1, "Factor on every input weight, or one per input."),
  /** Factor on the bias of every neuron, drawn from `biasDistribution`; default 0, no bias. */
  bias: option(factor, 0, "Factor on the bias of every neuron."),
  /** Distribution of the nonzero biases; default "uniform". */
  biasDistribution: option(distribution, "uniform", "Distribution of the biases."),
  /** Share of neurons with a bias; default 1. */
  biasDensity: option(share, 1, "Share of neurons with a bias."),
  /**
   * a in (0, 1], one per neuron, or a range to draw one for each neuron from; default 0.3. 1 is the
   * plain echo state network.
   */
  leakRate: option(
    either(leakTakes, leak, list(leak, leakTakes), leakRange),
    0.3,
    "a in x' = (1 - a) x + a f(...); 1 is the plain echo state network.",
  ),
  /**
   * What a step keeps of the state and what it adds, if not (1 - a) x + a f(z). `leakRate` is then
   * left out. Default the leaky cell.
   */
  cell: optional(cellKind, "es2n, residual or euler: what a step keeps of the state and what it adds, in place of leaking."),
  /** Uniform noise in [-noiseLevel, noiseLevel) on every pre-activation; default 0. */
  noiseLevel: option(number({ atLeast: 0 }), 0, "Uniform noise in [-noiseLevel, noiseLevel) on every pre-activation."),
  /** f; default "tanh". */
  activation: option(choiceOf<Activation>(activations), "tanh", "f, the activation function."),
  /** Which neurons are connected; default "erdosRenyi", at random. */
  topology: option(byType<TopologyConfig>(topologies), { type: "erdosRenyi" }, "The pattern of W, by name or with settings."),
  /** Output feedback, or `null` for none. */
  feedback: option(either(feedbackTakes, nothing, feedback), null, "Output feedback W_fb; null for none."),
  /** x before the first step: "zeros" (default), N numbers, or random. */
  initialState: option(either(stateTakes, choice("zeros"), list(factor, stateTakes), randomState), "zeros", "x before the first step."),
  /** Any number or text; default "spillway". */
  seed: option(seed, "spillway", "Determines every weight; in an experiment, seed or seeds at the top of the file do."),
  /**
   * How W is stored, which decides the order of its sums; "auto" follows the density and is
   * resolved when the model is made.
   */
  storage: option(choice("auto", "dense", "sparse"), "auto", "How W is stored; auto follows the density."),
  /**
   * "bfloat16" rounds every weight of W once more when it is made; arithmetic stays in the model's
   * precision. "int8" and "q4_k" (4.5 bits a weight) round to steps that each row, or each 32
   * weights of a row, has; they take a dense float32 W and `arithmetic: "fast"`. Zeros stay zeros.
   * With `arithmetic: "integer"` weights have 16 bits, or 8 with "int8", dense or sparse. Default
   * "full".
   */
  weightPrecision: option(
    choice("full", "bfloat16", "int8", "q4_k"),
    "full",
    "bfloat16 rounds every weight of W once more; int8 and q4_k to steps of 8 and 4 bits (dense float32, arithmetic fast); with arithmetic integer 16 bits, or int8.",
  ),
  /**
   * "portable": the same bits on every engine. "fast" lets an engine that has something faster use
   * it. "integer": states in 16 bits, weights in 16 or 8, tanh by a table, sums in 32 bits, for
   * machines without floating point; docs/numerics.md, rule 18.
   */
  arithmetic: option(
    choice("portable", "fast", "integer"),
    "portable",
    "portable: the same bits on every engine; fast: an engine may use what is faster; integer: 16-bit numbers, the same bits everywhere.",
  ),
  /** Precision of states and weights; default "float32". */
  precision: option(choice("float32", "float64"), "float32", "Precision of states and weights."),
};

/** A reservoir's description as a field of something larger, such as an experiment. */
export const reservoirKind = object(reservoirTable, "an object that describes a reservoir, at least {size}");
