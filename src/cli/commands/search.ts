// `spillway search`: the best settings of an experiment.
import "../../index.js";
import { join } from "node:path";
import { formatBytes } from "@spillway/core/bytes.js";
import { visible } from "@spillway/core/text.js";
import { verdictOf } from "../../experiment/report/report-section.js";
import { searchExperiment } from "../../experiment/search/search.js";
import { type ExperimentSearchOptions, experimentSearchTable, secondsOf } from "../../experiment/search/search-options.js";
import { readSearch } from "../../experiment/search/search-plan.js";
import type { FinishedSearch } from "../../experiment/search/search-result.js";
import { type TriedTrial, tryTrial } from "../../experiment/search/search-try.js";
import { addressOf } from "../import-modules.js";
import { type Progress, reportTo } from "../progress.js";
import type { Announcement } from "../supervisor.js";
import { formatTable } from "../table.js";
import type { CommandOutcome } from "./run.js";

/** What `spillway search` takes. */
export interface SearchFlags extends Omit<ExperimentSearchOptions, "imports" | "onProgress" | "signal" | "stop"> {
  readonly out: string;
  readonly set?: readonly string[];
  readonly import?: readonly string[];
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Who may stop a search, and who hears of it. */
export interface SearchSurroundings {
  /** Aborted for the reason "SIGTERM", trials in work get their grace. */
  readonly signal: AbortSignal;
  readonly announce: (what: Announcement) => void;
  readonly progress: Progress;
}

/** Searches, or with `dryRun` says what would be searched. */
export async function search(
  path: string,
  { set = [], dryRun, json, quiet: _, import: imports = [], ...flags }: SearchFlags,
  { signal, announce, progress }: SearchSurroundings,
): Promise<CommandOutcome> {
  if (dryRun) return { text: await describePlan(path, set, flags, signal), interrupted: false };
  const [stop, terminate] = [new AbortController(), new AbortController()];
  signal.addEventListener("abort", () => (signal.reason === "SIGTERM" ? terminate : stop).abort(), { once: true });
  announce({
    graceMs: 1000 * secondsOf(flags.grace ?? experimentSearchTable.grace.default!),
    kept: "every finished trial is kept, and the same command goes on",
  });
  try {
    const finished = await searchExperiment(
      path,
      { ...flags, imports: imports.map(addressOf), signal: stop.signal, stop: terminate.signal, onProgress: reportTo(progress) },
      set,
    );
    progress.end();
    if (finished.adopted > 0)
      progress.note(`trials of another program that count, as if this experiment had given their values: ${finished.adopted}`);
    if (finished.change !== undefined) progress.note(`the space has changed: ${finished.change}`);
    const text = json ? JSON.stringify(finished.result, undefined, 2) : describeSearch(finished);
    const { interrupted } = finished.result;
    return { text, interrupted, isWorkLeft: interrupted && terminate.signal.aborted };
  } finally {
    progress.end();
  }
}

async function describePlan(
  path: string,
  set: readonly string[],
  { engine, plan: named, threads, workers = 1, trials, time }: ExperimentSearchOptions,
  signal: AbortSignal,
): Promise<string> {
  const plan = await readSearch(path, set);
  const { space, objective, seeds, sampler, batch, budget, halving } = plan;
  const tried = await tryTrial(plan, { engine, plan: named, threads }, signal, { trials, workers });
  const wanted = trials ?? budget.trials;
  const limit = time ?? budget.time;
  const sweeps = Object.values(space.sweeps).reduce((product, { length }) => product * length, 1);
  return [
    table([
      ["parameter", "values"],
      ...space.parameters.map(({ name, kind, low, high, step, log, choices }) => [
        name,
        kind === "choice"
          ? choices.map((choice) => JSON.stringify(choice)).join(", ")
          : `${low} to ${high}${step > 0 ? ` in steps of ${step}` : ""}${log ? ", logarithmic" : ""}`,
      ]),
      ...Object.entries(space.sweeps).map(([name, values]) => [name, `${values.length} values in every trial`]),
    ]),
    "",
    `objective: ${objective.score} on ${objective.on}, ${seeds.length} seeds a trial${sweeps > 1 ? `, ${sweeps} values of the sweep` : ""}`,
    `sampler: ${sampler.name}${batch === undefined ? "" : `, ${batch} at a time`}; budget: ${wanted ?? "any number of"} trials${limit === undefined ? "" : `, ${limit}`}`,
    describeTried(tried, objective.score),
    wanted === undefined
      ? ""
      : `${wanted} trials with ${workers === 1 ? "one worker" : `${workers} workers`}: about ${formatSeconds(tried.secondsFor(wanted, workers))}, ${formatBytes(tried.bytes * workers)} of memory`,
    ...(halving ? [`halving: ${halving.steps.join(", ")} ${halving.of === "rows" ? "training rows" : "seeds"}`] : []),
  ].join("\n");
}

function describeTried({ outcome, together, seconds }: TriedTrial, score: string): string {
  if (outcome === undefined) return "the first trial was stopped";
  if (outcome instanceof Error) return `the first trial fails: ${outcome.message}`;
  const took = formatSeconds(seconds);
  const how = together === 1 ? ` in ${took}` : `; ${together} at once took ${took}`;
  return `the first trial: ${score} ${outcome.value.toPrecision(4)}${how}`;
}

function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${Number(seconds.toPrecision(2))} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Number((seconds / 3600).toPrecision(2))} h`;
}

function describeSearch({ result, folder, best: experiment, refit }: FinishedSearch): string {
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
    ...describePassedOver(passedOver),
    ...describeRefit(refit),
    ...(folder === undefined
      ? []
      : [
          "",
          `best: ${join(folder, "best.yaml")}`,
          ...(refit && experiment?.outputs?.model !== false ? [`model: ${join(folder, `${experiment?.name}`)}`] : []),
          ...(experiment?.outputs?.report === false ? [] : [`report: ${join(folder, "report.html")}`]),
        ]),
  ].join("\n");
}

/** How the best setting does against the baselines of the test part. */
function describeRefit(refit: FinishedSearch["refit"]): string[] {
  const verdict = refit && verdictOf(refit);
  return verdict ? ["", verdict] : [];
}

/** A line about trials that were better, and could not be trained again. */
function describePassedOver(passed: FinishedSearch["result"]["passedOver"]): string[] {
  const [first] = passed;
  if (!first) return [];
  const others = passed.length === 1 ? "trial" : `${passed.length} trials, the best of them trial`;
  return [`${others} ${first.trial} had a better score and cannot be trained with a fresh seed: ${visible(first.reason, 300)}`];
}

/** A table whose first line are its heads. */
function table([heads = [], ...lines]: readonly (readonly string[])[]): string {
  return formatTable(heads, lines);
}
