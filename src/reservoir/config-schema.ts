// What the fields of a reservoir's description take. Loaded when the first reservoir is made, since zod is heavy to import.
import { ArgumentError } from "../core/errors.js";
import * as z from "zod";
import type { ReservoirConfig, ReservoirOptions } from "./config.js";
import type { TopologyConfig } from "./topologies/topology.js";
import { parseOrThrow } from "./validate.js";
import { isQuantized, quantizedTakes } from "./weight-rounding.js";

/** A finite number; `takes` says in words what is accepted. */
export const number = (takes: string, accept: (value: number) => boolean = () => true) =>
  z.number({ error: takes }).refine((value) => Number.isFinite(value) && accept(value), { error: takes });

/** A whole number. */
export const whole = (takes: string, accept: (value: number) => boolean) =>
  number(takes, (value) => Number.isSafeInteger(value) && accept(value));

/** One of some names. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, {
    error: values
      .map((value) => JSON.stringify(value))
      .join(", ")
      .replace(/, ([^,]*)$/, " or $1"),
  });

export const flag = z.boolean({ error: "true or false" });
const distribution = oneOf(["uniform", "normal", "bernoulli"]);
const share = number("a number from 0 to 1", (value) => value >= 0 && value <= 1);
const factor = number("a finite number");
// Where one branch of a union has the right type, zod reports that branch alone: so each branch says what the whole takes.
const factors = (each: string) => {
  const takes = `a finite number, or one per ${each}`;
  return z.union([number(takes), z.array(factor).readonly()], { error: takes });
};
const leakTakes = "a number above 0 and at most 1, or one per neuron";
const leak = number(leakTakes, (value) => value > 0 && value <= 1);
const radiusTakes = "a number of at least 0, or null to leave the weights as drawn";

const topologySchemas = {
  erdosRenyi: z.strictObject({ type: z.literal("erdosRenyi") }),
  fixedInDegree: z.strictObject({
    type: z.literal("fixedInDegree"),
    degree: whole("a whole number of at least 0", (v) => v >= 0).optional(),
  }),
  ring: z.strictObject({ type: z.literal("ring") }),
  cycleWithJumps: z.strictObject({
    type: z.literal("cycleWithJumps"),
    jump: whole("a whole number of at least 2", (v) => v >= 2),
    jumpWeight: factor.optional(),
  }),
  delayLine: z.strictObject({ type: z.literal("delayLine"), weight: factor.optional(), feedback: factor.optional() }),
  smallWorld: z.strictObject({
    type: z.literal("smallWorld"),
    neighbours: whole("an even whole number of at least 2", (v) => v >= 2 && v % 2 === 0).optional(),
    rewiring: share.optional(),
  }),
  orthogonal: z.strictObject({ type: z.literal("orthogonal") }),
  blockDiagonal: z.strictObject({ type: z.literal("blockDiagonal"), blocks: whole("a whole number of at least 1", (v) => v >= 1) }),
  custom: z.strictObject({ type: z.literal("custom") }),
} satisfies { [Type in TopologyConfig["type"]]: z.ZodType<Extract<TopologyConfig, { type: Type }>> };

/** The names a topology can have. */
export const topologyNames = Object.keys(topologySchemas) as TopologyConfig["type"][];
const topologyTakes = `one of ${topologyNames.join(", ")}, or an object whose "type" is one of them`;

const topology = z
  .preprocess(
    (value) => (typeof value === "string" ? { type: value } : value),
    z.discriminatedUnion("type", Object.values(topologySchemas) as unknown as [typeof topologySchemas.ring], { error: topologyTakes }),
  )
  .transform((value) => value as TopologyConfig);

const feedback = z.strictObject(
  {
    size: whole("a whole number of at least 1", (v) => v >= 1).optional(),
    scaling: factors("output").default(1),
    density: share.default(1),
    distribution: distribution.default("uniform"),
  },
  { error: "null, or an object with size, scaling, density and distribution" },
);

