// Turns what stands in an experiment file into an experiment: every field checked, every default
// filled in. It reads no file.

import { isObject } from "@spillway/core/checks.js";
import { ArgumentError, under } from "@spillway/core/errors.js";
import { withOwner } from "@spillway/core/field-owner.js";
import { nearest } from "@spillway/core/near-names.js";
import { anything, choiceOf, given, type Kind, type OptionTable, object, resolve, withoutDefaults } from "@spillway/core/options.js";
import { metrics as metricParts } from "../../metrics/index.js";
import { classTrainer } from "../../model/classifier/class-readout.js";
import {
  classifierReservoir,
  classifierSettings,
  classifierSize,
  forecasterReservoir,
  forecasterTrainer,
  takesSpikes,
} from "../../model/defaults.js";
import { plannedSize } from "../../model/forecaster/plan.js";
import { type Readout, type ReadoutDescription, readouts, type Trainer } from "../../readout/index.js";
import { ridgeTable } from "../../readout/options.js";
import { isComposite } from "../../reservoir/composite/config.js";
import { groupedKind, layeredKind } from "../../reservoir/composite/schema.js";
import { reservoirKind, reservoirTable } from "../../reservoir/config-table.js";
import { type AnyReservoirOptions, isSpiking } from "../../reservoir/index.js";
import { describedKind, needsSize, reservoirKinds } from "../../reservoir/registered/kind.js";
import { encoders } from "../../spikes/index.js";
import { liquidKind, spikingKind } from "../../spikes/liquid/schema.js";
import { tasks } from "../../tasks/index.js";
import { metricsOf } from "../tasks/scores.js";
import { dataKinds } from "./data-tables.js";
import type { BaselineDescription, MetricName, OpenExperiment, OpenTask, TransformDescription } from "./description.js";
import { checkModel, checkModelSource, defaultMembers, isCombined } from "./model-fits.js";
import { modelSchemas } from "./model-options.js";
import { typedFields } from "./overrides.js";
import { common, taskSchemas } from "./schema.js";

const dataTakes = "an object with task (a generated series), file, sounds, cases, spikes or patterns (generated ones)";
const modelTakes = 'forecaster, nvar or field, or an object whose "type" is one of them';
const taskTakes = `predict, classify, detect or anomalies, or an object whose "type" is predict, forecast, classify, detect or anomalies`;

/**
 * Checks an experiment and fills in the defaults.
 * @throws ArgumentError naming the field by its path from the top of the file.
 */
export function parseExperiment(source: unknown): OpenExperiment {
  return readExperiment(source).experiment;
}

/** An experiment that was checked, and the trainer of its readout, made when its options were. */
export interface CheckedExperiment {
  readonly experiment: OpenExperiment;
  readonly trainer: Trainer;
}

/** @throws as {@link parseExperiment} does */
export function readExperiment(source: unknown): CheckedExperiment {
  const experiment = parseFields(source);
  const { readout, task } = experiment;
  // The one check of the readout's options: its trainer is made of them.
  const trainer = under("readout", () =>
    task.type === "classify" ? classTrainer(readout, task.representation === "statistics") : forecasterTrainer(readout),
  );
  return { experiment, trainer };
}

function parseFields(source: unknown): OpenExperiment {
  if (!isObject(source)) throw new ArgumentError("the experiment", source, "an object with name, data, reservoir and task");
  const value: Record<string, unknown> = { ...source };
  if (value["search"] !== undefined)
    throw new ArgumentError("search", value["search"], "nothing here: `spillway search` runs a file with a search, and search() an object");
  checkModelSource(typeOf(value["model"]), typeOf(value["task"]), value);
  const members = defaultMembers(value);
  if (members) value["task"] = { ...(value["task"] as object), members };
  if (value["readout"] === undefined) value["readout"] = { type: "ridge" };
  for (const field of typedFields) if (typeof value[field] === "string") value[field] = { type: value[field] };
  if (isObject(value["readout"]) && value["readout"]["type"] === undefined) value["readout"] = { ...value["readout"], type: "ridge" };
  const { liquid } = value;
  if (liquid !== undefined && value["reservoir"] !== undefined)
    throw new ArgumentError("liquid", liquid, "nothing if reservoir is given: one of the two");
  const { reservoir: said = {} } = value;
  const size = defaultSizes[String(typeOf(value["task"]))];
  if (size !== undefined && liquid === undefined && isObject(said) && said["kind"] === undefined) value["reservoir"] = { size, ...said };
  if (isObject(value["reservoir"])) checkSizes(value["reservoir"]);
  const data = dataKind(value["data"]);
  const { readout } = value;
  if (!isObject(readout))
    throw new ArgumentError("readout", readout, `${choiceOf(readouts).takes}, or an object whose "type" is one of them`);
  readouts.get(readout["type"] as string, "readout.type");
  const task = variant(taskSchemas, "task", value["task"], taskTakes);
  const { reservoir: _, ...others } = common;
  const described = liquid === undefined ? { reservoir: given(kindOf(value["reservoir"]), "") } : { liquid: given(liquidKind, "") };
  const model = value["model"] === undefined ? undefined : variant(modelSchemas, "model", value["model"], modelTakes);
  const table: OptionTable = {
    ...others,
    ...(model && { model: given(model, "") }),
    data: given(data, ""),
    readout: given(anything, ""),
    task: given(task, ""),
    ...described,
  };
  const { liquid: __, ...parsed } = readFields(table, value);
  if (liquid !== undefined) return complete(parsed, { ...value, reservoir: { kind: "spiking", ...liquid } });
  // The size of a combination's reservoir follows from the rows.
  return complete(parsed, isCombined(parsed.task) ? { ...value, reservoir: said } : value);
}

