// A FieldForecaster as a model file and back: which tensors and notes it is made of.
import { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import type { ReservoirModel, SessionState } from "../../reservoir/index.js";
import { keptTransforms, openTransforms } from "../../series/transform-file.js";
import { getReadout, getReservoir, putReadout, putReservoir } from "../content.js";
import { type CommonParts, getCommon, getRows, getStandardisation, putStandardisation } from "../forecaster/file.js";
import { joined } from "../forecaster/preprocessing.js";
import type { ModelFile } from "../model-file.js";
import { floats, type MutableContent } from "../mutable-content.js";
import { stateNote } from "../notes.js";
import { stableJson } from "../stable-json.js";
import { columnsOf } from "../standardisation.js";
import { TensorReader } from "../tensor-reader.js";
import { FieldGeometry, ownColumns } from "./geometry.js";
import type { FieldFit, FieldGroupsState } from "./groups.js";
import { type FieldSettings, fieldTable } from "./options.js";

/** A field forecaster, as its file holds it. */
export interface FieldParts extends CommonParts {
  readonly settings: FieldSettings;
  /** They differ in reservoirs, readouts and states alone. */
  readonly members: readonly FieldMember[];
}

/** One member of a field's ensemble. */
export interface FieldMember {
  readonly fit: FieldFit;
  /** One a group, or one if weights are shared. */
  readonly models: readonly ReservoirModel[];
  readonly state: FieldGroupsState;
}

/** The prefix of a group, after that of its member if there are several. */
const prefixesOf = (member: number, members: number) => (g: number) => `${members > 1 ? `member.${member}.` : ""}group.${g}.`;

/**
 * The reservoir of each group (of group 0 alone if they are shared) and each readout under the
 * prefix `group.g.`, tensors `field.mean`, `field.deviation`, `held.lower` and `held.upper` (Q),
 * `known.mean` and `known.deviation` (K) if anything is known beforehand, of each group
 * `state.values` and `state.input`, `recent` (rows x Q) if there are transforms or known inputs;
 * notes `state` and `transforms`. If there are several members, the tensors of a group have the
 * prefix `member.m.` too.
 */
export function encodeField(content: MutableContent, members: readonly FieldMember[]): void {
  const [{ fit, state }] = members as readonly [FieldMember, ...FieldMember[]];
  const { preprocessing } = fit;
  const { tensors, metadata } = content;
  for (const [m, member] of members.entries()) putMember(content, prefixesOf(m, members.length), member);
  putStandardisation(tensors, "field", preprocessing.targetScale);
  const { columns } = fit.geometry;
  if (preprocessing.known > 0)
    putStandardisation(tensors, "known", columnsOf(preprocessing.inputScale, columns, columns + preprocessing.known));
  tensors["held.lower"] = floats(preprocessing.held.lower);
  tensors["held.upper"] = floats(preprocessing.held.upper);
  if (preprocessing.transforms.steps.length > 0) metadata["transforms"] = stableJson(keptTransforms(preprocessing.transforms));
  if (preprocessing.transforms.steps.length > 0 || preprocessing.known > 0)
    tensors["recent"] = floats(state.recent.data, [state.recent.rows, state.recent.cols]);
  metadata["state"] = stableJson({ step: state.groups[0]!.step });
}

function putMember(content: MutableContent, prefixOf: (g: number) => string, { fit, models, state }: FieldMember): void {
  models.forEach((model, g) => {
    putReservoir(content, prefixOf(g), model);
  });
  fit.readouts.forEach((readout, r) => {
    putReadout(content, prefixOf(r), readout);
  });
  state.groups.forEach(({ values, input }, g) => {
    content.tensors[`${prefixOf(g)}state.values`] = floats(values);
    content.tensors[`${prefixOf(g)}state.input`] = floats(input);
  });
}

/** @throws ModelFileError with the reason why the content is no FieldForecaster */
export async function decodeField(file: ModelFile, source: string): Promise<FieldParts> {
  const reader = new TensorReader(file, source);
  const settings: FieldSettings = reader.settings("field", fieldTable);
  const columns = reader.lengthOf("field.mean");
  const known = reader.has("known.mean") ? reader.lengthOf("known.mean") : 0;
  const made = ownColumns(settings, columns);
  const given = known - made.masks - made.calendar;
  if (given < 0) throw reader.error(`its tensor "known.mean" holds ${known} values; its settings take ${known - given} or more`);
  const geometry = reader.check("field", () => new FieldGeometry(settings, columns, { given, ...made }));
  const { step } = reader.note("state", stateNote);
  const count = typeof settings.members === "object" ? settings.members.length : (settings.members ?? 1);
  const found: MemberFile[] = [];
  for (let m = 0; m < count; m++) found.push(await getMember(reader, prefixesOf(m, count), { settings, geometry, step }));
  const isTransformed = reader.hasNote("transforms");
  const transforms = reader.check("transforms", () => openTransforms(isTransformed ? reader.json("transforms") : [], columns));
  const recent = isTransformed || known > 0 ? getRows(reader, "recent", columns) : Matrix.zeros(0, columns);
  const range = (name: string) => reader.vector(name, columns, "float64") as Float64Array;
  const targetScale = getStandardisation(reader, "field", columns);
  const held = { lower: range("held.lower"), upper: range("held.upper") };
  const inputScale = known > 0 ? joined(targetScale, getStandardisation(reader, "known", known)) : targetScale;
  const common = getCommon(reader, settings, recent, columns);
  const preprocessing = {
    bounds: common.bounds,
    transforms,
    known,
    targetScale,
    inputScale,
    held,
  };
  const members = found.map(({ models, readouts, groups }) => ({
    fit: { geometry, preprocessing, readouts, hold: settings.hold },
    models,
    state: { groups, recent },
  }));
  return { settings, members, ...common };
}

/** What a file holds of one member alone. */
interface MemberFile {
  readonly models: readonly ReservoirModel[];
  readonly readouts: readonly TrainedReadout[];
  readonly groups: readonly SessionState[];
}

async function getMember(
  reader: TensorReader,
  prefixOf: (g: number) => string,
  { settings, geometry, step }: { readonly settings: FieldSettings; readonly geometry: FieldGeometry; readonly step: number },
): Promise<MemberFile> {
  const models: ReservoirModel[] = [];
  for (let g = 0; g < (settings.shared ? 1 : geometry.groups); g++) {
    const model = await getReservoir(reader, prefixOf(g));
    if (model.kind !== undefined || model.inputSize !== geometry.inputs || model.outputSize > 0)
      throw reader.error(`the reservoir of group ${g} does not go with its groups and halo`);
    models.push(model);
  }
  const readouts: TrainedReadout[] = [];
  for (let r = 0; r < geometry.readoutCount; r++) {
    const { size, inputSize } = models[settings.shared ? 0 : r]!;
    const readout = getReadout(reader, prefixOf(r), size, inputSize);
    if (readout.outputSize !== geometry.own) throw reader.error(`readout ${r} has ${readout.outputSize} outputs; it takes ${geometry.own}`);
    readouts.push(readout);
  }
  const groups: SessionState[] = Array.from({ length: geometry.groups }, (_, g) => {
    const { size, inputSize, precision } = models[settings.shared ? 0 : g]!;
    return {
      values: reader.vector(`${prefixOf(g)}state.values`, size, precision),
      input: reader.vector(`${prefixOf(g)}state.input`, inputSize, precision),
      output: new Float64Array(0),
      step,
    };
  });
  return { models, readouts, groups };
}
