// `spillway search`: the best settings of an experiment; and `spillway runs`: what stands in a
// folder of runs.
import "../../index.js";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { visible } from "../../core/text.js";
import { searchExperiment } from "../../experiment/search.js";
import type { ExperimentSearchOptions } from "../../experiment/search-options.js";
import { readSearch } from "../../experiment/search-plan.js";
import type { FinishedSearch, SearchResult } from "../../experiment/search-result.js";
import { FileError } from "../../io/index.js";
import { addressOf } from "../import-modules.js";
import { type Progress, reportTo } from "../progress.js";
import { formatTable } from "../table.js";
import type { CommandOutcome } from "./run.js";

/** What `spillway search` takes. */
export interface SearchFlags extends Omit<ExperimentSearchOptions, "imports" | "onProgress" | "signal"> {
  readonly out: string;
  readonly set?: readonly string[];
  readonly import?: readonly string[];
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Searches, or with `dryRun` says what would be searched. */
export async function search(
  path: string,
  { set = [], dryRun, json, quiet: _, import: imports = [], ...flags }: SearchFlags,
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: Progress },
): Promise<CommandOutcome> {
  if (dryRun) return { text: await describePlan(path, set), interrupted: false };
  try {
    const finished = await searchExperiment(
      path,
      { ...flags, imports: imports.map(addressOf), signal, onProgress: reportTo(progress) },
      set,
    );
    progress.end();
    if (finished.change !== undefined) progress.note(`the space has changed: ${finished.change}`);
    const text = json ? JSON.stringify(finished.result, undefined, 2) : describeSearch(finished);
    return { text, interrupted: finished.result.interrupted };
  } finally {
    progress.end();
  }
}

async function describePlan(path: string, set: readonly string[]): Promise<string> {
  const { space, objective, seeds, sampler, batch, budget, rungs } = await readSearch(path, set);
  const ladders = Object.values(space.ladders).reduce((product, { length }) => product * length, 1);
  return [
    table([
      ["parameter", "values"],
      ...space.parameters.map(({ name, kind, low, high, step, log, choices }) => [
        name,
        kind === "choice"
          ? choices.map((choice) => JSON.stringify(choice)).join(", ")
          : `${low} to ${high}${step > 0 ? ` in steps of ${step}` : ""}${log ? ", logarithmic" : ""}`,
      ]),
      ...Object.entries(space.ladders).map(([name, values]) => [name, `${values.length} values in every trial`]),
    ]),
    "",
    `objective: ${objective.score} on ${objective.on}, ${seeds.length} seeds a trial${ladders > 1 ? `, ${ladders} values of the ladder` : ""}`,
    `sampler: ${sampler.name}${batch === undefined ? "" : `, ${batch} at a time`}; budget: ${budget.trials ?? "any number of"} trials${budget.time === undefined ? "" : `, ${budget.time}`}`,
    ...(rungs ? [`rungs: ${rungs.steps.join(", ")} ${rungs.of === "rows" ? "training rows" : "seeds"}`] : []),
  ].join("\n");
}

function describeSearch({ result, folder }: FinishedSearch): string {
  const { name, score, better, trials, best, validation, passedOver, freshSeeds, test, importance, interrupted } = result;
  const counted = `${trials.complete} complete, ${trials.pruned} pruned, ${trials.failed} failed`;
  if (!best) return `${name}: no trial is complete (${counted})`;
  const figure = (value: number | undefined) => (value === undefined ? "-" : value.toPrecision(4));
  return [
    `${name}: ${counted}${interrupted ? "; interrupted, the same command goes on" : ""}; the best is trial ${best.trial}`,
    "",
    table([
      ["parameter", "value", "importance"],
      ...Object.entries(best.values).map(([path, value]) => [
        path,
        typeof value === "number" ? String(Number(value.toPrecision(6))) : JSON.stringify(value),
        importance[path] === undefined ? "" : importance[path].toFixed(2),
      ]),
    ]),
    "",
    table([
      [`${score} (${better} is better)`, ""],
      ["of the trial that was chosen by it", figure(validation)],
      ["the same with seeds that no trial had", figure(freshSeeds)],
      ["on the test part, trained on all rows", figure(test)],
    ]),
    ...passedOver.map(({ trial, reason }) => `trial ${trial} was better and is passed over: with a fresh seed, ${visible(reason, 300)}`),
    ...(folder === undefined ? [] : ["", `best: ${join(folder, "best.yaml")}`]),
  ].join("\n");
}

/** Runs and searches of a folder, a line each. @throws FileError */
export async function listRuns(folder: string, { json }: { readonly json?: boolean }): Promise<string> {
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch (error) {
    throw new FileError(folder, "no such folder; runs are written to runs/, or where --out says", "missing", error);
  }
  const found = (await Promise.all(names.map((name) => runOf(join(folder, name), name)))).flatMap((run) => run ?? []);
  if (json) return JSON.stringify(found, undefined, 2);
  if (found.length === 0) return `${folder}: no runs`;
  return table([
    ["name", "kind", "state", "score", "value", "done"],
    ...found.map(({ name, kind, state, score, value, done }) => [
      name,
      kind,
      state,
      score ?? "-",
      value === undefined || value === null ? "-" : value.toPrecision(4),
      done,
    ]),
  ]);
}

/** A table whose first line are its heads. */
function table([heads = [], ...lines]: readonly (readonly string[])[]): string {
  return formatTable(heads, lines);
}

interface ListedRun {
  readonly name: string;
  readonly kind: "run" | "search";
  readonly state: string;
  readonly score?: string | undefined;
  readonly value?: number | null | undefined;
  readonly done: string;
}

async function runOf(folder: string, name: string): Promise<ListedRun | undefined> {
  const searched = (await readJson(join(folder, "search.json"))) as SearchResult | undefined;
  if (searched?.format === "spillway-search") {
    const { complete, pruned, failed } = searched.trials;
    const done = `${complete} trials${pruned > 0 ? `, ${pruned} pruned` : ""}${failed > 0 ? `, ${failed} failed` : ""}`;
    const state = searched.interrupted ? "interrupted" : "finished";
    return { name, kind: "search", state, score: searched.score, value: searched.test ?? searched.validation, done };
  }
  const hasTrials = (await stat(join(folder, "journal.log")).catch(() => undefined)) !== undefined;
  if (hasTrials) return { name, kind: "search", state: "running or stopped", done: "-" };
  const run = (await readJson(join(folder, "result.json"))) as
    | {
        readonly interrupted: boolean;
        readonly scores: readonly { readonly metric: string; readonly value: number | null }[];
        readonly seeds: readonly unknown[];
      }
    | undefined;
  if (!run || !Array.isArray(run.scores) || !Array.isArray(run.seeds)) return undefined;
  const [first] = run.scores;
  const seeds = `${run.seeds.length} seed${run.seeds.length === 1 ? "" : "s"}`;
  return { name, kind: "run", state: run.interrupted ? "interrupted" : "finished", score: first?.metric, value: first?.value, done: seeds };
}

/** What a file holds; undefined if there is none, or no JSON in it. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}