/** @throws ArgumentError; of a field that belongs to another part of the file, with that part */
function readFields(table: OptionTable, value: object): Parsed & { readonly liquid?: unknown } {
  try {
    return object(table, "").read(value, "") as unknown as Parsed;
  } catch (error) {
    const parts = ["task", "data", "model"].map((part) => [part, table[part]?.schema["properties"] ?? {}] as const);
    throw withOwner(error, {
      "the top of the file": table,
      ...Object.fromEntries(parts),
      reservoir: reservoirTable,
      readout: ridgeTable,
    });
  }
}

/** Neurons of a rate reservoir whose size is not given, by the type of the task. */
const defaultSizes: Readonly<Record<string, number>> = {
  predict: plannedSize,
  forecast: plannedSize,
  classify: classifierSize,
  // Nothing reads it: the task says the size.
  anomalies: 1,
};

function typeOf(value: unknown): unknown {
  return isObject(value) ? value["type"] : value;
}

type Parsed = Omit<OpenExperiment, "seeds" | "metrics" | "transforms" | "baselines"> & {
  readonly seed?: string | number | undefined;
  readonly seeds?: number | readonly (string | number)[] | undefined;
  readonly liquid?: unknown;
  readonly metrics?: readonly MetricName[] | undefined;
  readonly transforms?: readonly TransformDescription[] | undefined;
  readonly baselines?: readonly BaselineDescription[] | undefined;
};

