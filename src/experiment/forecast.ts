// Task "forecast": one seed trained on the first rows of a series, then let run in closed loop from
// several starts.
import { metrics as metricParts } from "../metrics/index.js";
import { bandsAround, type MeasuredErrors } from "../model/forecaster/bands.js";
import { beside, noInputs, seriesInputs } from "../model/forecaster/data.js";
import { Forecaster, type ForecastOptions } from "../model/index.js";
import { Matrix } from "../numerics/index.js";
import { NonFiniteStateError } from "../reservoir/index.js";
import { type CalendarFeature, calendarInputs } from "../series/calendar.js";
import { type TransformedSeries, timesAfter, transformSeries } from "../series/index.js";
import { calibrate, judgeBands } from "./bands.js";
import { generateIndependent, type SeriesData } from "./data.js";
import type { Experiment, ForecastTask, GeneratedData } from "./description.js";
import { ExperimentError } from "./errors.js";
import { type BaselineForecasts, baselineForecasts, type StartPoint, startErrors, type TrainingParts } from "./forecast-baselines.js";
import { choiceOf, type ForecastPlan, planForecast } from "./forecast-choice.js";
import { forecastFigures, rowsBefore } from "./forecast-figures.js";
import type { WrittenForecast } from "./forecasts-file.js";
import {
  describedRows,
  measuredRows,
  ownTransforms,
  type PreparedSeries,
  prepareAll,
  type RowFacts,
  standardises,
  startPlaces,
} from "./prepare.js";
import { stackRows } from "./rows.js";
import { type Outcome, type ScoreContext, scoreSeries } from "./scores.js";
import { DriveScale, stateFigures, streamStates } from "./states.js";
import { forecasterOptions, radiusOf, StagedProgress, Stopwatch, type Trial, type TrialOptions } from "./trial.js";

/** What was forecast, from where, and by what. */
interface Tested {
  readonly prepared: readonly PreparedSeries[];
  readonly starts: readonly StartPoint[];
  readonly outcomes: readonly Outcome[];
  /** The best first. */
  readonly ranked: readonly BaselineForecasts[];
  readonly forecaster: Forecaster;
  /** Rows that drive the reservoir before each start. */
  readonly warmup: number;
  readonly fitting: ReturnType<typeof fittingOptions>;
}

/** What the forecaster is fitted by. One that chooses, or has lags, makes trainers of its own. */
function fittingOptions(experiment: Experiment, options: TrialOptions, { options: settings, isChosen, longestLags }: ForecastPlan) {
  return {
    ...forecasterOptions(experiment, options),
    ...settings,
    ...((isChosen || longestLags > 0) && { readout: experiment.readout }),
    transforms: ownTransforms(experiment),
  };
}

