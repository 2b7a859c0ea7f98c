// `spillway runs`: what stands in a folder of runs, the trials of a search, two runs side by side;
// journals that are merged or repaired.

import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isObject } from "@spillway/core/checks.js";
import { tally, visible, visibleLines } from "@spillway/core/text.js";
import { FileError } from "@spillway/io";
import { csvCell } from "@spillway/io/csv-writer.js";
import { kindOfPath } from "@spillway/io/files.js";
import { mergeStudies, repairJournal, type StoredStudy, type StoredTrial } from "@spillway/search";
import { comparisonFigures, studyFigures } from "../../experiment/report/compared-runs.js";
import { runFigures } from "../../experiment/report/run-figures.js";
import type { SearchResult } from "../../experiment/search/search-result.js";
import { openStorage } from "../../experiment/search/search-storage.js";
import { storedStudies, storedStudy } from "../../experiment/search/stored-study.js";
import type { Figure } from "../../plot/index.js";
import { exitCodes, UsageError } from "../exit.js";
import { formatTable } from "../table.js";
import { type DrawFlags, writeFigures } from "./plot.js";

/** What `spillway runs` takes beside names. */
export interface RunsFlags {
  readonly out: string;
  readonly trials?: boolean;
  readonly state?: string;
  readonly top?: number;
  readonly study?: string;
  readonly merge?: readonly string[];
  readonly repair?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly plot?: boolean;
  /** Where figures are written. */
  readonly figures?: string;
  readonly format?: DrawFlags["format"];
  readonly theme?: DrawFlags["theme"];
}

/** What is printed, and the exit code: 3 if two results of one trial differ. */
export interface RunsOutcome {
  readonly text: string;
  readonly exitCode: number;
}

/** @throws FileError, UsageError, and ArgumentError for a study that is not there */
export async function runs(names: readonly string[], flags: RunsFlags): Promise<RunsOutcome> {
  const { out, trials, merge, repair, csv, plot } = flags;
  const name = names[0] ?? out;
  const work = [merge && "--merge", repair && "--repair", trials && "--trials", plot && "--plot"].filter(
    (each) => typeof each === "string",
  );
  if (work.length > 1) throw new UsageError(`${work.join(" and ")} are given; take one of them`);
  for (const flag of ["figures", "format", "theme"] as const)
    if (flags[flag] !== undefined && !plot) throw new UsageError(`--${flag} is for --plot`);
  if (plot) return said(await drawRuns(names, flags));
  if (work.length > 0 && names.length !== 1) throw new UsageError(`${work[0]} takes one run, search or journal by name`);
  if (csv && !trials) throw new UsageError("--csv is for --trials");
  if (merge) return mergeInto(await journalOf(name, out, true), merge, flags);
  if (repair) return said(await describeRepair(await journalOf(name, out)));
  if (trials) return said(await describeTrials(await journalOf(name, out), flags));
  if (names.length === 2) return said(await compareRuns(await folderOf(names[0]!, out), await folderOf(names[1]!, out), flags));
  if (names.length > 2) throw new UsageError(`${names.length} names are given; take one folder, or two runs to compare`);
  return said(await listRuns(name, flags));
}

function said(text: string): RunsOutcome {
  return { text: visibleLines(text), exitCode: exitCodes.success };
}

/** The folder of a run: by its path, or by its name in the folder of runs. @throws FileError */
async function folderOf(name: string, out: string): Promise<string> {
  for (const folder of [name, join(out, name)]) if (await isRun(folder)) return folder;
  throw new FileError(name, `no run or search of this name, here or in ${out}`, "missing");
}

async function isRun(folder: string): Promise<boolean> {
  const found = await Promise.all(["search.json", "result.json", "journal.log"].map((file) => kindOfPath(join(folder, file))));
  return found.some((kind) => kind !== undefined);
}

/**
 * The journal that a name stands for: an address, a file, or that of a search. @throws FileError
 */
async function journalOf(name: string, out: string, isNew = false): Promise<string> {
  if (name.includes("://")) return name;
  if ((await kindOfPath(name)) === "file") return name;
  for (const folder of [name, join(out, name)]) if (await kindOfPath(join(folder, "journal.log"))) return join(folder, "journal.log");
  if (isNew) return name.endsWith(".log") ? name : join(out, name, "journal.log");
  throw new FileError(name, `no journal, and no search of this name in ${out}`, "missing");
}

