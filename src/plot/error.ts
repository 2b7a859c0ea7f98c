// Figures of errors by step.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, flag, type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import { axis } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { checkedPairs, line, type SeriesPlotOptions, sameShape, seriesTable } from "./line.js";
import { checkList, listKind } from "./options.js";
import { baselineColour, otherColour, predictionColour } from "./palette.js";

/** What a baseline says from the same starts: as many predictions as there are targets. */
export interface BaselinePredictions {
  readonly name: string;
  readonly predictions: readonly MatrixLike[];
}

export const errorTable = {
  ...seriesTable("Error"),
  /**
   * Whether the error axis is logarithmic. Left out, it is if the (median) error spans more than
   * a power of ten.
   */
  logarithmic: optional(flag, "Whether the error axis is logarithmic; left out, if the error spans more than a power of ten."),
  /**
   * Others that forecast the same targets: one line each, the first five in colours of their own,
   * in place of a line a start. Default none.
   */
  baselines: optional(listKind<BaselinePredictions>(), "Others that forecast the same targets: name and predictions."),
  /**
   * What the thick line of several predictions is: the median of their errors (default), or "rms",
   * the root of their mean square, which is what a root mean square error by step is.
   */
  statistic: option(choice("median", "rms"), "median", "What the thick line of several predictions is."),
};

/** Options of `plotError`. */
export interface ErrorPlotOptions extends SeriesPlotOptions, InputOf<typeof errorTable> {}

/** Starts that get a line of their own; of more, some at even distances. */
const mostStarts = 200;

/**
 * The error of one or several predictions by step: for each the root of the mean square over the D
 * columns that were measured (a target of NaN was not); with several (one a start or trial), a thin
 * line each and the median of them as a thick one.
 * @throws ArgumentError if the shapes differ.
 */
export function plotError(predictions: readonly MatrixLike[], targets: readonly MatrixLike[], options: ErrorPlotOptions = {}): Figure {
  const { title, start, maxPoints, timeLabel, statistic, ...asked } = resolve(errorTable, options);
  const errors = checkedPairs(predictions, targets).map((pair) => errorByStep(...pair));
  const middleOf = statistic === "median" ? medianByStep : rmsByStep;
  const others = (asked.baselines ?? []).map(({ name, predictions: said }, k) => {
    checkList(said, `baselines[${k}].predictions`, "series");
    if (said.length !== targets.length)
      throw ArgumentError.shape(`baselines[${k}] has ${said.length} predictions; ${targets.length} targets take as many`);
    return { name: String(name), values: middleOf(said.map((each, k) => errorByStep(...sameShape(each, targets[k]!)))) };
  });
  const many = errors.length > 1;
  const style = { color: many ? baselineColour : predictionColour, width: many ? 0.75 : 1.5 };
  const each = {
    name: many ? "one start" : "error",
    start,
    style,
    maxPoints: many ? Math.max(100, Math.floor((maxPoints * 4) / Math.min(errors.length, mostStarts))) : maxPoints,
  };
  const every = Math.max(1, Math.ceil(errors.length / mostStarts));
  const data = (many && others.length > 0 ? [] : errors.filter((_, k) => k % every === 0)).map((values, k) =>
    line({ ...each, values }, { showlegend: k === 0, opacity: many ? 0.55 : 1, legendgroup: "each" }),
  );
  const middle = many ? middleOf(errors) : errors[0]!;
  const word = statistic === "median" ? "median" : "root mean square";
  others.forEach(({ name, values }, k) => {
    const style = { color: otherColour(k) ?? baselineColour, width: otherColour(k) ? 1.5 : 1, dash: otherColour(k) ? "dash" : "dot" };
    const shown = { showlegend: otherColour(k) !== undefined };
    data.push(line({ name, values, start, style, maxPoints }, shown));
  });
  if (many) data.push(line({ name: word, values: middle, start, style: { color: predictionColour, width: 2.5 }, maxPoints }));
  const { logarithmic = decadesOf([middle, ...others.map(({ values }) => values)]) > 1 } = asked;
  const whose = many ? `, of ${errors.length} starts and their ${word}` : "";
  const beside = others.map(({ name, values }) => ` ${name}: ${formatNumber(values[0]!)} and ${formatNumber(values.at(-1)!)}.`).join("");
  return {
    title,
    description: `The size of the error by step${whose}: ${formatNumber(middle[0]!)} at the first step, ${formatNumber(middle[middle.length - 1]!)} at the last.${beside}`,
    data,
    layout: {
      height: 300,
      xaxis: axis(timeLabel),
      yaxis: axis("error", logarithmic ? logarithmicAxis([...errors, ...others.map(({ values }) => values)]) : {}),
    },
  };
}

/**
 * Ticks at whole powers of ten if there are several; plotly's own choice writes every digit
 * between them.
 */
export function logarithmicAxis(errors: readonly Float64Array[]): Record<string, unknown> {
  const decades = decadesOf(errors);
  return { type: "log", exponentformat: "power", ...(decades >= 2 ? { dtick: Math.max(1, Math.round(decades / 6)) } : {}) };
}

/** How many powers of ten lie between the least and the greatest error above 0. */
function decadesOf(errors: readonly Float64Array[]): number {
  let least = Infinity;
  let greatest = 0;
  for (const error of errors) {
    for (const value of error) {
      if (value > 0 && value < least) least = value;
      if (value < Infinity && value > greatest) greatest = value;
    }
  }
  return greatest > 0 ? Math.log10(greatest / least) : 0;
}

/**
 * The root of the mean square of the error over the columns that were measured, by step; NaN if
 * none was.
 */
export function errorByStep(prediction: Matrix, target: Matrix): Float64Array {
  const { rows, cols } = target;
  const out = new Float64Array(rows);
  for (let t = 0; t < rows; t++) {
    let sum = 0;
    let measured = 0;
    for (let i = t * cols; i < (t + 1) * cols; i++) {
      if (Number.isNaN(target.data[i]!)) continue;
      sum += (prediction.data[i]! - target.data[i]!) ** 2;
      measured++;
    }
    out[t] = Math.sqrt(sum / measured);
  }
  return out;
}

/** A number for each step, made of the errors of the step that are known. */
function byStep(errors: readonly Float64Array[], of: (known: number[]) => number): Float64Array {
  const length = Math.min(...errors.map((error) => error.length));
  return Float64Array.from({ length }, (_, t) => of(errors.map((error) => error[t]!).filter((error) => !Number.isNaN(error))));
}

/** The root of the mean of the squares, by step. */
export function rmsByStep(errors: readonly Float64Array[]): Float64Array {
  return byStep(errors, (known) => Math.sqrt(known.reduce((sum, error) => sum + error ** 2, 0) / known.length));
}

function medianByStep(errors: readonly Float64Array[]): Float64Array {
  return byStep(errors, (known) => {
    const sorted = known.sort((a, b) => a - b);
    if (sorted.length === 0) return Number.NaN;
    const half = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  });
}
