// The tasks of experiments by their types: what runs one seed over data that are loaded.
import { ArgumentError } from "@spillway/core/errors.js";
import type { ExperimentData } from "../data/experiment-data.js";
import type { Experiment, TaskDescription } from "../description/description.js";
import { runAnomalies } from "./anomalies.js";
import { runClassification } from "./classify.js";
import { runDetection } from "./detect.js";
import { runForecast } from "./forecast.js";
import { runPrediction } from "./predict.js";
import type { Trial, TrialOptions } from "./trial.js";

/** Runs a task; undefined for data of another kind. */
type TaskRun = (experiment: Experiment, data: ExperimentData, options: TrialOptions) => Promise<Trial> | undefined;

const taskRuns: Readonly<Record<TaskDescription["type"], TaskRun>> = {
  predict: ({ task, ...rest }, data, options) =>
    task.type === "predict" && data.kind !== "cases" ? runPrediction({ ...rest, task }, data, options) : undefined,
  forecast: ({ task, ...rest }, data, options) =>
    task.type === "forecast" && data.kind === "series" ? runForecast({ ...rest, task }, data, options) : undefined,
  classify: ({ task, ...rest }, data, options) =>
    task.type === "classify" && data.kind === "cases" ? runClassification({ ...rest, task }, data, options) : undefined,
  detect: ({ task, ...rest }, data, options) =>
    task.type === "detect" && data.kind === "cases" ? runDetection({ ...rest, task }, data, options) : undefined,
  anomalies: ({ task, ...rest }, data, options) =>
    task.type === "anomalies" && data.kind === "series" ? runAnomalies({ ...rest, task }, data, options) : undefined,
};

/** One seed of an experiment over data that are loaded. @throws ArgumentError for data of another kind */
export async function runTask(experiment: Experiment, data: ExperimentData, options: TrialOptions): Promise<Trial> {
  const { type } = experiment.task;
  const { engine = experiment.engine, plan = experiment.plan } = options;
  const running = taskRuns[type](experiment, data, { ...options, engine, plan });
  if (running === undefined) throw ArgumentError.because(`there is no task ${type} for ${data.kind}`);
  return running;
}
