// Brings the finished trials of several storages into one: of shards, of machines that shared
// nothing, of a copy that was gone on with.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { workerAttribute } from "./heartbeat.js";
import { type Json, reporting, type StudyOperation, type StudyStorage, settingAttributes, type TrialTemplate } from "./storage.js";
import { isOver, type StoredStudy, type StoredTrial, StudyLog } from "./study-log.js";
import { contentOf, wholeNumberAttribute } from "./study-trials.js";

/** What was brought in. */
export interface StudyMerge {
  /** Trials that came in. */
  readonly added: number;
  /** Trials that were there already, with the same bits. */
  readonly known: number;
  /** Trials that were evaluated twice with other results: one of the two is wrong. */
  readonly different: readonly DifferentTrial[];
}

/** A trial with two results; that of the first storage stays. */
export interface DifferentTrial {
  /** Its number in the target. */
  readonly number: number;
  readonly kept: number | undefined;
  readonly other: number | undefined;
  /** Where the other came from: a storage, or a process. */
  readonly from: string;
}

/** Trials that are written at a time. */
const piece = 500;

/**
 * Appends the complete and pruned trials of the sources to the target, in the order of their
 * numbers in the whole search. A trial that runs or waits there with the same number and parameters
 * gets the result. One that is over there is not appended again; if its result differs in a bit, it
 * is reported. The target is made if it is empty.
 * @param study its name; may be left out if each storage has one alone
 * @throws ArgumentError for a study that is not there, or one of another space, direction or
 * experiment; then nothing was written
 */
export async function mergeStudies(target: StudyStorage, sources: readonly StudyStorage[], study?: string): Promise<StudyMerge> {
  checkHas("sources", sources, "a list of storages", "map");
  const found: { readonly storage: StudyStorage; readonly study: StoredStudy }[] = [];
  for (const storage of sources) {
    const log = new StudyLog();
    log.apply(await storage.read(0));
    found.push({ storage, study: studyOf(log, storage, study) });
  }
  const first = found[0];
  if (!first) throw new ArgumentError("sources", sources, "at least one storage", { of: "mergeStudies" });
  const log = new StudyLog();
  log.apply(await target.read(0));
  const existing = log.studies.size === 0 ? undefined : studyOf(log, target, study ?? first.study.name);
  for (const other of found) checkAlike(existing ?? first.study, other.study, other.storage);
  const by = `${crypto.randomUUID()}-0`;
  const into = existing ?? (await create(target, log, first.study, by));
  const known = new Map(into.trials.flatMap((trial) => (isKept(trial) ? [[nameOf(trial), trial] as const] : [])));
  const open = new Map(into.trials.flatMap((trial) => (isOver(trial.state) ? [] : [[nameOf(trial), trial] as const])));
  const different: DifferentTrial[] = [];
  const fresh = new Map<string, StoredTrial>();
  let twice = 0;
  for (const { storage, study: each } of found)
    for (const trial of each.trials) {
      if (!isKept(trial)) continue;
      const name = nameOf(trial);
      const before = known.get(name) ?? fresh.get(name);
      if (!before) fresh.set(name, trial);
      else if (resultOf(before) === resultOf(trial)) twice++;
      else different.push({ number: before.number, kept: before.value, other: trial.value, from: storage.name });
    }
  const added = [...fresh.values()].sort((a, b) => wholeNumberOf(a) - wholeNumberOf(b));
  for (let i = 0; i < added.length; i += piece)
    await target.append(
      added.slice(i, i + piece).flatMap((trial): StudyOperation[] => {
        const begun = open.get(nameOf(trial));
        return begun ? endOf(begun, trial, by) : [{ by, type: "createTrial", study: into.id, template: templateOf(trial) }];
      }),
    );
  return { added: added.length, known: twice, different };
}

/** The operations that end a trial with the result of another storage. */
function endOf({ id, state }: StoredTrial, { attributes, intermediate, ...result }: StoredTrial, by: string): StudyOperation[] {
  return [
    ...(state === "waiting" ? [{ by, type: "state", trial: id, state: "running", at: result.started } as const] : []),
    ...settingAttributes(by, { trial: id }, attributes),
    ...reporting(by, id, intermediate),
    { by, type: "state", trial: id, state: result.state, value: result.value, at: result.finished },
  ];
}

