// What the fields of a spiking reservoir's description take, and their defaults. Loaded when the first is made, since zod is heavy to import.
import { ArgumentError } from "../../core/errors.js";
import * as z from "zod";
import { number, oneOf, whole } from "../../reservoir/config-schema.js";
import type {
  NeuronConfig,
  NeuronType,
  PairOptions,
  PairValues,
  SpikingReservoirConfig,
  SpikingReservoirOptions,
} from "../../reservoir/spiking-config.js";
import { parseOrThrow } from "../../reservoir/validate.js";

const finite = number("a finite number");
const millivolts = number("a finite number of mV");
const positive = (unit: string) => number(`a number of ${unit} above 0`, (value) => value > 0);
const notNegative = (unit: string) => number(`a number of ${unit}, at least 0`, (value) => value >= 0);
const share = number("a number from 0 to 1", (value) => value >= 0 && value <= 1);

const integrateAndFireFields = {
  membraneTimeConstant: positive("ms").optional(),
  restingPotential: millivolts.optional(),
  threshold: millivolts.optional(),
  reset: oneOf(["value", "subtract"]).optional(),
  resetPotential: millivolts.optional(),
  refractoryPeriod: notNegative("ms").optional(),
};
const neuronFields = {
  leakyIntegrateAndFire: integrateAndFireFields,
  adaptiveIntegrateAndFire: {
    ...integrateAndFireFields,
    adaptationTimeConstant: positive("ms").optional(),
    adaptationStep: notNegative("mV").optional(),
  },
  izhikevich: { a: positive("1/ms").optional(), b: finite.optional(), c: millivolts.optional(), d: finite.optional() },
} satisfies Record<NeuronType, z.ZodRawShape>;
/** The names a neuron can have. */
export const neuronTypes = Object.keys(neuronFields) as [NeuronType, ...NeuronType[]];
const neuronTakes = `one of ${neuronTypes.join(", ")}, or an object whose "type" is one of them`;

/** A name stands for an object of that type; another text is left as it is, for the error to show it. */
const byName = (names: readonly string[]) => (value: unknown) => (names.includes(value as string) ? { type: value } : value);
const neuron = z.preprocess(
  byName(neuronTypes),
  z.discriminatedUnion(
    "type",
    neuronTypes.map((type) => z.strictObject({ type: z.literal(type), ...neuronFields[type] })) as unknown as [
      z.ZodObject<{ type: z.ZodLiteral<NeuronType> }>,
    ],
    { error: neuronTakes },
  ),
);

const pairNames = ["ee", "ei", "ie", "ii"] as const;
/** One value for all kinds of connection, or an object with some of them. */
function pairs(value: z.ZodType, takes: string) {
  const error = `${takes}, or an object with ee, ei, ie and ii`;
  return z.union([value, z.strictObject(Object.fromEntries(pairNames.map((name) => [name, value.optional()])))], { error });
}
const delayTakes = "ms of at least 0, or [least, most]";
const delay = z.union(
  [
    notNegative("ms"),
    z.tuple([notNegative("ms"), notNegative("ms")], { error: delayTakes }).refine(([least, most]) => least <= most, { error: delayTakes }),
  ],
  { error: delayTakes },
);
const probability = pairs(share, "a number from 0 to 1").optional();
const distribution = oneOf(["constant", "uniform", "exponential"]);
const gridTakes = "three whole numbers of at least 1, points along x, y and z, or null";
const gridSide = whole(gridTakes, (value) => value >= 1);

const connectivity = z.preprocess(
  byName(["distance", "random"]),
  z.discriminatedUnion(
    "type",
    [
      z.strictObject({
        type: z.literal("distance"),
        grid: z.tuple([gridSide, gridSide, gridSide], { error: gridTakes }).nullable().default(null),
        lambda: positive("grid steps").default(2),
        probability,
      }),
      z.strictObject({ type: z.literal("random"), probability }),
    ],
    { error: '"distance", "random", or an object whose "type" is one of them' },
  ),
);

