// The value of one setting: an experiment on the training part alone, whose last rows or folds
// score. The test part is cut off before a trial begins.
import { ArgumentError, isNumeric } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import { metrics } from "../../metrics/index.js";
import { stratifiedKFold } from "../../pipeline/index.js";
import type { Trainer } from "../../readout/index.js";
import { rowsLost } from "../../series/index.js";
import { axisRows } from "../../series/time-grid.js";
import { loadData } from "../data/data.js";
import type { CaseData, DrivenRows, ExperimentData } from "../data/experiment-data.js";
import { ownTransforms, rowsAhead } from "../data/prepare.js";
import { resolveRows } from "../data/resolve-rows.js";
import { splitRows } from "../data/split.js";
import type { Experiment, OpenExperiment, OpenForecastTask } from "../description/description.js";
import { withFields } from "../description/overrides.js";
import { readExperiment } from "../description/parse.js";
import { stratifiedSplit } from "../tasks/classify.js";
import { runTask } from "../tasks/run-task.js";
import { median } from "../tasks/scores.js";
import type { EngineChoiceOptions } from "../tasks/trial.js";
import { LambdaPathTrainer } from "./lambda-path.js";

/** What a trial is measured by. */
export interface SearchObjective {
  readonly score: string;
  readonly on: "validation" | "closedLoop" | "folds";
  readonly rows?: number | undefined;
  readonly starts?: number | undefined;
  readonly horizon?: number | undefined;
  readonly folds: number;
}

/** How the seeds of a trial become one value. */
export type SeedStatistic = "median" | "mean" | "worst";

/** The objective of an experiment with what was left out, which its task says. */
export function objectiveOf(
  experiment: OpenExperiment,
  given: { readonly [Name in keyof SearchObjective]?: SearchObjective[Name] | undefined },
): SearchObjective {
  const { type } = experiment.task;
  if (type === "detect" || type === "anomalies") throw new ArgumentError("task.type", type, "predict, forecast or classify to search over");
  const own = type === "predict" ? "validation" : type === "forecast" ? "closedLoop" : "folds";
  const { on = own, score = experiment.metrics[0]!, folds = 5, ...rest } = given;
  if (on !== own) throw new ArgumentError("search.objective.on", on, `${JSON.stringify(own)} for ${type}`);
  if (!experiment.metrics.includes(score))
    throw new ArgumentError("search.objective.score", score, `one of the experiment's metrics: ${experiment.metrics.join(", ")}`);
  return { ...rest, on, score, folds };
}

/** Whether small values of a metric are good. */
export function isLowerBetter(score: string): boolean {
  return metrics.get(score).better === "lower";
}

/** What the seeds of a setting gave. */
export interface SettingScores {
  readonly value: number;
  /** The score of each seed; one whose states left for infinity has the worst value. */
  readonly seeds: readonly number[];
  readonly diverged: number;
}

/** What is evaluated: values by their paths, with seeds and perhaps fewer training rows. */
export interface Setting {
  readonly values: Readonly<Record<string, unknown>>;
  readonly seeds: readonly Seed[];
  readonly trainRows?: number | undefined;
}

/**
 * One reservoir to train and score, with each of some trainers. Jobs of a setting over the same
 * rows share their experiment.
 */
export interface SeedJob {
  readonly experiment: Experiment;
  readonly data: ExperimentData;
  readonly seed: Seed;
  readonly trainers: readonly Trainer[];
}

/** What of a series or of cases trains and scores. */
type JobPart = Pick<SeedJob, "experiment" | "data">;

/** The jobs of a setting, and what their scores come to for each trainer. */
export interface SettingWork {
  readonly jobs: readonly SeedJob[];
  combine(scores: readonly (readonly number[])[]): SettingScores[];
}

/** What settings have in common. */
export interface SettingParts {
  /** The experiment as it was written, without its search. */
  readonly source: unknown;
  readonly path: string | undefined;
  readonly objective: SearchObjective;
  readonly statistic: SeedStatistic;
  readonly run: EngineChoiceOptions & { readonly signal: AbortSignal };
}

/** Evaluates settings of one experiment. Data that several settings share is loaded once. */
export class SettingEvaluator {
  readonly #parts: SettingParts;
  readonly #data = new Map<string, Promise<ExperimentData>>();
  readonly #cuts = new WeakMap<ExperimentData, Map<string, ExperimentData>>();

  constructor(parts: SettingParts) {
    this.#parts = parts;
  }

