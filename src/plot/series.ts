// Figures of a series and of what a model made of it: values, and errors.
import { asMatrix, type Matrix, type MatrixLike } from "../numerics/index.js";
import { decimate } from "./decimate.js";
import { encodeArray, type Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { baselineColour, predictionColour, seriesColour, targetColour } from "./palette.js";

/** How the axes of a series are called. */
export interface SeriesPlotOptions {
  readonly title?: string | undefined;
  /** What a step is; default "step". */
  readonly timeLabel?: string | undefined;
  /** What is measured, one name a column. */
  readonly names?: readonly string[] | undefined;
  /** The number of the first row on the time axis; default 0. */
  readonly start?: number | undefined;
  /** Most points a line keeps; default 2000. */
  readonly maximalPoints?: number | undefined;
}

export interface ForecastPlotOptions extends SeriesPlotOptions {
  /** T x D, drawn in grey: what a baseline says. */
  readonly baseline?: MatrixLike | undefined;
  readonly baselineName?: string | undefined;
  /** Rows of the series before the forecast begins: P x D, drawn as a part of the target. */
  readonly before?: MatrixLike | undefined;
  /** Most columns that get a panel of their own; default 3. */
  readonly maximalColumns?: number | undefined;
}

/**
 * A prediction against its target, T x D each, one panel a column. A line of more than `maximalPoints` keeps the extremes of each stretch.
 * @throws RangeError where the shapes differ.
 */
export function plotForecast(prediction: MatrixLike, target: MatrixLike, options: ForecastPlotOptions = {}): Figure {
  const { start = 0, maximalPoints = 2000, maximalColumns = 3, timeLabel = "step", baselineName = "baseline" } = options;
  const [predicted, actual] = sameShape(prediction, target);
  const baseline = options.baseline && sameShape(options.baseline, actual, "baseline")[0];
  const before = options.before && asMatrix(options.before, "before");
  const shown = Math.min(actual.cols, maximalColumns);
  const names = namesOf(options.names, actual.cols);
  const data: Record<string, unknown>[] = [];
  const layout: Record<string, unknown> = { height: 120 + 210 * shown };
  for (let c = 0; c < shown; c++) {
    const axis = c === 0 ? "" : String(c + 1);
    const place = { yaxis: `y${axis}`, showlegend: c === 0 };
    const lead = before ? before.column(c) : new Float64Array(0);
    const whole = Float64Array.from([...lead, ...actual.column(c)]);
    data.push(
      line("target", whole, start - lead.length, { color: targetColour, width: 2 }, { ...place, legendgroup: "target" }, maximalPoints),
    );
    if (baseline) {
      const style = { color: baselineColour, width: 1.5, dash: "dash" };
      data.push(line(baselineName, baseline.column(c), start, style, { ...place, legendgroup: "baseline" }, maximalPoints));
    }
    const style = { color: predictionColour, width: 1.75, dash: "dot" };
    data.push(line("prediction", predicted.column(c), start, style, { ...place, legendgroup: "prediction" }, maximalPoints));
    layout[`yaxis${axis}`] = { title: { text: names[c] }, domain: domainOf(c, shown), automargin: true };
  }
  layout["xaxis"] = { title: { text: timeLabel }, anchor: shown === 1 ? "y" : `y${shown}`, automargin: true };
  if (before && before.rows > 0) layout["shapes"] = [startLine(start)];
  const left = actual.cols - shown;
  const more = left > 0 ? ` The first ${shown} of ${actual.cols} columns are drawn.` : "";
  return {
    title: options.title ?? "Prediction against target",
    description: `The target and the prediction of ${names.slice(0, shown).join(", ")} over ${actual.rows} steps${baseline ? `, with ${baselineName} beside them` : ""}.${more}`,
    data,
    layout,
  };
}

export interface ErrorPlotOptions extends SeriesPlotOptions {
  /** Whether the error axis is logarithmic; default true. */
  readonly logarithmic?: boolean | undefined;
}

/**
 * The error of one or several predictions by step: for each the root of the mean square over the D columns; with several (one a start or trial), a
 * thin line each and the median of them as a thick one.
 * @throws RangeError where the shapes differ.
 */
export function plotError(predictions: readonly MatrixLike[], targets: readonly MatrixLike[], options: ErrorPlotOptions = {}): Figure {
  const { start = 0, maximalPoints = 2000, timeLabel = "step", logarithmic = true } = options;
  if (predictions.length === 0 || predictions.length !== targets.length) {
    throw new RangeError(
      `there are ${predictions.length} predictions and ${targets.length} targets; it takes as many of both, at least one`,
    );
  }
  const errors = predictions.map((prediction, k) => errorByStep(...sameShape(prediction, targets[k]!)));
  const many = errors.length > 1;
  const maximalEach = many ? Math.max(100, Math.floor((maximalPoints * 4) / errors.length)) : maximalPoints;
  const thinLine = { color: many ? baselineColour : predictionColour, width: many ? 0.75 : 1.5 };
  const data = errors.map((error, k) =>
    line(
      many ? "one start" : "error",
      error,
      start,
      thinLine,
      { showlegend: k === 0, opacity: many ? 0.55 : 1, legendgroup: "each" },
      maximalEach,
    ),
  );
  const middle = many ? medianByStep(errors) : errors[0]!;
  if (many) data.push(line("median", middle, start, { color: predictionColour, width: 2.5 }, {}, maximalPoints));
  return {
    title: options.title ?? "Error",
    description: `The size of the error by step${many ? `, of ${errors.length} starts and their median` : ""}: ${formatNumber(middle[0]!)} at the first step, ${formatNumber(middle[middle.length - 1]!)} at the last.`,
    data,
    layout: {
      height: 300,
      xaxis: { title: { text: timeLabel }, automargin: true },
      yaxis: { title: { text: "error" }, ...(logarithmic ? logarithmicAxis(errors) : {}), automargin: true },
    },
  };
}

/** Several series as lines: T x D, one line a column. */
export function plotSeries(series: MatrixLike, options: SeriesPlotOptions = {}): Figure {
  const matrix = asMatrix(series, "series");
  const { start = 0, maximalPoints = 2000, timeLabel = "step" } = options;
  const names = namesOf(options.names, matrix.cols);
  return {
    title: options.title ?? "Series",
    description: `${names.join(", ")} over ${matrix.rows} steps.`,
    data: names.map((name, c) => line(name, matrix.column(c), start, { color: seriesColour(c), width: 1.5 }, {}, maximalPoints)),
    layout: { height: 300, xaxis: { title: { text: timeLabel }, automargin: true }, yaxis: { automargin: true } },
  };
}

/** One line of a plot, decimated. */
export function line(
  name: string,
  values: ArrayLike<number>,
  start: number,
  style: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>>,
  maximalPoints: number,
): Record<string, unknown> {
  const kept = decimate(values, maximalPoints);
  const x = kept.index.map((i) => i + start);
  return { type: "scatter", mode: "lines", name, x: encodeArray(x), y: encodeArray(kept.values), line: style, ...more };
}

/** Ticks at whole powers of ten where there are several; plotly's own choice writes every digit between them. */
function logarithmicAxis(errors: readonly Float64Array[]): Record<string, unknown> {
  let least = Infinity;
  let greatest = 0;
  for (const error of errors) {
    for (const value of error) {
      if (value > 0 && value < least) least = value;
      if (value < Infinity && value > greatest) greatest = value;
    }
  }
  const decades = Math.log10(greatest / least);
  return { type: "log", exponentformat: "power", ...(decades >= 2 ? { dtick: Math.max(1, Math.round(decades / 6)) } : {}) };
}

function errorByStep(prediction: Matrix, target: Matrix): Float64Array {
  const { rows, cols } = target;
  const out = new Float64Array(rows);
  for (let t = 0; t < rows; t++) {
    let sum = 0;
    for (let i = t * cols; i < (t + 1) * cols; i++) sum += (prediction.data[i]! - target.data[i]!) ** 2;
    out[t] = Math.sqrt(sum / cols);
  }
  return out;
}

function medianByStep(errors: readonly Float64Array[]): Float64Array {
  const length = Math.min(...errors.map((error) => error.length));
  return Float64Array.from({ length }, (_, t) => {
    const sorted = errors.map((error) => error[t]!).sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  });
}

function sameShape(prediction: MatrixLike, target: MatrixLike, name = "prediction"): [Matrix, Matrix] {
  const a = asMatrix(prediction, name);
  const b = asMatrix(target, "target");
  if (a.rows !== b.rows || a.cols !== b.cols) {
    throw new RangeError(`${name} is ${a.rows} x ${a.cols} and target is ${b.rows} x ${b.cols}; they take the same shape`);
  }
  return [a, b];
}

function namesOf(names: readonly string[] | undefined, cols: number): string[] {
  return Array.from({ length: cols }, (_, c) => names?.[c] ?? (cols === 1 ? "value" : `column ${c}`));
}

/** Where on the height of the figure panel `c` of `count` stands, the first one on top. */
function domainOf(c: number, count: number): [number, number] {
  const gap = count > 1 ? 0.06 : 0;
  const height = (1 - gap * (count - 1)) / count;
  const top = 1 - c * (height + gap);
  return [Math.max(0, top - height), Math.min(1, top)];
}

function startLine(at: number): Record<string, unknown> {
  return {
    type: "line",
    xref: "x",
    yref: "paper",
    x0: at,
    x1: at,
    y0: 0,
    y1: 1,
    line: { color: baselineColour, width: 1, dash: "longdash" },
  };
}
