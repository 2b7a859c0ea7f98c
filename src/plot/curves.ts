// Curves over any number: what a sweep measured, beside what theory says. Series over time are in
// series.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { flag, type InputOf, option, optional, resolve, text } from "@spillway/core/options.js";
import { axis, scatter } from "./elements.js";
import { logarithmicAxis } from "./error.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { isArrayLike, titleOption } from "./options.js";
import { seriesColour } from "./palette.js";

/** One curve. A y that is not finite interrupts it. */
export interface PlottedCurve {
  readonly x: ArrayLike<number>;
  /** As many as x. */
  readonly y: ArrayLike<number>;
  /** How it is drawn; default "line". */
  readonly as?: "line" | "points" | "both" | undefined;
}

export const curvesTable = {
  /** The figure's title; default "Curves". */
  title: titleOption("Curves"),
  /** What x is. */
  xLabel: optional(text(), "What x is."),
  /** What y is. */
  yLabel: optional(text(), "What y is."),
  /** Whether the axis of y is logarithmic; values up to 0 are then left out. Default false. */
  logarithmic: option(flag, false, "Whether the axis of y is logarithmic."),
};

/** How the axes of a figure of curves are called. */
export interface CurvesPlotOptions extends InputOf<typeof curvesTable> {}

const modes = { line: "lines", points: "markers", both: "lines+markers" } as const;

/**
 * Curves by name: a measure over a parameter, a formula beside points.
 * @throws ArgumentError if there is none, and for x and y of different lengths
 */
export function plotCurves(curves: Readonly<Record<string, PlottedCurve>>, options: CurvesPlotOptions = {}): Figure {
  const { title, xLabel = "", yLabel = "", logarithmic } = resolve(curvesTable, options);
  if (typeof curves !== "object" || curves === null || isArrayLike(curves))
    throw new ArgumentError("curves", curves, "curves by name, each with x and y");
  const entries = Object.entries(curves).map(([name, curve]) => ({ name, ...checkedCurve(curve, name) }));
  if (entries.length === 0) throw ArgumentError.shape("there is no curve to draw; it takes at least one");
  return {
    title,
    description: `${title}${yLabel && `: ${yLabel}`}${xLabel && ` over ${xLabel}`}. ${entries.map(inWords).join(" ")}`,
    data: entries.map(({ name, as, ...columns }, k) => {
      const color = seriesColour(k);
      return scatter(modes[as], name, columns, { line: { color, width: 2 }, marker: { color, size: 7 } });
    }),
    layout: {
      height: 320,
      showlegend: entries.length > 1,
      xaxis: axis(xLabel),
      yaxis: axis(yLabel, logarithmic ? logarithmicAxis(entries.map(({ y }) => y)) : {}),
    },
  };
}

function checkedCurve(curve: PlottedCurve, name: string) {
  if (!isArrayLike(curve?.x) || !isArrayLike(curve.y)) throw new ArgumentError(name, curve, "a curve with lists x and y");
  const { as = "line" } = curve;
  if (!Object.hasOwn(modes, as)) throw new ArgumentError(`${name}.as`, as, Object.keys(modes).join(", "));
  const [x, y] = [Float64Array.from(curve.x), Float64Array.from(curve.y)];
  if (x.length !== y.length || x.length === 0)
    throw ArgumentError.shape(`${name} has ${x.length} values of x and ${y.length} of y; it takes as many of each, at least one`, {
      field: name,
    });
  return { x, y, as };
}

function inWords({ name, x, y }: { readonly name: string; readonly x: Float64Array; readonly y: Float64Array }): string {
  const at = (i: number) => `${formatNumber(y[i]!)} at ${formatNumber(x[i]!)}`;
  const largest = y.reduce((best, value, i) => (value > y[best]! || Number.isNaN(y[best]!) ? i : best), 0);
  return `${name}: ${at(0)}, ${at(y.length - 1)}, at most ${at(largest)}.`;
}
