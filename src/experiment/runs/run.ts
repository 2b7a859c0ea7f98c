// Runs an experiment over its seeds and writes its folder: scores, model, states, report. The tasks
// themselves are predict.ts, forecast.ts and classify.ts.

import { join } from "node:path";
import { stringify } from "yaml";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io";
import type { ConfusionMatrix } from "../../metrics/index.js";
import { noteFinite } from "@spillway/numerics/known-finite.js";
import { type Figure, type ReportSection, reportHtml } from "../../plot/index.js";
import type { Trainer } from "../../readout/index.js";
import { addProfiles } from "../../reservoir/index.js";
import { describeBands } from "../tasks/bands.js";
import { classResult } from "../tasks/classes.js";
import { loadData } from "../data/data.js";
import type { ExperimentData } from "../data/experiment-data.js";
import type { Experiment, ExperimentInput, MetricName, OpenExperiment } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { asExperiment, type LoadedExperiment, loadExperiment } from "../description/file.js";
import { describeChoices, describeWeights } from "../tasks/forecast-choice.js";
import { writeForecasts } from "./forecasts-file.js";
import { formatHistory } from "./history-file.js";
import { describeMachine, versions } from "./machine.js";
import { OutputFolder, type RunFile } from "./output-folder.js";
import { seriesOf } from "../data/prepare.js";
import { reportSection } from "../report/report-section.js";
import {
  askedBaselines,
  type ExperimentResult,
  formatResult,
  resolveExperiment,
  type SeedResult,
  summarise,
  totalTiming,
} from "./result.js";
import { type ExperimentRunOptions, experimentRunTable } from "./run-options.js";
import { resolveRows } from "../data/resolve-rows.js";
import { runTask } from "../tasks/run-task.js";
import type { ModelErrors, Trial } from "../tasks/trial.js";
import { verdictOn } from "../tasks/verdict.js";
import { selectionOf } from "../../reservoir/computer-options.js";

/**
 * The path of an experiment file, an experiment that was read, or an object of the shape of a file.
 */
export type ExperimentSource = string | LoadedExperiment | ExperimentInput;

/** A run that is over. */
export interface FinishedRun {
  readonly result: ExperimentResult;
  /** Where its files are; undefined if nothing was written. */
  readonly folder: string | undefined;
  /** Its section of a report page. */
  readonly section: ReportSection;
  /** Whether it replaced an earlier run. */
  readonly replaced: boolean;
}

/**
 * Runs every seed of an experiment: loads its data, trains, tests and scores. Stopped by its
 * signal, it keeps the seeds that are finished.
 * @param source the path of an experiment file, what `loadExperiment` gave, or an object of the
 * same shape
 * @throws ExperimentError and others for what the user got wrong; then nothing is left behind, and
 * an earlier run stands as it was
 * @example
 * const { result } = await runExperiment({
 *   name: "sine",
 *   data: { task: "mackeyGlass" },
 *   reservoir: { size: 200 },
 *   task: { type: "forecast", horizon: 84 },
 *   split: { train: 2000, test: 200 },
 * });
 * console.log(result.scores[0].value);
 */
export async function runExperiment(
  source: ExperimentSource,
  options: ExperimentRunOptions & { readonly out: string },
): Promise<FinishedRun & { readonly folder: string }>;
export async function runExperiment(source: ExperimentSource, options?: ExperimentRunOptions): Promise<FinishedRun>;
export async function runExperiment(source: ExperimentSource, options: ExperimentRunOptions = {}): Promise<FinishedRun> {
  const settings = resolve(experimentRunTable, options);
  const loaded = typeof source === "string" ? await loadExperiment(source) : isLoaded(source) ? source : asExperiment(source);
  const { experiment, path } = loaded;
  const { out, signal = new AbortController().signal } = settings;
  if (out !== undefined) settings.announce?.(out);
  const folder = out === undefined ? undefined : await OutputFolder.create(join(out, experiment.name));
  const run = new Run(loaded, folder, { ...settings, signal });
  try {
    let data: ExperimentData | undefined;
    for (const [k, seed] of experiment.seeds.entries()) {
      if (signal.aborted) break;
      const redraw = "task" in experiment.data && experiment.data.redraw;
      if (data === undefined || redraw) data = await run.watchLoading(() => loadData(experiment, path, seed));
      const trial = await run.trial(resolveRows(experiment, data), data, k);
      await run.take(trial, seed);
    }
  } catch (error) {
    if (!isStop(error, signal)) {
      await folder?.discard();
      throw withLocation(folder ? folder.named(error) : error, loaded);
    }
  }
  try {
    return await run.finish(signal.aborted);
  } catch (error) {
    if (run.hasKeptSeeds) await folder?.keepInterrupted().catch(() => undefined);
    await folder?.discard();
    throw folder ? folder.named(error) : error;
  }
}

/** Series were checked when they were loaded, and no other code holds them. */
function noteSeries(data: ExperimentData): ExperimentData {
  if (data.kind === "series") for (const each of [...seriesOf(data), data.test]) each && noteFinite(each);
  if (data.kind === "driven") for (const each of [data, data.test]) each && [each.inputs, each.targets].forEach(noteFinite);
  return data;
}

