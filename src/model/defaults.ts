// Defaults of Forecaster and Classifier. They drive reservoirs with z-scores, for which the plain
// defaults of a description (reservoir/config.ts) are poor: without a bias tanh is odd, so the
// answer to -u is minus the answer to u.
import { isObject } from "@spillway/core/checks.js";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import type { FieldOwners } from "@spillway/core/field-owner.js";
import { isTrainer, type ReadoutDescription, type RidgeOptions, readouts, type Trainer, trainerOf } from "../readout/index.js";
import { type AnyReservoirOptions, isSpiking } from "../reservoir/index.js";
import { forScores } from "../reservoir/registered/kind.js";
import { isRegistered } from "../reservoir/registered/model.js";
import type { ClassifierReservoir, ClassifierSettings, Representation } from "./classifier/options.js";
import { feedsReadout, type HybridUse } from "./forecaster/hybrid.js";
import type { OwnReadout } from "./forecaster/options.js";

/** What options of `create` know, and the two descriptions in them: for fields of the wrong one. */
export async function fieldOwners(options: object): Promise<FieldOwners> {
  const [{ reservoirTable }, { ridgeTable }] = await Promise.all([import("../reservoir/config-table.js"), import("../readout/options.js")]);
  return { "the options, beside reservoir": options, reservoir: reservoirTable, readout: ridgeTable };
}

/**
 * The penalty of a Forecaster's readout, on z-scores: the smallest with which closed loops over
 * measured series stay near them.
 */
export const forecasterLambda = 1e-3;

/**
 * The penalty of a Classifier's readout, times the mean squared length of a case's centred
 * features, for all representations but "statistics".
 */
export const classifierLambda = 3e-3;

/**
 * The penalties that "statistics" chooses from by leave-one-out, times that length: 1e-4 to 10. The
 * grid is relative, so it holds no lambda that is large or small for any number of features.
 */
export const classifierLambdas = [1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10] as const;

/**
 * A forecaster's reservoir: bias 0.5, inputScaling and feedback.scaling 0.2, spectralRadius 1 if
 * they are left out.
 */
export function forecasterReservoir<Options extends AnyReservoirOptions>(options: Options): Options {
  if (isSpiking(options)) return options;
  if (isRegistered(options)) return forScores(options);
  const { bias = 0.5, inputScaling = 0.2, spectralRadius = 1, feedback } = options;
  const scaled = isPlain(feedback) && feedback.scaling === undefined ? { feedback: { ...feedback, scaling: 0.2 } } : {};
  return { ...options, bias, inputScaling, spectralRadius, ...scaled };
}

/** Neurons of a classifier's reservoir. */
export const classifierSize = 100;

/**
 * A classifier's rate reservoir: size 100 and bias 0.5; for "statistics" also spectral radius 0.9,
 * leak rates from 0.05 to 1 and ten inputs a neuron, unless a pattern or its density is given.
 */
export function classifierReservoir(options: ClassifierReservoir, representation: Representation): AnyReservoirOptions {
  if (isSpiking(options)) return options;
  if (isRegistered(options)) return forScores(options);
  const { size = classifierSize, bias = 0.5, ...rest } = options;
  if (representation !== "statistics") return { ...rest, size, bias };
  const { spectralRadius = 0.9, leakRate = rest.cell ? undefined : { from: 0.05, to: 1 }, topology, ...others } = rest;
  const isSaid = topology !== undefined || rest.connectionProbability !== undefined;
  const degree = Math.max(0, Math.min(10, size - 1));
  return { ...others, size, bias, spectralRadius, leakRate, topology: isSaid ? topology : { type: "fixedInDegree", degree } };
}

/** Settings that have no defaults yet. */
type Given<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

/**
 * The settings of a classifier that follow from its reservoir and readout. The representation is
 * "statistics", but "last+mean" for liquids, and for readouts that learn row by row, which would
 * keep F x F numbers for its F = 4800 features. Spike counts are neither z-scores nor have
 * differences. @throws ArgumentError if they are to be either
 */