async function describeTrials(journal: string, { study, state, top, json, csv }: RunsFlags): Promise<string> {
  const { trials, direction } = await storedStudy(journal, study);
  const sign = direction === "maximise" ? -1 : 1;
  const wanted = trials.filter((trial) => state === undefined || trial.state === state);
  const shown =
    top === undefined
      ? wanted
      : wanted
          .filter((trial) => trial.state === "complete" && trial.value !== undefined)
          .sort((a, b) => sign * (a.value! - b.value!) || a.number - b.number)
          .slice(0, top);
  if (json) return JSON.stringify(shown.map(asRecord), (_, value) => (typeof value === "number" ? jsonNumber(value) : value), 2);
  const names = [...new Set(shown.flatMap(({ parameters, attributes }) => [...parameters.keys(), ...sweepOf(attributes)]))];
  const heads = ["number", "state", "value", "seconds", ...names, "error"];
  const lines = shown.map((trial) => {
    const record = asRecord(trial);
    const error = trial.attributes.get("spillway:error");
    const cells = [trial.number, trial.state, trial.value, record.seconds, ...names.map((each) => record.params[each])];
    return [...cells.map((cell) => cellOf(cell, csv ?? false)), typeof error === "string" ? error : ""];
  });
  if (csv) return [heads, ...lines].map((cells) => cells.map((cell) => csvCell(cell)).join(",")).join("\n");
  // A line break of a name or an error would begin a row.
  const [shownHeads, ...rows] = [heads, ...lines].map((cells) => cells.map((cell) => visible(cell)));
  return rows.length === 0 ? `${journal}: no trials` : formatTable(shownHeads!, rows, [0, 2, 3]);
}

/** Figures of a search, or of runs side by side. */
async function drawRuns(names: readonly string[], { out, study, figures, json, format, theme }: RunsFlags): Promise<string> {
  const write = (drawn: readonly Figure[], title: string, source: string, fallback: string) =>
    writeFigures(drawn, title, source, { out: figures ?? fallback, format, theme, json });
  const [name = out] = names;
  const isFolderOfRuns = names.length < 2 && (await kindOfPath(name)) === "folder" && !(await isRun(name));
  if (names.length > 1 || isFolderOfRuns) {
    const folders = isFolderOfRuns ? await finishedIn(name) : await Promise.all(names.map((each) => folderOf(each, out)));
    if (folders.length < 2) throw new FileError(name, "there are no two finished runs in it to compare", "content");
    const title = folders.length === 2 ? `${basename(folders[0]!)} and ${basename(folders[1]!)}` : `${folders.length} runs`;
    return write(await comparisonFigures(folders), title, folders.join(", "), "figures");
  }
  const run = await folderOf(name, out).catch(() => undefined);
  if (run !== undefined && !(await kindOfPath(join(run, "journal.log")))) {
    const { title, figures: drawn } = await runFigures(run);
    return write(drawn, title, run, join(run, "figures"));
  }
  const journal = await journalOf(name, out);
  const drawn = await studyFigures(journal, study);
  return write(drawn.figures, drawn.name, journal, run === undefined ? "figures" : join(run, "figures"));
}

/** The finished runs and searches of a folder. */
async function finishedIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).sort().map((name) => join(folder, name));
  const isOver = await Promise.all(
    names.map(async (each) => (await kindOfPath(join(each, "search.json"))) || (await readRun(each))?.scores),
  );
  return names.filter((_, k) => isOver[k]);
}

function sweepOf(attributes: StoredTrial["attributes"]): readonly string[] {
  const sweep = attributes.get("spillway:sweep");
  return typeof sweep === "object" && sweep !== null ? Object.keys(sweep) : [];
}

function asRecord({ number, state, value, started, finished, parameters, attributes, intermediate }: StoredTrial) {
  const sweep = attributes.get("spillway:sweep");
  const params = Object.fromEntries(
    [...parameters].map(([name, { value: given, distribution }]) => [
      name,
      distribution.kind === "choice" ? distribution.choices[given] : given,
    ]),
  );
  const seconds = started !== undefined && finished !== undefined ? (finished - started) / 1000 : undefined;
  return {
    ...{ number, state, value, seconds },
    params: { ...params, ...(typeof sweep === "object" ? sweep : undefined) } as Readonly<Record<string, unknown>>,
    intermediate: Object.fromEntries(intermediate),
    attributes: Object.fromEntries(attributes),
  };
}

