// A combination of members as a model file and back: which tensors and notes each of them is.
import { eachOrNone } from "@spillway/core/disposal.js";
import { anything, object, optional, whole } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import {
  type AnyModel,
  type AnyReservoirComputer,
  type EngineSelection,
  ReservoirComputer,
  type ReservoirOptions,
} from "../../reservoir/index.js";
import { getReadout, getReservoir, putReadout, putReservoir } from "../content.js";
import type { ModelFile } from "../model-file.js";
import { floats, type MutableContent } from "../mutable-content.js";
import { classicalNote, combinationNote, directNote, groupsNote, pooledNote } from "../notes.js";
import { encodeNvar, getNvar } from "../nvar/file.js";
import { NvarMember } from "../nvar/member.js";
import { stableJson } from "../stable-json.js";
import { TensorReader } from "../tensor-reader.js";
import type { Bound } from "./bounds.js";
import { ClassicalMember } from "./classical.js";
import { DirectMember, type DirectParts } from "./direct.js";
import { type CommonParts, getCommon, getMember, getRows, type MemberFile, memberFile, putMember } from "./file.js";
import { ForecasterMember } from "./member.js";
import { computersOf, type Trained } from "./model.js";
import { type ForecasterSettings, forecasterTable, type MemberKind } from "./options.js";
import { PooledMember } from "./pooled.js";

/** A member of a combination. */
export type CombinedMember = ForecasterMember | DirectMember | ClassicalMember | PooledMember | NvarMember;

/** Fields of the loop's reservoir that follow from the rows if they are not described. */
export type DescribedFields = Partial<Pick<ReservoirOptions, "size" | "leakRate">>;

/** A combination, as its file holds it. */
export interface CombinedParts extends CommonParts {
  /** Undefined in files of earlier versions, where all are. */
  readonly described: DescribedFields | undefined;
  readonly settings: ForecasterSettings;
  readonly trained: Pick<Trained<CombinedMember>, "members" | "groups">;
}

const prefixOf = (m: number) => `member.${m}.`;

/**
 * Notes `combination`, the kind of each member, `groups` and `described`. A member of the loop is
 * as in the file of a loop alone. A direct member has its reservoir, a readout `column.C.readout` of each
 * column, tensor `recent` and note `direct`; a classical one note `classical`, with its position;
 * a pooled one its reservoir, a readout, and note `pooled`, with its position; NVAR what its file has.
 */
export function encodeCombined(
  content: MutableContent,
  { members, groups }: Trained<CombinedMember>,
  { settings, described }: Pick<CombinedParts, "settings" | "described">,
): void {
  content.formatVersion = 2;
  content.metadata["combination"] = stableJson(members.map((member, m) => putCombined(content, prefixOf(m), member, settings)));
  content.metadata["groups"] = stableJson(groups);
  content.metadata["described"] = stableJson(described);
}

/** Puts a member into a file, and says its kind. */
function putCombined(content: MutableContent, prefix: string, member: CombinedMember, settings: ForecasterSettings): MemberKind {
  const note = (kind: MemberKind, value: unknown): MemberKind => {
    content.metadata[prefix + kind] = stableJson(value);
    return kind;
  };
  if (member instanceof ForecasterMember) {
    putMember(content, prefix, memberFile(member), settings);
    return "loop";
  }
  if (member instanceof NvarMember) {
    encodeNvar(content, { ...member.fit, history: member.state }, prefix);
    return note("nvar", member.settings);
  }
  if (member instanceof ClassicalMember) {
    const smoothed = member.state.followed.map(({ smoothing: { least, indices, ...rest }, last, ends }) => ({
      ...{ last, ends },
      smoothing: { ...rest, indices: [...indices], ...(Number.isFinite(least) ? { least } : {}) },
    }));
    const { bounds: _, ...parts } = member.parts;
    return note("classical", { ...parts, smoothed });
  }
  putReservoir(content, prefix, member.computers[0].model);
  if (member instanceof PooledMember) {
    const { shape, readout, bounds: _, ...parts } = member.parts;
    const { window, horizon } = shape;
    putReadout(content, prefix, readout);
    const pooled = member.state.followed.map((column) => ({ ...column, indices: [...column.indices], recent: [...column.recent] }));
    return note("pooled", { window, horizon, ...parts, pooled });
  }
  const { shape, scales, readouts, known } = member.parts;
  for (const [c, readout] of readouts.entries()) putReadout(content, columnPrefix(prefix, c), readout);
  const { recent } = member.state;
  content.tensors[`${prefix}recent`] = floats(recent.data, [recent.rows, recent.cols]);
  return note("direct", { ...shape, known, least: scales.map(({ least }) => least) });
}