export function classifierSettings<Settings extends Given<Omit<ClassifierSettings, "readout">>>(
  settings: Settings,
  reservoir: ClassifierReservoir,
  { type }: { readonly type?: string | undefined } = {},
): Settings & Pick<ClassifierSettings, "representation"> {
  const isOnline = type !== undefined && readouts.find(type)?.online === true;
  const { representation = isSpiking(reservoir) || isOnline ? "last+mean" : "statistics", differences = false } = settings;
  const read = { ...withStandardise(settings, reservoir), representation };
  if (!takesSpikes(reservoir)) return read;
  if (differences && representation === "statistics")
    throw new ArgumentError("differences", differences, "false if a reservoir takes spikes, whose differences are no counts");
  return { ...read, differences: false };
}

/** An object with fields; anything else is left for the check of the description to refuse. */
function isPlain<Value>(value: Value): value is Value & object {
  return isObject(value);
}

/** Whether the inputs of a reservoir are spike counts, which are not turned into z-scores. */
export function takesSpikes(reservoir: ClassifierReservoir): boolean {
  return isSpiking(reservoir) && reservoir.input?.mode !== "current";
}

/**
 * Settings that leave spike counts as they are. @throws ArgumentError if they are to be z-scores
 */
export function withStandardise<Settings extends { readonly standardise?: unknown }>(
  settings: Settings,
  reservoir: ClassifierReservoir,
): Settings {
  if (!takesSpikes(reservoir)) return settings;
  const { standardise = false } = settings;
  if (standardise === true || standardise === "inputs")
    throw new ArgumentError("standardise", standardise, "false if a reservoir takes spikes, which are counts");
  return { ...settings, standardise };
}

/**
 * The trainer of a forecaster's readout; default ridge with lambda 1e-3. With lags, or if it sees
 * the user's model, the inputs are features, among which they are. @throws what the trainer throws
 */
export function forecasterTrainer(described: ReadoutDescription | Trainer = {}, lags = 0, hybrid?: HybridUse): Trainer {
  if (!isPlain(described) || isTrainer(described)) return checkSeesInputs(trainerOf(described), lags, hybrid);
  const readout = lags > 0 || feedsReadout(hybrid) ? { ...described, input: true } : described;
  if ((readout.type ?? "ridge") !== "ridge") return trainerOf(readout);
  const options = readout as RidgeOptions;
  const isSaid = options.lambda !== undefined || options.lambdas !== undefined;
  return trainerOf(isSaid ? options : { ...options, lambda: forecasterLambda });
}

function checkSeesInputs(trainer: Trainer, lags: number, hybrid: HybridUse | undefined): Trainer {
  if (trainer.features.input) return trainer;
  if (lags > 0) throw new ArgumentError("lags", lags, "0 for a trainer whose features leave the input out");
  if (feedsReadout(hybrid)) throw new ArgumentError("hybrid", hybrid, '"input" for a trainer whose features leave the input out');
  return trainer;
}

/** A trainer as settings and model files have it. */
export function descriptionOf({ description }: Trainer): ReadoutDescription | OwnReadout {
  return description ?? { type: "own" };
}

/**
 * The trainer that settings of a model file name. @throws SpillwayError for one that no file holds
 */
export function describedTrainer(readout: ReadoutDescription | OwnReadout): Trainer {
  if (readout.type === "own")
    throw new SpillwayError(
      "lifecycle",
      "this model was trained by the user's own trainer, which its file does not hold; make a model with that trainer",
    );
  return trainerOf(readout);
}

/**
 * Settings that leave targets as they are that are classes. @throws ArgumentError for
 * z-scores of them
 */
export function withClassTargets<Settings extends { readonly standardise?: unknown }>(settings: Settings, trainer: Trainer): Settings {
  const type = trainer.description?.type;
  if (type === undefined || readouts.get(type).fits.includes("forecast")) return settings;
  const { standardise = "inputs" } = settings;
  if (standardise === true || standardise === "targets")
    throw new ArgumentError("standardise", standardise, `"inputs" or false for ${type}, whose targets are classes`);
  return { ...settings, standardise };
}