  /**
   * The value of a setting over its seeds. Half of the seeds or more with states that are not
   * finite make it the worst value; fewer are left out.
   * @param trainRows train on the last so many rows before those that score; left out, on all
   */
  async evaluate(values: Readonly<Record<string, unknown>>, seeds: readonly Seed[], trainRows?: number): Promise<SettingScores> {
    const { jobs, combine } = await this.work({ values, seeds, trainRows });
    const scores: (readonly number[])[] = [];
    for (const job of jobs) scores.push(await this.score(job));
    return combine(scores)[0]!;
  }

  /** What there is to do for a setting. */
  work(setting: Setting): Promise<SettingWork> {
    const { experiment, trainer } = readExperiment(withFields(this.#parts.source, setting.values));
    return this.#work(experiment, [trainer], setting);
  }

  /**
   * The same for each of some lambdas by one training a seed, to the bit of trainings one by one;
   * undefined if the readout or the task takes a training for each.
   */
  lambdaPathWork(setting: Setting, lambdas: readonly number[]): Promise<SettingWork> | undefined {
    const read = lambdas.map((lambda) => readExperiment(withFields(this.#parts.source, { ...setting.values, "readout.lambda": lambda })));
    const { experiment } = read[0]!;
    const trainers = read.map(({ trainer }) => trainer);
    if (experiment.task.type !== "predict" || !LambdaPathTrainer.of(trainers)) return undefined;
    return this.#work(experiment, trainers, setting);
  }

  async #work(experiment: OpenExperiment, trainers: readonly Trainer[], { seeds, trainRows }: Setting): Promise<SettingWork> {
    const jobs: SeedJob[] = [];
    const partsOfSeeds: number[] = [];
    const load = this.#loader(experiment);
    const rowsOf = new Map<ExperimentData, readonly JobPart[]>();
    for (const seed of seeds) {
      const data = await load(seed);
      // Folds differ by seed, rows do not.
      const parts = rowsOf.get(data) ?? this.#scored(experiment, data, seed, trainRows);
      if (data.kind !== "cases") rowsOf.set(data, parts);
      partsOfSeeds.push(parts.length);
      for (const part of parts) jobs.push({ ...part, seed, trainers });
    }
    const combine = (scores: readonly (readonly number[])[]) =>
      trainers.map((_, k) => {
        let at = 0;
        return this.#combineSeeds(
          partsOfSeeds.map((parts) => {
            let sum = 0;
            for (const end = at + parts; at < end; at++) sum += scores[at]![k]! / parts;
            return sum;
          }),
        );
      });
    return { jobs, combine };
  }

  #combineSeeds(scores: readonly number[]): SettingScores {
    const worst = isLowerBetter(this.#parts.objective.score) ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    const finite = scores.filter(Number.isFinite);
    const diverged = scores.length - finite.length;
    const value = 2 * diverged >= scores.length ? worst : this.#combine(finite);
    return { value, seeds: scores.map((score) => (Number.isFinite(score) ? score : worst)), diverged };
  }

  #combine(scores: readonly number[]): number {
    if (this.#parts.statistic === "median") return median(scores);
    if (this.#parts.statistic === "mean") return scores.reduce((sum, score) => sum + score, 0) / scores.length;
    return isLowerBetter(this.#parts.objective.score) ? Math.max(...scores) : Math.min(...scores);
  }

  /** The score of a job by each of its trainers; NaN if states or a readout are not finite. */
  async score({ experiment, data, seed, trainers }: SeedJob): Promise<number[]> {
    try {
      const lambdaPath = trainers.length > 1 ? LambdaPathTrainer.of(trainers) : undefined;
      const options = { isFirst: false, withFigures: false, withBaselines: false, onProgress: () => undefined };
      const trial = await runTask(experiment, data, {
        ...this.#parts.run,
        ...options,
        seed,
        trainer: lambdaPath ?? trainers[0]!,
        lambdaPath,
      });
      await trial.dispose();
      const { score } = this.#parts.objective;
      return trial.lambdaPath ? trial.lambdaPath.map((scores) => scores?.[score] ?? Number.NaN) : [trial.scores[score]!];
    } catch (error) {
      if (isNumeric(error)) return trainers.map(() => Number.NaN);
      throw error;
    }
  }

  /** The data of seeds; those of the last few settings that differed in them are kept. */
  #loader(experiment: OpenExperiment): (seed: Seed) => Promise<ExperimentData> {
    const { data, split, task, transforms, reservoir } = experiment;
    const isRedrawn = "task" in data && data.redraw;
    const setting = JSON.stringify([data, split, task, transforms, "patterns" in data || "spikes" in data ? reservoir : 0]);
    const load = (seed: Seed): Promise<ExperimentData> => {
      const known = isRedrawn ? `${setting} ${JSON.stringify(seed)}` : setting;
      const kept = this.#data.get(known);
      if (kept) return kept;
      const loaded = loadData(experiment, this.#parts.path, seed);
      this.#data.set(known, loaded);
      if (this.#data.size > 64) this.#data.delete(this.#data.keys().next().value!);
      return loaded;
    };
    let shared: Promise<ExperimentData> | undefined;
    return isRedrawn ? load : (seed) => (shared ??= load(seed));
  }

  /** The training part alone, and what of it scores. */
  #scored(experiment: OpenExperiment, data: ExperimentData, seed: Seed, trainRows: number | undefined): readonly JobPart[] {
    const { score } = this.#parts.objective;
    const bare: OpenExperiment = { ...experiment, metrics: [score], baselines: [], published: [] };
    if (data.kind === "cases") return this.#folds(resolveRows(bare, data), data, seed);
    if (data.kind === "series" && data.more)
      throw ArgumentError.because("a search takes one series; data.group or gaps: split gives several", { field: "data" });
    const ahead = rowsAhead(experiment, data.kind);
    const rows = data.kind === "series" ? data.series.rows : data.inputs.rows;
    const lost = rowsLost(ownTransforms(experiment));
    const hasOwnTest = data.test !== undefined || (experiment.task.type === "forecast" && experiment.task.independent);
    const whole = splitRows(experiment.split, rows - ahead - lost, hasOwnTest).train;
    const validation = this.#parts.objective.rows ?? Math.max(1, Math.round(whole / 4));
    const left = whole - validation;
    const washout = experiment.washout === "auto" ? 0 : experiment.washout;
    if (left <= washout)
      throw new ArgumentError(
        "search.objective.rows",
        validation,
        `fewer: of ${whole} training rows ${Math.max(0, left)} are left, and ${washout} are washout`,
      );
    const training = trainRows ?? left;
    if (training > left)
      throw new ArgumentError("search.halving.rows", training, `at most ${left}: of ${whole} training rows the last ${validation} score`);
    if (training <= washout) throw new ArgumentError("search.halving.rows", training, `more than the ${washout} rows of the washout`);
    const end = whole + ahead + lost;
    const from = whole - validation - training;
    const cut = this.#cut(data, from, end);
    const task = experiment.task.type === "forecast" ? this.#closedLoop(experiment.task) : experiment.task;
    const part = { ...bare, task, split: { train: training, test: validation } };
    return [{ experiment: resolveRows(part, cut), data: cut }];
  }

  /**
   * Rows of data; asked for again they are the same object, so what is made of them can be kept.
   */
  #cut(data: Exclude<ExperimentData, CaseData>, from: number, end: number): ExperimentData {
    const known = this.#cuts.get(data) ?? new Map<string, ExperimentData>();
    this.#cuts.set(data, known);
    const name = `${from} ${end}`;
    const cut: ExperimentData =
      known.get(name) ??
      (data.kind === "series"
        ? {
            ...data,
            series: data.series.subarray(from, end),
            known: data.known?.subarray(from, end),
            filled: data.filled?.subarray(from, end),
            axis: data.axis && axisRows(data.axis, from, end),
            times: data.times?.slice(from, end),
            test: undefined,
          }
        : { ...data, ...drivenRows(data, from, end), axis: data.axis && axisRows(data.axis, from, end), test: undefined });
    known.set(name, cut);
    return cut;
  }

  #closedLoop(task: OpenForecastTask): OpenForecastTask {
    const { starts = task.starts, horizon = task.horizon } = this.#parts.objective;
    return { ...task, starts, horizon, stride: undefined, independent: false };
  }

  #folds(experiment: Experiment, data: CaseData, seed: Seed): readonly JobPart[] {
    const { sequences, labels } = data.test ? data.train : stratifiedSplit(experiment, data.train, seed).train;
    const pick = (cases: readonly number[]) => ({ sequences: cases.map((i) => sequences[i]!), labels: cases.map((i) => labels[i]!) });
    return stratifiedKFold(labels, { folds: this.#parts.objective.folds }).map(({ train, test }) => ({
      experiment,
      data: { ...data, train: pick(train), test: pick(test) },
    }));
  }
}

function drivenRows({ inputs, targets, filled }: DrivenRows, from: number, to: number): DrivenRows {
  const cut = (part: Pick<DrivenRows, "inputs" | "targets">) => ({
    inputs: part.inputs.subarray(from, to),
    targets: part.targets.subarray(from, to),
  });
  return { ...cut({ inputs, targets }), filled: filled && cut(filled) };
}