function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Numbers in full for a file, and short for people. */
function cellOf(value: unknown, isExact: boolean): string {
  if (value === undefined) return isExact ? "" : "-";
  if (typeof value === "number") return isExact ? String(value) : String(Number(value.toPrecision(6)));
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function mergeInto(target: string, sources: readonly string[], { out, study, json }: RunsFlags): Promise<RunsOutcome> {
  const journals = await Promise.all(sources.map((source) => journalOf(source, out)));
  const open = [];
  try {
    for (const journal of [target, ...journals]) open.push(await openStorage(journal));
    const merged = await mergeStudies(open[0]!, open.slice(1), study);
    const { added, known, different } = merged;
    const text = [
      `${target}: ${added} trials came in, ${known} were there already`,
      ...different.map(
        ({ number, kept, other, from }) =>
          `trial ${number} has two results: ${kept} stays, and ${from} has ${other}. The same trial gives the same bits: one of the two comes from another version or a faulty device`,
      ),
    ].join("\n");
    const exitCode = different.length > 0 ? exitCodes.different : exitCodes.success;
    return { text: json ? JSON.stringify(merged, undefined, 2) : visibleLines(text), exitCode };
  } finally {
    for (const storage of open) await storage.close();
  }
}

async function describeRepair(journal: string): Promise<string> {
  if (journal.includes("://")) throw new UsageError(`${journal}: a server keeps its records whole; --repair is for files`);
  const { kept, mended, lost, broken } = await repairJournal(journal);
  if (broken === undefined) return `${journal}: ${kept} records, nothing to repair`;
  return [
    `${journal}: ${kept} records kept; as it was it is ${broken}`,
    ...mended.map((line) => `line ${line}: a whole record at its end was kept`),
    ...lost.map(({ line, reason }) => `line ${line} is lost: ${reason}`),
  ].join("\n");
}

/** What differs between two runs: settings, scores. */
async function compareRuns(a: string, b: string, { json }: RunsFlags): Promise<string> {
  const [one, other] = [await figuresOf(a), await figuresOf(b)];
  const fields = [...new Set([...one.keys(), ...other.keys()])];
  const lines = fields.flatMap((field) => {
    const values = [one.get(field), other.get(field)].map((value) => cellOf(value, false));
    return values[0] === values[1] ? [] : [[field, ...values]];
  });
  if (json) return JSON.stringify(Object.fromEntries(lines.map(([field, ...values]) => [field, values])), undefined, 2);
  return lines.length === 0 ? `${a} and ${b} do not differ` : formatTable(["field", a, b], lines);
}

/** Settings and figures of a run or a search, flat. */
async function figuresOf(folder: string): Promise<ReadonlyMap<string, unknown>> {
  const out = new Map<string, unknown>();
  const searched = await readSearch(folder);
  if (searched) {
    const { score, trials, best, validation, freshSeeds, test } = searched;
    flatten({ ...best?.values }, "", out);
    flatten({ trials }, "", out);
    for (const [name, value] of Object.entries({ validation, freshSeeds, test })) out.set(`${score} (${name})`, value);
    return out;
  }
  const run = await readRun(folder);
  if (!run?.scores) throw new FileError(folder, "it holds no search.json and no result.json to compare", "content");
  flatten(run.config ?? {}, "", out);
  out.delete("name");
  for (const { metric, value } of run.scores) out.set(`${metric} (test)`, value);
  return out;
}

/** No setting lies deeper. */
const deepest = 40;

function flatten(value: unknown, path: string, out: Map<string, unknown>, depth = 0): void {
  if (!isObject(value)) out.set(path, value);
  else if (depth > deepest) out.set(path, "...");
  else for (const [name, each] of Object.entries(value)) flatten(each, path === "" ? name : `${path}.${name}`, out, depth + 1);
}

/** Runs and searches of a folder, or searches of a storage, a line each. @throws FileError */
async function listRuns(source: string, { json }: { readonly json?: boolean }): Promise<string> {
  const isStorage = source.includes("://") || (await kindOfPath(source)) === "file";
  const found = isStorage ? (await storedStudies(source)).studies.map((study) => studyRow(study.name, study)) : await runsIn(source);
  if (json) return JSON.stringify(found, undefined, 2);
  if (found.length === 0) return `${source}: no ${isStorage ? "searches" : "runs"}`;
  return formatTable(
    ["name", "kind", "state", "score", "value", "done"],
    found.map(({ name, kind, state, score, value, done }) => [
      visible(name),
      kind,
      state,
      visible(score ?? "-"),
      typeof value === "number" ? value.toPrecision(4) : "-",
      done,
    ]),
  );
}

async function runsIn(folder: string): Promise<readonly ListedRun[]> {
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch (error) {
    throw new FileError(folder, "no such folder; runs are written to runs/, or where --out says", "missing", error);
  }
  return (await Promise.all(names.map((name) => listedIn(join(folder, name), name)))).flat();
}

interface ListedRun {
  readonly name: string;
  readonly kind: "run" | "network" | "search";
  readonly state: string;
  readonly score?: string | undefined;
  readonly value?: number | null | undefined;
  readonly done: string;
}

/** What is used of a result.json; networks have no scores. */
interface RunFile {
  readonly interrupted: boolean;
  readonly scores: readonly { readonly metric: string; readonly value: number | null }[] | undefined;
  readonly seeds: readonly unknown[];
  readonly config?: unknown;
}

/** The result.json of a folder; undefined if there is none, or it is nobody's of this program. */
async function readRun(folder: string): Promise<RunFile | undefined> {
  const run = (await readJson(join(folder, "result.json"))) as Partial<RunFile & { readonly format: string }> | null | undefined;
  if (typeof run !== "object" || run === null || !Array.isArray(run.seeds)) return undefined;
  const { interrupted, seeds, config } = run;
  const scores: unknown = run.scores;
  if (run.format === "spillway-network-result") return { interrupted: interrupted === true, scores: undefined, seeds, config };
  return areScores(scores) ? { interrupted: interrupted === true, scores, seeds, config } : undefined;
}

function areScores(scores: unknown): scores is NonNullable<RunFile["scores"]> {
  const isScore = (each: Partial<NonNullable<RunFile["scores"]>[number]> | null | undefined) =>
    typeof each?.metric === "string" && (each.value === null || typeof each.value === "number");
  return Array.isArray(scores) && scores.every(isScore);
}

/** The search.json of a folder; undefined if there is none, or it is nobody's of this program. */
async function readSearch(folder: string): Promise<SearchResult | undefined> {
  const found = (await readJson(join(folder, "search.json"))) as Partial<SearchResult> | null | undefined;
  const isSearch = found?.format === "spillway-search" && typeof found.trials === "object" && found.trials !== null;
  return isSearch ? (found as SearchResult) : undefined;
}

/** A run, a search, or both if they have one name; behind a search the run of its best setting. */
async function listedIn(folder: string, name: string): Promise<readonly ListedRun[]> {
  const listed = [await runIn(folder, name), await searchIn(folder, name)];
  const best = `${basename(folder)}-best`;
  if (listed[1]) listed.push(await runIn(join(folder, best), `${name}/${best}`));
  return listed.flatMap((each) => each ?? []);
}

async function searchIn(folder: string, name: string): Promise<ListedRun | undefined> {
  const searched = await readSearch(folder);
  if (searched) {
    const state = searched.interrupted ? "interrupted" : "finished";
    const value = searched.test ?? searched.validation;
    return { name, kind: "search", state, score: searched.score, value, done: trialsDone(searched.trials) };
  }
  const journal = join(folder, "journal.log");
  if (!(await kindOfPath(journal))) return undefined;
  try {
    return studyRow(name, await storedStudy(journal));
  } catch {
    // --trials says what is wrong with it.
    return { name, kind: "search", state: "not readable", done: "-" };
  }
}

/** A search that has only its journal. */
function studyRow(name: string, study: StoredStudy): ListedRun {
  const counts = { complete: 0, pruned: 0, failed: 0, running: 0, waiting: 0 };
  for (const { state, systemAttributes } of study.trials) {
    counts[state]++;
    if (systemAttributes.has("failed_trial")) counts.failed--;
  }
  const values = study.trials.flatMap(({ state, value }) => (state === "complete" && value !== undefined ? [value] : []));
  const value = values.length === 0 ? undefined : values.reduce(study.direction === "maximise" ? largerOf : smallerOf);
  return { name, kind: "search", state: "running or stopped", score: scoreOf(study), value, done: trialsDone(counts) };
}

const largerOf = (a: number, b: number) => Math.max(a, b);
const smallerOf = (a: number, b: number) => Math.min(a, b);

/** The metric of a study that a search made. */
function scoreOf({ attributes }: StoredStudy): string | undefined {
  try {
    const score: unknown = JSON.parse(String(attributes.get("spillway:experiment")))[1].score;
    return typeof score === "string" ? score : undefined;
  } catch {
    return undefined;
  }
}

function trialsDone({ complete, ...others }: Readonly<Record<"complete" | "pruned" | "failed", number>>): string {
  return [`${complete} trials`, ...Object.entries(others).flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []))].join(", ");
}

async function runIn(folder: string, name: string): Promise<ListedRun | undefined> {
  const run = await readRun(folder);
  if (!run) return undefined;
  const [first] = run.scores ?? [];
  const done = tally(run.seeds.length, "seed");
  const state = run.interrupted ? "interrupted" : "finished";
  return { name, kind: run.scores ? "run" : "network", state, score: first?.metric, value: first?.value, done };
}

/** What a file holds; undefined if there is none, or no JSON in it. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}
