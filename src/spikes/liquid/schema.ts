// A spiking reservoir, described as JSON: what its fields are, what they take, and what they are if
// they are left out. The one description from which come types, checks, defaults and JSON Schema.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  anything,
  byType,
  checked,
  choice,
  either,
  filled,
  given,
  type InputOf,
  type Kind,
  list,
  number,
  type Option,
  type OptionTable,
  object,
  option,
  optional,
  type Resolved,
  record,
  resolve,
  seed,
  tuple,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import { type NeuronConfig, type NeuronFields, type NeuronOptions, type NeuronType, neuronTables } from "../neurons/schema.js";
import { grid, millivolts, notNegative, positive, share } from "../options.js";
import { stepsIn } from "../steps.js";

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

/** A value that may be given for all kinds of connection at once, or for some of them. */
export type PairOptions<Value> = Value | Partial<PairValues<Value>>;

/** One value for all kinds of connection, or an object with some of them. */
function pairs<Value>(
  value: Kind<Value>,
  takes: string,
  defaults: PairValues<Value>,
  description: string,
): Option<PairValues<Value>, PairOptions<Value>, false> {
  const whole = `${takes}, or an object with ee, ei, ie and ii`;
  const one = (name: keyof PairValues<Value>) => option<Value, Value>(value, defaults[name] as NoInfer<Value>, `Of ${name} connections.`);
  const kind = either(whole, value, object({ ee: one("ee"), ei: one("ei"), ie: one("ie"), ii: one("ii") }, whole));
  const read = (given: unknown, field: string): PairValues<Value> => {
    const found = kind.read(given, field) as Value | PairValues<Value>;
    const isObject = typeof found === "object" && found !== null && !Array.isArray(found);
    return isObject ? (found as PairValues<Value>) : same(found as Value);
  };
  return option({ ...kind, read } as Kind<PairValues<Value>, PairOptions<Value>>, defaults as NoInfer<PairValues<Value>>, description);
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

/**
 * How weights and delays scatter around their means. "exponential" is the gamma distribution whose
 * deviation is its mean.
 */
export type SynapticDistribution = "constant" | "uniform" | "exponential";

const distanceTable = {
  /**
   * Points along x, y and z; `null` (default) takes the smallest box near a cube that holds all
   * neurons.
   */
  grid: option(grid, null, "Points along x, y and z; null takes the smallest box near a cube."),
  /** In grid steps; default 2. */
  lambda: option(positive("grid steps"), 2, "How far connections reach."),
  /** C; default ee .3, ei .2, ie .4, ii .1. Chances below 1e-6 count as none. */
  probability: probability({ ee: 0.3, ei: 0.2, ie: 0.4, ii: 0.1 }),
};
const randomTable = {
  /** Default 0.1 for each. */
  probability: probability(same(0.1)),
};

/**
 * Which neurons are connected. No neuron is connected to itself, and no two by more than one
 * synapse. By distance as Maass, Natschläger and Markram 2002: neurons on the points of a grid,
 * connected with chance C exp(-(D / lambda)^2) at distance D.
 */
export type ConnectivityConfig =
  | ({ readonly type: "distance" } & Resolved<typeof distanceTable>)
  | ({ readonly type: "random" } & Resolved<typeof randomTable>);

type ConnectivityOptions =
  | "distance"
  | "random"
  | ({ readonly type: "distance" } & InputOf<typeof distanceTable>)
  | ({ readonly type: "random" } & InputOf<typeof randomTable>);

const connectivity: Kind<ConnectivityConfig, ConnectivityOptions> = byType<ConnectivityConfig>({
  distance: distanceTable,
  random: randomTable,
});

const weightTakes = "a number of mV, at least 0, or one per channel";
const inputTable = {
  /**
   * "spikes": row t of the inputs holds the spikes of each channel in step t, as counts or
   * amplitudes; each starts a synaptic current. "current": row t is a current through W_in that
   * flows during step t.
   */
  mode: option(choice("spikes", "current"), "spikes", "What a row of the inputs is."),
  /** Share of neurons that a channel reaches; default 0.3. */
  connectivity: option(share, 0.3, "Share of neurons that a channel reaches."),
  /**
   * Mean weight in mV, or one per channel. Default 18 for a current and for Izhikevich neurons; for
   * spikes 1000 over the channels, from 18 to 200, so that a liquid responds to few and to many.
   */
  weight: optional(
    either(weightTakes, notNegative("mV"), list(notNegative("mV"), weightTakes)),
    "Mean weight, or one per channel; left out, 1000 mV over the channels, from 18 to 200, and 18 for a current and for izhikevich.",
  ),
  /** Default "exponential". */
  distribution: option(distribution, "exponential", "How weights scatter."),
  /** Share of input weights that are negative; default 0 for spikes, 0.5 for a current. */
  negativeShare: optional(share, "Share of input weights that are negative; left out, 0 for spikes and 0.5 for a current."),
  /** ms, rounded to whole steps; for spikes. Default 0. */
  delay: option(notNegative("ms"), 0, "Delay of spikes, in whole steps."),
  /**
   * The largest amplitude that a spike may have. The sums of synaptic input do not overflow with
   * it. Default 64.
   */
  largestAmplitude: option(number({ atLeast: 1 }), 64, "The largest amplitude that a spike may have."),
};
const synapsesTable = {
  /** Decay of the current of excitatory synapses, ms; default 3. 0: the whole charge at once. */
  excitatoryTimeConstant: option(notNegative("ms"), 3, "Decay of the current of excitatory synapses."),
  /** Decay of the current of inhibitory synapses, ms; default 6. */
  inhibitoryTimeConstant: option(notNegative("ms"), 6, "Decay of the current of inhibitory synapses."),
  /**
   * Mean weights in mV, current times membrane resistance, as sizes: inhibitory neurons take them
   * off.
   */
  weight: pairs(notNegative("mV"), "a number of mV, at least 0", { ee: 10, ei: 20, ie: 19, ii: 19 }, "Mean weights."),
  /** "constant", "uniform" (0 to twice the mean) or "exponential" (default). */
  distribution: option(distribution, "exponential", "How weights and delays scatter."),
  /** ms, rounded to whole steps; one number, or [least, most] of a uniform draw. */
  delay: pairs<number | readonly [number, number]>(
    delay,
    delayTakes,
    { ee: 1.5, ei: 0.8, ie: 0.8, ii: 0.8 },
    "Delays: a number, or [least, most].",
  ),
};
const backgroundTable = {
  /** A constant current, mV; default 0. */
  current: option(millivolts, 0, "A constant current."),
  /**
   * Standard deviation of a current that is drawn anew for every neuron and step, mV; default 0.
   */
  deviation: option(notNegative("mV"), 0, "Standard deviation of a current that is drawn for every step."),
  /** Spikes per second and neuron, at most one a step; default 0. */
  rate: option(notNegative("spikes per second"), 0, "Spikes per second and neuron."),
  /** Weight of these spikes, mV; default 10. */
  weight: option(notNegative("mV"), 10, "Weight of these spikes."),
};
const none = checked<null>("null: a spiking reservoir feeds no outputs back", (each) => each === null, { const: null });

// Inhibitory neurons take over what is given of the others, not their defaults.
const neuronFields = Object.fromEntries(
  Object.entries(neuronTables).map(([type, table]) => [type, withoutDefaults<OptionTable>(table)]),
) as Record<NeuronType, OptionTable>;

/**
 * Synapses between the neurons of a liquid: exponentially decaying currents, mean weights and their
 * distribution, delays.
 */
export interface SynapsesConfig extends Resolved<typeof synapsesTable> {}

/** How inputs reach the neurons of a liquid: as spikes through synapses, or as currents. */
export interface SpikingInputConfig extends Resolved<typeof inputTable> {
  /** Mean weight in mV, or one per channel. */
  readonly weight: number | readonly number[];
  /** Share of input weights that are negative. */
  readonly negativeShare: number;
}

/** What reaches every neuron from outside the network. */
export interface BackgroundConfig extends Resolved<typeof backgroundTable> {}

/** Every field of a spiking reservoir's description. */
export const spikingTable = {
  /** Tells it from a rate reservoir. */
  kind: given(choice("spiking"), "spiking: a network of spiking neurons; its state is their filtered spikes."),
  /** N, the number of neurons; excitatory ones come first. */
  size: given(
    whole({ atLeast: 1, below: 2 ** 30, takes: "a whole number of at least 1" }),
    "N, the number of neurons; excitatory ones come first.",
  ),
  /** I, the number of input channels; default 1. */
  inputSize: option(
    whole({ atLeast: 0, below: 2 ** 30, takes: "a whole number of at least 0" }),
    1,
    "I, the number of input channels; left out, it follows from the data.",
  ),
  /** Length of a step in ms; default 1. */
  timeStep: option(positive("ms"), 1, "Length of a step in ms; a row of the inputs is a step."),
  /** The excitatory neurons; default leaky integrate-and-fire. */
  neuron: option(
    byType<{ readonly type: NeuronType }>(neuronFields) as Kind<{ readonly type: NeuronType }, NeuronOptions>,
    { type: "leakyIntegrateAndFire" },
    "The neurons, by name or with settings: potentials in mV, times in ms.",
  ),
  /** The inhibitory neurons: their share (default 0.2), and what differs from `neuron`. */
  inhibitory: filled(
    object(
      {
        share: option(share, 0.2, "Share of neurons that are inhibitory."),
        neuron: option(
          record(anything, "an object of what differs from neuron") as Kind<Readonly<Record<string, unknown>>, NeuronFields>,
          {},
          "What differs from neuron.",
        ),
      },
      "an object with share and neuron",
    ),
    "The share of inhibitory neurons, and what differs in them.",
  ),
  /** Which neurons are connected; default by distance. */
  connectivity: option(
    connectivity,
    connectivity.read("distance", "connectivity"),
    "Which neurons are connected: by distance on a grid, or at random.",
  ),
  /** Weights, time constants and delays between neurons. */
  synapses: filled(object(synapsesTable), "Time constants in ms, weights in mV and delays in ms."),
  /** How inputs reach the neurons. */
  input: filled(object(inputTable), "How inputs act: as spikes through synapses, or as currents."),
  /** Noise and current from outside the network. */
  background: filled(object(backgroundTable), "What reaches every neuron from outside: a current, its noise, and spikes."),
  /**
   * Potentials at the start: "rest" (default; c for Izhikevich), or uniform between two values in
   * mV.
   */
  initialPotential: option(
    either(
      '"rest", or {from, to} in mV',
      choice("rest"),
      object({ from: given(millivolts, "The lowest."), to: given(millivolts, "The highest.") }, '"rest", or {from, to} in mV'),
    ),
    "rest",
    "Potentials at the start.",
  ),
  /**
   * Decay of the filtered spikes that are the reservoir's state, ms; default 30. 0: the state is 1
   * in the step of a spike, else 0.
   */
  stateTimeConstant: option(notNegative("ms"), 30, "Decay of the filtered spikes, in ms."),
  /** Synaptic input is summed in units of 2^-fractionBits mV; default 12. */
  fractionBits: option(whole({ atLeast: 0, atMost: 24 }), 12, "Synaptic input is summed in units of 2^-fractionBits mV."),
  /** Any number or text; default "spillway". */
  seed: option(seed, "spillway", "Determines every synapse; in an experiment, seed or seeds at the top of the file do."),
  /** Of potentials, currents and states; default "float32". */
  precision: option(choice("float32", "float64"), "float32", "Precision of potentials, currents and states."),
  /** A spiking reservoir feeds no outputs back. */
  feedback: optional(none, "null: a spiking reservoir feeds no outputs back."),
};

/**
 * A spiking reservoir's description with every default filled in. It is JSON and determines every
 * bit.
 */
export interface SpikingReservoirConfig extends Omit<Resolved<typeof spikingTable>, "neuron" | "inhibitory" | "input" | "feedback"> {
  /** The excitatory neurons; default leaky integrate-and-fire. */
  readonly neuron: NeuronConfig;
  /** The inhibitory neurons: their share (default 0.2), and what differs from `neuron`. */
  readonly inhibitory: { readonly share: number; readonly neuron: NeuronConfig };
  /** How inputs reach the neurons. */
  readonly input: SpikingInputConfig;
}

/** What a user writes: `kind`, `size` and every field that differs from the defaults. */
export interface SpikingReservoirOptions extends InputOf<typeof spikingTable> {}

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
  const filledIn = (fields: object) => ({ ...resolve(neuronTables[type], fields), type }) as NeuronConfig;
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
