// What the fields of a spiking reservoir's description are and take: the one description from which
// come checks, defaults and JSON Schema.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  anything,
  byType,
  checked,
  choice,
  either,
  filled,
  given,
  type Kind,
  list,
  number,
  type Option,
  type OptionTable,
  object,
  option,
  optional,
  record,
  resolve,
  seed,
  tuple,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import type {
  NeuronConfig,
  NeuronType,
  PairValues,
  SpikingReservoirConfig,
  SpikingReservoirOptions,
} from "../../reservoir/spiking-config.js";
import { neuronTables } from "../neurons/schema.js";
import { grid, notNegative, positive, share } from "../options.js";
import { stepsIn } from "../steps.js";

const millivolts = number({ unit: "mV" });

/** One value for all kinds of connection, or an object with some of them. */
function pairs<Value>(value: Kind<Value>, takes: string, defaults: PairValues<Value>, description: string): Option<PairValues<Value>> {
  const whole = `${takes}, or an object with ee, ei, ie and ii`;
  const one = (name: keyof PairValues<Value>) => option<Value, Value>(value, defaults[name] as NoInfer<Value>, `Of ${name} connections.`);
  const kind = either(whole, value, object({ ee: one("ee"), ei: one("ei"), ie: one("ie"), ii: one("ii") }, whole));
  const read = (given: unknown, field: string): PairValues<Value> => {
    const found = kind.read(given, field) as Value | PairValues<Value>;
    const isObject = typeof found === "object" && found !== null && !Array.isArray(found);
    return isObject ? (found as PairValues<Value>) : same(found as Value);
  };
  return option({ ...kind, read } as Kind<PairValues<Value>>, defaults as NoInfer<PairValues<Value>>, description);
}

function same<Value>(value: Value): PairValues<Value> {
  return { ee: value, ei: value, ie: value, ii: value };
}

const delayTakes = "ms of at least 0, or [least, most]";
const range = tuple<readonly [number, number]>(delayTakes, [notNegative("ms"), notNegative("ms")]);
const delay = either(delayTakes, notNegative("ms"), {
  ...range,
  read(value, field) {
    const [least, most] = range.read(value, field);
    if (least > most) throw new ArgumentError(field, value, delayTakes);
    return [least, most] as const;
  },
} as Kind<readonly [number, number]>);
const probability = (defaults: PairValues<number>) => pairs(share, "a number from 0 to 1", defaults, "Chance of a connection.");
const distribution = choice("constant", "uniform", "exponential");

type Connectivity =
  | {
      readonly type: "distance";
      readonly grid: readonly [number, number, number] | null;
      readonly lambda: number;
      readonly probability: PairValues<number>;
    }
  | { readonly type: "random"; readonly probability: PairValues<number> };
const connectivity = byType<Connectivity>({
  distance: {
    grid: option(grid, null, "Points along x, y and z; null takes the smallest box near a cube."),
    lambda: option(positive("grid steps"), 2, "How far connections reach."),
    probability: probability({ ee: 0.3, ei: 0.2, ie: 0.4, ii: 0.1 }),
  },
  random: { probability: probability(same(0.1)) },
});

const weightTakes = "a number of mV, at least 0, or one per channel";
const inputTable = {
  mode: option(choice("spikes", "current"), "spikes", "What a row of the inputs is."),
  connectivity: option(share, 0.3, "Share of neurons that a channel reaches."),
  weight: optional(
    either(weightTakes, notNegative("mV"), list(notNegative("mV"), weightTakes)),
    "Mean weight, or one per channel; left out, 1000 mV over the channels, from 18 to 200, and 18 for a current and for izhikevich.",
  ),
  distribution: option(distribution, "exponential", "How weights scatter."),
  negativeShare: optional(share, "Share of input weights that are negative; left out, 0 for spikes and 0.5 for a current."),
  delay: option(notNegative("ms"), 0, "Delay of spikes, in whole steps."),
  largestAmplitude: option(number({ atLeast: 1 }), 64, "The largest amplitude that a spike may have."),
};
const synapsesTable = {
  excitatoryTimeConstant: option(notNegative("ms"), 3, "Decay of the current of excitatory synapses."),
  inhibitoryTimeConstant: option(notNegative("ms"), 6, "Decay of the current of inhibitory synapses."),
  weight: pairs(notNegative("mV"), "a number of mV, at least 0", { ee: 10, ei: 20, ie: 19, ii: 19 }, "Mean weights."),
  distribution: option(distribution, "exponential", "How weights and delays scatter."),
  delay: pairs<number | readonly [number, number]>(
    delay,
    delayTakes,
    { ee: 1.5, ei: 0.8, ie: 0.8, ii: 0.8 },
    "Delays: a number, or [least, most].",
  ),
};
const backgroundTable = {
  current: option(millivolts, 0, "A constant current."),
  deviation: option(notNegative("mV"), 0, "Standard deviation of a current that is drawn for every step."),
  rate: option(notNegative("spikes per second"), 0, "Spikes per second and neuron."),
  weight: option(notNegative("mV"), 10, "Weight of these spikes."),
};
const none = checked<null>("null: a spiking reservoir feeds no outputs back", (each) => each === null, { const: null });

