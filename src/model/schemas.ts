// What the options of models and the notes of model files take. Loaded when the first model is made or read, since zod is heavy to import.

import { ArgumentError } from "../core/errors.js";
import * as z from "zod";
import { nearest } from "../core/near-names.js";
import type { ReadoutTraining } from "../readout/index.js";
import type { FeatureSpec, RadiusMethod, ReservoirOptions } from "../reservoir/index.js";
import { parseOrThrow } from "../reservoir/index.js";
import type { ClassifierSettings } from "./classifier-options.js";
import type { ForecasterSettings } from "./forecaster-options.js";

const number = (takes: string, accept: (value: number) => boolean = () => true) =>
  z.number({ error: takes }).refine((value) => Number.isFinite(value) && accept(value), { error: takes });
const wholeFrom = (least: number) =>
  number(`a whole number of at least ${least}`, (value) => Number.isSafeInteger(value) && value >= least);
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `one of ${values.map((value) => JSON.stringify(value)).join(", ")}` });
const flag = z.boolean({ error: "true or false" });
const seed = z.union([z.string(), number("")], { error: "text or a finite number" });
/** Options of a trainer; the trainer itself checks them. */
const trainerOptions = z.record(z.string(), z.unknown(), { error: "an object of readout options" });

const memberTakes = "a whole number of at least 1, or a list of one seed a member";

const forecasterFields = {
  washout: wholeFrom(0).default(100),
  standardise: z.union([z.boolean(), z.enum(["inputs", "targets"])], { error: 'true, false, "inputs" or "targets"' }).default(true),
  readout: trainerOptions.default({}),
};

const classifierFields = {
  representation: oneOf(["last", "mean", "last+mean", "output"]).default("last+mean"),
  input: flag.default(false),
  standardise: flag.default(true),
  layerNorm: flag.default(false),
  scaleFeatures: flag.default(true),
  washout: wholeFrom(0).default(0),
  sequenceLambda: number("a finite number above 0", (value) => value > 0).default(1),
  readout: z
    .intersection(
      z.looseObject(
        { type: z.enum(["ridge", "softmax", "rls", "lms", "own"], { error: 'one of "ridge", "softmax", "rls", "lms"' }).default("ridge") },
        { error: "an object of readout options" },
      ),
      trainerOptions,
    )
    .default({ type: "ridge" }),
  members: z
    .union([z.number(), z.array(seed).readonly()], { error: memberTakes })
    .refine((value) => (typeof value === "number" ? Number.isSafeInteger(value) && value >= 1 : value.length >= 1), { error: memberTakes })
    .default(1),
  vote: oneOf(["majority", "mean"]).default("majority"),
};

/** @throws ArgumentError where options have no description of a reservoir; what stands in it is checked when the reservoir is made */
export function requireReservoir(options: { readonly reservoir?: unknown } | undefined): void {
  const { reservoir: value, ...rest } = options ?? {};
  const misspelt = value === undefined && nearest("reservoir", Object.keys(rest));
  if (misspelt) throw ArgumentError.unknownField(misspelt, undefined, ["reservoir"]);
  if (typeof value !== "object" || value === null) {
    throw new ArgumentError("reservoir", value, "an object that describes a reservoir, at least {size}");
  }
}

const forecasterSchema = z.strictObject(forecasterFields, { error: "an object of forecaster options" });
const classifierSchema = z.strictObject(classifierFields, { error: "an object of classifier options" });

/** @throws ArgumentError */
export function parseForecasterSettings(value: unknown): ForecasterSettings {
  return parseOrThrow(forecasterSchema as unknown as z.ZodType<ForecasterSettings>, value, "options", () => [
    "reservoir",
    "matrices",
    "engine",
    "threads",
    ...Object.keys(forecasterFields),
  ]);
}

/** @throws ArgumentError */
export function parseClassifierSettings(value: unknown): ClassifierSettings {
  return parseOrThrow(classifierSchema as unknown as z.ZodType<ClassifierSettings>, value, "options", () => [
    "reservoir",
    "engine",
    "threads",
    ...Object.keys(classifierFields),
  ]);
}

const radiusMethods = [
  "analytic",
  "structure",
  "dense",
  "krylov",
  "power",
  "circularLaw",
  "unscaled",
] as const satisfies readonly RadiusMethod[];

const reservoirNote = z.strictObject(
  {
    config: z.record(z.string(), z.unknown(), { error: "a reservoir's description" }),
    measuredRadius: number("a finite number of at least 0", (value) => value >= 0),
    radiusMethod: oneOf(radiusMethods),
  },
  { error: "an object with config, measuredRadius and radiusMethod" },
);

interface ReservoirNote {
  readonly config: ReservoirOptions;
  readonly measuredRadius: number;
  readonly radiusMethod: RadiusMethod;
}

/** @throws ArgumentError; the description itself is checked by `resolveConfig` */
export function parseReservoirNote(value: unknown): ReservoirNote {
  return parseOrThrow(reservoirNote as unknown as z.ZodType<ReservoirNote>, value, "reservoir", () => Object.keys(reservoirNote.shape));
}

const readoutNote = z.strictObject(
  {
    features: z.strictObject(
      { state: oneOf(["plain", "squareHalf"]), input: flag, squares: flag },
      { error: "an object with state, input and squares" },
    ),
    stateSize: wholeFrom(1),
    inputSize: wholeFrom(0),
    training: z
      .strictObject({
        method: z.string({ error: "text" }),
        rows: wholeFrom(0),
        details: z.record(
          z.string(),
          z.union([z.string(), z.boolean(), z.number(), infinite(), z.array(z.union([z.number(), infinite()])).readonly()]),
        ),
      })
      .optional(),
  },
  { error: "an object with features, stateSize and inputSize" },
);

interface ReadoutNote {
  readonly features: FeatureSpec;
  readonly stateSize: number;
  readonly inputSize: number;
  readonly training?: ReadoutTraining | undefined;
}

/** @throws ArgumentError */
export function parseReadoutNote(value: unknown): ReadoutNote {
  return parseOrThrow(readoutNote as unknown as z.ZodType<ReadoutNote>, value, "readout", () => Object.keys(readoutNote.shape));
}

const stateNote = z.strictObject({ step: wholeFrom(0) }, { error: "an object with step" });

/** @throws ArgumentError */
export function parseStateNote(value: unknown): { readonly step: number } {
  return parseOrThrow(stateNote, value, "state", () => ["step"]);
}

const twoTexts = "a list of at least two different texts, or numbers";
const isList = (labels: readonly unknown[]): boolean => labels.length >= 2 && new Set(labels).size === labels.length;
const classesNote = z.union([z.array(z.string()), z.array(number(""))], { error: twoTexts }).refine(isList, { error: twoTexts });

/** @throws ArgumentError */
export function parseClasses(value: unknown): readonly (string | number)[] {
  return parseOrThrow(classesNote, value, "classes", () => []);
}

/** Scores of a choice of lambda may be infinite. */
function infinite() {
  return z.literal([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
}