export async function runForecast(
  experiment: Experiment & { readonly task: ForecastTask },
  data: SeriesData,
  options: TrialOptions,
): Promise<Trial> {
  const { task, scoring, metrics } = experiment;
  const { horizon } = task;
  const { signal } = options;
  const prepared = prepareAll(experiment, data);
  const { whole } = prepared[0]!;
  const { washout } = experiment;
  const trained = prepared.length === 1 ? prepared : prepared.filter((each) => each.trainRows > washout + 1);
  const trainRows = trained.reduce((sum, each) => sum + each.trainRows, 0);
  const plan = planForecast(experiment, trained, data.axis?.grid.step);
  const { warmup } = plan;
  const fitting = fittingOptions(experiment, options, plan);
  const places = startPoints({ ...experiment, task: { ...task, warmup } }, prepared, options);
  const starts = measuredStarts(places, horizon);
  const progress = new StagedProgress(options.onProgress, trainRows + starts.length * (warmup + horizon));
  const watch = new Stopwatch();

  const sequences = trained.map(({ whole: { measured, lost }, facts, trainRows: rows }) => describedRows(measured, facts, 0, lost + rows));
  const forecaster = await watch.time("train", () =>
    Forecaster.fit(sequences.length === 1 ? sequences[0]! : { sequences }, {
      ...fitting,
      table: data.kept && { ...data.kept, warmup },
      onProgress: progress.stage(trainRows),
    }),
  );
  const { computer } = forecaster;
  const stateAtEnd = forecaster.state;
  try {
    const outcomes: Outcome[] = [];
    await watch.time("test", async () => {
      for (const { whole: series, facts, at } of starts) {
        progress.stage(warmup + horizon);
        const first = series.lost + at;
        const before = describedRows(series.measured, facts, at - warmup, first);
        const known = facts.known?.subarray(first, first + horizon);
        outcomes.push({
          prediction: await closedLoop(forecaster, horizon, { warmup: before, known, signal }),
          target: measuredRows(series, facts, at, horizon),
        });
      }
    });
    const reference = referenceOf(trained, washout);
    const dt = scoring.dt ?? data.dt;
    const context: ScoreContext = { scoring, reference, dt, lyapunovExponent: scoring.lyapunovExponent ?? data.lyapunovExponent };
    const asked = experiment.baselines.filter((each) => each !== "majority");
    const baselines = await watch.time("baselines", async () => baselineForecasts(asked, starts, horizon, data.axis?.grid.step));
    const ranked = rankedBaselines(baselines);
    const forecasts = options.isFirst
      ? await watch.time("bands", () =>
          writtenForecasts(experiment, data, { prepared, starts, outcomes, ranked, forecaster, warmup, fitting }),
        )
      : undefined;
    const { model } = computer;
    const teacher = model.outputSize > 0;
    const { calendar } = forecaster;
    const isMasked = forecaster.settings.missing === "mask";
    const drivers = trained.map(({ whole, facts, trainRows: rows }) => seriesDrive(whole, facts, calendar, isMasked, 0, rows));
    const training = stackRows(trained.map((each) => each.whole.series.subarray(0, each.trainRows)));
    const known = drivers[0]!.known && stackRows(drivers.map((each) => each.known!));
    const scale = new DriveScale(
      standardises(experiment)
        ? { inputs: teacher ? (known ?? training) : known ? beside(training, known) : training, teacher: teacher ? training : undefined }
        : undefined,
    );
    const drive = (series: TransformedSeries, facts: RowFacts, from: number, to: number) => {
      const own = seriesDrive(series, facts, calendar, isMasked, from, to);
      return scale.apply(
        teacher ? { inputs: own.known ?? noInputs(own.series.rows), teacher: own.series } : { inputs: seriesInputs(own.series, own.known) },
      );
    };
    return {
      engine: computer.engine,
      reservoir: computer.config,
      ...radiusOf(model),
      readout: { ...forecaster.readout.training },
      choice: choiceOf(forecaster),
      scores: scoreSeries(outcomes, metrics, context),
      baselines: Object.fromEntries(
        baselines.filter((each) => each.isAsked).map((each) => [each.name, scoreSeries(each.outcomes, metrics, context)]),
      ),
      forecasts,
      startErrors: {
        model: startErrors("model", outcomes),
        baselines: baselines.map((each) => startErrors(each.name, each.outcomes)),
      },
      timing: watch.seconds,
      profile: computer.profile,
      summary: `closed-loop forecast of ${horizon} steps from ${starts.length} start${starts.length === 1 ? "" : "s"}, each after ${warmup} rows; trained on ${trainRows} rows${trained.length > 1 ? ` of ${trained.length} series` : ""} (${washout} of them washout${trained.length > 1 ? " in each" : ""})${tooShort(prepared, trained)}${leftOut(
        places,
        outcomes,
      )
        .map((each) => `; ${each}`)
        .join("")}`,
      leftOut: leftOut(places, outcomes),
      figures: options.withFigures
        ? [
            ...(forecasts ? forecastFigures(forecasts) : []),
            ...(await stateFigures(
              computer,
              drive(starts[0]!.whole, starts[0]!.facts, starts[0]!.at - warmup, starts[0]!.at + horizon),
              -warmup,
              signal,
            )),
          ]
        : [],
      unit: (metric) => metricParts.get(metric).unit?.(context),
      save: async (path) => {
        forecaster.state = stateAtEnd;
        await forecaster.save(path);
        return [];
      },
      saveStates: (folder, every, stop) =>
        streamStates(computer, drive(whole, prepared[0]!.facts, 0, whole.series.rows), folder, every, stop),
      dispose: () => forecaster.dispose(),
    };
  } catch (error) {
    await forecaster.dispose();
    throw error;
  }
}

