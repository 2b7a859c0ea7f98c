// What the fields of a network's description are and take: the one description from which come
// checks, defaults and JSON Schema.
import { ArgumentError } from "@spillway/core/errors.js";
import { suggestion } from "@spillway/core/near-names.js";
import {
  byName,
  byType,
  choice,
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
  record,
  resolve,
  seed,
  text,
  whole,
} from "@spillway/core/options.js";
import type { NeuronType } from "../../reservoir/spiking-config.js";
import { neuronDefaults, neuronTables } from "../neurons/schema.js";
import { grid, notNegative, notNegativeNumber, positive, positiveNumber, share } from "../options.js";
import type {
  ConnectConfig,
  DistributionConfig,
  NetworkConfig,
  NetworkNeuronConfig,
  NetworkOptions,
  PopulationConfig,
  ProjectionConfig,
  ProjectionPlasticityConfig,
  SpikeTimingConfig,
  Values,
} from "./config.js";

const finite = number();
const millivolts = number({ unit: "mV" });
const size = whole({ atLeast: 1, below: 2 ** 30, takes: "a whole number of at least 1" });
const many = whole({ atLeast: 0, below: 2 ** 32 });

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
const drawn: Kind<DistributionConfig> = {
  takes: drawnTakes,
  schema: { anyOf: [finite.schema, distribution.schema] },
  read(value, field) {
    if (typeof value === "number") return { distribution: "constant", value: finite.read(value, field) };
    if (typeof value !== "object" || value === null) throw new ArgumentError(field, value, drawnTakes);
    return distribution.read(value, field);
  },
};
const values = either(
  "a number, a list with one for each neuron, or a distribution",
  finite,
  list(finite, "a list of numbers"),
  distribution,
) as Kind<Values>;

