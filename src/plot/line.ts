// What figures of series share: one decimated line, and the checks of their shapes.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, number, option, optional, text } from "@spillway/core/options.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { decimate } from "./decimate.js";
import { type Element, scatter } from "./elements.js";
import { checkList, listKind, most, titleOption } from "./options.js";

/** The options of a figure of series: its title, and the most points of a line, if left out. */
export const seriesTable = (title: string, maxPoints = 2000) => ({
  /** The figure's title; default says what is drawn. */
  title: titleOption(title),
  /** What a step is; default "step". */
  timeLabel: option(text(), "step", "What a step is."),
  /** What is measured, one name a column. */
  names: optional(listKind<string>(), "What is measured, one name a column."),
  /** The number of the first row on the time axis; default 0. */
  start: option(number(), 0, "The number of the first row on the time axis."),
  /** Most points a line keeps; default 2000. */
  maxPoints: option(most(0), maxPoints, "Most points a line keeps."),
});

/** How the axes of a series are called. */
export interface SeriesPlotOptions extends InputOf<ReturnType<typeof seriesTable>> {}

/** One line of a plot. */
export interface LineOptions {
  readonly name: string;
  readonly values: ArrayLike<number>;
  /** The number of its first value on the time axis. */
  readonly start: number;
  /** What a step counts on the time axis; default 1. */
  readonly scale?: number | undefined;
  /** A label a value, in place of numbers. */
  readonly times?: readonly string[] | undefined;
  readonly style: Element;
  readonly maxPoints: number;
}

/** A line as a plotly trace, decimated; `more` is added to it. */
export function line({ name, values, start, scale = 1, times, style, maxPoints }: LineOptions, more: Element = {}): Element {
  const kept = decimate(values, maxPoints);
  const x = times ? Array.from(kept.index, (i) => times[i]) : kept.index.map((i) => (i + start) * scale);
  return scatter("lines", name, { x, y: kept.values }, { line: style, ...more });
}

/** @throws ArgumentError if the two differ in shape */
export function sameShape(prediction: MatrixLike, target: MatrixLike, name = "prediction"): [Matrix, Matrix] {
  const a = asMatrix(prediction, name);
  const b = asMatrix(target, "target");
  if (a.rows !== b.rows || a.cols !== b.cols) {
    throw ArgumentError.shape(`${name} is ${a.rows} x ${a.cols} and target is ${b.rows} x ${b.cols}; they take the same shape`, {
      field: name,
    });
  }
  return [a, b];
}

/**
 * Predictions with their targets.
 * @throws ArgumentError if they are no lists of as many, at least one, or differ in shape
 */
export function checkedPairs(predictions: readonly MatrixLike[], targets: readonly MatrixLike[]): [Matrix, Matrix][] {
  checkList(predictions, "predictions", "series");
  checkList(targets, "targets", "series");
  if (predictions.length === 0 || predictions.length !== targets.length)
    throw ArgumentError.shape(
      `there are ${predictions.length} predictions and ${targets.length} targets; it takes as many of both, at least one`,
    );
  return predictions.map((prediction, k) => sameShape(prediction, targets[k]!));
}

/** A name for every column. */
export function namesOf(names: readonly string[] | undefined, cols: number): string[] {
  return Array.from({ length: cols }, (_, c) => names?.[c] ?? (cols === 1 ? "value" : `column ${c}`));
}
