// How a Forecaster's model is described and opened: members that are combined, or a loop alone.
import { eachOrNone, orDispose } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { nearest } from "@spillway/core/near-names.js";
import { choice, list, resolve } from "@spillway/core/options.js";
import type { AnyReservoirOptions, EngineSelection, ReservoirOptions } from "../../reservoir/index.js";
import { describedBy } from "../../reservoir/kinds.js";
import { descriptionOf, forecasterReservoir, forecasterTrainer, withClassTargets, withStandardise } from "../defaults.js";
import type { ModelFile } from "../model-file.js";
import { CombinedForecastModel } from "./combined.js";
import { decodeCombined, isCombined, openMember, type SharedComputers } from "./combined-file.js";
import { decodeForecaster } from "./file.js";
import { hybridAgain, hybridUse } from "./hybrid.js";
import type { ForecasterKind, Opened } from "./kind.js";
import { ForecasterMember } from "./member.js";
import { computersOf } from "./model.js";
import {
  areNames,
  type ForecasterLoadOptions,
  type ForecasterOptions,
  forecasterLoadTable,
  forecasterOptionsTable,
  forecasterTable,
  type MemberName,
  memberNames,
  plannedOptionsTable,
} from "./options.js";
import { opensCalendar, planCandidates, plannedReadout, plannedSize } from "./plan.js";
import { ReservoirForecastModel } from "./reservoir-model.js";
import { isSeveral, splitSeries } from "./series-file.js";

/** The model of `Forecaster`. */
export type DefaultForecastModel = ReservoirForecastModel | CombinedForecastModel;

/** How forecasters are made. */
export const defaultKind: ForecasterKind<DefaultForecastModel, ForecasterOptions, ForecasterLoadOptions> = {
  kind: "forecaster",
  loadTable: forecasterLoadTable,
  create: describedModel,
  async open(file, { source, model: own, ...selection }) {
    if (isCombined(file)) return openCombined(file, source, selection);
    if (isSeveral(file)) return openSeveral(splitSeries(file, source), source, selection);
    const { settings, members: parts, groups, choice, time, last } = await decodeForecaster(file, source);
    const hybrid = hybridAgain(own, settings.hybrid);
    const members = await eachOrNone(parts, (part) => openMember(part, selection, hybrid), computersOf);
    const model = new ReservoirForecastModel({ reservoir: describedBy(parts[0]!.model), ...selection, model: own }, settings);
    return { model, trained: { members, groups, choice }, time, last };
  },
};

async function openSeveral(
  files: ReadonlyMap<string, ModelFile>,
  source: string,
  selection: EngineSelection,
): Promise<Opened<CombinedForecastModel>> {
  const shared: SharedComputers = new Map();
  const series = new Map<string, Opened<CombinedForecastModel>>();
  const open = async () => {
    for (const [key, file] of files) series.set(key, await openCombined(file, source, selection, shared));
  };
  await orDispose(() => shared.values(), open);
  return { ...[...series.values()].at(-1)!, series };
}

async function openCombined(
  file: ModelFile,
  source: string,
  selection: EngineSelection,
  shared?: SharedComputers,
): Promise<Opened<CombinedForecastModel>> {
  const { settings, trained, described, choice, time, last, kept } = await decodeCombined(file, source, selection, shared);
  const loop = trained.members.find((member) => member instanceof ForecasterMember);
  const all: Partial<ReservoirOptions> = loop ? (describedBy(loop.computer.model) as ReservoirOptions) : {};
  const { size: _, leakRate: __, ...rest } = all;
  const own: Partial<ReservoirOptions> = described ? { ...rest, ...described } : all;
  const reservoir = forecasterReservoir({ size: plannedSize, ...own });
  const model = new CombinedForecastModel(new ReservoirForecastModel({ reservoir, ...selection }, settings), own, selection, settings);
  return { model, trained: { ...trained, choice }, time, last, kept };
}

