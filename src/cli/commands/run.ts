// `spillway run`: experiments from files, one after the other, and what is printed about them.
import "../../index.js";
import { join } from "node:path";
import { type LoadedExperiment, loadExperiment } from "../../experiment/description/file.js";
import { describeModel } from "../../experiment/description/model-options.js";
import { loadNetworkExperiment, type NetworkExperiment } from "../../experiment/description/network-file.js";
import { classCaption, verdictOf } from "../../experiment/report/report-section.js";
import { type FinishedNetworkRun, networkHeadline, networkTable, runNetworkExperiment } from "../../experiment/runs/network-run.js";
import { formatResult } from "../../experiment/runs/result.js";
import { type FinishedRun, runExperiment } from "../../experiment/runs/run.js";
import type { ExperimentRunOptions } from "../../experiment/runs/run-options.js";
import { selectionOf } from "../../reservoir/computer-options.js";
import { UsageError } from "../exit.js";
import { classLines, columnLines, headline, profileTable, scoreTable } from "../present.js";
import { type Progress, reportTo } from "../progress.js";
import { formatTable } from "../table.js";

export interface RunCommandOptions extends Omit<ExperimentRunOptions, "onProgress" | "out" | "signal"> {
  readonly out: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly set?: readonly string[] | undefined;
  readonly scale?: string | undefined;
  readonly json?: boolean | undefined;
}

/** A run with a folder. */
export type WrittenRun = FinishedRun & { readonly folder: string };

/** What a command ends with. */
export interface CommandOutcome {
  /** For standard output. */
  readonly text: string;
  readonly interrupted: boolean;
  /** Whether it was stopped in such a way that the same command should be started again. */
  readonly isWorkLeft?: boolean;
  /** Why the command ended before its time, though there is something to print. */
  readonly failure?: unknown;
}

/**
 * Checks every file before it runs the first. A run that fails ends the command; those before it
 * are printed.
 * @throws what the user got wrong, and what failed before a run was finished.
 */
export async function run(paths: readonly string[], options: RunCommandOptions): Promise<CommandOutcome> {
  const networks = await Promise.all(paths.map((path) => loadNetworkExperiment(path, options.set, options.scale)));
  if (networks.some((each) => each !== undefined)) return runNetworks(paths, networks, options);
  if (options.scale !== undefined)
    throw new UsageError(`--scale is of files with network: microcircuit or hpcBenchmark, and ${paths[0]} has none`);
  const experiments: LoadedExperiment[] = [];
  for (const path of paths) experiments.push(await loadExperiment(path, options.set));
  experiments.forEach(({ path, experiment }, k) => {
    const earlier = experiments.findIndex((other) => other.experiment.name === experiment.name);
    if (earlier < k)
      throw new UsageError(
        `${path}: its name is ${JSON.stringify(experiment.name)}, as that of ${paths[earlier]}; each run needs a name of its own`,
      );
  });
  const runs: WrittenRun[] = [];
  let failure: unknown;
  try {
    for (const experiment of experiments) {
      if (options.signal.aborted) break;
      const finished = await runReporting(experiment, options);
      runs.push(finished);
      if (finished.replaced) options.progress.note(`${finished.folder}: the run that was there is replaced`);
    }
  } catch (error) {
    if (runs.length === 0) throw error;
    failure = error;
  }
  const results = runs.map(({ result }) => result);
  const interrupted = options.signal.aborted && (runs.length < paths.length || results.some((result) => result.interrupted));
  const text = options.json
    ? formatResult(results.length === 1 && paths.length === 1 ? results[0]! : results)
    : runs.map(describeRun).join("\n\n");
  return { text, interrupted, failure };
}

/** Runs files with networks, which have results of their own. */
async function runNetworks(
  paths: readonly string[],
  networks: readonly (NetworkExperiment | undefined)[],
  { out, signal, announce, progress, json, ...on }: RunCommandOptions,
): Promise<CommandOutcome> {
  const other = networks.indexOf(undefined);
  if (other >= 0) throw new UsageError(`${paths[other]} has no network, as others do; run it by a command of its own`);
  const runs: FinishedNetworkRun[] = [];
  for (const network of networks) {
    if (signal.aborted) break;
    try {
      runs.push(await runNetworkExperiment(network!, { out, ...selectionOf(on), signal, announce, onProgress: reportTo(progress) }));
    } finally {
      progress.end();
    }
  }
  const results = runs.map(({ result }) => result);
  const text = runs.map(({ result, folder }) => {
    const { heads, lines } = networkTable(result);
    const cells = lines.map((line) => line.map(String));
    const figures = heads.map((_, c) => c).slice(1);
    const table = formatTable(heads, cells, figures);
    return [networkHeadline(result), "", table, "", `report: ${join(folder ?? "", result.files.at(-1) ?? "")}`].join("\n");
  });
  const interrupted = signal.aborted && (runs.length < paths.length || results.some((result) => result.interrupted));
  return { text: json ? JSON.stringify(results.length === 1 ? results[0] : results, undefined, 2) : text.join("\n\n"), interrupted };
}

/** Runs an experiment, with its progress shown. */
export async function runReporting(
  experiment: LoadedExperiment,
  { out, profile, signal, announce, progress, ...on }: RunCommandOptions,
): Promise<WrittenRun> {
  try {
    const onProgress = reportTo(progress);
    return await runExperiment(experiment, { out, ...selectionOf(on), profile, signal, onProgress, announce });
  } finally {
    progress.end();
  }
}

/** A run in a terminal: what ran, its scores, where its files are. */
function describeRun({ result, folder }: WrittenRun): string {
  const report = result.files.includes("report.html") ? join(folder, "report.html") : undefined;
  const scores =
    result.seeds.length === 0
      ? "No seed was finished, so there are no scores."
      : result.scores.length === 0
        ? "All rows train, so there are no scores."
        : scoreTable(result);
  const columns = columnLines(result);
  const profile = result.profile ? ["", profileTable(result.profile)] : [];
  const verdict = verdictOf(result);
  const said = [...(verdict ? ["", verdict] : []), ...(result.bands ? [`${result.bands.sentence}.`] : [])];
  const { times, missing } = result.data;
  const { model } = result.config;
  return [
    headline(result),
    ...(model ? [`model: ${describeModel(model)}`] : []),
    ...(typeof times === "string" ? [`time: ${times}`] : []),
    ...(typeof missing === "string" ? [`missing: ${missing}`] : []),
    ...(result.choice ? [`chosen: ${result.choice.sentence}`] : []),
    "",
    scores,
    ...(columns ? ["", columns] : []),
    ...said,
    ...(result.classes ? ["", `${classCaption(result)}:`, classLines(result.classes)] : []),
    ...profile,
    "",
    report ? `report: ${report}` : `results: ${join(folder, "result.json")}`,
  ].join("\n");
}
