// A map of a measure over two numbers of a reservoir's description, with the line at which the
// Lyapunov exponent changes sign. It is measured by `analysis`.
import { ArgumentError } from "@spillway/core/errors.js";
import { optional, resolve, text } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { axis, colourBar, heatmap, scatter } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import type { TitleOptions } from "./options.js";
import { divergingScale, predictionColour, sequentialScale } from "./palette.js";

const table = { title: optional(text(), "The figure's title; left out, the measure.") };

/** A measured map: `qualityMap()` gives these. */
export interface PlottedMap {
  readonly x: { readonly parameter: string; readonly values: readonly number[] };
  readonly y: { readonly parameter: string; readonly values: readonly number[] };
  /** By measure: row i, column j at y.values[i], x.values[j]. */
  readonly values: Readonly<Partial<Record<string, Matrix>>>;
}

const titles: Readonly<Record<string, string>> = {
  lyapunovExponent: "Lyapunov exponent",
  memoryCapacity: "Memory capacity",
  kernelRank: "Kernel rank",
  generalisationRank: "Generalisation rank",
  rankDifference: "Kernel rank less generalisation rank",
  informationCapacity: "Information processing capacity",
  echoStateIndex: "Echo state index",
  storage: "Active information storage (nats)",
  transfer: "Transfer entropy a connection (nats)",
};

/**
 * One measure of a map as colours. If the map has the Lyapunov exponent, a line shows where it
 * first changes sign, along x or y.
 * @throws ArgumentError for a measure that the map does not have
 */
export function plotQualityMap(map: PlottedMap, measure: string, options: TitleOptions = {}): Figure {
  const { title = titles[measure] ?? measure } = resolve(table, options);
  if (typeof map?.values !== "object" || map.values === null) throw new ArgumentError("map", map, "what qualityMap() gives");
  const values = Object.hasOwn(map.values, measure) ? map.values[measure] : undefined;
  if (!values) throw new ArgumentError("measure", measure, `one of ${Object.keys(map.values).join(", ")}`);
  const { x, y } = map;
  const signed = measure === "lyapunovExponent";
  const finite = Array.from(values.data).filter(Number.isFinite);
  const largest = finite.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const best = finite.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const at = Array.from(values.data).indexOf(best);
  const peak =
    at < 0
      ? "nothing finite"
      : `largest ${formatNumber(best)} at ${x.parameter} ${formatNumber(x.values[at % values.cols]!)}, ${y.parameter} ${formatNumber(y.values[Math.floor(at / values.cols)]!)}`;
  const line = edge(map);
  return {
    title,
    description: `${title} over ${x.parameter} and ${y.parameter}: ${peak}.${line.x.length > 0 ? " The line is where the Lyapunov exponent changes sign." : ""}`,
    data: [
      heatmap(Float64Array.from(values.data), [values.rows, values.cols], {
        ...(signed ? { zmin: -largest, zmax: largest } : {}),
        colorscale: signed ? divergingScale : sequentialScale,
        colorbar: colourBar(""),
        hovertemplate: `${x.parameter} %{x}, ${y.parameter} %{y}: %{z:.3f}<extra></extra>`,
      }),
      ...(line.x.length > 0
        ? [scatter("lines", "exponent 0", line, { line: { color: predictionColour, width: 2 }, hoverinfo: "skip" })]
        : []),
    ],
    layout: { height: 400, showlegend: false, xaxis: axis(x.parameter, ticks(x.values)), yaxis: axis(y.parameter, ticks(y.values)) },
  };
}

/** At most nine values, at their positions. */
function ticks(values: readonly number[]) {
  const every = Math.ceil(values.length / 9);
  const shown = values.map((_, k) => k).filter((k) => k % every === 0);
  const ticktext = shown.map((k) => formatNumber(values[k]!));
  return { type: "linear", range: [-0.5, values.length - 0.5], tickmode: "array", tickvals: shown, ticktext, showgrid: false };
}

/**
 * Where the exponent first changes sign, between the cells, from 0 across and upwards: along each
 * row, or along each column if more of those have such a point. Behind it the exponent may lie at 0
 * and change sign by chance.
 */
function edge({ values }: PlottedMap): { readonly x: Float64Array; readonly y: Float64Array } {
  const exponents = values["lyapunovExponent"];
  if (!exponents) return { x: new Float64Array(0), y: new Float64Array(0) };
  const { rows, cols } = exponents;
  const alongRows = changes(rows, cols, (row, c) => exponents.at(row, c));
  const alongColumns = changes(cols, rows, (c, row) => exponents.at(row, c));
  const isAcross = alongColumns.at.length > alongRows.at.length;
  const [x, y] = isAcross ? [alongColumns.lines, alongColumns.at] : [alongRows.at, alongRows.lines];
  return { x: Float64Array.from(x), y: Float64Array.from(y) };
}

/** Of each line that has one, where its values first change sign. */
function changes(lines: number, length: number, value: (line: number, k: number) => number) {
  const out = { lines: [] as number[], at: [] as number[] };
  for (let line = 0; line < lines; line++) {
    for (let k = 0; k + 1 < length; k++) {
      const [a, b] = [value(line, k), value(line, k + 1)];
      if (!((a < 0 && b >= 0) || (a >= 0 && b < 0))) continue;
      out.lines.push(line);
      out.at.push(k + (Number.isFinite(a - b) ? a / (a - b) : 1));
      break;
    }
  }
  return out;
}
