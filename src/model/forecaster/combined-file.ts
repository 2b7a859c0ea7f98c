// A combination of members as a model file and back: which tensors and notes each of them is.
import { disposeQuietlyAsync } from "@spillway/core/disposal.js";
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
import { encodeNvar, getNvar } from "../nvar/file.js";
import { NvarMember } from "../nvar/member.js";
import { stableJson } from "../stable-json.js";
import { TensorReader } from "../tensor-reader.js";
import type { Bound } from "./bounds.js";
import { ClassicalMember } from "./classical.js";
import { DirectMember, type DirectParts } from "./direct.js";
import { type CommonParts, getCommon, getMember, getRows, type MemberFile, memberFile, putMember } from "./file.js";
import { ForecasterMember } from "./member.js";
import type { Trained } from "./model.js";
import type { ForecasterSettings, MemberKind } from "./options.js";
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
  for (const [m, member] of members.entries()) {
    const prefix = prefixOf(m);
    if (member instanceof ForecasterMember) putMember(content, prefix, memberFile(member), settings);
    else if (member instanceof DirectMember) putDirect(content, prefix, member);
    else if (member instanceof PooledMember) putPooled(content, prefix, member);
    else if (member instanceof NvarMember) putNvar(content, prefix, member);
    else {
      const smoothed = member.state.smoothed.map(({ smoothing: { least, indices, ...rest }, last, ends }) => ({
        ...{ last, ends },
        smoothing: { ...rest, indices: [...indices], ...(Number.isFinite(least) ? { least } : {}) },
      }));
      const { bounds: _, ...parts } = member.parts;
      content.metadata[`${prefix}classical`] = stableJson({ ...parts, smoothed });
    }
  }
  content.formatVersion = 2;
  content.metadata["combination"] = stableJson(members.map(kindOf));
  content.metadata["groups"] = stableJson(groups);
  content.metadata["described"] = stableJson(described);
}

function putNvar(content: MutableContent, prefix: string, { fit, settings, state }: NvarMember): void {
  encodeNvar(content, { ...fit, history: state }, prefix);
  content.metadata[`${prefix}nvar`] = stableJson(settings);
}

function kindOf(member: CombinedMember): MemberKind {
  if (member instanceof NvarMember) return "nvar";
  if (member instanceof PooledMember) return "pooled";
  return member instanceof ForecasterMember ? "loop" : member instanceof DirectMember ? "direct" : "classical";
}

function putPooled(content: MutableContent, prefix: string, { computers, parts, state }: PooledMember): void {
  putReservoir(content, prefix, computers[0].model);
  putReadout(content, prefix, parts.readout);
  const { window, horizon } = parts.shape;
  const { season, columns, known } = parts;
  const pooled = state.pooled.map((column) => ({ ...column, indices: [...column.indices], recent: [...column.recent] }));
  content.metadata[`${prefix}pooled`] = stableJson({ window, horizon, season, columns, known, pooled });
}

function putDirect(content: MutableContent, prefix: string, { computers, parts, state: { recent } }: DirectMember): void {
  putReservoir(content, prefix, computers[0].model);
  for (const [c, readout] of parts.readouts.entries()) putReadout(content, columnPrefix(prefix, c), readout);
  content.tensors[`${prefix}recent`] = floats(recent.data, [recent.rows, recent.cols]);
  const least = parts.scales.map((scale) => scale.least);
  content.metadata[`${prefix}direct`] = stableJson({ ...parts.shape, known: parts.known, least });
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
  const { parseForecasterSettings } = await import("../schemas.js");
  const { parseGroups, parseCombination } = await import("../notes.js");
  const reader = new TensorReader(file, source);
  const settings = reader.check("forecaster", () => parseForecasterSettings(reader.json("forecaster")));
  const kinds = reader.check("combination", () => parseCombination(reader.json("combination")));
  const groups = reader.check("groups", () => parseGroups(reader.json("groups")));
  const described = Object.hasOwn(file.metadata, "described")
    ? (reader.check("described", () => describedNote.read(reader.json("described"), "described")) as DescribedFields)
    : undefined;
  if (groups.length !== kinds.length) throw reader.error(`its groups are of ${groups.length} members and it has ${kinds.length}`);
  const found: ((bounds: readonly Bound[] | undefined) => Promise<CombinedMember>)[] = [];
  const columns = new Set<number>();
  for (const [m, kind] of kinds.entries()) {
    const prefix = prefixOf(m);
    const own =
      kind === "loop"
        ? await loopMember(reader, prefix, settings, selection)
        : kind === "direct"
          ? await directMember(reader, prefix, selection, shared)
          : kind === "pooled"
            ? await pooledMember(reader, prefix, selection, shared)
            : kind === "nvar"
              ? await nvarMember(reader, prefix)
              : await classicalMember(reader, prefix);
    columns.add(own.columns);
    found.push(own.open);
  }
  const [width] = columns;
  if (columns.size !== 1) throw reader.error("its members have other outputs");
  const common = await getCommon(reader, settings, Matrix.zeros(0, width!), width!);
  const weighed = common.choice?.members ?? [];
  const count = weighed.reduce((sum, member) => sum + member.groups, 0);
  if (count !== groups.at(-1)! + 1 || weighed.some(({ weights }) => weights.length !== width))
    throw reader.error("its choice has no weight for each member and column");
  const members: CombinedMember[] = [];
  try {
    for (const open of found) members.push(await open(common.bounds));
  } catch (error) {
    await disposeQuietlyAsync(members.flatMap(({ computers }) => computers));
    throw error;
  }
  return { settings, trained: { members, groups }, described, ...common };
}

