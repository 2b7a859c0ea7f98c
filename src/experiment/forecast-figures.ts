// The figures of forecasts: the first and the last with their bands, errors by step, residuals, and
// how well the bands are calibrated. What is drawn is what forecasts.csv and result.json hold.
import type { Matrix } from "../numerics/index.js";
import { type BaselinePredictions, type Figure, plotCalibration, plotError, plotForecast, plotResiduals } from "../plot/index.js";
import type { Bands } from "./bands.js";
import type { ForecastTask } from "./description.js";
import type { BaselineForecasts } from "./forecast-baselines.js";
import type { WrittenForecast } from "./forecasts-file.js";

/** The forecasts of a run's first seed. */
export interface RunForecasts {
  readonly written: readonly WrittenForecast[];
  /** What is forecast, a name a column. */
  readonly names: readonly string[];
  /** The share that `band` of a forecast is meant to hold. */
  readonly level?: number | undefined;
  readonly bands?: Bands | undefined;
  /** What the best baseline is called, whose forecasts stand beside. */
  readonly baselineName?: string | undefined;
}

/** Most rows before a start that a figure shows, and most of them for each row of the forecast. */
const shownBefore = 60;
const shownBeforeEach = 3;

/** The rows before a start that a figure shows: a short forecast must not be lost behind them. */
export function rowsBefore(
  series: Matrix,
  at: number,
  { horizon, warmup = at }: Pick<ForecastTask, "horizon"> & { readonly warmup?: number },
  times?: readonly string[],
): NonNullable<WrittenForecast["before"]> {
  const from = Math.max(0, at - Math.min(shownBefore, shownBeforeEach * horizon, warmup));
  return { rows: series.subarray(from, at), times: times?.slice(from, at) };
}

/** What baselines say from the same starts. */
export function comparedWith(baselines: readonly BaselineForecasts[]): BaselinePredictions[] {
  return baselines.map(({ name, outcomes }) => ({ name, predictions: outcomes.map(({ prediction }) => prediction) }));
}

/**
 * The figures of a run's forecasts.
 * @param baselines every baseline on the same starts; left out, the best of each forecast
 */
export function forecastFigures(forecasts: RunForecasts, baselines = bestOf(forecasts)): Figure[] {
  const { written, names, bands } = forecasts;
  const scored = written.filter(isScored);
  const [first] = scored;
  const last = written.find(({ start }) => start === "last");
  const whence = first?.times?.[0] ?? (scored.length > 1 ? "the first start" : "the end of the training part");
  return [
    ...(first ? [drawn(first, forecasts, `Forecast from ${whence}`)] : []),
    ...(last ? [drawn(last, forecasts, `Forecast beyond the end${last.times?.[0] ? `, from ${last.times[0]}` : ""}`)] : []),
    ...errorFigures(scored, baselines, names),
    ...(bands && bands.calibration.length > 1
      ? [
          plotCalibration(
            bands.calibration.map(({ level }) => level),
            bands.calibration.map(({ covered }) => covered),
            { title: "Coverage of the bands on the test starts" },
          ),
        ]
      : []),
  ];
}

type Scored = WrittenForecast & { readonly target: Matrix };

function isScored(forecast: WrittenForecast): forecast is Scored {
  return forecast.start !== "last" && forecast.target !== undefined;
}

function drawn(forecast: WrittenForecast, { names, level, baselineName }: RunForecasts, title: string): Figure {
  const { prediction, target, times, before, baseline, band, more = [], row } = forecast;
  const all = [...(band && level !== undefined ? [{ ...band, level }] : []), ...more];
  const labels = times && (!before || before.times) ? [...(before?.times ?? []), ...times] : undefined;
  return plotForecast(prediction, target, {
    title,
    names,
    start: row,
    timeLabel: "row",
    times: labels,
    bands: all,
    ...(before && before.rows.rows > 0 ? { before: before.rows } : {}),
    ...(baseline ? { baseline, baselineName } : {}),
  });
}

/** The baseline that stands beside each forecast, if it stands beside all of them. */
function bestOf({ written, baselineName }: RunForecasts): BaselinePredictions[] {
  const scored = written.filter(isScored);
  const predictions = scored.flatMap(({ baseline }) => baseline ?? []);
  if (scored.length === 0 || predictions.length < scored.length) return [];
  return [{ name: baselineName ?? "best baseline", predictions }];
}

/** Errors and residuals of the forecasts that stayed finite. */
function errorFigures(scored: readonly Scored[], baselines: readonly BaselinePredictions[], names: readonly string[]): Figure[] {
  const kept = scored.map(({ prediction }) => prediction.data.every(Number.isFinite));
  const finite = scored.filter((_, k) => kept[k]);
  if (finite.length === 0) return [];
  const predictions = finite.map(({ prediction }) => prediction);
  const targets = finite.map(({ target }) => target);
  const isOnRows = new Set(finite.map(({ row }) => row)).size === finite.length;
  const times = finite.flatMap((forecast) => (forecast.times ? [forecast.times] : []));
  const others = baselines.map(({ name, predictions: said }) => ({ name, predictions: said.filter((_, k) => kept[k]) }));
  return [
    plotError(predictions, targets, {
      title: "Error by step of the forecast",
      timeLabel: "step of the forecast",
      start: 1,
      statistic: "rms",
      baselines: others,
    }),
    plotResiduals(predictions, targets, {
      title: "Residuals of the forecasts",
      names,
      ...(times.length === finite.length ? { times } : isOnRows ? { starts: finite.map(({ row }) => row) } : { timeLabel: "step" }),
    }),
  ];
}