const columnPrefix = (prefix: string, c: number) => `${prefix}column.${c}.`;

const describedNote = object({
  size: optional(whole({ atLeast: 1 }), "Neurons."),
  leakRate: optional(anything, "Leak rates; checked with the reservoir."),
});

/** Whether a file holds a combination. */
export function isCombined({ metadata }: ModelFile): boolean {
  return Object.hasOwn(metadata, "combination");
}

/** Reservoirs that members of several series share, by the numbers that they are made of. */
export type SharedComputers = Map<unknown, AnyReservoirComputer>;

async function sharedComputer(model: AnyModel, selection: EngineSelection, shared: SharedComputers): Promise<AnyReservoirComputer> {
  const key = "inputWeights" in model ? (model.inputWeights as Matrix).data : model;
  const found = shared.get(key) ?? (await ReservoirComputer.fromModel(model, selection));
  shared.set(key, found);
  return found;
}

/** @throws ModelFileError with the reason why the content is no combination */
export async function decodeCombined(
  file: ModelFile,
  source: string,
  selection: EngineSelection,
  shared: SharedComputers = new Map(),
): Promise<CombinedParts> {
  const reader = new TensorReader(file, source);
  const settings = reader.settings("forecaster", forecasterTable);
  const kinds = reader.note("combination", combinationNote);
  const groups = reader.note("groups", groupsNote);
  const described = Object.hasOwn(file.metadata, "described") ? (reader.note("described", describedNote) as DescribedFields) : undefined;
  if (groups.length !== kinds.length) throw reader.error(`its groups are of ${groups.length} members and it has ${kinds.length}`);
  const found: ((bounds: readonly Bound[] | undefined) => Promise<CombinedMember>)[] = [];
  const columns = new Set<number>();
  for (const [m, kind] of kinds.entries()) {
    const own = await readers[kind]({ reader, prefix: prefixOf(m), settings, selection, shared });
    columns.add(own.columns);
    found.push(own.open);
  }
  const [width] = columns;
  if (columns.size !== 1) throw reader.error("its members have other outputs");
  const common = getCommon(reader, settings, Matrix.zeros(0, width!), width!);
  const weighed = common.choice?.members ?? [];
  const count = weighed.reduce((sum, member) => sum + member.groups, 0);
  if (count !== groups.at(-1)! + 1 || weighed.some(({ weights }) => weights.length !== width))
    throw reader.error("its choice has no weight for each member and column");
  const members = await eachOrNone(found, (open) => open(common.bounds), computersOf);
  return { settings, trained: { members, groups }, described, ...common };
}

/** A member that opens when all of the file is read. */
interface Readable {
  readonly columns: number;
  open(bounds: readonly Bound[] | undefined): Promise<CombinedMember>;
}

/** A file, and where a member is in it. */
interface MemberSource {
  readonly reader: TensorReader;
  readonly prefix: string;
  readonly settings: ForecasterSettings;
  readonly selection: EngineSelection;
  readonly shared: SharedComputers;
}