function isLoaded(source: LoadedExperiment | ExperimentInput): source is LoadedExperiment {
  return typeof source === "object" && source !== null && "errorOf" in source;
}

/** What has been found so far. */
class Run {
  #experiment: OpenExperiment;
  readonly #trainer: Trainer;
  readonly #folder: OutputFolder | undefined;
  readonly #options: ExperimentRunOptions & { readonly signal: AbortSignal };
  readonly #seeds: SeedResult[] = [];
  readonly #startErrors: ModelErrors[] = [];
  /** By column, of each seed. */
  readonly #columnErrors: (readonly ModelErrors[])[] = [];
  readonly #confusions: ConfusionMatrix[] = [];
  readonly #begun = performance.now();
  #loading = 0;
  #kept = Number.NEGATIVE_INFINITY;
  #data: ExperimentData | undefined;
  #first: Pick<Trial, "engine" | "reservoir" | "summary" | "unit" | "leftOut" | "forecasts" | "reliability"> | undefined;
  #figures: readonly Figure[] = [];
  #files: RunFile[] = [];

  constructor(
    { experiment, trainer }: LoadedExperiment,
    folder: OutputFolder | undefined,
    options: ExperimentRunOptions & { readonly signal: AbortSignal },
  ) {
    this.#experiment = experiment;
    this.#trainer = trainer;
    this.#folder = folder;
    this.#options = options;
  }

  async watchLoading(load: () => Promise<ExperimentData>): Promise<ExperimentData> {
    const begun = performance.now();
    this.#data = noteSeries(await load());
    this.#loading += (performance.now() - begun) / 1000;
    return this.#data;
  }

