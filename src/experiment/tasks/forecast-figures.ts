// The figures of forecasts: the first and the last with their bands, errors by step, residuals, and
// how well the bands are calibrated. What is drawn is what forecasts.csv and result.json hold.
import type { Matrix } from "@spillway/numerics";
import { type BaselinePredictions, type Figure, plotCalibration, plotError, plotForecast, plotResiduals } from "../../plot/index.js";
import type { ForecastTask } from "../description/description.js";
import type { WrittenForecast } from "../runs/forecasts-file.js";
import type { Bands } from "./bands.js";

/** The forecasts of a run's first seed. */
export interface RunForecasts {
  readonly written: readonly WrittenForecast[];
  /** What is forecast, a name a column. */
  readonly names: readonly string[];
  /** The share that `band` of a forecast is meant to hold. */
  readonly level?: number | undefined;
  readonly bands?: Bands | undefined;
}

/** What of them is drawn. */
export interface DrawnForecasts extends Omit<RunForecasts, "bands"> {
  readonly bands?: Pick<Bands, "calibration"> | undefined;
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

/** The titles of the figures that do not show their time. */
const titles = {
  from: "Forecast from ",
  beyond: "Forecast beyond the end",
  error: "Error by step of the forecast",
  residuals: "Residuals of the forecasts",
  coverage: "Coverage of the bands on the test starts",
} as const;

/** Whether a figure is one that {@link forecastFigures} draws. */
export function isForecastFigure({ title }: Pick<Figure, "title">): boolean {
  return Object.values(titles).some((each) => title.startsWith(each));
}

/**
 * The figures of a run's forecasts.
 * @param chosen the forecasts that are drawn one by one; left out, the first, and the one beyond
 * the end
 */
export function forecastFigures(forecasts: DrawnForecasts, chosen?: readonly WrittenForecast[]): Figure[] {
  const { written, names, bands } = forecasts;
  const scored = written.filter(isScored);
  const last = written.find(({ start }) => start === "last");
  const alone = chosen ?? [...scored.slice(0, 1), ...(last ? [last] : [])];
  return [
    ...alone.map((each) => drawn(each, forecasts, titleOf(each, scored, chosen !== undefined))),
    ...errorFigures(scored, names),
    ...(bands && bands.calibration.length > 1
      ? [
          plotCalibration(
            bands.calibration.map(({ level }) => level),
            bands.calibration.map(({ covered }) => covered),
            { title: titles.coverage },
          ),
        ]
      : []),
  ];
}

function titleOf({ start, row, times, group }: WrittenForecast, scored: readonly Scored[], isChosen: boolean): string {
  const of = isChosen && group !== undefined ? ` of ${group}` : "";
  if (start === "last") return `${titles.beyond}${of}${times?.[0] ? `, from ${times[0]}` : ""}`;
  if (isChosen) return `${titles.from}${times?.[0] ?? `row ${row}${start === row ? "" : ` (start ${start})`}`}${of}`;
  return `${titles.from}${times?.[0] ?? (scored.length > 1 ? "the first start" : "the end of the training part")}`;
}

type Scored = WrittenForecast & { readonly target: Matrix };

function isScored(forecast: WrittenForecast): forecast is Scored {
  return forecast.start !== "last" && forecast.target !== undefined;
}

function drawn(forecast: WrittenForecast, { names, level }: DrawnForecasts, title: string): Figure {
  const { prediction, target, times, before, baselines = [], band, more = [], row } = forecast;
  const all = [...(band ? [{ ...band, ...(level === undefined ? { level: 0.5, name: "lower to upper" } : { level }) }] : []), ...more];
  const [best, ...others] = baselines;
  const labels = times && (!before || before.times) ? [...(before?.times ?? []), ...times] : undefined;
  return plotForecast(prediction, target, {
    title,
    names,
    start: row,
    timeLabel: "row",
    times: labels,
    bands: all,
    ...(before && before.rows.rows > 0 ? { before: before.rows } : {}),
    ...(best ? { baseline: best.prediction, baselineName: best.name } : {}),
    others,
  });
}

/** What baselines say, those beside every forecast. */
function besideAll(scored: readonly Scored[]): BaselinePredictions[] {
  return (scored[0]?.baselines ?? []).flatMap(({ name }) => {
    const predictions = scored.flatMap(({ baselines = [] }) => baselines.find((each) => each.name === name)?.prediction ?? []);
    return predictions.length === scored.length ? [{ name, predictions }] : [];
  });
}

/** Errors and residuals of the forecasts that stayed finite. */
function errorFigures(scored: readonly Scored[], names: readonly string[]): Figure[] {
  const finite = scored.filter(({ prediction }) => prediction.data.every(Number.isFinite));
  if (finite.length === 0) return [];
  const predictions = finite.map(({ prediction }) => prediction);
  const targets = finite.map(({ target }) => target);
  const isOnRows = new Set(finite.map(({ row }) => row)).size === finite.length;
  const times = finite.flatMap((forecast) => (forecast.times ? [forecast.times] : []));
  return [
    plotError(predictions, targets, {
      title: titles.error,
      timeLabel: "step of the forecast",
      start: 1,
      statistic: "rms",
      baselines: besideAll(finite),
    }),
    plotResiduals(predictions, targets, {
      title: titles.residuals,
      names,
      ...(times.length === finite.length ? { times } : isOnRows ? { starts: finite.map(({ row }) => row) } : { timeLabel: "step" }),
    }),
  ];
}
