// What one seed of an experiment gives back, for all tasks, and what it gets. The tasks are
// predict.ts, forecast.ts and classify.ts.

import type { SpillwayError } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import type { ConfusionMatrix, Reliability } from "../../metrics/index.js";
import type { ForecasterOptions } from "../../model/index.js";
import type { Figure } from "../../plot/index.js";
import type { Trainer } from "../../readout/index.js";
import { selectionOf } from "../../reservoir/computer-options.js";
import type { AnyModel, EnginePlan, EngineSelection, Profile, WorkOptions } from "../../reservoir/index.js";
import type { CalendarFeature } from "../../series/calendar.js";
import type { StartErrors } from "../../series/index.js";
import { standardises } from "../data/prepare.js";
import type { Experiment, MetricName } from "../description/description.js";
import type { RunFile } from "../runs/output-folder.js";
import type { LambdaPathTrainer } from "../search/lambda-path.js";
import type { ChosenSettings, WeighedMembers } from "./forecast-choice.js";
import type { RunForecasts } from "./forecast-figures.js";
import type { ColumnScores, Scores } from "./scores.js";

/** Where an experiment runs; `engine` and `plan` in place of the file's. */
export interface EngineChoiceOptions extends EngineSelection {
  /** Measure phases: `computer.profile`. */
  readonly profile?: boolean | undefined;
}

/** How a trial runs. */
export interface TrialOptions extends EngineChoiceOptions {
  readonly seed: Seed;
  /** What trains the readout. */
  readonly trainer: Trainer;
  /** The trainer, if it trains a path of lambdas whose scores are wanted; only `predict` reads it. */
  readonly lambdaPath?: LambdaPathTrainer | undefined;
  /** Whether it is the first seed, whose forecasts and bands are kept. */
  readonly isFirst: boolean;
  /** Whether its model is trained on all rows in the end, to be saved. */
  readonly refits?: boolean | undefined;
  /** Whether its figures are wanted: those of the first seed are. */
  readonly withFigures: boolean;
  /**
   * Whether a forecast is compared with baselines, including those that were not named. A trial of a
   * search is not: they are the same for all, and some take as long as the reservoir.
   */
  readonly withBaselines: boolean;
  readonly signal: AbortSignal;
  /** Called with the share that is done, 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** Errors by start: of the model, and of every baseline. */
export interface ModelErrors {
  readonly model: StartErrors;
  readonly baselines: readonly StartErrors[];
}

/** What one seed gave. */
export interface Trial {
  /** The engine and the reservoir as it was made; undefined of a model that has none. */
  readonly engine?: { readonly name: string; readonly reason: string; readonly plan: EnginePlan } | undefined;
  readonly reservoir?: AnyModel["config"] | undefined;
  /** Of rate reservoirs. */
  readonly measuredRadius?: number | undefined;
  readonly radiusMethod?: string | undefined;
  readonly readout: Readonly<Record<string, unknown>>;
  /** Of forecasts whose settings were chosen. */
  readonly choice?: ChosenSettings | undefined;
  /** Of a combination: its members with their weights. */
  readonly weighed?: WeighedMembers | undefined;
  readonly scores: Scores;
  /** The scores of each lambda of a path, undefined for one that could not be solved. */
  readonly lambdaPath?: readonly (Scores | undefined)[] | undefined;
  readonly baselines: Readonly<Record<string, Scores>>;
  /** Of several columns: each by itself. */
  readonly columns?: readonly ColumnScores[] | undefined;
  /** Of forecasts of the first seed: every one, and how their bands did. */
  readonly forecasts?: RunForecasts | undefined;
  /** Of forecasts: errors by start, of the model and of every baseline of a series. */
  readonly startErrors?: ModelErrors | undefined;
  /** The same of each of several columns. */
  readonly columnErrors?: readonly ModelErrors[] | undefined;
  /** Of classes: how often each was taken for each, and of the first seed, how calibrated it is. */
  readonly confusion?: ConfusionMatrix | undefined;
  readonly reliability?: Reliability | undefined;
  /** Seconds by phase. */
  readonly timing: Readonly<Record<string, number>>;
  /** Of training and testing, if it was asked for. */
  readonly profile?: Profile | undefined;
  /** The task in a line, as it was run: rows, starts. */
  readonly summary: string;
  /** Of a series: what of the test part counts for nothing, in words. */
  readonly leftOut?: readonly string[] | undefined;
  readonly figures: readonly Figure[];
  unit(metric: MetricName): string | undefined;
  /** Writes the model; gives the names of the files that it wrote beside it. */
  save(path: string): Promise<readonly RunFile[]>;
  /** Writes states, every k-th row, into files of this folder; gives their names. */
  saveStates(folder: string, every: number, signal: AbortSignal): Promise<readonly RunFile[]>;
  dispose(): Promise<void>;
}

/** What of the data a model sees beside the series: the calendar, and where values are missing. */
export function seriesOptions({ data }: Experiment): { readonly calendar?: readonly CalendarFeature[]; readonly missing?: "mask" } {
  return {
    ...("calendar" in data && data.calendar !== undefined && { calendar: data.calendar }),
    ...("missing" in data && data.missing === "mask" && { missing: "mask" as const }),
  };
}

/** The forecaster of an experiment for one seed. */
export function forecasterOptions(
  experiment: Experiment,
  { seed, trainer, profile, signal, ...on }: TrialOptions,
): ForecasterOptions & Pick<WorkOptions, "signal"> {
  const { reservoir, washout } = experiment;
  return {
    ...seriesOptions(experiment),
    reservoir: { ...reservoir, seed },
    readout: trainer,
    washout,
    standardise: standardises(experiment),
    ...selectionOf(on),
    profile,
    signal,
  };
}

/** What is known of the spectral radius of a model's weights. */
export function radiusOf(model: AnyModel): Pick<Trial, "measuredRadius" | "radiusMethod"> {
  return model.kind !== undefined ? {} : { measuredRadius: model.measuredRadius, radiusMethod: model.radiusMethod };
}

/** Says that the saved model is the one that was scored. */
export function notRefittedSaid({ message }: SpillwayError): string {
  return `the model could not be trained on all rows, and the one that was scored is saved (${message})`;
}

/** Reports the progress of work in stages: each has a share of the whole that is known before. */
export class StagedProgress {
  readonly #onProgress: (share: number) => void;
  readonly #total: number;
  #done = 0;
  #stage = 0;

  /** @param total the steps of all stages. */
  constructor(onProgress: (share: number) => void, total: number) {
    this.#onProgress = onProgress;
    this.#total = Math.max(1, total);
  }

  /** Begins a stage of this many steps; the work calls what it returns. */
  stage(steps: number): (done: number) => void {
    this.#done += this.#stage;
    this.#stage = steps;
    this.#onProgress(this.#done / this.#total);
    return (done) => this.#onProgress((this.#done + Math.min(done, steps)) / this.#total);
  }
}

/** Seconds that pieces of work took. */
export class Stopwatch {
  readonly seconds: Record<string, number> = {};

  /** Times a piece of work; several of one name add up. */
  async time<Result>(phase: string, work: () => Promise<Result>): Promise<Result> {
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.seconds[phase] = (this.seconds[phase] ?? 0) + (performance.now() - begun) / 1000;
    }
  }
}
