// What an experiment leaves to its rows: washout and warm-up become numbers once, as soon as the
// data and their parts are known. Every later reader sees the numbers.
import { ArgumentError } from "@spillway/core/errors.js";
import { plannedWashout } from "../../model/forecaster/plan.js";
import { mostClassicalRows } from "../../series/baselines.js";
import { rowsLost } from "../../series/index.js";
import type { Experiment, OpenExperiment, OpenForecastTask, TaskDescription } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { isCombined, nvarWashout } from "../description/model-fits.js";
import type { CaseData, ExperimentData } from "./experiment-data.js";
import { ownTransforms, rowsAhead, splitDriven, splitParts, splitSeries } from "./prepare.js";
import { rowsNeeded } from "./split.js";

/** Rows that a series has to have to train on, if its washout is not said. */
const fewestToTrain = 10;

/** Rows that drive the reservoir before each start, if it is not said: half of a short series. */
export function plannedWarmup(rows: number): number {
  return Math.min(100, Math.floor(rows / 2));
}

/**
 * The experiment with numbers for what was "auto". The washout is a fifth of the rows that train,
 * or of the test file if that is shorter and predicted row by row; the warm-up is half of them.
 * Both are at most 100. Of several series the longest counts. Members that are combined have no
 * washout, and are warmed up on all rows before a start, at most 3000.
 * @throws ExperimentError if a part has no rows, ArgumentError if the washout takes all that train
 */
export function resolveRows(experiment: OpenExperiment, data: ExperimentData): Experiment {
  const { washout, task } = experiment;
  if (data.kind === "cases") return { ...experiment, washout: washout === "auto" ? 0 : washout, task: task as TaskDescription };
  if (task.type === "anomalies") return { ...experiment, washout: 0, task };
  if (isCombined(task)) {
    const { warmup } = task as OpenForecastTask;
    return { ...experiment, washout: 0, task: { ...task, warmup: warmup === "auto" ? mostClassicalRows : warmup } as TaskDescription };
  }
  const { train, test, parts } = rowsOf(experiment, data);
  const scored = task.type === "predict" && test !== undefined ? test : train;
  if (washout === "auto" && train < fewestToTrain) throw tooFewRows(experiment, data, train, parts);
  const { model } = experiment;
  const resolved =
    model?.type === "nvar" ? nvarWashout(model, washout, train) : washout === "auto" ? plannedWashout(Math.min(train, scored)) : washout;
  if (parts === 1 && resolved >= train)
    throw new ArgumentError("washout", resolved, `fewer than the ${train} rows of the training part: some must be left to train on`);
  if (parts > 1 && resolved + 1 >= train)
    throw new ArgumentError(
      "washout",
      resolved,
      `fewer than ${Math.max(0, train - 1)} rows: the longest of ${parts} parts has ${train} to train on`,
    );
  return { ...experiment, washout: resolved, task: task.type === "forecast" ? resolveTask(task, train, test) : task };
}

/** Says how many rows there have to be. */
function tooFewRows(experiment: OpenExperiment, data: Exclude<ExperimentData, CaseData>, train: number, parts: number): ExperimentError {
  const { task, split } = experiment;
  if (parts > 1)
    return new ExperimentError(`the longest of ${parts} parts has ${train} rows to train on; it takes at least ${fewestToTrain}`);
  const isForecast = task.type === "forecast";
  const test = split.train === 1 ? 0 : isForecast ? task.horizon + rowsBetween(task) : 1;
  const hasOwnTest = data.test !== undefined || (isForecast && task.independent);
  const needed = rowsNeeded(split, hasOwnTest, { train: fewestToTrain, test });
  const lost = rowsAhead(experiment, data.kind) + rowsLost(ownTransforms(experiment));
  const more = needed === undefined ? "" : `give more rows (${needed + lost} in all), or `;
  return new ExperimentError(`${train} rows train, and it takes at least ${fewestToTrain}: ${more}say more of them to train (split.train)`);
}

/** The rows from the first start to the last one, at least. */
function rowsBetween({ starts, stride = 1 }: OpenForecastTask): number {
  return starts === "auto" ? 0 : (starts - 1) * stride;
}

/** @param test the rows of a test file, in which warm-up and forecasts have to fit. */
function resolveTask(task: OpenForecastTask, train: number, test: number | undefined): TaskDescription {
  const { warmup, horizon } = task;
  if (warmup !== "auto") return { ...task, warmup };
  const most = test === undefined ? train : test - horizon - rowsBetween(task);
  return { ...task, warmup: Math.max(1, Math.min(plannedWarmup(train), most)) };
}

/** The rows that train, of the longest series, and those of a test file. */
function rowsOf(
  experiment: OpenExperiment,
  data: Exclude<ExperimentData, CaseData>,
): { readonly train: number; readonly test?: number | undefined; readonly parts: number } {
  const file = data.kind === "driven" ? data.test?.inputs : data.test;
  const lost = rowsAhead(experiment, data.kind) + rowsLost(ownTransforms(experiment));
  const test = file && Math.max(0, file.rows - lost);
  if (data.kind === "driven") return { train: splitDriven(experiment, data).train, test, parts: 1 };
  if (!data.more) return { train: splitSeries(experiment, data).train, test, parts: 1 };
  const parts = splitParts(experiment, data);
  return { train: Math.max(...parts.map(({ trainRows }) => trainRows)), parts: parts.length };
}