// Inhibitory neurons take over what is given of the others, not their defaults.
const neuronFields = Object.fromEntries(
  Object.entries(neuronTables).map(([type, table]) => [type, withoutDefaults<OptionTable>(table)]),
) as Record<NeuronType, OptionTable>;

/** Every field of a spiking reservoir's description. */
export const spikingTable = {
  kind: given(choice("spiking"), "spiking: a network of spiking neurons; its state is their filtered spikes."),
  size: given(
    whole({ atLeast: 1, below: 2 ** 30, takes: "a whole number of at least 1" }),
    "N, the number of neurons; excitatory ones come first.",
  ),
  inputSize: option(
    whole({ atLeast: 0, below: 2 ** 30, takes: "a whole number of at least 0" }),
    1,
    "I, the number of input channels; left out, it follows from the data.",
  ),
  timeStep: option(positive("ms"), 1, "Length of a step in ms; a row of the inputs is a step."),
  neuron: option(
    byType<{ readonly type: NeuronType }>(neuronFields),
    { type: "leakyIntegrateAndFire" },
    "The neurons, by name or with settings: potentials in mV, times in ms.",
  ),
  inhibitory: filled(
    object(
      {
        share: option(share, 0.2, "Share of neurons that are inhibitory."),
        neuron: option(record(anything, "an object of what differs from neuron"), {}, "What differs from neuron."),
      },
      "an object with share and neuron",
    ),
    "The share of inhibitory neurons, and what differs in them.",
  ),
  connectivity: option(
    connectivity,
    connectivity.read("distance", "connectivity"),
    "Which neurons are connected: by distance on a grid, or at random.",
  ),
  synapses: filled(object(synapsesTable), "Time constants in ms, weights in mV and delays in ms."),
  input: filled(object(inputTable), "How inputs act: as spikes through synapses, or as currents."),
  background: filled(object(backgroundTable), "What reaches every neuron from outside: a current, its noise, and spikes."),
  initialPotential: option(
    either(
      '"rest", or {from, to} in mV',
      choice("rest"),
      object({ from: given(millivolts, "The lowest."), to: given(millivolts, "The highest.") }, '"rest", or {from, to} in mV'),
    ),
    "rest",
    "Potentials at the start.",
  ),
  stateTimeConstant: option(notNegative("ms"), 30, "Decay of the filtered spikes, in ms."),
  fractionBits: option(whole({ atLeast: 0, atMost: 24 }), 12, "Synaptic input is summed in units of 2^-fractionBits mV."),
  seed: option(seed, "spillway", "Determines every synapse; in an experiment, seed or seeds at the top of the file do."),
  precision: option(choice("float32", "float64"), "float32", "Precision of potentials, currents and states."),
  feedback: optional(none, "null: a spiking reservoir feeds no outputs back."),
} satisfies { [Field in keyof SpikingReservoirConfig | "feedback"]: Option<unknown, unknown> };

const takes = "an object that describes a spiking reservoir, at least {kind, size}";
/**
 * A spiking reservoir's description as a field of something larger, such as an experiment;
 * `liquidKind` without its kind.
 */
export const spikingKind = object(spikingTable, takes);
const { kind: _kind, ...liquidTable } = spikingTable;
export const liquidKind = object(liquidTable, "an object that describes a spiking reservoir, at least {size}");