const fields = {
  size: whole("a whole number of at least 1", (v) => v >= 1 && v <= 2 ** 31),
  inputSize: whole("a whole number of at least 0", (v) => v >= 0).default(1),
  outputSize: whole("a whole number of at least 0", (v) => v >= 0).optional(),
  spectralRadius: z.union([number(radiusTakes, (v) => v >= 0), z.null()], { error: radiusTakes }).default(0.95),
  radiusMethod: oneOf(["auto", "dense", "krylov", "power", "circularLaw"]).default("auto"),
  connectionProbability: share.default(0.1),
  weightDistribution: distribution.default("uniform"),
  selfConnections: flag.default(false),
  inputConnectivity: share.default(1),
  inputDistribution: distribution.default("uniform"),
  inputScaling: factors("input").default(1),
  bias: factor.default(0),
  biasDistribution: distribution.default("uniform"),
  biasDensity: share.default(1),
  leakRate: z.union([leak, z.array(leak).readonly()], { error: leakTakes }).default(0.3),
  noiseLevel: number("a number of at least 0", (v) => v >= 0).default(0),
  activation: oneOf(["tanh", "identity", "relu", "sigmoid"]).default("tanh"),
  topology: topology.default({ type: "erdosRenyi" }),
  feedback: feedback.nullable().default(null),
  initialState: z
    .union(
      [
        z.literal("zeros"),
        z.array(factor).readonly(),
        z.strictObject({ distribution: distribution.default("uniform"), scaling: factor.default(1) }),
      ],
      {
        error: '"zeros", one number per neuron, or {distribution, scaling}',
      },
    )
    .default("zeros"),
  seed: z.union([z.string(), number("text or a finite number")], { error: "text or a finite number" }).default("spillway"),
  storage: oneOf(["auto", "dense", "sparse"]).default("auto"),
  weightPrecision: oneOf(["full", "bfloat16", "int8", "q4_k"]).default("full"),
  arithmetic: oneOf(["portable", "fast"]).default("portable"),
  precision: oneOf(["float32", "float64"]).default("float32"),
};

/** The zod schema of a reservoir's description; `spillway run` files embed it. */
export const reservoirSchema = z.strictObject(fields, { error: "an object that describes a reservoir, at least {size}" });

/** Fields of a description, by path, for "did you mean". */
export function knownReservoirFields(path: readonly PropertyKey[]): readonly string[] {
  if (path[0] === "feedback") return ["size", "scaling", "density", "distribution"];
  if (path[0] === "initialState") return ["distribution", "scaling"];
  if (path[0] === "topology") return [...new Set(Object.values(topologySchemas).flatMap((schema) => Object.keys(schema.shape)))];
  return Object.keys(fields);
}

/** Fills in defaults and checks every field. @throws ArgumentError naming the field, the value and what it takes. */
export function resolveConfig(options: ReservoirOptions): ReservoirConfig {
  const parsed = parseOrThrow(reservoirSchema as z.ZodType<Parsed>, options, "config", knownReservoirFields);
  const { feedback, outputSize, ...rest } = parsed;
  checkLength("leakRate", rest.leakRate, rest.size, "neuron");
  checkLength("inputScaling", rest.inputScaling, rest.inputSize, "input");
  if (Array.isArray(rest.initialState)) checkLength("initialState", rest.initialState, rest.size, "neuron");
  checkTopology(rest.topology, rest.size);
  checkWeightPrecision(rest);
  if (feedback === null) {
    if (outputSize)
      throw new ArgumentError("outputSize", outputSize, "0 or nothing where feedback is null; set feedback: {} to feed outputs back");
    return { ...rest, outputSize: 0, feedback: null };
  }
  const size = feedback.size ?? (outputSize || 1);
  if (outputSize !== undefined && outputSize !== size)
    throw new ArgumentError("outputSize", outputSize, `the same number as feedback.size, ${size}`);
  checkLength("feedback.scaling", feedback.scaling, size, "output");
  return { ...rest, outputSize: size, feedback: { ...feedback, size } };
}

type Parsed = Omit<ReservoirConfig, "feedback" | "outputSize"> & {
  outputSize?: number | undefined;
  feedback: (Omit<NonNullable<ReservoirConfig["feedback"]>, "size"> & { size?: number | undefined }) | null;
};

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

function checkTopology(topology: TopologyConfig, size: number): void {
  switch (topology.type) {
    case "fixedInDegree":
      if (topology.degree !== undefined && topology.degree >= size && topology.degree > 0) {
        throw new ArgumentError("topology.degree", topology.degree, `a whole number below the size, ${size}`);
      }
      break;
    case "cycleWithJumps":
      if (topology.jump >= size) throw new ArgumentError("topology.jump", topology.jump, `a whole number below the size, ${size}`);
      break;
    case "smallWorld":
      if (topology.neighbours !== undefined && topology.neighbours >= size) {
        throw new ArgumentError("topology.neighbours", topology.neighbours, `an even whole number below the size, ${size}`);
      }
      break;
    case "blockDiagonal":
      if (topology.blocks > size) throw new ArgumentError("topology.blocks", topology.blocks, `at most the size, ${size}`);
      break;
    default:
  }
}