/** Checks the options. @throws ArgumentError, and what the trainer of the readout throws */
async function describedModel(options: ForecasterOptions): Promise<DefaultForecastModel> {
  const {
    reservoir: described,
    matrices,
    engine,
    context,
    plan,
    threads,
    profile,
    model,
    readout,
    ...given
  } = resolve(options?.horizon === undefined ? forecasterOptionsTable : plannedOptionsTable, options);
  const names = combinedNames(options);
  const { members, weights, ...others } = given;
  const rest = { ...others, ...(areNames(members) ? {} : { members }) };
  const isPlanned = rest.horizon !== undefined;
  const isRate = described === undefined || !("kind" in described);
  const sized = isPlanned && isRate ? ({ size: plannedSize, ...described } as AnyReservoirOptions) : (described as AnyReservoirOptions);
  const reservoir = matrices ? sized : forecasterReservoir(sized);
  const hybrid = hybridUse(model, rest.hybrid);
  const trainer = forecasterTrainer(readout, typeof rest.lags === "number" ? rest.lags : 0, hybrid);
  const said = withClassTargets(withStandardise(rest, reservoir), trainer);
  const isOpen = opensCalendar(rest, reservoir, matrices !== undefined || model !== undefined);
  const settings = resolve(forecasterTable, {
    ...said,
    ...(isOpen && { calendar: "choose" }),
    hybrid,
    ...(isPlanned && { washout: rest.washout ?? "auto", lags: rest.lags ?? (rest.season === undefined ? 0 : "season") }),
    readout: isPlanned ? plannedReadout(readout, rest) : descriptionOf(trainer),
  });
  planCandidates(settings, reservoir, matrices !== undefined);
  const loop = new ReservoirForecastModel({ reservoir, matrices, engine, context, plan, threads, profile, model }, settings, trainer);
  if (!names) {
    if (weights === undefined) return loop;
    throw ArgumentError.because(`weights is "${weights}" and the forecaster is a loop alone; name several members`, { field: "weights" });
  }
  const own = { ...settings, members: names, weights };
  const create = { engine, context, threads, profile };
  return new CombinedForecastModel(loop, (described ?? {}) as Partial<ReservoirOptions>, create, own, !areNames(members));
}

/** Options that choose and train the loop, which a combination does by itself. */
const loopAlone = ["choose", "readout", "lags", "transforms", "matrices", "model", "hybrid", "standardise", "hold", "washout"] as const;

/**
 * The members that are combined: those that are named, and all if nothing is said of members or of
 * a loop alone. Undefined for a loop alone.
 * @throws ArgumentError for members that do not go with such an option
 */
function combinedNames(options: ForecasterOptions): readonly MemberName[] | undefined {
  const { horizon, members } = options;
  const names = areNames(members) ? members : undefined;
  const areSeeds = horizon === undefined && Array.isArray(members) && members.length > 1;
  const isName = (each: unknown) => typeof each === "string" && !(areSeeds && nearest(each, memberNames) === undefined);
  if (Array.isArray(members) && !names && members.some(isName)) list(choice(...memberNames), "").read(members, "members");
  const [given] = loopOptions(options);
  if (members === undefined) return horizon === undefined || given !== undefined ? undefined : memberNames;
  if (!names || (names.length === 1 && names[0] === "loop")) return undefined;
  const refuse = (reason: string) => ArgumentError.because(`members is ${names.join(", ")} and ${reason}`, { field: "members" });
  if (horizon === undefined) throw refuse("horizon is missing; say how many steps are forecast");
  if (given) throw refuse(`${given} was given, which is of a loop alone; leave it out, or take members: ["loop"]`);
  return memberNames.filter((name) => names.includes(name));
}

/** What is given that a loop alone has. */
function loopOptions(options: ForecasterOptions): readonly string[] {
  const { reservoir } = options;
  const isPlain = reservoir === undefined || !("kind" in reservoir || "layers" in reservoir || "groups" in reservoir);
  const own = isPlain ? (reservoir as { readonly feedback?: unknown; readonly inputSize?: unknown } | undefined) : undefined;
  return [
    ...loopAlone.filter((field) => options[field] !== undefined),
    ...(isPlain ? [] : ["reservoir.kind"]),
    ...(["feedback", "inputSize"] as const).filter((field) => (own?.[field] ?? null) !== null).map((field) => `reservoir.${field}`),
  ];
}
