// Figures of series: a prediction against its target, and a series by itself.
import { ArgumentError } from "@spillway/core/errors.js";
import { checkedLater, flag, given, type InputOf, number, object, option, optional, resolve, text } from "@spillway/core/options.js";
import { asMatrix, type MatrixLike } from "@spillway/numerics";
import { validPredictionTime } from "../metrics/index.js";
import { bandTrace, checkedBand, type PlottedBand } from "./band.js";
import { axis, type Element } from "./elements.js";
import { errorByStep } from "./error.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { line, namesOf, type SeriesPlotOptions, sameShape, seriesTable } from "./line.js";
import { listKind, most } from "./options.js";
import { baselineColour, otherColour, predictionColour, seriesColour, targetColour } from "./palette.js";

/** A forecast of the same rows by another, such as a baseline. */
export interface OtherForecast {
  readonly name: string;
  /** T x D. */
  readonly prediction: MatrixLike;
}

const above = number({ above: 0 });

export const forecastTable = {
  ...seriesTable("Prediction against target"),
  /** Bands around the prediction, such as the `bands` of a forecast; default none. */
  bands: optional(listKind<PlottedBand>(), "Bands around the prediction, T x D each; default none."),
  /** T x D, drawn in grey: what a baseline says. */
  baseline: optional(checkedLater<MatrixLike>("a series, T x D"), "What a baseline says, drawn in grey."),
  /** What the legend calls the baseline; default "baseline". */
  baselineName: option(text(), "baseline", "What the legend calls the baseline."),
  /**
   * What others say, T x D each: lines that a page draws when their names in the legend are
   * clicked, and an image leaves out. Default none.
   */
  others: optional(listKind<OtherForecast>(), "What others say, T x D each: drawn when their names in the legend are clicked."),
  /** Rows of the series before the forecast begins: P x D, drawn as a part of the target. */
  before: optional(checkedLater<MatrixLike>("a series, P x D"), "Rows before the forecast begins, drawn as a part of the target."),
  /**
   * A label a row (the rows of `before`, then those of the forecast) for the time axis: dates, such
   * as 2015-05-01. Left out, steps are counted.
   */
  times: optional(listKind<string>(), "A label a row for the time axis; left out, steps are counted."),
  /** Most columns that get a panel of their own; default 3. */
  maxColumns: option(most(0), 3, "Most columns that get a panel of their own."),
  /**
   * Adds a panel with the size of the error by step: the root of the mean square over the columns.
   * Default false.
   */
  withError: option(flag, false, "Adds a panel with the size of the error by step."),
  /**
   * Counts time in Lyapunov times from the first forecast row on, and marks how long the forecast
   * is valid: until its error first passes 0.4 standard deviations (`validPredictionTime`).
   * `exponent` is per unit of the time of `dt`.
   */
  lyapunov: optional(
    object({ dt: given(above, "Time of a step."), exponent: given(above, "Per unit of time.") }, "an object with dt and exponent above 0"),
    "Counts time in Lyapunov times, and marks how long the forecast is valid.",
  ),
};

/** Options of `plotForecast`. */
export interface ForecastPlotOptions extends SeriesPlotOptions, InputOf<typeof forecastTable> {}

/** The options of `plotSeries`. */
export const plotSeriesTable = seriesTable("Series");

/**
 * A prediction against its target, T x D each, one panel a column: history, bands and a baseline
 * beside them if they are given. A line of more than `maxPoints` keeps the extremes of each
 * stretch.
 * @param target what came; undefined if nobody knows it yet
 * @throws ArgumentError if the shapes differ, or `times` does not label every row.
 * @example
 * const { values, bands } = await forecaster.forecast(24, { intervals: [0.5, 0.9] });
 * plotForecast(values, undefined, { before: history, bands });
 */