function studyOf(log: StudyLog, { name }: StudyStorage, wanted: string | undefined): StoredStudy {
  const names = [...log.studies.keys()];
  const found = wanted === undefined ? (names.length === 1 ? log.studies.get(names[0]!) : undefined) : log.studies.get(wanted);
  if (found) return found;
  const there = names.length === 0 ? "holds no study" : `holds ${names.map((each) => JSON.stringify(each)).join(", ")}`;
  throw ArgumentError.because(
    wanted === undefined ? `${name} ${there}; name the study` : `${name} ${there}, and no study ${JSON.stringify(wanted)}`,
    { field: "study", value: wanted },
  );
}

function checkAlike(a: StoredStudy, b: StoredStudy, { name }: StudyStorage): void {
  const differing = ["spillway:space", "spillway:experiment"].find((key) => a.attributes.get(key) !== b.attributes.get(key));
  if (a.direction === b.direction && differing === undefined) return;
  const what = differing === undefined ? "direction" : differing.slice("spillway:".length);
  throw ArgumentError.because(`the study ${b.name} in ${name} is of another ${what}; only studies of one search are merged`, {
    field: "sources",
  });
}

/**
 * A study of its own of what trials of a study came to, for merging.
 * @param ended each trial, and what ends it
 */
export function apartOf(
  study: StoredStudy,
  ended: readonly { readonly trial: StoredTrial; readonly finish: (trial: StoredTrial) => readonly StudyOperation[] }[],
  by: string,
): StudyOperation[] {
  const trials = ended.flatMap(({ trial, finish }, id): StudyOperation[] => {
    const template = { ...templateOf(trial), state: "running", value: undefined, finished: undefined } as const;
    return [{ by, type: "createTrial", study: 0, template }, ...finish({ ...trial, id })];
  });
  return [...opening(study, 0, by), ...trials];
}

/** What makes a study like another one, without trials. */
function opening({ name, direction, attributes }: StoredStudy, study: number, by: string): StudyOperation[] {
  const kept = new Map([...attributes].filter(([each]) => !each.startsWith(workerAttribute)));
  return [{ by, type: "createStudy", name, direction }, ...settingAttributes(by, { study }, kept)];
}

async function create(target: StudyStorage, log: StudyLog, like: StoredStudy, by: string): Promise<StoredStudy> {
  await target.append(opening(like, log.nextStudyId, by));
  log.apply(await target.read(log.length));
  return log.studies.get(like.name)!;
}

function isKept({ state }: StoredTrial): boolean {
  return state === "complete" || state === "pruned";
}

/** Its number in the whole search: of one that was run again, that of its first run. */
export function wholeNumberOf({ systemAttributes, number }: StoredTrial): number {
  const whole = systemAttributes.get(wholeNumberAttribute) ?? systemAttributes.get("failed_trial");
  return typeof whole === "number" ? whole : number;
}

/** What two evaluations of one trial have in common. */
function nameOf(trial: StoredTrial): string {
  const parameters = [...trial.parameters].map(([name, { value }]) => [name, value]);
  return JSON.stringify([wholeNumberOf(trial), parameters.sort()]);
}

/** What a trial came to. */
export type TrialResult = Pick<StoredTrial, "state" | "value" | "attributes" | "intermediate">;

/** What the same bits give. */
export function resultOf({ state, value, attributes, intermediate }: TrialResult): string {
  const said = (number: number | undefined) => (number === undefined ? "" : Object.is(number, -0) ? "-0" : String(number));
  const seeds = (attributes.get("spillway:seeds") ?? []) as readonly Json[];
  const steps = [...intermediate].map(([step, each]) => `${step}:${said(each)}`);
  return [state, said(value), ...seeds.map(String), ...steps].join(" ");
}

function templateOf(trial: StoredTrial): TrialTemplate {
  const { state, value, started, finished, intermediate } = trial;
  const content = contentOf(trial, { [wholeNumberAttribute]: wholeNumberOf(trial) });
  return { state, value, started, finished, ...content, intermediate: Object.fromEntries(intermediate) };
}
