// Trials of a search on a device: all seeds and penalties of a batch side by side, with the scores
// that the CPU gives, to the bit. Some of them are evaluated there as well, and compared.
import { orError, SpillwayError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import type { Matrix } from "@spillway/numerics";
import { DifferentResultsError } from "@spillway/search/different-results.js";
import { forecasterReservoir } from "../../model/defaults.js";
import { forecastsOf, predictionsOf } from "../../model/sweep/asks.js";
import type { RidgeOptions, RidgeTrainer } from "../../readout/index.js";
import { isComposite } from "../../reservoir/composite/config.js";
import type { ReservoirConfig } from "../../reservoir/config.js";
import { resolveConfig } from "../../reservoir/config-schema.js";
import type { ReadoutAsk } from "../../reservoir/engine/evaluation.js";
import type { Engine } from "../../reservoir/engine.js";
import { KeptBases } from "../../reservoir/evaluate/base-drawing.js";
import { type Candidate, type EvaluatedMember, evaluate } from "../../reservoir/evaluate/evaluate.js";
import { engineFor } from "../../reservoir/evaluate/members.js";
import { isSpiking, type ReservoirOptions } from "../../reservoir/index.js";
import { isRegistered } from "../../reservoir/registered/model.js";
import { standardises } from "../data/prepare.js";
import type { Experiment } from "../description/description.js";
import { modelTypeOf } from "../description/model-options.js";
import type { Scores } from "../runs/result.js";
import { type PlainForecast, plainForecast } from "../tasks/plain-forecast.js";
import { type PredictionRows, predictionRows } from "../tasks/predict.js";
import { seriesScorer } from "../tasks/scores.js";
import { LambdaPathTrainer } from "./lambda-path.js";
import type { SeedJob } from "./search-objective.js";
import type { SearchPlan } from "./search-plan.js";
import {
  TrialEvaluator,
  type TrialOutcomeScores,
  type TrialRunner,
  type TrialSetup,
  type TrialTask,
  type TrialWork,
} from "./search-trials.js";

/** The share of a search's time that goes into comparing with the CPU, beside its first batch. */
const comparedShare = 0.03;

/** Trials that are asked for and finished at once, if nothing is said: a quarter of all, 16 to 64. */
export function deviceBatch(trials: number): number {
  return Math.max(16, Math.min(64, Math.ceil(trials / 4)));
}

/** What the jobs of a group have in common: the rows, and how what is made of them is scored. */
type SharedRows = { readonly prediction: PredictionRows } | { readonly forecast: PlainForecast };

/** Scores of the metrics of an experiment. */
type Scorer = (prediction: Matrix) => Scores;

/** Jobs over the same rows, whose readouts see the same of them. */
interface JobGroup {
  readonly shared: SharedRows;
  readonly jobs: SeedJob[];
  /** One for each job. */
  readonly candidates: Candidate[];
}

/** Evaluates batches of trials on an engine that has sweeps. */
export class DeviceTrials implements TrialRunner {
  readonly count = 1;
  /** The engine that sweeps. */
  readonly engine: Engine;
  readonly #evaluator: TrialEvaluator;
  readonly #compared: TrialEvaluator;
  readonly #signal: AbortSignal;
  readonly #kept = new KeptBases();
  readonly #rows = new WeakMap<object, Map<string, SharedRows | undefined>>();
  readonly #begun = performance.now();
  #comparedMs = 0;
  #batches = 0;

  private constructor(engine: Engine, setup: TrialSetup, evaluator: TrialEvaluator, signal: AbortSignal) {
    this.engine = engine;
    this.#evaluator = evaluator;
    this.#compared = new TrialEvaluator({ ...setup, run: { ...setup.run, engine: "cpu" } }, signal);
    this.#signal = signal;
  }

  /**
   * Undefined if the engine that is asked for, or that suits the batches of this search, takes one
   * reservoir after the other.
   * @throws EngineUnavailableError for an engine that is asked for and not there
   */
  static async of(
    { space, seeds }: Pick<SearchPlan, "space" | "seeds">,
    setup: TrialSetup,
    evaluator: TrialEvaluator,
    trials: number,
    signal: AbortSignal,
  ): Promise<DeviceTrials | undefined> {
    // A setting that cannot be evaluated says so as a trial.
    const low = await evaluator.workAt(space, "low", seeds);
    const work = isWork(low) ? low : await evaluator.workAt(space, "high", seeds);
    if (!isWork(work)) return undefined;
    const { jobs } = work;
    const [first] = jobs;
    if (!first || !isSummed(first) || orNone(() => sharedRows(first)) === undefined) return undefined;
    const { data, experiment } = first;
    const rows = data.kind === "series" ? data.series.rows : data.kind === "driven" ? data.inputs.rows : 0;
    const steps = rows * jobs.length * deviceBatch(trials);
    // A plan's name means one reservoir after the other.
    if ((setup.run.plan ?? experiment.plan ?? "auto") !== "auto") return undefined;
    const { engine } = await engineFor(
      setup.run.engine ?? experiment.engine,
      resolveConfig({ ...(experiment.reservoir as ReservoirOptions), seed: 0 }),
      steps,
    );
    return engine.device ? new DeviceTrials(engine, setup, evaluator, signal) : undefined;
  }

  async evaluate(task: TrialTask): Promise<TrialOutcomeScores> {
    return (await this.evaluateAll([task]))[0];
  }

  async evaluateAll(tasks: readonly TrialTask[]): Promise<readonly TrialOutcomeScores[]> {
    const works: (TrialWork | SpillwayError | undefined)[] = [];
    for (const task of tasks) works.push(await this.#evaluator.orError(() => this.#evaluator.work(task)));
    const jobs = works.flatMap((work) => (isWork(work) ? work.jobs : []));
    const scores = await this.#evaluator.orError(() => this.#scores(jobs));
    if (scores instanceof Error) throw scores;
    const outcomes: TrialOutcomeScores[] = [];
    for (const work of works) outcomes.push(isWork(work) ? await this.#combine(work, scores) : work);
    // A batch that was stopped is none: all of it is given back.
    return this.#signal.aborted ? outcomes.map(() => undefined) : outcomes;
  }

  /**
   * What the scores of a trial come to; jobs that the engine did not take are evaluated one by one.
   */
  #combine(work: TrialWork, scores: ReadonlyMap<SeedJob, readonly number[]> | undefined): Promise<TrialOutcomeScores> {
    return this.#evaluator.orError(async () => {
      const own: (readonly number[])[] = [];
      for (const job of work.jobs) own.push(scores?.get(job) ?? (await this.#evaluator.score(job)));
      return work.combine(own);
    });
  }

  /** Ends nothing: a device stays open for the process. */
  async dispose(): Promise<void> {}

  /** The scores of jobs by each of their trainers, of those that the engine evaluates. */
  async #scores(jobs: readonly SeedJob[]): Promise<Map<SeedJob, readonly number[]>> {
    const scores = new Map<SeedJob, number[]>();
    for (const group of this.#groups(jobs)) {
      for (const job of group.jobs) scores.set(job, new Array<number>(job.trainers.length).fill(Number.NaN));
      const set = (index: number, k: number, found: Scores) => {
        const job = group.jobs[index]!;
        scores.get(job)![k] = found[job.experiment.metrics[0]!]!;
      };
      const options = { engine: this.engine, kept: this.#kept, signal: this.#signal };
      const { left } = await evaluate(group.candidates, askOf(group, set), options);
      for (const index of left) scores.delete(group.jobs[index]!);
    }
    await this.#compare(scores);
    return scores;
  }

  /** Jobs over the same rows together; those that no engine evaluates side by side are left out. */
  #groups(jobs: readonly SeedJob[]): readonly JobGroup[] {
    const groups = new Map<SharedRows, Map<string, JobGroup>>();
    const known = new Map<Experiment, { readonly group: JobGroup; readonly template: Omit<Candidate, "seed"> } | undefined>();
    const described = (job: SeedJob) => {
      const shared = isSummed(job) ? this.#sharedRows(job) : undefined;
      const config = shared && configOrNone(job, shared);
      if (!config) return undefined;
      const trainers = job.trainers as readonly RidgeTrainer[];
      const name = JSON.stringify([trainers[0]!.features, trainers[0]!.description.intercept]);
      const alike = getOrMake(groups, shared, () => new Map<string, JobGroup>());
      const group = getOrMake(alike, name, () => ({ shared, jobs: [], candidates: [] }));
      return { group, template: { config, lambdas: trainers.map(({ description }) => description.lambda!) } };
    };
    for (const job of jobs) {
      if (!known.has(job.experiment)) known.set(job.experiment, described(job));
      const { group, template } = known.get(job.experiment) ?? {};
      group?.jobs.push(job);
      group?.candidates.push({ ...template!, seed: job.seed });
    }
    return [...groups.values()].flatMap((alike) => [...alike.values()]);
  }

  /** The rows of a job, made once for the jobs of all batches. */
  #sharedRows(job: SeedJob): SharedRows | undefined {
    const { split, transforms, task, washout, readout } = job.experiment;
    const { lambda, selection } = readout as RidgeOptions;
    const name = JSON.stringify([split, transforms, task, washout, lambda === undefined, selection, job.experiment.baselines]);
    const known = getOrMake(this.#rows, job.data, () => new Map<string, SharedRows | undefined>());
    const rows = known.has(name) ? known.get(name) : orNone(() => sharedRows(job));
    known.set(name, rows);
    return rows;
  }

  /**
   * Evaluates a job on the CPU as well, another one of each batch, for a small share of the time.
   * @throws DifferentResultsError
   */
  async #compare(scores: ReadonlyMap<SeedJob, readonly number[]>): Promise<void> {
    const batch = this.#batches++;
    if (scores.size === 0 || this.#comparedMs > comparedShare * (performance.now() - this.#begun)) return;
    const begun = performance.now();
    const [job, found] = [...scores][(batch * 0x9e3779b1) % scores.size]!;
    const wanted = await this.#compared.score(job);
    const k = wanted.findIndex((score, i) => !Object.is(score, found[i]));
    this.#comparedMs += performance.now() - begun;
    if (k < 0) return;
    const { reason } = await this.engine.probe();
    throw new DifferentResultsError(
      `${this.engine.name} (${reason}) scored a reservoir of seed ${JSON.stringify(job.seed)} with ${found[k]}, and the CPU ${wanted[k]}: the device or its driver is not sound, and no trial of this batch was kept`,
    );
  }
}

function isWork(work: TrialWork | SpillwayError | undefined): work is TrialWork {
  return work !== undefined && "jobs" in work;
}

/** Whether sums of a plain reservoir's states train ridge. */
function isSummed({ experiment, trainers }: SeedJob): boolean {
  const { reservoir, encode } = experiment;
  if (modelTypeOf(experiment) !== "forecaster") return false;
  if (encode || isSpiking(reservoir) || isRegistered(reservoir) || isComposite(reservoir) || reservoir.feedback || reservoir.cell)
    return false;
  if (!LambdaPathTrainer.of(trainers)) return false;
  return trainers.every((trainer) => {
    const { lambda = 0, subtractMean, blas } = (trainer as RidgeTrainer).description;
    return lambda > 0 && !subtractMean && (blas === undefined || blas === "portable");
  });
}

/** What is asked of the candidates of a group. */
function askOf(
  { shared, jobs }: JobGroup,
  set: (index: number, trainer: number, scores: Scores) => void,
): (config: ReservoirConfig) => ReadoutAsk<EvaluatedMember> {
  const [{ experiment, trainers }] = jobs as [SeedJob];
  const { washout } = experiment;
  const { intercept: constant = true } = (trainers[0] as RidgeTrainer).description;
  const common = { washout, constant, standardise: standardises(experiment), features: trainers[0]!.features };
  if ("forecast" in shared)
    return forecastsOf(
      { ...common, ...shared.forecast },
      (index, k, forecasts) => forecasts && set(index, k, shared.forecast.score(forecasts, jobs[index]!.experiment)),
    );
  const { train, test, restore, skipped, target } = shared.prediction;
  const scored = target.subarray(skipped);
  const scorers = new Map<Experiment, Scorer>();
  const scorerOf = (experiment: Experiment): Scorer => {
    const { metrics, scoring } = experiment;
    const score = seriesScorer([scored], metrics, { scoring });
    const scorer: Scorer = (made) => score([skipped > 0 ? restore(made).subarray(skipped) : restore(made)]);
    scorers.set(experiment, scorer);
    return scorer;
  };
  return predictionsOf({ ...common, train, test }, (index, k, made) => {
    const { experiment } = jobs[index]!;
    if (made) set(index, k, (scorers.get(experiment) ?? scorerOf(experiment))(made));
  });
}

/** The description of a job's reservoir; undefined if it is refused, which it says by itself. */
function configOrNone({ experiment }: SeedJob, shared: SharedRows): ReservoirConfig | undefined {
  const inputSize = "forecast" in shared ? shared.forecast.series.cols : shared.prediction.train.inputs.cols;
  return orNone(() => resolveConfig(forecasterReservoir({ inputSize, ...(experiment.reservoir as ReservoirOptions) })));
}

/** Undefined for a job that cannot be evaluated, which says why if it is evaluated by itself. */
function orNone<Made>(make: () => Made): Made | undefined {
  const made = orError(make, SpillwayError);
  return made instanceof SpillwayError ? undefined : made;
}

/**
 * The rows of a job, if all its readouts do is to predict them, or to go on from some of them.
 */
function sharedRows({ experiment, data, seed }: SeedJob): SharedRows | undefined {
  const { task } = experiment;
  if (task.type === "predict" && data.kind !== "cases") return { prediction: predictionRows({ ...experiment, task }, data) };
  const forecast = task.type === "forecast" && data.kind === "series" && plainForecast({ ...experiment, task }, data, seed);
  return forecast ? { forecast } : undefined;
}