export function plotForecast(prediction: MatrixLike, target: MatrixLike | undefined, options: ForecastPlotOptions = {}): Figure {
  const { start, maxPoints, maxColumns, timeLabel, baselineName, times, withError, lyapunov, ...asked } = resolve(forecastTable, options);
  const predicted = asMatrix(prediction, "prediction");
  const known = target === undefined ? undefined : sameShape(predicted, target)[1];
  const actual = known ?? predicted;
  const bands = (asked.bands ?? []).map((band, k) => checkedBand(band, predicted, `bands[${k}]`)).sort((a, b) => b.level - a.level);
  const baseline = asked.baseline && sameShape(asked.baseline, actual, "baseline")[0];
  const others = (asked.others ?? []).map((other, k) => {
    if (typeof other !== "object" || other === null) throw new ArgumentError(`others[${k}]`, other, "an object with name and prediction");
    return { name: String(other.name), values: sameShape(other.prediction, actual, `others[${k}].prediction`)[0] };
  });
  if (withError && !known) throw ArgumentError.because("withError is true and there is no target; an error takes both");
  const before = asked.before && asMatrix(asked.before, "before");
  const lead = before?.rows ?? 0;
  if (times && times.length !== lead + actual.rows) {
    throw ArgumentError.shape(
      `times holds ${times.length} labels; ${lead} rows before and ${actual.rows} of the forecast take ${lead + actual.rows}`,
      { field: "times" },
    );
  }
  if (lyapunov && times)
    throw ArgumentError.because("lyapunov and times are both given; a time axis is either labelled or counted in Lyapunov times");
  const scale = lyapunov ? lyapunov.dt * lyapunov.exponent : 1;
  const begin = lyapunov ? 0 : start;
  const ahead = { start: begin, scale, times: times?.slice(lead), maxPoints };
  const shown = Math.min(actual.cols, maxColumns);
  const panels = shown + (withError ? 1 : 0);
  const names = namesOf(asked.names, actual.cols);
  const data: Element[] = [];
  const layout: Record<string, unknown> = { height: 120 + 210 * panels };
  for (let c = 0; c < shown; c++) {
    const number = c === 0 ? "" : String(c + 1);
    const axes = (legendgroup: string) => ({ yaxis: `y${number}`, showlegend: c === 0, legendgroup });
    bands.forEach((band, k) => {
      data.push(bandTrace({ band, column: c, strength: (k + 1) / bands.length, ...ahead }, axes(`band ${band.level}`)));
    });
    const whole = Float64Array.from([...(before ? before.column(c) : []), ...(known ? known.column(c) : [])]);
    const drawn = { values: whole, start: begin - lead, scale, times, style: { color: targetColour, width: 4 }, maxPoints };
    if (whole.length > 0) data.push(line({ name: "target", ...drawn }, axes("target")));
    others.forEach(({ name, values }, k) => {
      // The first of the colours is too near that of the target.
      const style = { color: otherColour(k + 1) ?? baselineColour, width: 1, dash: "dot" };
      data.push(line({ name, values: values.column(c), style, ...ahead }, { ...axes(`other ${k}`), visible: "legendonly" }));
    });
    if (baseline) {
      const style = { color: baselineColour, width: 1.5, dash: "dash" };
      data.push(line({ name: baselineName, values: baseline.column(c), style, ...ahead }, axes("baseline")));
    }
    const style = { color: predictionColour, width: 1.5 };
    data.push(line({ name: "prediction", values: predicted.column(c), style, ...ahead }, axes("prediction")));
    layout[`yaxis${number}`] = axis(names[c], { domain: domainOf(c, panels) });
  }
  if (withError) {
    const style = { color: baselineColour, width: 1.5 };
    data.push(line({ name: "error", values: errorByStep(predicted, actual), style, ...ahead }, { yaxis: `y${panels}` }));
    layout[`yaxis${panels}`] = axis("error", { domain: domainOf(panels - 1, panels), rangemode: "tozero" });
  }
  // Labels that are no dates stand in their own order, not in that of the first trace.
  const order = times && bands.length > 0 ? { categoryorder: "array", categoryarray: [...times] } : {};
  const axisTitle = lyapunov ? "Lyapunov times" : times ? "" : timeLabel;
  layout["xaxis"] = axis(axisTitle, { anchor: panels === 1 ? "y" : `y${panels}`, ...order });
  const valid = lyapunov && known && validPredictionTime(known, predicted, { dt: lyapunov.dt, lyapunovExponent: lyapunov.exponent });
  const shapes = [
    ...(lead > 0 ? [startLine(times ? times[lead]! : begin)] : []),
    ...(valid && !valid.reachedEnd ? [startLine(valid.lyapunovTimes!)] : []),
  ];
  if (shapes.length > 0) layout["shapes"] = shapes;
  const beside = [
    ...(bands.length > 0 ? [`bands of ${bands.map(({ name }) => name).join(" and ")}`] : []),
    ...(baseline ? [baselineName] : []),
  ];
  const drawnNames = names.slice(0, shown).join(", ");
  const compared = beside.length > 0 ? `, with ${beside.join(" and ")} beside ${known ? "them" : "it"}` : "";
  const more = actual.cols > shown ? ` The first ${shown} of ${actual.cols} columns are drawn.` : "";
  return {
    title: asked.title,
    description: `${known ? "The target and the prediction" : "The prediction"} of ${drawnNames} over ${actual.rows} steps${compared}.${validFor(valid)}${more}`,
    data,
    layout,
  };
}

function validFor(valid: ReturnType<typeof validPredictionTime> | undefined): string {
  if (!valid) return "";
  return ` The forecast is valid for ${valid.reachedEnd ? "at least " : ""}${formatNumber(valid.lyapunovTimes!)} Lyapunov times.`;
}

/** Several series as lines: T x D, one line a column. @throws ArgumentError on ragged rows. */
export function plotSeries(series: MatrixLike, options: SeriesPlotOptions = {}): Figure {
  const { title, start, maxPoints, timeLabel, names: called } = resolve(plotSeriesTable, options);
  const matrix = asMatrix(series, "series");
  const names = namesOf(called, matrix.cols);
  return {
    title,
    description: `${names.join(", ")} over ${matrix.rows} steps.`,
    data: names.map((name, c) => line({ name, values: matrix.column(c), start, style: { color: seriesColour(c), width: 1.5 }, maxPoints })),
    layout: { height: 300, xaxis: axis(timeLabel), yaxis: axis(undefined) },
  };
}

/** Where on the height of the figure panel `c` of `count` is, the first one on top. */
function domainOf(c: number, count: number): [number, number] {
  const gap = count > 1 ? 0.06 : 0;
  const height = (1 - gap * (count - 1)) / count;
  const top = 1 - c * (height + gap);
  return [Math.max(0, top - height), Math.min(1, top)];
}

function startLine(at: number | string): Element {
  const style = { color: baselineColour, width: 1, dash: "longdash" };
  return { type: "line", xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1, line: style };
}