function complete({ seed, seeds, metrics, ...parsed }: Parsed, source: Readonly<Record<string, unknown>>): OpenExperiment {
  const described = source["reservoir"] as AnyReservoirOptions;
  const transforms = parsed.transforms ?? defaultTransforms(parsed, described);
  const baselines = parsed.baselines ?? defaultBaselines(parsed.task);
  const rest = { ...parsed, transforms, baselines, task: taskFor(parsed, described) };
  if (seed !== undefined && seeds !== undefined) throw new ArgumentError("seeds", seeds, "nothing if seed is given: one of the two");
  const { task, data, readout, washout } = rest;
  const known = metricsOf(task.type);
  const foreign = metrics?.find((name) => !known.includes(name));
  if (foreign) throw new ArgumentError("metrics", foreign, `for ${task.type} ${known.join(", ")}`);
  const unknown = rest.published.findIndex(({ score }) => !known.includes(score));
  if (unknown >= 0)
    throw new ArgumentError(`published[${unknown}].score`, rest.published[unknown]!.score, `for ${task.type} ${known.join(", ")}`);
  for (const [name, options] of Object.entries(rest.scoring.options ?? {})) {
    const field = `scoring.options.${name}`;
    under(field, () => resolve(metricParts.get(name, field).options, options));
  }
  checkUnread(rest);
  if (task.type === "anomalies") {
    const given = Object.keys(described).some((field) => field !== "size") || described.size !== defaultSizes["anomalies"];
    if (given) throw new ArgumentError("reservoir", described, "nothing for anomalies; task.size says the neurons");
    for (const [field, value] of Object.entries({ transforms, baselines }))
      if (value.length > 0) throw new ArgumentError(field, value, "nothing for anomalies");
  }
  const needed = task.type === "classify" ? "classify" : "forecast";
  if (!learns(readout).fits.includes(needed)) {
    const fitting = readouts.all().filter(({ fits }) => fits.includes(needed));
    throw new ArgumentError("readout.type", readout.type, `one of ${fitting.map(({ name }) => name).join(", ")} for ${task.type}`);
  }
  if (transforms.indexOf("standardise") >= 0 && transforms.indexOf("standardise") !== transforms.length - 1) {
    throw new ArgumentError("transforms", transforms, "standardise at most once, as the last of the list");
  }
  checkModel({ ...rest, reservoir: described, washout });
  const takesCases = task.type === "classify" || task.type === "detect";
  if (takesCases && transforms.some((each) => each !== "standardise")) {
    throw new ArgumentError("transforms", transforms, `only standardise for ${task.type}`);
  }
  const hasSpikes = "spikes" in data || "patterns" in data;
  if (rest.encode && hasSpikes) throw new ArgumentError("encode", rest.encode, "nothing for spike patterns, which are spikes already");
  if (rest.encode && !takesCases) throw new ArgumentError("encode", rest.encode, `nothing for ${task.type}; it is for classify and detect`);
  if (rest.encode && transforms.length > 0) throw new ArgumentError("transforms", transforms, "none if encode turns the cases into spikes");
  if (hasSpikes && isSpiking(described) && "timeStep" in described && data.binMs !== undefined && data.binMs !== described.timeStep)
    throw new ArgumentError("data.binMs", data.binMs, `${described.timeStep} ms, the liquid's timeStep, or nothing`);
  const reservoir = reservoirFor(task, described);
  if (task.type === "detect" && task.types && !isSpiking(reservoir))
    throw new ArgumentError("task.types", true, "false for a rate reservoir, whose neurons fire no spikes");
  const foreignBaseline = baselines.find((each) => (each === "majority") !== takesCases);
  if (foreignBaseline !== undefined) {
    throw new ArgumentError(
      "baselines",
      foreignBaseline,
      takesCases
        ? `"majority" for ${task.type}`
        : '"persistence", "mean", "drift", {seasonalNaive: period}, {autoregression: rows}, {theta: period} or {ets: period}',
    );
  }
  if ("task" in data) under("data.options", () => resolve(tasks.table(data.task), data.options));
  if (rest.encode) {
    const { encoder, binMs: _, ...options } = rest.encode;
    under("encode", () => resolve(encoderTable(encoder), options));
  }
  if (reservoir.seed !== undefined && (seed !== undefined || seeds !== undefined)) {
    throw new ArgumentError("reservoir.seed", reservoir.seed, "nothing if seed or seeds is given at the top of the file");
  }
  const list = typeof seeds === "number" ? Array.from({ length: seeds }, (_, k) => k) : (seeds ?? [seed ?? reservoir.seed ?? "spillway"]);
  const values = new Set<string>();
  const twice = list.find((each) => values.has(String(each)) || !values.add(String(each)));
  if (twice !== undefined) throw new ArgumentError("seeds", twice, "each seed once");
  return {
    ...rest,
    reservoir,
    seeds: list,
    washout: takesCases && washout === "auto" ? 0 : washout,
    metrics: metrics ?? defaultMetrics(task),
  };
}

/**
 * @throws ArgumentError for what is given and would not be read: templates train no readout, and a
 * test file is the whole test part.
 */
function checkUnread({ task, data, readout, split, washout }: Pick<Parsed, "task" | "data" | "readout" | "split" | "washout">): void {
  if (task.type === "detect" || task.type === "anomalies") {
    const option = Object.entries(readout).find(([name, value]) => name !== "type" && value !== undefined);
    if (option) throw new ArgumentError(`readout.${option[0]}`, option[1], `nothing for ${task.type}, which trains no readout`);
    if (washout !== "auto" && washout > 0) throw new ArgumentError("washout", washout, `nothing for ${task.type}, which trains no readout`);
  }
  const takesCases = task.type === "classify" || task.type === "detect";
  if (takesCases && split.train === 1)
    throw new ArgumentError("split.train", 1, `a share below 1, or a number of cases, for ${task.type}: some must be left to test`);
  if (!("test" in data) || data.test === undefined) return;
  const part = split.test !== undefined ? "test" : takesCases && split.train !== undefined ? "train" : undefined;
  if (part) throw new ArgumentError(`split.${part}`, split[part], "nothing if data.test names the test part");
}

/**
 * The reservoir with the defaults of a model of this task; that of `detect` has a description's
 * own.
 */