/** Rows of a transformed series, and what is known beforehand of them, with mask and calendar. */
function seriesDrive(
  { series, lost }: TransformedSeries,
  { known, axis, filled }: RowFacts,
  calendar: readonly CalendarFeature[],
  isMasked: boolean,
  from: number,
  to: number,
) {
  const given = known?.subarray(lost + from, lost + to);
  const mask = isMasked ? (filled?.subarray(lost + from, lost + to) ?? Matrix.zeros(to - from, series.cols)) : undefined;
  const own = given && mask ? beside(given, mask) : (given ?? mask);
  const cycles = calendar.length > 0 ? calendarInputs(calendar, axis!.wall.subarray(lost + from, lost + to)) : undefined;
  return { series: series.subarray(from, to), known: own && cycles ? beside(own, cycles) : (own ?? cycles) };
}

/**
 * Every forecast with its band and what baselines say, and those beyond the end of each series.
 * The bands are made of the errors that the settings were chosen by; if none were chosen, of those
 * of the longest training part.
 */
async function writtenForecasts(
  experiment: Experiment & { readonly task: ForecastTask },
  data: SeriesData,
  { prepared, starts, outcomes, ranked, forecaster, warmup, fitting }: Tested,
): Promise<Trial["forecasts"]> {
  const { horizon, level, independent } = experiment.task;
  const { signal } = fitting;
  const fromRow = ({ measured, lost }: TransformedSeries, facts: RowFacts, at: number): ForecastOptions => ({
    warmup: describedRows(measured, facts, at - warmup, lost + at),
    known: facts.known?.subarray(lost + at, lost + at + horizon),
    signal,
  });
  const longest = prepared.toSorted((a, b) => b.trainRows - a.trainRows)[0]!;
  const least = Math.max(experiment.washout + 2, warmup);
  const measured =
    forecaster.choice ??
    (await calibrate(longest, { horizon, least }, async (fitted) => {
      const { measured, lost } = longest.whole;
      const earlier = await Forecaster.fit(describedRows(measured, longest.facts, 0, lost + fitted), {
        ...fitting,
      });
      return {
        forecast: (at) => closedLoop(earlier, horizon, fromRow(longest.whole, longest.facts, at)),
        dispose: () => earlier.dispose(),
      };
    }));
  const bandWith = (errors: MeasuredErrors, prediction: Matrix, share: number) =>
    bandsAround(prediction as Matrix<Float64Array>, errors, [longest.fitted], [share])[0]!;
  const bandOf = (prediction: Matrix) => measured && bandWith(measured, prediction, level);
  const scored = starts.map(({ whole, at, times, group }, k): WrittenForecast => {
    const { prediction, target } = outcomes[k]!;
    const row = whole.lost + at;
    const baselines = ranked.map(({ name, outcomes: said }) => ({ name, prediction: said[k]!.prediction }));
    const own = { prediction, target, band: bandOf(prediction), baselines };
    const before = rowsBefore(whole.original, at, experiment.task, times);
    return { start: independent ? k : row, row, times: times?.slice(at, at + horizon), group, before, ...own };
  });
  const beyond: WrittenForecast[] = [];
  const ends = independent ? [] : prepared.filter(({ group }, k) => !prepared.slice(k + 1).some((later) => later.group === group));
  for (const { test, group, times: texts } of ends) {
    const { whole, facts } = test;
    const at = whole.series.rows;
    const training = starts.find((start) => start.group === group)?.training ?? starts[0]!.training;
    // Inputs that are known beforehand end with the table.
    if (at < warmup || facts.known) continue;
    const prediction = await closedLoop(forecaster, horizon, fromRow(whole, facts, at));
    const times = facts.axis && timesAfter(facts.axis.grid, horizon);
    const baselines = ranked.map(({ name, from }) => ({ name, prediction: from({ whole, facts, at, training }) }));
    const own = { prediction, band: bandOf(prediction), baselines };
    const before = rowsBefore(whole.original, at, experiment.task, test.isSeparate ? undefined : texts);
    beyond.push({ start: "last", row: whole.lost + at, times, group, before, ...own });
  }
  const bands = measured && judgeBands(outcomes, (said, share) => bandWith(measured, said, share), level, measured.errors.rows / horizon);
  return { written: [...scored, ...beyond], names: data.names, bands, level };
}

/** A forecast whose states leave for infinity is all NaN: it scores as worst. */
async function closedLoop(forecaster: Forecaster, steps: number, options: ForecastOptions): Promise<Matrix> {
  try {
    return await forecaster.forecast(steps, options);
  } catch (error) {
    if (!(error instanceof NonFiniteStateError)) throw error;
    const out = Matrix.zeros(steps, forecaster.readout.outputSize);
    out.data.fill(Number.NaN);
    return out;
  }
}

