// What the fields of a reservoir's description are and take: the one description from which come
// checks, defaults and JSON Schema.
import { ArgumentError } from "@spillway/core/errors.js";
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
  type Option,
  object,
  option,
  optional,
  type Resolved,
  resolve,
  seed,
  whole,
} from "@spillway/core/options.js";
import { activations } from "./activations.js";
import { cellKind, hasOrthogonal } from "./cell.js";
import { isComposite } from "./composite/config.js";
import type { LeakRange, ReservoirConfig, ReservoirOptions } from "./config.js";
import { checkInteger } from "./integer/weights.js";
import type { Activation } from "./model.js";
import { checkTopology, type TopologyConfig, topologies } from "./topologies/index.js";
import { isQuantized, quantizedTakes } from "./weight-rounding.js";

const distribution = choice("uniform", "normal", "bernoulli");
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
const feedback = object(
  {
    size: optional(whole({ atLeast: 1 }), "O, how many outputs are fed back."),
    scaling: option(factors("output"), 1, "Factor on every feedback weight, or one per output."),
    density: option(share, 1, "Share of nonzero feedback weights."),
    distribution: option(distribution, "uniform", "Distribution of the nonzero feedback weights."),
  },
  feedbackTakes,
);
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
  size: given(whole({ atLeast: 1, atMost: 2 ** 31, takes: "a whole number of at least 1" }), "N, the number of neurons."),
  inputSize: option(whole(), 1, "I, the number of input channels; left out, it follows from the data."),
  spectralRadius: option(
    either(radiusTakes, number({ atLeast: 0 }), nothing),
    0.95,
    "Target spectral radius of W; null leaves W as it was drawn.",
  ),
  radiusMethod: option(
    choice("auto", "dense", "krylov", "power", "circularLaw"),
    "auto",
    "How the radius of W is measured; circularLaw is a quick estimate, power fails for complex pairs.",
  ),
  connectionProbability: option(share, 0.1, "Chance of a connection between two neurons."),
  weightDistribution: option(distribution, "uniform", "Distribution of the nonzero weights of W."),
  selfConnections: option(flag, false, "Whether neurons may connect to themselves."),
  inputConnectivity: option(share, 1, "Share of nonzero input weights."),
  inputDistribution: option(distribution, "uniform", "Distribution of the nonzero input weights."),
  inputScaling: option(factors("input"), 1, "Factor on every input weight, or one per input."),
  bias: option(factor, 0, "Factor on the bias of every neuron."),
  biasDistribution: option(distribution, "uniform", "Distribution of the biases."),
  biasDensity: option(share, 1, "Share of neurons with a bias."),
  leakRate: option(
    either(leakTakes, leak, list(leak, leakTakes), leakRange),
    0.3,
    "a in x' = (1 - a) x + a f(...); 1 is the plain echo state network.",
  ),
  cell: optional(cellKind, "es2n, residual or euler: what a step keeps of the state and what it adds, in place of leaking."),
  noiseLevel: option(number({ atLeast: 0 }), 0, "Uniform noise in [-noiseLevel, noiseLevel) on every pre-activation."),
  activation: option(choiceOf<Activation>(activations), "tanh", "f, the activation function."),
  topology: option(byType<TopologyConfig>(topologies), { type: "erdosRenyi" }, "The pattern of W, by name or with settings."),
  feedback: option(either(feedbackTakes, nothing, feedback), null, "Output feedback W_fb; null for none."),
  initialState: option(either(stateTakes, choice("zeros"), list(factor, stateTakes), randomState), "zeros", "x before the first step."),
  seed: option(seed, "spillway", "Determines every weight; in an experiment, seed or seeds at the top of the file do."),
  storage: option(choice("auto", "dense", "sparse"), "auto", "How W is stored; auto follows the density."),
  weightPrecision: option(
    choice("full", "bfloat16", "int8", "q4_k"),
    "full",
    "bfloat16 rounds every weight of W once more; int8 and q4_k to steps of 8 and 4 bits (dense float32, arithmetic fast); with arithmetic integer 16 bits, or int8.",
  ),
  arithmetic: option(
    choice("portable", "fast", "integer"),
    "portable",
    "portable: the same bits on every engine; fast: an engine may use what is faster; integer: 16-bit numbers, the same bits everywhere.",
  ),
  precision: option(choice("float32", "float64"), "float32", "Precision of states and weights."),
} satisfies { [Field in keyof ReservoirConfig]: Option<unknown, unknown> };

/** A reservoir's description as a field of something larger, such as an experiment. */
export const reservoirKind = object(reservoirTable, "an object that describes a reservoir, at least {size}");

type Parsed = Resolved<typeof reservoirTable>;

/**
 * Fills in defaults and checks every field. @throws ArgumentError naming the field, the value and
 * what it takes.
 */
export function resolveConfig(options: ReservoirOptions): ReservoirConfig {
  if (typeof options !== "object" || options === null) throw new ArgumentError("config", options, reservoirKind.takes);
  if (isComposite(options))
    throw ArgumentError.because("the reservoir is composed of layers or groups; this takes a single rate reservoir", {
      field: options.layers ? "layers" : "groups",
    });
  const { feedback, ...rest } = withCell(resolve(reservoirTable, options), options);
  checkLength("leakRate", rest.leakRate, rest.size, "neuron");
  checkLength("inputScaling", rest.inputScaling, rest.inputSize, "input");
  if (Array.isArray(rest.initialState)) checkLength("initialState", rest.initialState, rest.size, "neuron");
  checkTopology(rest.topology, rest.size);
  if (rest.arithmetic === "integer") checkInteger(rest as Omit<ReservoirConfig, "feedback">);
  else checkWeightPrecision(rest);
  if (feedback === null) return { ...rest, feedback };
  const { size = 1 } = feedback;
  checkLength("feedback.scaling", feedback.scaling, size, "output");
  return { ...rest, feedback: { ...feedback, size } };
}

/**
 * A description whose cell has no leak rates and, with a matrix O, a dense W. @throws ArgumentError
 */
function withCell(config: Parsed, { leakRate }: ReservoirOptions): Parsed {
  if (!config.cell) return config;
  if (leakRate !== undefined && leakRate !== 1)
    throw new ArgumentError("leakRate", leakRate, `nothing beside the cell "${config.cell.type}", which has no leak`);
  if (!hasOrthogonal(config)) return { ...config, leakRate: 1 };
  if (config.storage === "sparse")
    throw new ArgumentError("storage", "sparse", `"dense" or "auto" for the cell "${config.cell.type}", whose O is dense`);
  return { ...config, leakRate: 1, storage: "dense" };
}

function checkLength(field: string, value: number | readonly number[] | object, length: number, each: string): void {
  if (Array.isArray(value) && value.length !== length) throw new ArgumentError(field, value, `a number, or one per ${each} (${length})`);
}

function checkWeightPrecision({ weightPrecision, arithmetic, precision, storage }: Omit<Parsed, "feedback">): void {
  if (!isQuantized(weightPrecision)) return;
  const refuse = (needs: string): never => {
    throw new ArgumentError("weightPrecision", weightPrecision, quantizedTakes(needs));
  };
  if (arithmetic !== "fast") refuse('arithmetic: "fast"');
  if (precision !== "float32") refuse('precision: "float32"');
  if (storage === "sparse") refuse('a W that is stored dense; set storage: "dense"');
}
