// Trials of a search on a device: all seeds and penalties of a batch side by side, with the scores
// that the CPU gives, to the bit. Some of them are evaluated there as well, and compared.
import type { SpillwayError } from "../core/errors.js";
import { CandidateSweep } from "../model/sweep/candidates.js";
import { engineFor } from "../model/sweep/members.js";
import type { Matrix } from "../numerics/index.js";
import type { RidgeTrainer } from "../readout/index.js";
import { resolveConfig } from "../reservoir/config-schema.js";
import type { Engine } from "../reservoir/engine.js";
import { isComposite } from "../reservoir/composite/config.js";
import { isSpiking, type ReservoirOptions } from "../reservoir/index.js";
import { DifferentResultsError } from "../search/different-results.js";
import { LadderTrainer } from "./ladder.js";
import { type PredictExperiment, type PredictionRows, predictionRows } from "./predict.js";
import { standardises } from "./prepare.js";
import { scoreSeries } from "./scores.js";
import type { SeedJob } from "./search-objective.js";
import {
  TrialEvaluator,
  type TrialOutcomeScores,
  type TrialPlaces,
  type TrialSetup,
  type TrialTask,
  type TrialWork,
} from "./search-trials.js";

/** The share of a search's time that goes into comparing with the CPU, beside its first batch. */
const comparedShare = 0.03;

/** Trials that are asked for and told at once, if nothing is said: a quarter of all, 16 to 64. */
export function deviceBatch(trials: number): number {
  return Math.max(16, Math.min(64, Math.ceil(trials / 4)));
}

/** A job that predicts rows from inputs by ridge regression of a plain reservoir. */
type SweptJob = SeedJob & { readonly experiment: PredictExperiment };

/** Jobs over the same rows, with what of their readouts is the same. */
interface JobGroup {
  readonly rows: PredictionRows;
  readonly jobs: SweptJob[];
}

/** Evaluates batches of trials on an engine that has sweeps. */
export class DeviceTrials implements TrialPlaces {
  readonly count = 1;
  /** The engine that sweeps. */
  readonly engine: Engine;
  readonly #evaluator: TrialEvaluator;
  readonly #compared: TrialEvaluator;
  readonly #signal: AbortSignal;
  readonly #sweep: CandidateSweep;
  readonly #rows = new WeakMap<object, Map<string, PredictionRows>>();
  readonly #begun = performance.now();
  #comparedMs = 0;
  #batches = 0;

  private constructor(engine: Engine, setup: TrialSetup, evaluator: TrialEvaluator, signal: AbortSignal) {
    this.engine = engine;
    this.#evaluator = evaluator;
    this.#compared = new TrialEvaluator({ ...setup, run: { ...setup.run, engine: "cpu" } }, signal);
    this.#signal = signal;
    this.#sweep = new CandidateSweep(engine);
  }

  /**
   * Undefined if the engine that is asked for, or that suits the batches of this search, takes one
   * reservoir after the other.
   * @throws EngineUnavailableError for an engine that is asked for and not there
   */
  static async of(
    setup: TrialSetup,
    evaluator: TrialEvaluator,
    trial: TrialTask,
    trials: number,
    signal: AbortSignal,
  ): Promise<DeviceTrials | undefined> {
    const { jobs } = await evaluator.work(trial);
    const [first] = jobs.filter(isSwept);
    if (!first) return undefined;
    const { data, experiment } = first;
    const rows = data.kind === "series" ? data.series.rows : data.kind === "driven" ? data.inputs.rows : 0;
    const steps = rows * jobs.length * deviceBatch(trials);
    const { engine } = await engineFor(setup.run.engine, resolveConfig({ ...(experiment.reservoir as ReservoirOptions), seed: 0 }), steps);
    return engine.sweep ? new DeviceTrials(engine, setup, evaluator, signal) : undefined;
  }

  async evaluate(task: TrialTask): Promise<TrialOutcomeScores> {
    return (await this.evaluateAll([task]))[0];
  }