const synapse = list(finite, "[source, target], or [source, target, weight, delay]", 2);
const howMany = { number: given(many, "How many synapses.") };
const connect = byName<ConnectConfig>("rule", {
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

const receptor = object({
  timeConstant: given(notNegative("ms"), "Decay of the current; 0 for a jump of the potential."),
  shape: option(
    choice("exponential", "alpha"),
    "exponential",
    "The course of the current after a spike; alpha: it rises to its peak first.",
  ),
  reversalPotential: option(
    either("a number of mV, or null", nothing, millivolts),
    null,
    "Makes it a conductance, which draws the potential there; null: a current.",
  ),
});
const background = object({
  rate: given(notNegative("spikes per second"), "Spikes per second and neuron."),
  weight: given(finite, "Weight of each."),
  receptor: optional(text(), "Which receptor they reach; left out, the only one."),
});

const networkNeuronTables = {
  ...neuronTables,
  adaptiveExponential: {
    membraneTimeConstant: optional(positive("ms"), "Decay of the potential."),
    restingPotential: optional(millivolts, "Where the potential decays to."),
    threshold: optional(millivolts, "Where the upswing of a spike begins."),
    slopeFactor: optional(positive("mV"), "How sharply it begins."),
    peakPotential: optional(millivolts, "The potential at which a neuron fires."),
    resetPotential: optional(millivolts, "The potential after a spike."),
    refractoryPeriod: optional(notNegative("ms"), "How long the potential is held after a spike."),
    adaptationTimeConstant: optional(positive("ms"), "Decay of the adaptation."),
    subthresholdAdaptation: optional(finite, "What the potential adds to it: a conductance, as a share of the leak's."),
    adaptationStep: optional(finite, "What a spike adds to it, mV."),
  },
};
const networkNeuronDefaults = {
  ...neuronDefaults,
  // Brette and Gerstner 2005, table 1.
  adaptiveExponential: {
    membraneTimeConstant: 281 / 30,
    restingPotential: -70.6,
    threshold: -50.4,
    slopeFactor: 2,
    peakPotential: 20,
    resetPotential: -70.6,
    refractoryPeriod: 0,
    adaptationTimeConstant: 144,
    subthresholdAdaptation: 4 / 30,
    adaptationStep: 80.5 / 30,
  },
};
/** Above it the exponential of a neuron's upswing leaves binary32. */
const steepest = 80;

/** The fields of a population, beside `like`. */
export const populationTable = {
  size: given(size, "How many neurons."),
  neuron: option(
    either(
      `one of ${Object.keys(networkNeuronTables).join(", ")}, by name or as an object with that type, or null for inputs`,
      nothing,
      byType<{ readonly type: NeuronType | "adaptiveExponential" }>(networkNeuronTables),
    ),
    { type: "leakyIntegrateAndFire" },
    "The neurons, by name or with settings; null for inputs, whose spikes are given.",
  ),
  capacitance: option(
    either("a number of pF above 0, or null", nothing, positive("pF")),
    null,
    "With it, currents and weights are in pA and conductances in nS; without, in mV and shares of the leak's.",
  ),
  receptors: option(
    record(receptor, "an object of receptors by name"),
    { current: { timeConstant: 0.5, shape: "exponential", reversalPotential: null } },
    "Currents or conductances that synapses act on, by name.",
  ),
  current: option(values, 0, "A constant current."),
  background: option(either("null, or an object with rate and weight", nothing, background), null, "Poisson spikes from outside."),
  initialPotential: option(either('"rest", or potentials in mV', choice("rest"), values), "rest", "Potentials at the start, mV."),
  stateTimeConstant: option(
    either("null, or a number of ms", nothing, notNegative("ms")),
    null,
    "Decay of the filtered spikes that readouts see; null keeps none.",
  ),
} satisfies { [Field in keyof PopulationConfig]: Option<unknown, unknown> };

const exponent = optional(share, "mu; left out, that of the rule.");
type WrittenPlasticity =
  | Exclude<ProjectionPlasticityConfig, SpikeTimingConfig>
  | (Omit<SpikeTimingConfig, "potentiationExponent" | "depressionExponent"> & {
      readonly potentiationExponent?: number | undefined;
      readonly depressionExponent?: number | undefined;
    });
const plasticity = byName<WrittenPlasticity>("kind", {
  shortTerm: {
    release: given(number({ above: 0, atMost: 1 }), "U: the share of the resources that a spike after a long rest uses."),
    recoveryTimeConstant: given(positive("ms"), "How fast the resources come back."),
    facilitationTimeConstant: option(notNegative("ms"), 0, "How fast u falls back; 0: u is always the release."),
  },
  stdp: {
    potentiationTimeConstant: given(positive("ms"), "Decay of the trace of spikes that arrived."),
    depressionTimeConstant: given(positive("ms"), "Decay of the trace of the target's spikes."),
    learningRate: given(positiveNumber, "lambda."),
    depressionRatio: option(notNegativeNumber, 1, "alpha: how much stronger depression is than potentiation."),
    weightDependence: option(choice("bounded", "powerLaw"), "bounded", "How a change depends on the weight."),
    potentiationExponent: exponent,
    depressionExponent: exponent,
    referenceWeight: option(
      either("a weight above 0, or null", nothing, positiveNumber),
      null,
      "The weight that powerLaw is measured in; null for bounded.",
    ),
    minimumWeight: option(notNegativeNumber, 0, "The smallest size of a weight."),
    maximumWeight: given(positiveNumber, "The largest size of a weight."),
    delay: option(choice("axonal", "dendritic"), "axonal", "Which way takes the projection's delay: to the synapse, or from there."),
  },
});

/** The fields of a projection. */
export const projectionTable = {
  from: given(text("the name of a population, or a slice such as E[0:100]"), "Where the synapses come from."),
  to: given(text("the name of a population, or a slice such as E[0:100]"), "Where they lead."),
  receptor: optional(text(), "Which receptor of the target they act on; left out, the only one."),
  connect: given(connect, "Which neurons are connected."),
  weight: given(drawn, "mV, or pA if the target has a capacitance; onto a conductance, a share of the leak's, or nS."),
  delay: optional(drawn, "ms, rounded to whole steps; left out, one step."),
  selfConnections: option(flag, true, "Whether a neuron may be connected to itself."),
  multiple: option(flag, true, "Whether two neurons may have several synapses."),
  plasticity: option(
    either("null, or an object whose kind is shortTerm or stdp", nothing, plasticity) as Kind<WrittenPlasticity | null>,
    null,
    "How the synapses change while the network runs; null: not at all.",
  ),
} satisfies { [Field in keyof ProjectionConfig]: Option<unknown, unknown> };

const anyPopulation: Kind<Readonly<Record<string, unknown>>> = record(
  { takes: "", schema: {}, read: (value) => value },
  "an object with the fields of a population",
);
/** Every field of a network's description. */
export const networkTable = {
  kind: given(choice("network"), "network: populations of spiking neurons and projections between them."),
  timeStep: option(positive("ms"), 0.1, "Length of a step in ms."),
  seed: option(seed, "spillway", "Determines every synapse."),
  precision: option(choice("float32", "float64"), "float32", "Precision of potentials and currents."),
  fractionBits: option(
    either("a whole number from 0 to 40, or null", nothing, whole({ atLeast: 0, atMost: 40 })),
    null,
    "Synaptic input is summed in units of 2^-fractionBits mV; null: as many as weights have 16 bits with, more if small ones need them.",
  ),
  populations: given(record(anyPopulation, "an object of populations by name"), "The populations, by name."),
  projections: option(
    list(object(projectionTable, "an object with from, to, connect and weight"), "a list of projections"),
    [],
    "The synapses.",
  ),
} satisfies { [Field in keyof NetworkConfig]: Option<unknown, unknown> };

const takes = "an object that describes a network, at least {kind, populations}";

/**
 * Fills in defaults and checks every field of a network's description. @throws ArgumentError naming
 * the field, the value and what it takes
 */
export function resolveNetworkConfig(options: NetworkOptions): NetworkConfig {
  if (typeof options !== "object" || options === null) throw new ArgumentError("network", options, takes);
  const { populations: given, projections, ...rest } = resolve(networkTable, options);
  const names = Object.keys(given);
  if (names.length === 0) throw new ArgumentError("populations", given, "at least one population");
  for (const name of names)
    if (/[[\]:]|^\d*$/.test(name)) throw new ArgumentError("populations", name, "names without [, ] and :, and not of digits alone");
  const populations = Object.fromEntries(names.map((name) => [name, readPopulation(name, given)]));
  return {
    ...rest,
    populations,
    projections: projections.map((each, i) => readProjection(each, `projections[${i}]`, populations, rest.timeStep)),
  };
}

function readPopulation(name: string, all: Readonly<Record<string, Readonly<Record<string, unknown>>>>): PopulationConfig {
  const field = `populations.${name}`;
  const fields = withLike(name, all, []);
  const { neuron, ...rest } = object(populationTable).read(fields, field);
  const type = neuron?.type;
  const config: PopulationConfig = {
    ...rest,
    neuron: neuron && ({ ...networkNeuronDefaults[neuron.type], ...withoutUndefined(neuron) } as NetworkNeuronConfig),
  };
  for (const each of ["current", "initialPotential"] as const) {
    const value = config[each];
    if (Array.isArray(value) && value.length !== config.size)
      throw new ArgumentError(`${field}.${each}`, value, `a number, or one for each of the ${config.size} neurons`);
  }
  if (config.neuron?.type === "adaptiveExponential") {
    const { threshold, slopeFactor, peakPotential, resetPotential } = config.neuron;
    const highest = threshold + steepest * slopeFactor;
    if (peakPotential <= threshold || peakPotential > highest)
      throw new ArgumentError(
        `${field}.neuron.peakPotential`,
        peakPotential,
        `a potential above threshold, ${threshold} mV, and at most ${steepest} slopeFactor higher, ${highest} mV`,
      );
    if (resetPotential >= peakPotential)
      throw new ArgumentError(`${field}.neuron.resetPotential`, resetPotential, `a potential below peakPotential, ${peakPotential} mV`);
  } else if (config.neuron && config.neuron.type !== "izhikevich") {
    const { threshold, restingPotential, reset, resetPotential } = config.neuron;
    // Neurons that rest above their threshold fire on their own; a reset to a value stops that.
    if (reset === "subtract" && threshold <= restingPotential)
      throw new ArgumentError(`${field}.neuron.threshold`, threshold, `a potential above restingPotential, ${restingPotential} mV`);
    if (reset === "value" && resetPotential >= threshold)
      throw new ArgumentError(`${field}.neuron.resetPotential`, resetPotential, `a potential below threshold, ${threshold} mV`);
  }
  if (config.capacitance !== null && type === "izhikevich")
    throw new ArgumentError(`${field}.capacitance`, config.capacitance, "null: Izhikevich neurons have none");
  const receptors = Object.keys(config.receptors);
  if (config.neuron && receptors.length === 0) throw new ArgumentError(`${field}.receptors`, config.receptors, "at least one receptor");
  const conducting = Object.values(config.receptors).some(({ reversalPotential }) => reversalPotential !== null);
  if (conducting && type === "izhikevich")
    throw new ArgumentError(`${field}.receptors`, receptors, "currents: Izhikevich neurons have no leak to share");
  for (const [name, { timeConstant, shape }] of Object.entries(config.receptors))
    if (timeConstant === 0 && (shape === "alpha" || conducting || type === "adaptiveExponential"))
      throw new ArgumentError(
        `${field}.receptors.${name}.timeConstant`,
        timeConstant,
        "more than 0 ms with shape alpha, beside conductances and for adaptiveExponential neurons",
      );
  if (config.background) receptorOf(config.background.receptor, config, `${field}.background.receptor`);
  return config;
}

/** The fields of a population, those of the one that it is like beneath them. */
function withLike(
  name: string,
  all: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  path: readonly string[],
): Readonly<Record<string, unknown>> {
  const { like, ...own } = all[name]!;
  if (like === undefined) return own;
  const field = `populations.${name}.like`;
  if (typeof like !== "string" || !Object.hasOwn(all, like))
    throw new ArgumentError(field, like, `the name of a population${suggestion(String(like), Object.keys(all))}`);
  if (like === name || path.includes(like)) throw new ArgumentError(field, like, "a population that is not like this one itself");
  return { ...withLike(like, all, [...path, name]), ...own };
}

/** A population and a slice of it: "E", "E[0:100]". */
export interface Slice {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** @throws ArgumentError if there is no such population or slice */
export function sliceOf(value: string, field: string, populations: Readonly<Record<string, PopulationConfig>>): Slice {
  const [, name, from, to] = /^([^[]*)(?:\[(\d*):(\d*)\])?$/.exec(value) ?? [];
  if (name === undefined || !Object.hasOwn(populations, name)) {
    const names = Object.keys(populations);
    throw new ArgumentError(field, value, `a population, or a slice such as ${names[0]}[0:10]${suggestion(name ?? value, names)}`);
  }
  const { size: most } = populations[name]!;
  const slice = { name, from: Number(from || 0), to: to ? Number(to) : most };
  if (slice.from >= slice.to || slice.to > most) throw new ArgumentError(field, value, `a slice within ${name}[0:${most}]`);
  return slice;
}

/** The index of a receptor in its population. @throws ArgumentError */
export function receptorOf(name: string | undefined, population: PopulationConfig, field: string): number {
  const names = Object.keys(population.receptors);
  if (name === undefined && names.length === 1) return 0;
  const index = names.indexOf(name ?? "");
  if (index < 0) throw new ArgumentError(field, name, `one of the target's receptors: ${names.join(", ")}`);
  return index;
}

function readProjection(
  {
    receptor,
    delay,
    plasticity: changes,
    ...rest
  }: Omit<ProjectionConfig, "receptor" | "delay" | "plasticity"> & {
    readonly receptor?: string | undefined;
    readonly plasticity: WrittenPlasticity | null;
    readonly delay?: DistributionConfig | undefined;
  },
  field: string,
  populations: Readonly<Record<string, PopulationConfig>>,
  timeStep: number,
): ProjectionConfig {
  sliceOf(rest.from, `${field}.from`, populations);
  const target = populations[sliceOf(rest.to, `${field}.to`, populations).name]!;
  if (target.neuron === null) throw new ArgumentError(`${field}.to`, rest.to, "a population of neurons; inputs only send spikes");
  const index = receptorOf(receptor, target, `${field}.receptor`);
  return {
    ...rest,
    receptor: Object.keys(target.receptors)[index]!,
    delay: delay ?? { distribution: "constant", value: timeStep },
    plasticity: changes && readPlasticity(changes, `${field}.plasticity`),
  };
}

function readPlasticity(written: WrittenPlasticity, field: string): ProjectionPlasticityConfig {
  if (written.kind === "shortTerm") return written;
  const { weightDependence, referenceWeight, minimumWeight, maximumWeight } = written;
  if (minimumWeight >= maximumWeight)
    throw new ArgumentError(`${field}.minimumWeight`, minimumWeight, `a size below maximumWeight, ${maximumWeight}`);
  const isBounded = weightDependence === "bounded";
  if (isBounded !== (referenceWeight === null))
    throw new ArgumentError(
      `${field}.referenceWeight`,
      referenceWeight,
      isBounded ? "null, as weights are measured by their bounds; it is for powerLaw" : "a weight above 0 with powerLaw",
    );
  return {
    ...written,
    potentiationExponent: written.potentiationExponent ?? (isBounded ? 0 : 0.4),
    depressionExponent: written.depressionExponent ?? (isBounded ? 0 : 1),
  };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