const weightTakes = "a number of mV, at least 0, or one per channel";
const inputFields = {
  mode: oneOf(["spikes", "current"]).default("spikes"),
  connectivity: share.default(0.3),
  weight: z.union([notNegative("mV"), z.array(notNegative("mV")).readonly()], { error: weightTakes }).default(18),
  distribution: distribution.default("exponential"),
  negativeShare: share.optional(),
  delay: notNegative("ms").default(0),
  largestAmplitude: number("a number of at least 1", (value) => value >= 1).default(64),
};
const synapsesFields = {
  excitatoryTimeConstant: notNegative("ms").default(3),
  inhibitoryTimeConstant: notNegative("ms").default(6),
  weight: pairs(notNegative("mV"), "a number of mV, at least 0").optional(),
  distribution: distribution.default("exponential"),
  delay: pairs(delay, delayTakes).optional(),
};
const backgroundFields = {
  current: millivolts.default(0),
  deviation: notNegative("mV").default(0),
  rate: notNegative("spikes per second").default(0),
  weight: notNegative("mV").default(10),
};

const fields = {
  kind: z.literal("spiking", { error: '"spiking"' }),
  size: whole("a whole number of at least 1", (v) => v >= 1 && v < 2 ** 30),
  inputSize: whole("a whole number of at least 0", (v) => v >= 0 && v < 2 ** 30).default(1),
  timeStep: positive("ms").default(1),
  neuron: neuron.default({ type: "leakyIntegrateAndFire" }),
  inhibitory: z
    .strictObject(
      {
        share: share.default(0.2),
        neuron: z.record(z.string(), z.unknown(), { error: "an object of what differs from neuron" }).default({}),
      },
      { error: "an object with share and neuron" },
    )
    .prefault({}),
  connectivity: connectivity.default({ type: "distance", grid: null, lambda: 2 }),
  synapses: z.strictObject(synapsesFields, { error: `an object with ${Object.keys(synapsesFields).join(", ")}` }).prefault({}),
  input: z.strictObject(inputFields, { error: `an object with ${Object.keys(inputFields).join(", ")}` }).prefault({}),
  background: z.strictObject(backgroundFields, { error: `an object with ${Object.keys(backgroundFields).join(", ")}` }).prefault({}),
  initialPotential: z
    .union([z.literal("rest"), z.strictObject({ from: millivolts, to: millivolts })], { error: '"rest", or {from, to} in mV' })
    .default("rest"),
  stateTimeConstant: notNegative("ms").default(30),
  fractionBits: whole("a whole number from 0 to 24", (v) => v >= 0 && v <= 24).default(12),
  seed: z.union([z.string(), number("text or a finite number")], { error: "text or a finite number" }).default("spillway"),
  precision: oneOf(["float32", "float64"]).default("float32"),
  feedback: z.null({ error: "null: a spiking reservoir feeds no outputs back" }).optional(),
  outputSize: z.literal(0, { error: "0: a spiking reservoir feeds no outputs back" }).optional(),
};

/** The zod schema of a spiking reservoir's description; `spillway run` files embed it. */
export const spikingReservoirSchema = z.strictObject(fields, {
  error: "an object that describes a spiking reservoir, at least {kind, size}",
});

/** Fields of a description, by path, for "did you mean". */
export function knownSpikingFields(path: readonly PropertyKey[]): readonly string[] {
  switch (path[0]) {
    case "neuron":
      return ["type", ...new Set(Object.values(neuronFields).flatMap((shape) => Object.keys(shape)))];
    case "inhibitory":
      return ["share", "neuron"];
    case "connectivity":
      return path[1] === "probability" ? pairNames : ["type", "grid", "lambda", "probability"];
    case "synapses":
      return path.length > 1 ? pairNames : Object.keys(synapsesFields);
    case "input":
      return Object.keys(inputFields);
    case "background":
      return Object.keys(backgroundFields);
    case "initialPotential":
      return ["from", "to"];
    default:
      return Object.keys(fields);
  }
}