  async evaluateAll(tasks: readonly TrialTask[]): Promise<readonly TrialOutcomeScores[]> {
    const works: (TrialWork | SpillwayError | undefined)[] = [];
    for (const task of tasks) works.push(await this.#evaluator.orError(() => this.#evaluator.work(task)));
    const jobs = works.flatMap((work) => (isWork(work) ? work.jobs : []));
    const scores = await this.#evaluator.orError(() => this.#scores(jobs.filter(isSwept)));
    if (scores instanceof Error) throw scores;
    const outcomes: TrialOutcomeScores[] = [];
    for (const work of works) outcomes.push(isWork(work) ? await this.#settle(work, scores) : work);
    // A batch that was stopped is none: all of it is given back.
    return this.#signal.aborted ? outcomes.map(() => undefined) : outcomes;
  }

  /** What the scores of a trial come to; jobs that the engine did not take are evaluated one by one. */
  #settle(work: TrialWork, scores: ReadonlyMap<SeedJob, readonly number[]> | undefined): Promise<TrialOutcomeScores> {
    return this.#evaluator.orError(async () => {
      const own: (readonly number[])[] = [];
      for (const job of work.jobs) own.push(scores?.get(job) ?? (await this.#evaluator.score(job)));
      return work.settle(own);
    });
  }

  /** Ends nothing: a device stays open for the process. */
  async dispose(): Promise<void> {}

  /** The scores of jobs by each of their trainers; without those that the engine does not take. */
  async #scores(jobs: readonly SweptJob[]): Promise<Map<SeedJob, readonly number[]>> {
    const scores = new Map<SeedJob, number[]>(jobs.map((job) => [job, job.trainers.map(() => Number.NaN)]));
    for (const { rows, jobs: group } of this.#groups(jobs)) {
      const [{ experiment, trainers }] = group as [SweptJob];
      const { intercept = true } = (trainers[0] as RidgeTrainer).description;
      const left = await this.#sweep.predict(
        group.map((job) => ({
          reservoir: { ...(job.experiment.reservoir as ReservoirOptions), seed: job.seed },
          lambdas: job.trainers.map((trainer) => (trainer as RidgeTrainer).description.lambda!),
        })),
        {
          ...{ train: rows.train, test: rows.test, washout: experiment.washout, constant: intercept },
          ...{ standardise: standardises(experiment), features: trainers[0]!.features },
        },
        (place, k, prediction) => {
          const job = group[place]!;
          if (prediction) scores.get(job)![k] = scoreOf(job, rows, rows.restore(prediction));
        },
        this.#signal,
      );
      for (const place of left) scores.delete(group[place]!);
    }
    await this.#compare(scores);
    return scores;
  }

  /** Jobs over the same rows together. */
  #groups(jobs: readonly SweptJob[]): readonly JobGroup[] {
    const groups = new Map<PredictionRows, Map<string, JobGroup>>();
    for (const job of jobs) {
      const rows = this.#rowsOf(job);
      const { features, description } = job.trainers[0] as RidgeTrainer;
      const name = JSON.stringify([features, description.intercept]);
      const alike = groups.get(rows) ?? new Map<string, JobGroup>();
      groups.set(rows, alike);
      const group = alike.get(name) ?? { rows, jobs: [] };
      alike.set(name, group);
      group.jobs.push(job);
    }
    return [...groups.values()].flatMap((alike) => [...alike.values()]);
  }

  /** The rows of a job, made once for the jobs of all batches. */
  #rowsOf({ experiment, data }: SweptJob): PredictionRows {
    const { split, transforms, task, washout } = experiment;
    const name = JSON.stringify([split, transforms, task, washout]);
    const known = this.#rows.get(data) ?? new Map<string, PredictionRows>();
    this.#rows.set(data, known);
    const rows = known.get(name) ?? predictionRows(experiment, data as never);
    known.set(name, rows);
    return rows;
  }

  /**
   * Evaluates a job on the CPU as well, another one of each batch, for a small share of the time.
   * @throws DifferentResultsError
   */
  async #compare(scores: ReadonlyMap<SeedJob, readonly number[]>): Promise<void> {
    const place = this.#batches++;
    if (scores.size === 0 || this.#comparedMs > comparedShare * (performance.now() - this.#begun)) return;
    const begun = performance.now();
    const [job, found] = [...scores][(place * 0x9e3779b1) % scores.size]!;
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

/** Whether a sweep can take it: inputs drive a plain reservoir, and sums of its states train ridge. */
function isSwept(job: SeedJob): job is SweptJob {
  const { experiment, data, trainers } = job;
  const { reservoir, task, encode } = experiment;
  if (task.type !== "predict" || data.kind === "cases" || encode || isSpiking(reservoir) || isComposite(reservoir)) return false;
  if (reservoir.feedback || reservoir.cell || !LadderTrainer.of(trainers)) return false;
  return trainers.every((trainer) => {
    const { lambda = 0, subtractMean, blas } = (trainer as RidgeTrainer).description;
    return lambda > 0 && !subtractMean && (blas === undefined || blas === "portable");
  });
}

/** What an experiment would score. */
function scoreOf({ experiment }: SweptJob, { target, settle }: PredictionRows, prediction: Matrix): number {
  const { metrics, scoring } = experiment;
  return scoreSeries([{ prediction: prediction.subarray(settle), target: target.subarray(settle) }], metrics, { scoring })[metrics[0]!]!;
}