const inhibitoryDefaults = {
  leakyIntegrateAndFire: { refractoryPeriod: 2 },
  adaptiveIntegrateAndFire: { refractoryPeriod: 2 },
  izhikevich: { a: 0.1, d: 2 },
};

/**
 * Fills in defaults and checks every field. @throws ArgumentError naming the field, the value and
 * what it takes
 */
export function resolveSpikingConfig(options: SpikingReservoirOptions): SpikingReservoirConfig {
  if (typeof options !== "object" || options === null) throw new ArgumentError("config", options, takes);
  const parsed = resolve(spikingTable, options);
  const { feedback: _feedback, neuron, inhibitory, input, ...rest } = parsed;
  const { type, ...own } = neuron;
  const inhibitoryTable = {
    type: optional(
      checked(`"${type}", as neuron.type`, (value) => value === type),
      "",
    ),
    ...neuronFields[type],
  };
  const { type: _type, ...differs } = object(inhibitoryTable, "an object of what differs from neuron").read(
    inhibitory.neuron,
    "inhibitory.neuron",
  );
  const filledIn = (fields: object) => ({ type, ...resolve(neuronTables[type], fields) }) as NeuronConfig;
  const config = {
    ...rest,
    neuron: filledIn(own),
    inhibitory: { share: inhibitory.share, neuron: filledIn({ ...inhibitoryDefaults[type], ...own, ...differs }) },
    input: {
      ...input,
      weight:
        input.weight ?? (input.mode === "current" || type === "izhikevich" ? 18 : Math.min(200, Math.max(18, 1000 / parsed.inputSize))),
      negativeShare: input.negativeShare ?? (input.mode === "current" ? 0.5 : 0),
    },
  } as SpikingReservoirConfig;
  checkTogether(config);
  return config;
}

function checkTogether({
  size,
  inputSize,
  timeStep,
  neuron,
  inhibitory,
  connectivity,
  synapses,
  input,
  initialPotential,
}: SpikingReservoirConfig) {
  for (const [field, one] of [
    ["neuron", neuron],
    ["inhibitory.neuron", inhibitory.neuron],
  ] as const) {
    if (one.type === "izhikevich") continue;
    if (one.threshold <= one.restingPotential)
      throw new ArgumentError(`${field}.threshold`, one.threshold, `a potential above restingPotential, ${one.restingPotential} mV`);
    if (one.reset === "value" && one.resetPotential >= one.threshold)
      throw new ArgumentError(`${field}.resetPotential`, one.resetPotential, `a potential below threshold, ${one.threshold} mV`);
    if (one.refractoryPeriod > 2 ** 30 * timeStep)
      throw new ArgumentError(`${field}.refractoryPeriod`, one.refractoryPeriod, `at most 2^30 steps of ${timeStep} ms`);
  }
  if (inhibitory.neuron.type !== "izhikevich" && neuron.type !== "izhikevich" && inhibitory.neuron.reset !== neuron.reset)
    throw new ArgumentError("inhibitory.neuron.reset", inhibitory.neuron.reset, `what neuron.reset is, "${neuron.reset}"`);
  if (connectivity.type === "distance" && connectivity.grid) {
    const [x, y, z] = connectivity.grid;
    if (x * y * z < size)
      throw new ArgumentError("connectivity.grid", connectivity.grid, `at least as many points as there are neurons, ${size}`);
  }
  if (typeof input.weight !== "number" && input.weight.length !== inputSize)
    throw new ArgumentError("input.weight", input.weight, `a number, or one per channel (${inputSize})`);
  const delays = [input.delay, ...Object.values(synapses.delay).flatMap((value) => (typeof value === "number" ? [value] : [...value]))];
  const longest = Math.max(...delays);
  if (stepsIn(longest, timeStep) > 0xfffe)
    throw new ArgumentError("synapses.delay", longest, `at most 65534 steps of ${timeStep} ms; take a longer timeStep`);
  if (typeof initialPotential === "object" && initialPotential.from > initialPotential.to)
    throw new ArgumentError("initialPotential.from", initialPotential.from, `at most initialPotential.to, ${initialPotential.to} mV`);
}
