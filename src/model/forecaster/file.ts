// A Forecaster as a model file and back: which tensors and notes it is made of.

import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { missingCells } from "@spillway/io/missing.js";
import { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import { restoreReadout } from "../../readout/registered.js";
import type { AnyModel } from "../../reservoir/index.js";
import { keptTransforms, openTransforms } from "../../series/transform-file.js";
import { getReadout, getReservoir, getState, putReadout, putReservoir, putState } from "../content.js";
import type { ModelFile } from "../model-file.js";
import { floats, type MutableContent } from "../mutable-content.js";
import { choiceNote, clockNote, groupsNote, preprocessingNote } from "../notes.js";
import { stableJson } from "../stable-json.js";
import type { Standardisation } from "../standardisation.js";
import { TensorReader } from "../tensor-reader.js";
import { type Bound, boundList } from "./bounds.js";
import type { ForecasterChoice } from "./choice.js";
import type { ClockNote } from "./clock.js";
import { getKept, type KeptRows } from "./kept-rows.js";
import type { ForecasterMember, MemberState } from "./member.js";
import type { LastRows } from "./missing.js";
import type { SeriesSettings } from "./model.js";
import { type ForecasterSettings, forecasterTable } from "./options.js";
import type { Preprocessing } from "./preprocessing.js";
import { givenInputs, readoutFeatureCount, readoutFeaturesOf } from "./readout-features.js";

/** What a file holds of a forecaster, whatever its model. */
export interface CommonParts {
  readonly choice: ForecasterChoice | undefined;
  /** Undefined if it was trained without time stamps. */
  readonly time: ClockNote | undefined;
  readonly bounds: readonly Bound[] | undefined;
  /** The last rows, by which missing values of those to come are held. */
  readonly last: LastRows;
  /** The rows that a combination was trained on; undefined in earlier files. */
  readonly kept?: KeptRows | undefined;
}

/** A forecaster of reservoirs, as its file holds it. */
export interface ForecasterParts extends CommonParts {
  readonly settings: ForecasterSettings;
  readonly members: readonly MemberFile[];
  /** For each member the kept pair of the choice that it belongs to. */
  readonly groups: readonly number[];
}

/** One reservoir of a Forecaster. */
export interface MemberFile {
  readonly model: AnyModel;
  readonly readout: TrainedReadout;
  readonly preprocessing: Preprocessing;
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  readonly state: MemberState;
}

/**
 * Beside reservoir, readout and state of each member: tensors `inputs.mean`, `inputs.deviation`
 * (I),
 * `targets.mean`, `targets.deviation` (O), `held.lower` and `held.upper` (O) if outputs are held,
 * `recent` (rows x O) if it has to know the last rows of its series; note `preprocessing` if there
 * is anything to say. If there are several, a member's have a prefix. Of a choice, tensors
 * `choice.targets`, `choice.errors` and, if some were filled, `choice.filled`; if missing values are
 * filled, `last.inputs` and `last.targets` (one row each); notes `forecaster`, `groups`, `choice`,
 * `bounds` and, of the time stamps, `time`.
 */
export function encodeReservoirs(
  content: MutableContent,
  { members, groups }: Pick<ForecasterParts, "members" | "groups">,
  settings: ForecasterSettings,
): void {
  for (const [m, member] of members.entries()) putMember(content, prefixOf(m, members.length), member, settings);
  if (members.length > 1) content.metadata["groups"] = stableJson(groups);
}

/** A member as files hold it. */
export function memberFile({ computer, readout, preprocessing, lags, state }: ForecasterMember): MemberFile {
  return { model: computer.model, readout, preprocessing, lags, state };
}

function prefixOf(member: number, members: number): string {
  return members > 1 ? `member.${member}.` : "";
}

export function putMember(
  content: MutableContent,
  prefix: string,
  { model, readout, preprocessing, lags, state }: MemberFile,
  { hybrid }: ForecasterSettings,
): void {
  const { tensors } = content;
  putReservoir(content, prefix, model);
  putReadout(content, prefix, readout);
  putState(content, prefix, state.reservoir);
  putStandardisation(tensors, `${prefix}inputs`, preprocessing.inputScale);
  putStandardisation(tensors, `${prefix}targets`, preprocessing.targetScale);
  const { held, known, transforms } = preprocessing;
  if (held) {
    tensors[`${prefix}held.lower`] = floats(held.lower);
    tensors[`${prefix}held.upper`] = floats(held.upper);
  }
  const steps = transforms.steps.length > 0 ? { transforms: keptTransforms(transforms) } : {};
  if (known === 0 && lags === 0 && transforms.steps.length === 0 && !hybrid) return;
  const { recent } = state;
  content.metadata[`${prefix}preprocessing`] = stableJson({ known, lags, ...steps });
  tensors[`${prefix}recent`] = floats(recent.data, [recent.rows, recent.cols]);
}

/** @throws ModelFileError with the reason why the content is not a Forecaster */
export async function decodeForecaster(file: ModelFile, source: string): Promise<ForecasterParts> {
  const reader = new TensorReader(file, source);
  if (reader.hasNote("combination"))
    throw ArgumentError.because(
      'the model combines members, which an ONNX graph does not hold; export it as C or WebAssembly, or fit it with members: ["loop"]',
      { field: "members" },
    );
  const groups = reader.hasNote("groups") ? reader.note("groups", groupsNote) : [0];
  const note = reader.json("forecaster");
  // Files from before outputs were held say nothing of it.
  const hold = reader.has(`${prefixOf(0, groups.length)}held.lower`);
  const settings = reader.check("forecaster", () => resolve(forecasterTable, { hold, ...(note as object) }));
  const found: MemberFile[] = [];
  for (const m of groups.keys()) found.push(await getMember(reader, prefixOf(m, groups.length), settings));
  const [first] = found;
  if (found.some(({ readout }) => readout.outputSize !== first!.readout.outputSize)) throw reader.error("its members have other outputs");
  const { preprocessing, readout, model, state } = first!;
  const inputs = givenInputs(model.inputSize, readout.outputSize, settings.hybrid) - preprocessing.known;
  const recent = state.recent.cols === inputs ? state.recent : Matrix.zeros(0, inputs);
  const common = getCommon(reader, settings, recent, readout.outputSize);
  const members = found.map((member) => ({ ...member, preprocessing: { ...member.preprocessing, bounds: common.bounds } }));
  return { settings, members, groups, ...common };
}

/**
 * What every forecaster's file holds beside its members, after which nothing is left to read.
 * @throws ModelFileError
 */
export function getCommon(reader: TensorReader, settings: SeriesSettings, recent: Matrix, columns: number): CommonParts {
  const choice = getChoice(reader, columns);
  const time = reader.hasNote("time") ? reader.note("time", clockNote) : undefined;
  if (!time && settings.calendar !== "choose" && (settings.calendar ?? []).length > 0)
    throw reader.error("it takes the calendar and has no note of its time");
  const bounds = reader.hasNote("bounds") ? reader.note("bounds", boundList) : undefined;
  if (bounds && bounds.length !== columns) throw reader.error(`its bounds are of ${bounds.length} columns and it predicts ${columns}`);
  const last = getLast(reader, settings, recent, columns);
  const kept = choice?.members && getKept(reader, columns, time?.trained);
  reader.finish();
  return { choice, time, bounds, last, kept };
}

export async function getMember(reader: TensorReader, prefix: string, settings: ForecasterSettings): Promise<MemberFile> {
  const model = await getReservoir(reader, prefix);
  // Earlier files have this note under another name.
  const said = [`${prefix}preprocessing`, `${prefix}road`].find((name) => reader.hasNote(name)) ?? `${prefix}preprocessing`;
  const isSeries = reader.hasNote(said);
  const { known, lags, ...kept } = isSeries ? reader.note(said, preprocessingNote) : { known: 0, lags: 0, transforms: undefined };
  const outputs = reader.lengthOf(`${prefix}readout.intercept`);
  const driven = givenInputs(model.inputSize, outputs, settings.hybrid);
  if (known > driven) throw reader.error(`its metadata "${said}" has ${known} known inputs; its reservoir takes ${driven}`);
  if (settings.hybrid && (model.outputSize > 0 || driven < outputs))
    throw reader.error("its reservoir does not go with a model of the user's");
  const readoutFeatures = readoutFeaturesOf(model.inputSize, outputs, lags, settings.hybrid);
  const linear = getReadout(reader, prefix, model.size, readoutFeatures ? readoutFeatureCount(readoutFeatures) : model.inputSize);
  const readout = reader.check("forecaster", () => restoreReadout(settings.readout.type, linear));
  if (model.outputSize > 0 && model.outputSize !== readout.outputSize) {
    throw reader.error(`its readout has ${readout.outputSize} outputs and its reservoir feeds back ${model.outputSize}`);
  }
  const transforms = reader.check(said, () => openTransforms(kept.transforms ?? [], outputs));
  const state = {
    reservoir: getState(reader, prefix, model),
    recent: isSeries ? getRows(reader, `${prefix}recent`, outputs) : Matrix.zeros(0, outputs),
  };
  const inputScale = getStandardisation(reader, `${prefix}inputs`, model.inputSize);
  const targetScale = getStandardisation(reader, `${prefix}targets`, readout.outputSize);
  const bound = (name: string) => reader.vector(`${prefix}held.${name}`, outputs, "float64") as Float64Array;
  const held = reader.has(`${prefix}held.lower`) ? { lower: bound("lower"), upper: bound("upper") } : undefined;
  return { model, readout, preprocessing: { transforms, inputScale, targetScale, known, held }, lags, state };
}

/**
 * Tensors `choice.targets`, `choice.errors` and, if some were filled, `choice.filled`, and note
 * `choice`, if there is one.
 */
export function putChoice({ tensors, metadata }: MutableContent, choice: ForecasterChoice | undefined): void {
  if (!choice) return;
  // A file of the same fit has the same bytes, so it says nothing of how long it took.
  const { targets, errors, seconds: _, ...note } = choice;
  tensors["choice.targets"] = floats(targets.data, [targets.rows, targets.cols]);
  // Tensors hold finite numbers: a forecast that ran away is the largest of them.
  const known = errors.data.map((error) => (Number.isNaN(error) ? 0 : Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, error))));
  tensors["choice.errors"] = floats(known, [errors.rows, errors.cols]);
  if (errors.data.some(Number.isNaN)) tensors["choice.filled"] = floats(missingCells(errors).data, [errors.rows, errors.cols]);
  metadata["choice"] = stableJson(note);
}