const readers: Readonly<Record<MemberKind, (source: MemberSource) => Promise<Readable>>> = {
  async loop({ reader, prefix, settings, selection }) {
    const file = await getMember(reader, prefix, settings);
    return {
      columns: file.readout.outputSize,
      open: (bounds) => openMember({ ...file, preprocessing: { ...file.preprocessing, bounds } }, selection),
    };
  },
  direct: directMember,
  pooled: pooledMember,
  classical: classicalMember,
  async nvar({ reader, prefix }) {
    const { settings, fit } = getNvar(reader, prefix);
    return { columns: fit.features.columns, open: async (bounds) => new NvarMember(settings, { ...fit, bounds }) };
  },
};

/** A member of the loop on an engine, at its position. */
export async function openMember(
  { model, readout, preprocessing, lags, state }: MemberFile,
  selection: EngineSelection,
  hybrid?: ForecasterMember["hybrid"],
): Promise<ForecasterMember> {
  const computer = await ReservoirComputer.fromModel(model, selection);
  const member = new ForecasterMember(computer, { readout, preprocessing, lags, hybrid, recent: state.recent });
  member.state = state;
  return member;
}

async function pooledMember({ reader, prefix, selection, shared }: MemberSource): Promise<Readable> {
  const model = await getReservoir(reader, prefix);
  const { window, horizon, pooled, ...rest } = reader.note(`${prefix}pooled`, pooledNote);
  if (model.inputSize !== 1 || model.outputSize > 0) throw reader.error("the reservoir of its pooled member takes one input");
  const readout = getReadout(reader, prefix, model.size, window);
  if (readout.outputSize !== horizon || !readout.features.input)
    throw reader.error(`the readout of its pooled member has ${readout.outputSize} outputs; it forecasts ${horizon} steps`);
  if (pooled.length > 0 && pooled.length !== rest.columns)
    throw reader.error(`its pooled member has a position of ${pooled.length} columns and predicts ${rest.columns}`);
  return {
    columns: rest.columns,
    async open(bounds) {
      const computer = await sharedComputer(model, selection, shared);
      const member = new PooledMember(computer, { ...rest, shape: { window, season: 1, horizon }, readout, bounds });
      const floats = (values: readonly number[]) => Float64Array.from(values);
      member.state = {
        followed: pooled.map(({ indices, recent, ...column }) => ({ ...column, indices: floats(indices), recent: floats(recent) })),
      };
      return member;
    },
  };
}

async function directMember({ reader, prefix, selection, shared }: MemberSource): Promise<Readable> {
  const model = await getReservoir(reader, prefix);
  const { known, least, ...shape } = reader.note(`${prefix}direct`, directNote);
  if (model.inputSize !== 1 || model.outputSize > 0) throw reader.error("the reservoir of its direct member takes one input");
  const readouts: DirectParts["readouts"][number][] = [];
  for (const c of least.keys()) {
    const readout = getReadout(reader, columnPrefix(prefix, c), model.size, shape.window);
    if (readout.outputSize !== shape.horizon || !readout.features.input)
      throw reader.error(`a readout of its direct member has ${readout.outputSize} outputs; it forecasts ${shape.horizon} steps`);
    readouts.push(readout);
  }
  const recent = getRows(reader, `${prefix}recent`, least.length);
  return {
    columns: least.length,
    async open(bounds) {
      const computer = await sharedComputer(model, selection, shared);
      const scales = least.map((each) => ({ least: each }));
      return new DirectMember(computer, { shape, scales, readouts, known, bounds }, recent);
    },
  };
}

async function classicalMember({ reader, prefix }: MemberSource): Promise<Readable> {
  const { smoothed, ...parts } = reader.note(`${prefix}classical`, classicalNote);
  if (smoothed.length > 0 && smoothed.length !== parts.columns)
    throw reader.error(`a classical member has a position of ${smoothed.length} columns and predicts ${parts.columns}`);
  return {
    columns: parts.columns,
    async open(bounds) {
      const member = new ClassicalMember({ ...parts, bounds });
      member.state = {
        followed: smoothed.map(({ last, ends, smoothing: { indices, least = Number.NEGATIVE_INFINITY, ...rest } }) => ({
          ...{ last, ends },
          smoothing: { ...rest, indices: Float64Array.from(indices), least },
        })),
      };
      return member;
    },
  };
}
