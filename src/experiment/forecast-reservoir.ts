// The model "forecaster" of a forecast: a reservoir, or several whose median forecasts.

import { Matrix } from "@spillway/numerics";
import { beside, noInputs, seriesInputs } from "../model/forecaster/data.js";
import { Forecaster } from "../model/index.js";
import type { WorkOptions } from "../reservoir/index.js";
import { type CalendarFeature, calendarInputs } from "../series/calendar.js";
import type { TimeStep, TransformedSeries } from "../series/index.js";
import { describedRows, ownTransforms, type PreparedSeries, type RowFacts, standardises } from "./data/prepare.js";
import { stackRows } from "./data/rows.js";
import type { FitWork, ForecastExperiment, ModelPlan, RowPlace, RunModel, TrainingRows } from "./forecast-model.js";
import { choiceOf, type ForecastPlan, planForecast } from "./tasks/forecast-choice.js";
import { type Drive, DriveScale, stateFigures, streamStates } from "./tasks/states.js";
import { forecasterOptions, radiusOf, type TrialOptions } from "./tasks/trial.js";

export function planReservoir(
  experiment: ForecastExperiment,
  options: TrialOptions,
  trained: readonly PreparedSeries[],
  step: TimeStep | undefined,
): ModelPlan {
  const plan = planForecast(experiment, trained, step);
  const fitting = fittingOptions(experiment, options, plan);
  const { warmup } = plan;
  return { warmup, fit: (series, work) => fitReservoir(experiment, { fitting, warmup }, series, work) };
}

type Fitting = ReturnType<typeof fittingOptions>;

/** What the forecaster is fitted by. One that chooses, or has lags, makes trainers of its own. */
function fittingOptions(experiment: ForecastExperiment, options: TrialOptions, { options: settings, isChosen, longestLags }: ForecastPlan) {
  return {
    ...forecasterOptions(experiment, options),
    ...settings,
    ...((isChosen || longestLags > 0) && { readout: experiment.readout }),
    transforms: ownTransforms(experiment),
  };
}

async function fitReservoir(
  experiment: ForecastExperiment,
  { fitting, warmup }: { readonly fitting: Fitting; readonly warmup: number },
  series: readonly TrainingRows[],
  { table, onProgress }: FitWork,
): Promise<RunModel> {
  const { signal } = fitting;
  const sequences = series.map(({ whole: { measured, lost }, facts, trainRows }) => describedRows(measured, facts, 0, lost + trainRows));
  const forecaster = await Forecaster.fit(sequences.length === 1 ? sequences[0]! : { sequences }, {
    ...fitting,
    table,
    onProgress: onProgress as WorkOptions["onProgress"],
  });
  const { computer } = forecaster;
  const stateAtEnd = forecaster.state;
  const drive = driveOf(experiment, forecaster, series);
  return {
    get found() {
      return {
        engine: computer.engine,
        reservoir: computer.config,
        ...radiusOf(computer.model),
        readout: { ...forecaster.readout.training },
        choice: choiceOf(forecaster),
        profile: computer.profile,
      };
    },
    measured: forecaster.choice,
    forecast: (steps, { whole: { measured, lost }, facts, at }) =>
      forecaster.forecast(steps, {
        warmup: describedRows(measured, facts, at - warmup, lost + at),
        known: facts.known?.subarray(lost + at, lost + at + steps),
        signal,
      }),
    stateFigures: (place, steps) => stateFigures(computer, drive(place, place.at - warmup, place.at + steps), -warmup, signal!),
    saveStates: (one, folder, every, stop) => streamStates(computer, drive(one, 0, one.whole.series.rows), folder, every, stop),
    save: async (path) => {
      forecaster.state = stateAtEnd;
      await forecaster.save(path);
    },
    dispose: () => forecaster.dispose(),
  };
}

/** What drives the reservoir itself over rows of a series: z-scores, if the model standardises. */
function driveOf(experiment: ForecastExperiment, { computer, calendar, settings }: Forecaster, series: readonly TrainingRows[]) {
  const teacher = computer.model.outputSize > 0;
  const isMasked = settings.missing === "mask";
  const rowsOf = ({ whole, facts }: Omit<RowPlace, "at">, from: number, to: number) =>
    seriesDrive(whole, facts, calendar, isMasked, from, to);
  let scale: DriveScale | undefined;
  const fitScale = (): DriveScale => {
    if (!standardises(experiment)) return new DriveScale(undefined);
    const drivers = series.map((each) => rowsOf(each, 0, each.trainRows));
    const training = stackRows(drivers.map((each) => each.series));
    const known = drivers[0]!.known && stackRows(drivers.map((each) => each.known!));
    // Of the inputs the series comes first, then what was given as known, then the mask.
    const { cols } = training;
    const masks = isMasked ? { first: cols + (series[0]!.facts.known?.cols ?? 0), count: cols } : undefined;
    return new DriveScale(
      {
        inputs: teacher ? (known ?? training) : known ? beside(training, known) : training,
        teacher: teacher ? training : undefined,
      },
      masks,
    );
  };
  return (one: Omit<RowPlace, "at">, from: number, to: number): Drive => {
    scale ??= fitScale();
    const own = rowsOf(one, from, to);
    return scale.apply(
      teacher ? { inputs: own.known ?? noInputs(own.series.rows), teacher: own.series } : { inputs: seriesInputs(own.series, own.known) },
    );
  };
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