const integrateAndFireDefaults = {
  membraneTimeConstant: 30,
  restingPotential: -70,
  threshold: -55,
  reset: "value",
  resetPotential: -56.5,
  refractoryPeriod: 3,
} as const;
const neuronDefaults = {
  leakyIntegrateAndFire: integrateAndFireDefaults,
  adaptiveIntegrateAndFire: { ...integrateAndFireDefaults, adaptationTimeConstant: 200, adaptationStep: 1 },
  izhikevich: { a: 0.02, b: 0.2, c: -65, d: 8 },
};
const inhibitoryDefaults = {
  leakyIntegrateAndFire: { refractoryPeriod: 2 },
  adaptiveIntegrateAndFire: { refractoryPeriod: 2 },
  izhikevich: { a: 0.1, d: 2 },
};

/** Fills in defaults and checks every field. @throws ArgumentError naming the field, the value and what it takes */
export function resolveSpikingConfig(options: SpikingReservoirOptions): SpikingReservoirConfig {
  const parsed = parseOrThrow(spikingReservoirSchema, options, "config", knownSpikingFields);
  const { feedback: _feedback, outputSize: _outputSize, neuron, inhibitory, connectivity, synapses, input, ...rest } = parsed;
  const type = neuron.type;
  const own = withoutUndefined(neuron);
  const inhibitoryFields = parseOrThrow(
    z.object({
      inhibitory: z.object({
        neuron: z.strictObject({ type: z.literal(type, { error: `"${type}", as neuron.type` }).optional(), ...neuronFields[type] }),
      }),
    }),
    { inhibitory: { neuron: inhibitory.neuron } },
    "inhibitory",
    () => Object.keys(neuronFields[type]),
  ).inhibitory.neuron;
  const config = {
    ...rest,
    neuron: { ...neuronDefaults[type], ...own } as NeuronConfig,
    inhibitory: {
      share: inhibitory.share,
      neuron: { ...neuronDefaults[type], ...inhibitoryDefaults[type], ...own, ...withoutUndefined(inhibitoryFields) } as NeuronConfig,
    },
    connectivity:
      connectivity.type === "distance"
        ? {
            ...connectivity,
            probability: allPairs(connectivity.probability as PairOptions<number>, { ee: 0.3, ei: 0.2, ie: 0.4, ii: 0.1 }),
          }
        : { ...connectivity, probability: allPairs(connectivity.probability as PairOptions<number>, same(0.1)) },
    synapses: {
      ...synapses,
      weight: allPairs(synapses.weight as PairOptions<number>, { ee: 10, ei: 20, ie: 19, ii: 19 }),
      delay: allPairs(synapses.delay as PairOptions<number | readonly [number, number]>, { ee: 1.5, ei: 0.8, ie: 0.8, ii: 0.8 }),
    },
    input: { ...input, negativeShare: input.negativeShare ?? (input.mode === "current" ? 0.5 : 0) },
  } as SpikingReservoirConfig;
  checkTogether(config);
  return config;
}

function same<Value>(value: Value): PairValues<Value> {
  return { ee: value, ei: value, ie: value, ii: value };
}

function allPairs<Value>(given: PairOptions<Value> | undefined, defaults: PairValues<Value>): PairValues<Value> {
  if (given === undefined) return defaults;
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  return isObject ? { ...defaults, ...withoutUndefined(given as Partial<PairValues<Value>>) } : same(given as Value);
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
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
  if (Math.round(longest / timeStep) > 0xfffe)
    throw new ArgumentError("synapses.delay", longest, `at most 65534 steps of ${timeStep} ms; take a longer timeStep`);
  if (typeof initialPotential === "object" && initialPotential.from > initialPotential.to)
    throw new ArgumentError("initialPotential.from", initialPotential.from, `at most initialPotential.to, ${initialPotential.to} mV`);
}