/** The rows that train the readout, in the units of the data. */
export function referenceOf(trained: readonly PreparedSeries[], washout: number): Matrix<Float64Array> {
  const parts = trained.map(({ whole, trainRows }) => whole.original.subarray(washout, trainRows));
  return parts.length === 1 ? parts[0]! : (stackRows(parts) as Matrix<Float64Array>);
}

/** Says which of several series are too short to train. */
function tooShort(prepared: readonly PreparedSeries[], trained: readonly PreparedSeries[]): string {
  const short = prepared.filter(({ trainRows }) => trainRows > 0).length - trained.length;
  return short > 0 ? `; ${short} parts are too short to train` : "";
}

/** Where the forecasts of a task start. */
/** Starts of whose rows a value at least was measured. @throws ExperimentError if there is none */
export function measuredStarts(starts: readonly StartPoint[], horizon: number): readonly StartPoint[] {
  const measured = starts.filter(({ whole, facts, at }) => !measuredRows(whole, facts, at, horizon).data.every(Number.isNaN));
  if (measured.length > 0) return measured;
  throw new ExperimentError(
    `the test part has no measured value: all that its ${starts.length} forecasts are held against were missing; take other rows to test (split.test)`,
  );
}

/** Says what counts for nothing, since it was not measured. */
function leftOut(places: readonly StartPoint[], outcomes: readonly Outcome[]): readonly string[] {
  const count = outcomes.reduce((sum, { target }) => sum + target.data.filter(Number.isNaN).length, 0);
  const values = outcomes.reduce((sum, { target }) => sum + target.data.length, 0);
  const starts = places.length - outcomes.length;
  return [
    ...(starts > 0
      ? [`${starts} start${starts === 1 ? " is" : "s are"} left out, since no value after ${starts === 1 ? "it" : "them"} was measured`]
      : []),
    ...(count > 0 ? [`${count} of ${values} test values were not measured and do not count`] : []),
  ];
}

export function startPoints(
  experiment: Experiment & { readonly task: ForecastTask },
  prepared: readonly PreparedSeries[],
  { seed }: Pick<TrialOptions, "seed">,
): StartPoint[] {
  const { task, data, washout } = experiment;
  const { horizon, starts, warmup } = task;
  const trainsWith = (group: string | undefined): TrainingParts => {
    const all = prepared.filter(({ trainRows }) => trainRows > washout + 1);
    const own = all.filter((each) => each.group === group);
    const parts = own.length > 0 ? own : all;
    return {
      reference: referenceOf(parts, washout),
      original: parts.map(({ whole, trainRows }) => whole.original.subarray(0, trainRows)),
      series: parts.map(({ whole, trainRows }) => whole.series.subarray(0, trainRows)),
    };
  };
  const parts = new Map([...new Set(prepared.map(({ group }) => group))].map((group) => [group, trainsWith(group)]));
  if (!task.independent)
    return startPlaces(task, prepared, experiment.split).map(({ series, at }) => ({
      whole: series.test.whole,
      facts: series.test.facts,
      at,
      times: series.test.isSeparate ? undefined : series.times,
      training: parts.get(series.group)!,
      group: series.group,
    }));
  const generated = data as GeneratedData;
  const base = generated.redraw ? seed : (generated.options["seed"] ?? "spillway");
  const [{ fitted }] = prepared as [PreparedSeries];
  const training = parts.get(undefined)!;
  return Array.from({ length: starts }, (_, k) => {
    const series = generateIndependent(generated, fitted.lost + warmup + horizon, `${String(base)}/start ${k}`);
    return { whole: transformSeries(series, fitted), facts: {}, at: warmup, training };
  });
}

/** The baselines by their mean square error, the smallest first. */
function rankedBaselines(baselines: readonly BaselineForecasts[]): BaselineForecasts[] {
  const error = ({ name, outcomes }: BaselineForecasts) => {
    const mean = startErrors(name, outcomes).errors[0]!.reduce((sum, value) => sum + value, 0);
    return Number.isNaN(mean) ? Number.POSITIVE_INFINITY : mean;
  };
  return baselines
    .map((each) => ({ each, rank: error(each) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ each }) => each);
}