/** What `putChoice` put. @throws ModelFileError */
function getChoice(reader: TensorReader, outputs: number): ForecasterChoice | undefined {
  if (!reader.hasNote("choice")) return undefined;
  const note = reader.note("choice", choiceNote);
  const targets = getRows(reader, "choice.targets", outputs);
  const errors = getRows(reader, "choice.errors", outputs);
  const { length: starts } = note.errorStarts ?? note.starts;
  if (targets.rows !== starts * note.horizon || errors.rows !== targets.rows)
    throw reader.error(`its choice has ${targets.rows} targets and ${errors.rows} errors for ${starts} starts of ${note.horizon} steps`);
  if (reader.has("choice.filled")) {
    const filled = reader.matrix("choice.filled", errors.rows, errors.cols, "float64");
    filled.data.forEach((flag, i) => {
      if (flag !== 0) errors.data[i] = Number.NaN;
    });
  }
  errors.data.forEach((error, i) => {
    if (Math.abs(error) === Number.MAX_VALUE) errors.data[i] = error * 2;
  });
  return { ...note, targets, errors };
}

/** Note `bounds` of each column, if any has one. */
export function putBounds({ metadata }: MutableContent, bounds: readonly Bound[] | undefined): void {
  if (bounds?.some(([low, high]) => low !== null || high !== null)) metadata["bounds"] = stableJson(bounds);
}