/** A member that opens when all of the file is read. */
interface Readable {
  readonly columns: number;
  open(bounds: readonly Bound[] | undefined): Promise<CombinedMember>;
}

async function loopMember(
  reader: TensorReader,
  prefix: string,
  settings: ForecasterSettings,
  selection: EngineSelection,
): Promise<Readable> {
  const file = await getMember(reader, prefix, settings);
  return {
    columns: file.readout.outputSize,
    open: (bounds) => openMember({ ...file, preprocessing: { ...file.preprocessing, bounds } }, selection),
  };
}

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

async function pooledMember(reader: TensorReader, prefix: string, selection: EngineSelection, shared: SharedComputers): Promise<Readable> {
  const { parsePooled } = await import("../notes.js");
  const model = await getReservoir(reader, prefix);
  const { window, horizon, pooled, ...rest } = reader.check("pooled", () => parsePooled(reader.json(`${prefix}pooled`)));
  if (model.inputSize !== 1 || model.outputSize > 0) throw reader.error("the reservoir of its pooled member takes one input");
  const readout = await getReadout(reader, prefix, model.size, window);
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
        pooled: pooled.map(({ indices, recent, ...column }) => ({ ...column, indices: floats(indices), recent: floats(recent) })),
      };
      return member;
    },
  };
}

async function directMember(reader: TensorReader, prefix: string, selection: EngineSelection, shared: SharedComputers): Promise<Readable> {
  const { parseDirect } = await import("../notes.js");
  const model = await getReservoir(reader, prefix);
  const { known, least, ...shape } = reader.check("direct", () => parseDirect(reader.json(`${prefix}direct`)));
  if (model.inputSize !== 1 || model.outputSize > 0) throw reader.error("the reservoir of its direct member takes one input");
  const readouts: DirectParts["readouts"][number][] = [];
  for (const c of least.keys()) {
    const readout = await getReadout(reader, columnPrefix(prefix, c), model.size, shape.window);
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

async function classicalMember(reader: TensorReader, prefix: string): Promise<Readable> {
  const { parseClassical } = await import("../notes.js");
  const { smoothed, ...parts } = reader.check("classical", () => parseClassical(reader.json(`${prefix}classical`)));
  if (smoothed.length > 0 && smoothed.length !== parts.columns)
    throw reader.error(`a classical member has a position of ${smoothed.length} columns and predicts ${parts.columns}`);
  return {
    columns: parts.columns,
    async open(bounds) {
      const member = new ClassicalMember({ ...parts, bounds });
      member.state = {
        smoothed: smoothed.map(({ last, ends, smoothing: { indices, least = Number.NEGATIVE_INFINITY, ...rest } }) => ({
          ...{ last, ends },
          smoothing: { ...rest, indices: Float64Array.from(indices), least },
        })),
      };
      return member;
    },
  };
}

async function nvarMember(reader: TensorReader, prefix: string): Promise<Readable> {
  const { settings, fit } = await getNvar(reader, prefix);
  return { columns: fit.features.columns, open: async (bounds) => new NvarMember(settings, { ...fit, bounds }) };
}
