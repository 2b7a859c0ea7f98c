// Task "forecast": one seed trained on the first rows of a series, then let run in closed loop from
// several starts.
import { orDispose } from "@spillway/core/disposal.js";
import { ArgumentError, isNumeric, orErrorLater, SpillwayError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { columnVariances } from "../../metrics/check.js";
import { metrics as metricParts } from "../../metrics/index.js";
import { FieldForecaster, type FieldOptions, Forecaster, NvarForecaster } from "../../model/index.js";
import type { RidgeOptions } from "../../readout/index.js";
import { selectionOf } from "../../reservoir/computer-options.js";
import type { ReservoirOptions } from "../../reservoir/index.js";
import { shownCycles } from "../../series/calendar.js";
import { type TimeStep, timesAfter } from "../../series/index.js";
import type { SeriesData } from "../data/experiment-data.js";
import { measuredRows, ownTransforms, type PreparedSeries, prepareAll, rowText, standardises } from "../data/prepare.js";
import { plannedWarmup } from "../data/resolve-rows.js";
import type { Experiment, ForecastTask } from "../description/description.js";
import { isCombined } from "../description/model-fits.js";
import { historyOf, type NvarDescription } from "../description/model-options.js";
import type { WrittenForecast } from "../runs/forecasts-file.js";
import { canGive, judgeBands } from "./bands.js";
import {
  type BaselineForecasts,
  baselineForecasts,
  rankedBaselines,
  type StartPoint,
  scoredForecasts,
  seasonOf,
  startErrors,
} from "./forecast-baselines.js";
import { checkTraining, combinedSeason, isLongEnough, longestOf, planForecast } from "./forecast-choice.js";
import { forecastFigures, rowsBefore } from "./forecast-figures.js";
import { closedLoop, type ForecastExperiment, type ModelPlan, modelPlan, type RunModel } from "./forecast-model.js";
import { type ForecastFrom, type Spread, spreadOf, type TestedForecasts } from "./forecast-spread.js";
import { measuredStarts, referenceOf, startPoints } from "./forecast-starts.js";
import {
  columnAlone,
  columnResults,
  mostColumns,
  type Outcome,
  type ScoreContext,
  scoreSeries,
  takesQuantiles,
  unmeasuredSaid,
  withoutQuantiles,
} from "./scores.js";
import {
  forecasterOptions,
  type ModelErrors,
  notRefittedSaid,
  StagedProgress,
  Stopwatch,
  seriesOptions,
  type Trial,
  type TrialOptions,
} from "./trial.js";

/** What was forecast, from where, and by what. */
interface Tested extends TestedForecasts {
  /** The best first. */
  readonly ranked: readonly BaselineForecasts[];
  readonly model: RunModel;
  readonly plan: ModelPlan;
  /** What forecasts beyond the end: the model, or one that was trained on all rows. */
  readonly last: { readonly model: RunModel; readonly fewest: number };
  readonly spread: Spread | undefined;
}

export async function runForecast(
  experiment: Experiment & { readonly task: ForecastTask },
  data: SeriesData,
  options: TrialOptions,
): Promise<Trial> {
  const { task, scoring, metrics } = experiment;
  const { horizon } = task;
  const prepared = prepareAll(experiment, data);
  const { washout } = experiment;
  const trained = prepared.length === 1 ? prepared : prepared.filter((each) => each.trainRows > washout + 1);
  const trainRows = trained.reduce((sum, each) => sum + each.trainRows, 0);
  checkTraining(task, trained);
  const plan = planModel(experiment, options, trained, data.axis?.grid.step);
  const { warmup, fewest } = plan;
  const points = startPoints({ ...experiment, task: { ...task, warmup: fewest } }, prepared, options);
  const starts = measuredStarts(points, horizon);
  const whole = options.refits ? allRows(experiment, data, trained) : undefined;
  const refitRows = whole?.reduce((sum, each) => sum + each.trainRows, 0) ?? 0;
  const progress = new StagedProgress(options.onProgress, trainRows + refitRows + starts.length * (warmup + horizon));
  const watch = new Stopwatch();
  const train = (by: ModelPlan, series: readonly PreparedSeries[], rows: number) =>
    by.fit(series, { table: tableOf(data, by, series, starts), onProgress: progress.stage(rows) });

  const model = await watch.time("train", () => train(plan, trained, trainRows));
  let saved = model;
  const dispose = async () => {
    await model.dispose();
    if (saved !== model) await saved.dispose();
  };
  const run = async (): Promise<Trial> => {
    const outcomes: Outcome[] = [];
    await watch.time("test", async () => {
      for (const start of starts) {
        progress.stage(warmup + horizon);
        outcomes.push({
          prediction: await closedLoop(model, horizon, start),
          target: measuredRows(start.whole, start.facts, start.at, horizon),
        });
      }
    });
    const reference = referenceOf(trained, washout);
    const dt = scoring.dt ?? data.dt;
    const season = seasonOf(starts, data.axis?.grid.step);
    const spread =
      options.isFirst || metrics.some(takesQuantiles)
        ? await watch.time("bands", () => spreadOf(experiment, { prepared, starts, outcomes }, model, plan))
        : undefined;
    const known = scoredForecasts(starts, horizon, season);
    const context: ScoreContext = {
      ...{ scoring, reference, dt, lyapunovExponent: scoring.lyapunovExponent ?? data.lyapunovExponent },
      forecasts: spread
        ? known.map((each, k) => ({
            ...each,
            quantile: (level: number) => spread.quantile({ ...outcomes[k]!, group: starts[k]!.group, from: k }, level),
          }))
        : known,
    };
    const asked = experiment.baselines.filter((each) => each !== "majority");
    const isTested = starts.length > 0;
    const scale = scaleOf(reference);
    const baselines =
      options.withBaselines && isTested
        ? await watch.time("baselines", async () =>
            baselineForecasts(asked, starts, horizon, data.axis?.grid.step, calendarOf(experiment, data, model, trained)),
          )
        : [];
    const ranked = rankedBaselines(baselines, scale);
    const lastPlan = whole ? planModel(experiment, options, whole, data.axis?.grid.step) : plan;
    const refitted = whole && (await watch.time("refit", () => orErrorLater(() => train(lastPlan, whole, refitRows), isNumeric)));
    const notRefitted = refitted instanceof SpillwayError ? [notRefittedSaid(refitted)] : [];
    if (refitted && !(refitted instanceof SpillwayError)) saved = refitted;
    const last = { model: saved, fewest: saved === model ? fewest : lastPlan.fewest };
    const forecasts = options.isFirst
      ? await watch.time("bands", () => writtenForecasts(experiment, data, { prepared, starts, outcomes, ranked, last, spread }))
      : undefined;
    return {
      ...model.found,
      scores: isTested ? scoreSeries(outcomes, metrics, context) : {},
      baselines: Object.fromEntries(baselines.map((each) => [each.name, scoreSeries(each.outcomes, metrics, withoutQuantiles(context))])),
      columns: isTested ? columnResults(data.names, outcomes, baselines, metrics, context) : undefined,
      forecasts,
      startErrors: isTested
        ? {
            model: startErrors("model", outcomes, scale),
            baselines: baselines.map((each) => startErrors(each.name, each.outcomes, scale)),
          }
        : undefined,
      columnErrors:
        isTested && scale && data.names.length <= mostColumns ? columnErrors(data.names.length, outcomes, baselines) : undefined,
      timing: watch.seconds,
      summary:
        summaryOf(experiment, { prepared, trained, starts, warmup }) +
        leftOut(points, outcomes)
          .map((each) => `; ${each}`)
          .join(""),
      leftOut: [...leftOut(points, outcomes), ...notRefitted],
      figures: options.withFigures
        ? [...(forecasts ? forecastFigures(forecasts) : []), ...(isTested ? await model.stateFigures(starts[0]!, horizon) : [])]
        : [],
      unit: (metric) => metricParts.get(metric).unit?.(context),
      save: async (path) => {
        await saved.save(path);
        return [];
      },
      saveStates: (folder, every, stop) => model.saveStates(prepared[0]!, folder, every, stop),
      dispose,
    };
  };
  return orDispose({ dispose }, run);
}

/** The task in a line. */
function summaryOf(
  { task, washout }: ForecastExperiment,
  {
    prepared,
    trained,
    starts,
    warmup,
  }: Pick<Tested, "prepared" | "starts"> & Pick<ModelPlan, "warmup"> & { readonly trained: readonly PreparedSeries[] },
): string {
  const isMean = isCombined(task);
  const rows = trained.reduce((sum, each) => sum + each.trainRows, 0);
  const from = `from ${starts.length} start${starts.length === 1 ? "" : "s"}, each after ${isMean ? "all rows before it" : `${warmup} rows`}`;
  const many = trained.length > 1;
  const lost = isMean ? "" : ` (${washout} of them washout${many ? " in each" : ""})`;
  return (
    `${isMean ? "combined" : "closed-loop"} forecast of ${task.horizon} steps ${starts.length > 0 ? from : "without a test part"}; ` +
    `trained on ${rows} rows${many ? ` of ${trained.length} series` : ""}${lost}${tooShort(prepared, trained)}`
  );
}

/**
 * How the model of an experiment is trained. Lambda of NVAR and of a field is chosen by forecasts,
 * if the file leaves it out and the training part is long enough.
 * @throws ArgumentError for what only reservoirs can do: be measured, or run on another engine
 */
function planModel(
  experiment: ForecastExperiment,
  options: TrialOptions,
  trained: readonly PreparedSeries[],
  step: TimeStep | undefined,
): ModelPlan {
  const { task, washout, readout } = experiment;
  const { horizon } = task;
  const { engine = "auto", plan = "auto", context, profile, signal } = options;
  const { type, ...model } = experiment.model ?? { type: "forecaster" as const };
  if (profile && type !== "forecaster") throw new ArgumentError("profile", true, `false for model ${type}, which measures no phases`);
  if (type === "nvar") {
    if (engine !== "auto" && engine !== "cpu")
      throw new ArgumentError("engine", engine, '"auto" or "cpu" for model nvar, which runs on the host');
    if (plan !== "auto") throw new ArgumentError("plan", plan, '"auto" for model nvar, which runs on the host');
    if (context) throw ArgumentError.because("a context is given; model nvar runs on the host: leave it out", { field: "context" });
  }
  const ownOptions = { ...model, ...seriesOptions(experiment), standardise: standardises(experiment), signal };
  const chosenBy = (isOpen: boolean, rows: number) =>
    isOpen && isLongEnough(longestOf(trained), { horizon, washout: rows }) ? { horizon } : {};
  if (type === "nvar") {
    const nvar = model as NvarDescription;
    const history = historyOf(nvar);
    const fitting = { ...ownOptions, ...chosenBy(nvar.lambda === undefined, history) };
    const warmup = Math.max(task.warmup, history);
    // The washout counts the rows that the delays of the first target reach over.
    const from = washout - (history - 1);
    return modelPlan(experiment, { warmup, from, signal, train: (data, work) => NvarForecaster.fit(data, { ...fitting, ...work }) });
  }
  if (type === "field") {
    const { type: _, ...ridge } = readout as RidgeOptions & { readonly type?: string };
    const fitting = {
      ...(ownOptions as Omit<FieldOptions, "reservoir">),
      ...{ readout: ridge, washout, ...selectionOf(options) },
      reservoir: { ...(experiment.reservoir as ReservoirOptions), seed: options.seed },
      transforms: ownTransforms(experiment),
      ...(task.members !== undefined && { members: task.members }),
      ...chosenBy(ridge.lambda === undefined && ridge.selection === undefined, washout),
    };
    const { warmup } = task;
    return modelPlan(experiment, { warmup, from: 0, signal, train: (data, work) => FieldForecaster.fit(data, { ...fitting, ...work }) });
  }
  if (isCombined(task)) {
    const { members, weights, warmup } = task;
    const fitting = {
      ...{ ...seriesOptions(experiment), ...selectionOf(options), horizon, members, weights, profile, signal },
      season: combinedSeason(experiment, trained, step),
      reservoir: { ...experiment.reservoir, seed: options.seed },
    };
    const { test, trainRows } = longestOf(trained);
    const most = test.isSeparate ? Math.floor((test.rows - horizon) / 2) : trainRows;
    const fewest = test.isSeparate || task.independent ? Math.max(1, Math.min(warmup, plannedWarmup(trainRows), most)) : 1;
    return modelPlan(experiment, { warmup, fewest, from: 0, signal, train: (data, work) => Forecaster.fit(data, { ...fitting, ...work }) });
  }
  const { options: settings, isChosen, longestLags, warmup } = planForecast(experiment, trained, step);
  const fitting = {
    ...forecasterOptions(experiment, options),
    ...settings,
    // One that chooses, or has lags, makes trainers of its own.
    ...((isChosen || longestLags > 0) && { readout }),
    transforms: ownTransforms(experiment),
  };
  return modelPlan(experiment, { warmup, from: 0, signal, train: (data, work) => Forecaster.fit(data, { ...fitting, ...work }) });
}

/**
 * What of the calendar the model sees, or has as a choice: an autoregression is given the same.
 */
function calendarOf(
  { data: described }: Experiment,
  { axis }: SeriesData,
  { triesCalendar }: RunModel,
  trained: readonly PreparedSeries[],
) {
  if (!axis || !("file" in described)) return [];
  const rows = Math.max(...trained.map(({ trainRows }) => trainRows));
  return described.calendar ?? (triesCalendar ? shownCycles(axis.grid.step, rows) : []);
}

/**
 * What errors of each of several columns are divided by, so that they can be pooled: the deviation
 * of its training rows. A column that never changes there does not count. Undefined of one column.
 */
function scaleOf(reference: Matrix): Float64Array | undefined {
  return reference.cols > 1
    ? columnVariances(reference).map((variance) => (variance > 0 ? Math.sqrt(variance) : Number.POSITIVE_INFINITY))
    : undefined;
}

/** Errors by start of each column by itself. */
function columnErrors(cols: number, outcomes: readonly Outcome[], baselines: readonly BaselineForecasts[]): ModelErrors[] {
  return Array.from({ length: cols }, (_, c) => {
    const alone = (all: readonly Outcome[]) =>
      all.map(({ prediction, target }) => ({ prediction: columnAlone(prediction, c), target: columnAlone(target, c) }));
    return {
      model: startErrors("model", alone(outcomes)),
      baselines: baselines.map((each) => startErrors(each.name, alone(each.outcomes))),
    };
  });
}

/** All rows of every series as training rows; undefined if all of them train already. */
function allRows(
  experiment: Experiment & { readonly task: ForecastTask },
  data: SeriesData,
  trained: readonly PreparedSeries[],
): PreparedSeries[] | undefined {
  const { washout } = experiment;
  const all = prepareAll({ ...experiment, split: { train: 1 } }, data);
  const whole = all.length === 1 ? all : all.filter((each) => each.trainRows > washout + 1);
  const count = (series: readonly PreparedSeries[]) => series.reduce((sum, { trainRows }) => sum + trainRows, 0);
  return count(whole) > count(trained) ? whole : undefined;
}

/** What a model file keeps of the table, and the rows that trained and scored it. */
function tableOf({ kept, test }: SeriesData, { warmup }: ModelPlan, series: readonly PreparedSeries[], starts: readonly StartPoint[]) {
  if (!kept) return undefined;
  const { whole, trainRows, facts } = series.at(-1)!;
  const [first] = starts;
  return {
    ...kept,
    warmup,
    trainedTo: rowText(facts.axis, whole.lost + trainRows - 1),
    ...(first && { scoredFrom: `${test ? "the test file, " : ""}${rowText(first.facts.axis, first.whole.lost + first.at)}` }),
  };
}

/** Every forecast with its band and what baselines say, and those beyond the end of each series. */
async function writtenForecasts(
  experiment: ForecastExperiment,
  data: SeriesData,
  { prepared, starts, outcomes, ranked, last, spread }: Omit<Tested, "model" | "plan">,
): Promise<Trial["forecasts"]> {
  const { horizon, level, adaptive, independent, quantiles } = experiment.task;
  const around = (forecast: ForecastFrom) => ({
    band: spread && canGive(spread.measuredOf(forecast.group), level) ? spread.band(forecast, level) : undefined,
    quantiles: spread && quantiles?.map((share) => ({ level: share, values: spread.quantile(forecast, share) })),
  });
  const scored = starts.map(({ whole, at, times, group }, k): WrittenForecast => {
    const { prediction, target } = outcomes[k]!;
    const row = whole.lost + at;
    const baselines = ranked.map(({ name, outcomes: said }) => ({ name, prediction: said[k]!.prediction }));
    const own = { prediction, target, ...around({ prediction, group, from: k }), baselines };
    const before = rowsBefore(whole.original, at, experiment.task, times);
    return { start: independent ? k : row, row, times: times?.slice(at, at + horizon), group, before, ...own };
  });
  const beyond: WrittenForecast[] = [];
  const ends = independent ? [] : prepared.filter(({ group }, k) => !prepared.slice(k + 1).some((later) => later.group === group));
  for (const { test, group, times: texts } of ends) {
    const { whole, facts } = test;
    const at = whole.series.rows;
    const training = starts.find((start) => start.group === group)?.training ?? starts[0]?.training;
    // Inputs that are known beforehand end with the table.
    if (at < last.fewest || facts.known) continue;
    const prediction = await closedLoop(last.model, horizon, { whole, facts, at, group });
    const times = facts.axis && timesAfter(facts.axis.grid, horizon);
    const baselines = ranked.map(({ name, from }) => ({ name, prediction: from({ whole, facts, at, training: training! }) }));
    const own = { prediction, ...around({ prediction, group, from: whole }), baselines };
    const before = rowsBefore(whole.original, at, experiment.task, test.isSeparate ? undefined : texts);
    beyond.push({ start: "last", row: whole.lost + at, times, group, before, ...own });
  }
  const bands =
    spread && outcomes.length > 0
      ? judgeBands(
          outcomes,
          (k, share) => spread.band({ ...outcomes[k]!, group: starts[k]!.group, from: k }, share),
          level,
          spread.measuredOf(starts[0]!.group),
          adaptive,
        )
      : undefined;
  return { written: [...scored, ...beyond], names: data.names, bands, level };
}

/** Says which of several series are too short to train. */
function tooShort(prepared: readonly PreparedSeries[], trained: readonly PreparedSeries[]): string {
  const short = prepared.filter(({ trainRows }) => trainRows > 0).length - trained.length;
  return short > 0 ? `; ${short} parts are too short to train` : "";
}

/** Says what counts for nothing, since it was not measured. */
function leftOut(points: readonly StartPoint[], outcomes: readonly Outcome[]): readonly string[] {
  const count = outcomes.reduce((sum, { target }) => sum + target.data.filter(Number.isNaN).length, 0);
  const values = outcomes.reduce((sum, { target }) => sum + target.data.length, 0);
  const starts = points.length - outcomes.length;
  return [
    ...(starts > 0
      ? [`${starts} start${starts === 1 ? " is" : "s are"} left out, since no value after ${starts === 1 ? "it" : "them"} was measured`]
      : []),
    ...(count > 0 ? [unmeasuredSaid(count, values)] : []),
  ];
}