/** Tensors `last.inputs`, `last.targets` and `last.low`, if there are such rows. */
export function putLast({ tensors }: MutableContent, { missing = "error" }: SeriesSettings, { inputs, targets, low }: LastRows): void {
  if (missing === "error") return;
  if (low) tensors["last.low"] = floats(low);
  if (inputs) tensors["last.inputs"] = floats(inputs);
  if (targets) tensors["last.targets"] = floats(targets);
}

/**
 * What `putLast` put; of an earlier file the last of the `recent` rows. @throws ModelFileError
 */
function getLast(reader: TensorReader, { missing = "error" }: SeriesSettings, recent: Matrix, outputs: number): LastRows {
  if (missing === "error") return {};
  const row = (name: string, length: number) => (reader.has(name) ? (reader.vector(name, length, "float64") as Float64Array) : undefined);
  const earlier = recent.rows > 0 ? Float64Array.from(recent.row(recent.rows - 1)) : undefined;
  return { inputs: row("last.inputs", recent.cols) ?? earlier, targets: row("last.targets", outputs), low: row("last.low", outputs) };
}

/** A tensor of rows, however many there are. @throws ModelFileError */
export function getRows(reader: TensorReader, name: string, cols: number): Matrix<Float64Array> {
  const length = reader.lengthOf(name);
  if (cols === 0 || length % cols !== 0) throw reader.error(`its tensor "${name}" holds ${length} values; rows take ${cols}`);
  return reader.matrix(name, length / cols, cols, "float64") as Matrix<Float64Array>;
}

export function putStandardisation(tensors: Record<string, unknown>, name: string, scale: Standardisation): void {
  tensors[`${name}.mean`] = floats(scale.mean);
  tensors[`${name}.deviation`] = floats(scale.deviation);
}

/** @throws ModelFileError */
export function getStandardisation(reader: TensorReader, name: string, length: number): Standardisation {
  const mean = reader.vector(`${name}.mean`, length, "float64") as Float64Array;
  const deviation = reader.vector(`${name}.deviation`, length, "float64") as Float64Array;
  const bad = deviation.findIndex((value) => !(value > 0));
  if (bad >= 0) throw reader.error(`its tensor "${name}.deviation" holds ${deviation[bad]} at ${bad}; it takes numbers above 0`);
  return { mean, deviation };
}
