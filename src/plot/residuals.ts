// What forecasts leave over: residuals in the order of time, and how they are distributed.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, resolve, text, whole } from "@spillway/core/options.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import { axis, type Element, scatter } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { edgesOf, histogram, momentsOf } from "./histogram.js";
import { checkedPairs, namesOf } from "./line.js";
import { listKind, most, titleOption } from "./options.js";
import { baselineColour, seriesColour } from "./palette.js";

export const residualTable = {
  /** The figure's title; default "Residuals". */
  title: titleOption("Residuals"),
  /** What a row is; default "row". */
  timeLabel: option(text(), "row", "What a row is."),
  /** What is measured, one name a column. */
  names: optional(listKind<string>(), "What is measured, one name a column."),
  /** The row at which each forecast begins; left out, they follow one another from 0. */
  starts: optional(listKind<number>(), "The row at which each forecast begins; left out, they follow one another from 0."),
  /** A label for each row of each forecast, such as its date, in place of numbers. */
  times: optional(listKind<readonly string[]>(), "A label for each row of each forecast, in place of numbers."),
  /** Most points that are drawn of a column; default 4000. The distribution counts all. */
  maxPoints: option(most(1), 4000, "Most points that are drawn of a column."),
  /** Bars of the distribution; default by the rule of Freedman and Diaconis, 8 to 60. */
  bins: optional(whole({ atLeast: 1, atMost: 1000 }), "Bars of the distribution; left out, by the rule of Freedman and Diaconis."),
};

/** Options of `plotResiduals`. */
export interface ResidualPlotOptions extends InputOf<typeof residualTable> {}

interface Residuals {
  readonly values: Float64Array;
  readonly positions: readonly (number | string)[];
}

/**
 * Target less prediction of forecasts, H x D each: over time, and as a distribution beside the
 * normal one of the same mean and deviation. One colour a column. Values that are not finite are
 * left out and counted in the description.
 * @throws ArgumentError if the shapes differ, or `starts` or `times` does not fit them
 */
export function plotResiduals(
  predictions: readonly MatrixLike[],
  targets: readonly MatrixLike[],
  options: ResidualPlotOptions = {},
): Figure {
  const { title, timeLabel, starts, times, maxPoints, ...asked } = resolve(residualTable, options);
  const pairs = checkedPairs(predictions, targets);
  for (const [name, given] of [["starts", starts] as const, ["times", times] as const])
    if (given && given.length !== pairs.length)
      throw ArgumentError.shape(`${name} holds ${given.length}; ${pairs.length} forecasts take as many`, { field: name });
  pairs.forEach(([prediction], k) => {
    if (times && times[k]!.length !== prediction.rows)
      throw ArgumentError.shape(`times[${k}] holds ${times[k]!.length} labels; the forecast has ${prediction.rows} rows`, {
        field: "times",
      });
  });
  const cols = pairs[0]![0].cols;
  const names = namesOf(asked.names, cols);
  const residuals = names.map((_, c) => residualsOf(pairs, c, starts, times));
  const all = Float64Array.from(residuals.flatMap(({ values }) => [...values])).sort();
  const left = pairs.reduce((sum, [prediction]) => sum + prediction.data.length, 0) - all.length;
  const edges = edgesOf(all, asked.bins);
  const data = names.flatMap((name, c): Element[] => {
    const color = seriesColour(c);
    const { values, positions } = residuals[c]!;
    const every = Math.max(1, Math.ceil(values.length / maxPoints));
    const drawn = Array.from({ length: Math.ceil(values.length / every) }, (_, k) => k * every);
    const columns = { x: drawn.map((k) => positions[k]!), y: Float64Array.from(drawn, (k) => values[k]!) };
    return [
      scatter("markers", name, columns, { marker: { color, size: 4, opacity: 0.6 } }),
      histogram(name, values, edges, {
        ...{ xaxis: "x2", yaxis: "y2", showlegend: false },
        ...{ line: { color, width: 1.5 }, fill: "tozeroy", fillcolor: `${color}33` },
      }),
    ];
  });
  const { mean, sd } = momentsOf(all);
  if (cols === 1 && sd > 0) data.push(normalCurve(edges, mean, sd));
  const lost = left > 0 ? ` ${left} values are not finite and are left out.` : "";
  return {
    title,
    description: `Target less prediction of ${names.join(", ")}, ${all.length} values of ${pairs.length} forecast${pairs.length === 1 ? "" : "s"}: mean ${formatNumber(mean)}, standard deviation ${formatNumber(sd)}.${lost}`,
    data,
    layout: {
      height: 420,
      xaxis: axis(times ? "" : timeLabel, { anchor: "y" }),
      yaxis: axis("target - prediction", { domain: [0.56, 1] }),
      xaxis2: axis("target - prediction", { anchor: "y2" }),
      yaxis2: axis("share", { domain: [0, 0.36], anchor: "x2", rangemode: "tozero" }),
      shapes: [zeroLine(residuals)],
    },
  };
}

function residualsOf(
  pairs: readonly (readonly [Matrix, Matrix])[],
  column: number,
  starts: readonly number[] | undefined,
  times: readonly (readonly string[])[] | undefined,
): Residuals {
  const values: number[] = [];
  const positions: (number | string)[] = [];
  let next = 0;
  pairs.forEach(([prediction, target], k) => {
    const first = starts?.[k] ?? next;
    next += prediction.rows;
    for (let h = 0; h < prediction.rows; h++) {
      const value = target.at(h, column) - prediction.at(h, column);
      if (!Number.isFinite(value)) continue;
      values.push(value);
      positions.push(times ? times[k]![h]! : first + h);
    }
  });
  return { values: Float64Array.from(values), positions };
}

function zeroLine(residuals: readonly Residuals[]): Element {
  const { positions } = residuals.find((column) => column.positions.length > 0) ?? { positions: [0] };
  const sorted = typeof positions[0] === "number" ? [...(positions as number[])].sort((a, b) => a - b) : positions;
  const style = { color: baselineColour, width: 1, dash: "longdash" };
  return { type: "line", xref: "x", yref: "y", x0: sorted[0], x1: sorted.at(-1), y0: 0, y1: 0, line: style };
}

function normalCurve(edges: Float64Array, mean: number, sd: number): Element {
  const [low, high] = [edges[0]!, edges.at(-1)!];
  const width = (high - low) / (edges.length - 1);
  const x = Float64Array.from({ length: 121 }, (_, k) => low + ((high - low) * k) / 120);
  const density = (value: number) => Math.exp(-0.5 * ((value - mean) / sd) ** 2) / (sd * Math.sqrt(2 * Math.PI));
  const line = { color: baselineColour, width: 1.5, dash: "dash" };
  const y = x.map((value) => width * density(value));
  return scatter("lines", "normal", { x, y }, { xaxis: "x2", yaxis: "y2", line });
}