  /** Runs the k-th seed. */
  async trial(experiment: Experiment, data: ExperimentData, k: number): Promise<Trial> {
    this.#experiment = experiment;
    const { profile, signal } = this.#options;
    const { name, seeds, outputs } = experiment;
    const label = seeds.length > 1 ? `${name}, seed ${seeds[k]} (${k + 1} of ${seeds.length})` : name;
    const onProgress = (share: number) => this.#options.onProgress?.(k * 1000 + Math.round(share * 1000), seeds.length * 1000, label);
    if (k === 0) onProgress(0);
    const trial = await runTask(experiment, data, {
      seed: seeds[k]!,
      trainer: this.#trainer,
      isFirst: k === 0,
      refits: k === 0 && outputs.refit && this.#folder !== undefined,
      withFigures: k === 0 && outputs.report,
      withBaselines: true,
      ...selectionOf(this.#options),
      profile,
      signal,
      onProgress,
    });
    onProgress(1);
    return trial;
  }

  /** Keeps what a seed gave; of the first one also model, states and figures. */
  async take(trial: Trial, seed: SeedResult["seed"]): Promise<void> {
    const { outputs } = this.#experiment;
    const folder = this.#folder;
    try {
      const { scores, baselines, columns, readout, choice, weighed, measuredRadius, radiusMethod, timing, profile } = trial;
      if (this.#seeds.length === 0) {
        const files: RunFile[] = [];
        if (folder && outputs.states === "npy")
          files.push(...(await trial.saveStates(folder.working, outputs.every, this.#options.signal)));
        if (folder && outputs.model) files.push("model.safetensors", ...(await trial.save(folder.path("model.safetensors"))));
        if (folder && trial.forecasts) {
          const { written, names } = trial.forecasts;
          await writeForecasts(folder.path("forecasts.csv"), written, names);
          files.push("forecasts.csv");
          const history = formatHistory(written, names);
          if (history !== undefined) {
            await writeFileAtomic(folder.path("history.csv"), history);
            files.push("history.csv");
          }
        }
        this.#first = trial;
        this.#figures = trial.figures;
        this.#files = files;
      }
      if (trial.confusion) this.#confusions.push(trial.confusion);
      if (trial.startErrors) this.#startErrors.push(trial.startErrors);
      if (trial.columnErrors) this.#columnErrors.push(trial.columnErrors);
      this.#seeds.push({ seed, scores, baselines, columns, readout, choice, weighed, measuredRadius, radiusMethod, timing, profile });
    } finally {
      await trial.dispose();
    }
    await this.#keepSeeds();
  }

  /** Whether a result of some seeds is written. */
  get hasKeptSeeds(): boolean {
    return Number.isFinite(this.#kept);
  }

  /**
   * Writes the result so far, at most once a second: a command that is killed keeps the seeds that
   * were finished.
   */
  async #keepSeeds(): Promise<void> {
    const folder = this.#folder;
    const now = performance.now();
    if (!folder || this.#seeds.length === this.#experiment.seeds.length || now - this.#kept < 1000) return;
    await writeResult(folder, this.#result(true, false));
    this.#kept = now;
  }

  /**
   * Writes what is left to write and renames the folder to its target. result.json comes last: it tells
   * that the others are there.
   */
  async finish(wasStopped: boolean): Promise<FinishedRun> {
    const { outputs, seeds } = this.#experiment;
    const interrupted = wasStopped && this.#seeds.length < seeds.length;
    const folder = this.#folder;
    const result = this.#result(interrupted, outputs.report && folder !== undefined);
    const section = reportSection(result, this.#figures, configAsYaml(result));
    if (!folder) return { result, section, folder: undefined, replaced: false };
    let failure: unknown;
    if (outputs.report) {
      const html = await reportHtml({ title: result.name, sections: [section], footer: footerOf(result) });
      await writeFileAtomic(folder.path("report.html"), html).catch((error: unknown) => {
        failure = folder.named(error);
      });
    }
    await writeResult(folder, failure ? this.#result(interrupted, false) : result);
    const kept = interrupted ? await folder.keepInterrupted() : folder.target;
    const replaced = !interrupted && (await folder.commit());
    // What took hours to compute is not lost for want of its page.
    if (failure) throw failure;
    return { result, section, folder: kept, replaced };
  }

  #result(interrupted: boolean, hasReport: boolean): ExperimentResult {
    const experiment = this.#experiment;
    const first = this.#first;
    const data = this.#data;
    const bands = first?.forecasts?.bands;
    const missing = [...(data && "missingSaid" in data ? [data.missingSaid ?? []] : []), first?.leftOut ?? []].flat();
    const asked = askedBaselines(experiment);
    const { statistic } = experiment.scoring;
    const unit = (metric: MetricName) => first?.unit(metric);
    const verdict = verdictOn(this.#startErrors, statistic, asked, this.#columnErrors.length > 0);
    const chosen =
      describeChoices(this.#seeds.flatMap(({ choice }) => choice ?? [])) ??
      describeWeights(this.#seeds.flatMap(({ weighed }) => weighed ?? []));
    return {
      format: "spillway-result",
      formatVersion: 1,
      name: experiment.name,
      description: experiment.description,
      interrupted,
      finished: new Date().toISOString(),
      scores: summarise(experiment, this.#seeds, unit, verdict?.against),
      choice: chosen === undefined ? undefined : { sentence: chosen },
      verdict,
      columns: this.#seeds[0]?.columns?.map(({ column }, c) => {
        const errors = this.#columnErrors.map((each) => each[c]!);
        const own = verdictOn(errors, statistic, asked);
        const seeds = this.#seeds.map(({ columns }) => columns![c]!);
        const scores = summarise(experiment, seeds, unit, own?.against);
        return { column, scores, verdict: own, covered: bands?.columns?.[c] };
      }),
      bands: bands && { sentence: describeBands(bands), ...bands },
      classes: classResult(this.#confusions, first?.reliability),
      seeds: this.#seeds,
      engine: first?.engine,
      data: {
        summary: data?.summary,
        times: data && "timesSaid" in data ? data.timesSaid : undefined,
        task: first?.summary,
        missing: missing.length > 0 ? missing.join("; ") : undefined,
      },
      config: resolveExperiment(experiment, first?.reservoir),
      timing: { data: this.#loading, ...totalTiming(this.#seeds), total: (performance.now() - this.#begun) / 1000 },
      profile: addProfiles(this.#seeds.flatMap(({ profile }) => profile ?? [])),
      versions: versions(),
      machine: describeMachine(),
      files: [...(this.#folder ? ["result.json"] : []), ...this.#files, ...(hasReport ? ["report.html"] : [])],
    };
  }
}

async function writeResult(folder: OutputFolder, result: ExperimentResult): Promise<void> {
  await writeFileAtomic(folder.path("result.json"), `${formatResult(result)}\n`);
}

/** The last line of a page. */
export function footerOf({ versions: { spillway, node }, finished, machine }: ExperimentResult): string {
  return `spillway ${spillway} on Node.js ${node}, ${machine.processor}, ${finished.slice(0, 16).replace("T", " ")} UTC`;
}

function configAsYaml({ config }: ExperimentResult): string {
  return stringify(config, { lineWidth: 100 });
}

function isStop(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error instanceof Error && error.name === "AbortError";
}

/** An error with the experiment file it came from, if it does not name a file already. */
function withLocation(error: unknown, { path, experiment, errorOf }: LoadedExperiment): unknown {
  if (error instanceof ArgumentError) {
    const [top = ""] = error.field.split(/[.[]/);
    if (reservoirOnly.has(top)) return errorOf(error, `reservoir.${error.field}`);
    if (Object.hasOwn(experiment, top)) return errorOf(error);
  }
  const hasNoPath = error instanceof ArgumentError || (error instanceof ExperimentError && error.path === undefined);
  return hasNoPath ? new ExperimentError(error.message, { path, cause: error }) : error;
}

/**
 * Fields that only reservoirs have: their errors name them without the `reservoir.` that stands
 * before them in an experiment.
 */
const reservoirOnly = new Set(["size", "inputSize", "leakRate", "inputScaling", "initialState", "topology", "feedback"]);