function reservoirFor(task: OpenTask, described: AnyReservoirOptions): AnyReservoirOptions {
  if (task.type === "detect" || task.type === "anomalies") return described;
  return task.type === "classify" ? classifierReservoir(described, task.representation) : forecasterReservoir(described);
}

/** A task with the settings that follow from the reservoir and the readout. */
function taskFor({ task, readout }: Pick<Parsed, "task" | "readout">, described: AnyReservoirOptions): OpenTask {
  if (task.type !== "classify") return task;
  const { representation, differences = true } = classifierSettings(task, described, readout);
  return { ...task, representation, differences };
}

/**
 * z-scores, except for spikes, for data that is compared with templates, and before readouts that
 * do not take them.
 */
function defaultTransforms(
  { task, readout, encode }: Pick<Parsed, "task" | "readout" | "encode">,
  described: AnyReservoirOptions,
): readonly TransformDescription[] {
  return encode || task.type === "detect" || task.type === "anomalies" || learns(readout).online || takesSpikes(described)
    ? []
    : ["standardise"];
}

function defaultBaselines({ type }: OpenTask): readonly BaselineDescription[] {
  if (type === "anomalies") return [];
  return type === "classify" || type === "detect" ? ["majority"] : ["persistence", "mean"];
}

function defaultMetrics(task: OpenTask): readonly MetricName[] {
  if (task.type === "predict") return ["nrmse", "rmse", "mae", "r2"];
  if (task.type === "forecast") return ["nrmse", "nrmseAtHorizon", "validPredictionTime", "rmse"];
  return task.type === "classify" ? ["accuracy", "errors"] : ["accuracy", "errors", "missed"];
}

function dataKind(data: unknown): Kind<unknown> {
  const found = isObject(data) ? Object.entries(dataKinds).filter(([field]) => field in data) : [];
  const names = found.map(([field]) => field);
  if (found.length !== 1) throw new ArgumentError("data", data, found.length > 1 ? `${names.join(" or ")}, not both` : dataTakes);
  return found[0]![1];
}

/** @throws ArgumentError for a reservoir, or a part of one, whose size nobody says */
function checkSizes(described: Record<string, unknown>): void {
  if (described["size"] !== undefined || !needsSize(described["kind"])) return;
  const takes = "a whole number of at least 1";
  if (!isComposite(described)) throw new ArgumentError("reservoir.size", undefined, takes);
  const parts: readonly unknown[] = [described.layers ?? described.groups].flat();
  const bad = parts.findIndex((part) => isObject(part) && part["size"] === undefined);
  if (bad >= 0) throw new ArgumentError(`reservoir.${described.layers ? "layers" : "groups"}[${bad}].size`, undefined, takes);
}

/** The kind of reservoir that is described. @throws ArgumentError for an unknown kind */
function kindOf(value: unknown): Kind<unknown> {
  const kind = isObject(value) ? value["kind"] : undefined;
  if (isObject(value) && isComposite(value)) return "layers" in value ? layeredKind : groupedKind;
  if (kind === undefined) return reservoirKind;
  if (kind === "spiking") return spikingKind;
  const names = ["spiking", ...reservoirKinds.names()].map((name) => `"${name}"`).join(", ");
  if (typeof kind !== "string" || !reservoirKinds.find(kind))
    throw new ArgumentError("reservoir.kind", kind, `one of ${names}, or nothing for a rate reservoir${reservoirKinds.advice(kind)}`);
  return describedKind(kind);
}

function variant(schemas: Readonly<Record<string, Kind<unknown>>>, field: string, value: unknown, takes: string): Kind<unknown> {
  if (!isObject(value)) throw new ArgumentError(field, value, takes);
  const { type } = value;
  const found = typeof type === "string" && Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (found) return found;
  const near = typeof type === "string" ? nearest(type, Object.keys(schemas)) : undefined;
  throw new ArgumentError(`${field}.type`, type, `${Object.keys(schemas).join(", ")}${near ? ` (did you mean ${near}?)` : ""}`);
}

/**
 * The options of an encoder. A sample rate may be left out: that of the recordings is filled in.
 */
function encoderTable(name: string): OptionTable {
  const { sampleRate, ...table } = encoders.table(name);
  return sampleRate === undefined ? table : { ...table, ...withoutDefaults({ sampleRate }) };
}

/** The readout that a description names. */
export function learns({ type = "ridge" }: ReadoutDescription): Readout {
  return readouts.get(type, "readout.type");
}
