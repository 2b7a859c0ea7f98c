// A Forecaster as a model file and back: which tensors and notes it is made of.

import { missingCells } from "@spillway/io/missing.js";
import { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import { restoreReadout } from "../../readout/trainer.js";
import type { AnyModel } from "../../reservoir/index.js";
import { keptTransforms, openTransforms } from "../../series/transform-file.js";
import { getReadout, getReservoir, getState, putReadout, putReservoir, putState } from "../content.js";
import { encodeModelFile, type ModelFile } from "../model-file.js";
import { emptyContent, floats, type MutableContent } from "../mutable-content.js";
import { stableJson } from "../stable-json.js";
import type { Standardisation } from "../standardisation.js";
import { TensorReader } from "../tensor-reader.js";
import type { Bound } from "./bounds.js";
import type { ForecasterChoice } from "./choice.js";
import type { ClockNote } from "./clock.js";
import type { MemberState } from "./member.js";
import type { LastRows, MissingInSeries } from "./missing.js";
import type { ForecasterSettings } from "./options.js";
import type { Road } from "./road.js";
import { givenInputs, seenColumns, sightOf } from "./seen.js";

/** All that a trained Forecaster is. */
export interface ForecasterParts {
  readonly settings: ForecasterSettings;
  readonly members: readonly MemberFile[];
  /** For each member the kept pair of the choice that it belongs to. */
  readonly groups: readonly number[];
  readonly choice: ForecasterChoice | undefined;
  /** Undefined if it was trained without time stamps. */
  readonly time: ClockNote | undefined;
  /** The last rows, by which missing values of those to come are held. */
  readonly last: LastRows;
}

/** One reservoir of a Forecaster. */
export interface MemberFile {
  readonly model: AnyModel;
  readonly readout: TrainedReadout;
  readonly road: Road;
  /** Rows of the series that the readout sees beside the state. */
  readonly lags: number;
  readonly state: MemberState;
}

/**
 * Beside reservoir, readout and state of each member: tensors `inputs.mean`, `inputs.deviation`
 * (I),
 * `targets.mean`, `targets.deviation` (O), `held.lower` and `held.upper` (O) if outputs are held,
 * `recent` (rows x O) if it has to know the last rows of its series; note `road` if there is
 * anything to say. If there are several, a member's have a prefix. Of a choice, tensors
 * `choice.targets`, `choice.errors` and, if some were filled, `choice.filled`; if missing values are
 * filled, `last.inputs` and `last.targets` (one row each); notes `forecaster`, `groups`, `choice`,
 * `bounds` and, of the time stamps, `time`.
 */
export async function encodeForecaster({ settings, members, groups, choice, time, last }: ForecasterParts): Promise<Uint8Array> {
  const content = emptyContent();
  for (const [m, member] of members.entries()) putMember(content, prefixOf(m, members.length), member, settings);
  if (members.length > 1) content.metadata["groups"] = stableJson(groups);
  putChoice(content, choice);
  putLast(content, settings, last);
  putBounds(content, members[0]!.road.bounds);
  if (time) content.metadata["time"] = stableJson(time);
  content.metadata["forecaster"] = stableJson(settings);
  return encodeModelFile("forecaster", content);
}

function prefixOf(member: number, members: number): string {
  return members > 1 ? `member.${member}.` : "";
}

function putMember(
  content: MutableContent,
  prefix: string,
  { model, readout, road, lags, state }: MemberFile,
  { hybrid }: ForecasterSettings,
): void {
  const { tensors } = content;
  putReservoir(content, prefix, model);
  putReadout(content, prefix, readout);
  putState(content, prefix, state.reservoir);
  putStandardisation(tensors, `${prefix}inputs`, road.inputScale);
  putStandardisation(tensors, `${prefix}targets`, road.targetScale);
  const { held, known, transforms } = road;
  if (held) {
    tensors[`${prefix}held.lower`] = floats(held.lower);
    tensors[`${prefix}held.upper`] = floats(held.upper);
  }
  const steps = transforms.steps.length > 0 ? { transforms: keptTransforms(transforms) } : {};
  if (known === 0 && lags === 0 && transforms.steps.length === 0 && !hybrid) return;
  const { recent } = state;
  content.metadata[`${prefix}road`] = stableJson({ known, lags, ...steps });
  tensors[`${prefix}recent`] = floats(recent.data, [recent.rows, recent.cols]);
}

/** @throws ModelFileError with the reason why the content is not a Forecaster */
export async function decodeForecaster(file: ModelFile, source: string): Promise<ForecasterParts> {
  const { parseClockNote, parseForecasterSettings, parseGroups } = await import("../schemas.js");
  const reader = new TensorReader(file, source);
  const groups = reader.hasNote("groups") ? reader.check("groups", () => parseGroups(reader.json("groups"))) : [0];
  const note = reader.json("forecaster");
  // Files from before outputs were held say nothing of it.
  const hold = reader.has(`${prefixOf(0, groups.length)}held.lower`);
  const settings = reader.check("forecaster", () => parseForecasterSettings({ hold, ...(note as object) }));
  const bounds = await getBounds(reader);
  const members: MemberFile[] = [];
  for (const m of groups.keys()) {
    const member = await getMember(reader, prefixOf(m, groups.length), settings);
    members.push({ ...member, road: { ...member.road, bounds } });
  }
  const [first] = members;
  if (members.some(({ readout }) => readout.outputSize !== first!.readout.outputSize)) throw reader.error("its members have other outputs");
  const choice = await getChoice(reader, first!.readout.outputSize);
  const time = reader.hasNote("time") ? reader.check("time", () => parseClockNote(reader.json("time"))) : undefined;
  if (!time && settings.calendar !== "choose" && (settings.calendar ?? []).length > 0)
    throw reader.error("it takes the calendar and has no note of its time");
  const { road, readout, model, state } = first!;
  if (bounds && bounds.length !== readout.outputSize)
    throw reader.error(`its bounds are of ${bounds.length} columns and its readout has ${readout.outputSize} outputs`);
  const inputs = givenInputs(model.inputSize, readout.outputSize, settings.hybrid) - road.known;
  const last = getLast(reader, settings, state.recent.cols === inputs ? state.recent : Matrix.zeros(0, inputs), readout.outputSize);
  reader.finish();
  return { settings, members, groups, choice, time, last };
}

async function getMember(reader: TensorReader, prefix: string, settings: ForecasterSettings): Promise<MemberFile> {
  const { parseRoadNote } = await import("../schemas.js");
  const model = await getReservoir(reader, prefix);
  const said = `${prefix}road`;
  const isSeries = reader.hasNote(said);
  const { known, lags, ...kept } = isSeries ? reader.check(said, () => parseRoadNote(reader.json(said))) : { known: 0, lags: 0 };
  const outputs = reader.lengthOf(`${prefix}readout.intercept`);
  const driven = givenInputs(model.inputSize, outputs, settings.hybrid);
  if (known > driven) throw reader.error(`its metadata "${said}" has ${known} known inputs; its reservoir takes ${driven}`);
  if (settings.hybrid && (model.outputSize > 0 || driven < outputs))
    throw reader.error("its reservoir does not go with a model of the user's");
  const sight = sightOf(model.inputSize, outputs, lags, settings.hybrid);
  const linear = await getReadout(reader, prefix, model.size, sight ? seenColumns(sight) : model.inputSize);
  const readout = reader.check("forecaster", () => restoreReadout(settings.readout.type, linear));
  if (model.outputSize > 0 && model.outputSize !== readout.outputSize) {
    throw reader.error(`its readout has ${readout.outputSize} outputs and its reservoir feeds back ${model.outputSize}`);
  }
  const transforms = reader.check(said, () => openTransforms(kept.transforms ?? [], outputs));
  const state = {
    reservoir: await getState(reader, prefix, model),
    recent: isSeries ? getRows(reader, `${prefix}recent`, outputs) : Matrix.zeros(0, outputs),
  };
  const inputScale = getStandardisation(reader, `${prefix}inputs`, model.inputSize);
  const targetScale = getStandardisation(reader, `${prefix}targets`, readout.outputSize);
  const bound = (name: string) => reader.vector(`${prefix}held.${name}`, outputs, "float64") as Float64Array;
  const held = reader.has(`${prefix}held.lower`) ? { lower: bound("lower"), upper: bound("upper") } : undefined;
  return { model, readout, road: { transforms, inputScale, targetScale, known, held }, lags, state };
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
export async function getChoice(reader: TensorReader, outputs: number): Promise<ForecasterChoice | undefined> {
  if (!reader.hasNote("choice")) return undefined;
  const { parseChoice } = await import("../schemas.js");
  const note = reader.check("choice", () => parseChoice(reader.json("choice")));
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

/** What `putBounds` put. @throws ModelFileError */
export async function getBounds(reader: TensorReader): Promise<readonly Bound[] | undefined> {
  if (!reader.hasNote("bounds")) return undefined;
  const { parseBounds } = await import("../schemas.js");
  return reader.check("bounds", () => parseBounds(reader.json("bounds")));
}

/** Tensors `last.inputs` and `last.targets`, if there are such rows. */
export function putLast({ tensors }: MutableContent, { missing = "error" }: Filling, { inputs, targets }: LastRows): void {
  if (missing === "error") return;
  if (inputs) tensors["last.inputs"] = floats(inputs);
  if (targets) tensors["last.targets"] = floats(targets);
}

interface Filling {
  readonly missing?: MissingInSeries | undefined;
}

/**
 * What `putLast` put; of an earlier file the last of the `recent` rows. @throws ModelFileError
 */
export function getLast(reader: TensorReader, { missing = "error" }: Filling, recent: Matrix, outputs: number): LastRows {
  if (missing === "error") return {};
  const row = (name: string, length: number) => (reader.has(name) ? (reader.vector(name, length, "float64") as Float64Array) : undefined);
  const earlier = recent.rows > 0 ? Float64Array.from(recent.row(recent.rows - 1)) : undefined;
  return { inputs: row("last.inputs", recent.cols) ?? earlier, targets: row("last.targets", outputs) };
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
