// What a run of the task "forecast" asks of a model: something that is trained on rows and
// forecasts from rows. Which model that is, is chosen here and nowhere else.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import type { MeasuredErrors } from "../model/forecaster/bands.js";
import type { TableNames } from "../model/index.js";
import type { Figure } from "../plot/index.js";
import type { TimeStep } from "../series/index.js";
import type { PreparedSeries } from "./data/prepare.js";
import type { Experiment, ForecastTask } from "./description/description.js";
import { modelTypeOf } from "./description/model-options.js";
import { planField } from "./forecast-field.js";
import { planNvar } from "./forecast-nvar.js";
import { planReservoir } from "./forecast-reservoir.js";
import type { RunFile } from "./runs/output-folder.js";
import type { Trial, TrialOptions } from "./tasks/trial.js";

export type ForecastExperiment = Experiment & { readonly task: ForecastTask };

/** A series, and how many of its first rows train. */
export type TrainingRows = Pick<PreparedSeries, "whole" | "facts" | "trainRows">;

/** A row of a series, from which on it is forecast. */
export interface RowPlace extends Pick<PreparedSeries, "whole" | "facts"> {
  readonly at: number;
}

/** What beside the rows a training has. */
export interface FitWork {
  /** What a model file keeps of a CSV file's columns. */
  readonly table?: TableNames | undefined;
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** A trained model. */
export interface RunModel {
  /** What a result says of it. */
  readonly found: Pick<Trial, "engine" | "reservoir" | "measuredRadius" | "radiusMethod" | "readout" | "choice" | "profile">;
  /** Errors of the forecasts that its settings were chosen by; undefined if none were. */
  readonly measured: MeasuredErrors | undefined;
  /** The rows from a place on, driven by the warm-up before it. */
  forecast(steps: number, place: RowPlace): Promise<Matrix>;
  /** Its states up to `steps` rows behind a place; none if it has no states to show. */
  stateFigures(place: RowPlace, steps: number): Promise<readonly Figure[]>;
  /** Writes states over a whole series; a model without any is refused when the file is read. */
  saveStates(series: TrainingRows, folder: string, every: number, stop: AbortSignal): Promise<readonly RunFile[]>;
  /** Writes the model as it stood after training. */
  save(path: string): Promise<void>;
  dispose(): Promise<void>;
}

/** How a model is trained. */
export interface ModelPlan {
  /** Rows that drive it before each forecast. */
  readonly warmup: number;
  fit(series: readonly TrainingRows[], work: FitWork): Promise<RunModel>;
}

const plans = { forecaster: planReservoir, nvar: planNvar, field: planField };

/**
 * @throws ArgumentError for what only reservoirs can do: be measured, or run on another engine; and
 * as the model's own plan does
 */
export function planModel(
  experiment: ForecastExperiment,
  options: TrialOptions,
  trained: readonly PreparedSeries[],
  step: TimeStep | undefined,
): ModelPlan {
  const type = modelTypeOf(experiment);
  const { engine = "auto", profile } = options;
  if (profile && type !== "forecaster") throw new ArgumentError("profile", true, `false for model ${type}, which measures no phases`);
  if (type === "nvar" && engine !== "auto" && engine !== "cpu")
    throw new ArgumentError("engine", engine, '"auto" or "cpu" for model nvar, which runs on the host');
  return plans[type](experiment, options, trained, step);
}
