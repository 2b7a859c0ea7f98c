// Anomalies of a series: its columns with bands and incidents, the score with its limit, the
// p-value on a log axis.
import { tally } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import { bandTrace } from "./band.js";
import { axis, type Element } from "./elements.js";
import type { Figure } from "./figure.js";
import { line } from "./line.js";
import { baselineColour, predictionColour, targetColour } from "./palette.js";

/** Rows from one to another. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** What a detector said of a series of T rows. */
export interface PlottedAnomalies {
  readonly names: readonly string[];
  /** T x D; NaN is missing. */
  readonly series: Matrix;
  readonly lower: Matrix;
  readonly upper: Matrix;
  readonly scores: Float64Array;
  readonly pValues: Float64Array;
  readonly incidents: readonly Stretch[];
  /** Stretches that are labelled as anomalies. */
  readonly labels?: readonly Stretch[] | undefined;
  readonly alarmRate: number;
  /** The number of the first row, from which incidents and labels count; default 0. */
  readonly first?: number | undefined;
  /** Milliseconds since 1970, as the clock of the series shows them. */
  readonly wall?: ArrayLike<number> | undefined;
}

/** Columns that are drawn. */
export const mostColumns = 4;
const maxPoints = 4000;

/** One panel a column, then the score and the p-value. */
export function plotAnomalies({ names, series, incidents, labels = [], first = 0, wall, alarmRate, ...said }: PlottedAnomalies): Figure {
  const shown = Math.min(mostColumns, names.length);
  const panels = shown + 2;
  const times = wall && Array.from(wall, (ms) => new Date(ms).toISOString().slice(0, -1).replace("T", " "));
  const drawn = { start: first, times, maxPoints };
  const data: Element[] = [];
  const layout: Record<string, unknown> = { height: 140 + 170 * panels, showlegend: false };
  const number = (panel: number) => (panel === 0 ? "" : String(panel + 1));
  const axes = (panel: number) => ({ yaxis: `y${number(panel)}` });
  const panel = (k: number, title: string, more: Element = {}) => {
    const height = 0.94 / panels;
    const top = 1 - k * (1 / panels);
    layout[`yaxis${number(k)}`] = axis(title, { domain: [Math.max(0, top - height), top], ...more });
  };
  const band = { lower: said.lower, upper: said.upper, level: 1 - alarmRate, name: "expected" };
  for (let c = 0; c < shown; c++) {
    panel(c, names[c]!);
    data.push(bandTrace({ band, column: c, strength: 0.3, scale: 1, ...drawn }, axes(c)));
    data.push(line({ name: names[c]!, values: series.column(c), style: { color: targetColour, width: 1.2 }, ...drawn }, axes(c)));
  }
  const style = { color: predictionColour, width: 1 };
  panel(shown, "score", { rangemode: "tozero" });
  data.push(line({ name: "score", values: said.scores, style, ...drawn }, axes(shown)));
  panel(shown + 1, "p-value", { type: "log", exponentformat: "power" });
  data.push(line({ name: "p-value", values: said.pValues, style, ...drawn }, axes(shown + 1)));
  const at = (row: number) => times?.[Math.max(0, row - first)] ?? Math.max(first, row);
  const limit = (k: number, y: number) => ({
    ...{ type: "line", xref: "paper", x0: 0, x1: 1, yref: `y${number(k)}`, y0: y, y1: y },
    line: { color: baselineColour, width: 1, dash: "dash" },
  });
  const strip = ({ start, end }: Stretch, colour: string, y0: number, y1: number) => ({
    ...{ type: "rect", xref: "x", yref: "paper", x0: at(start), x1: at(end), y0, y1, fillcolor: colour, layer: "below" },
    line: { color: colour, width: 1 },
  });
  layout["shapes"] = [
    ...incidents.map((incident) => strip(incident, "#D0402055", 0, 1)),
    ...labels.map((label) => strip(label, baselineColour, 1, 1.015)),
    ...[limit(shown, 1), limit(shown + 1, alarmRate)],
  ];
  layout["xaxis"] = axis(times ? "" : "row", { ...(times && { type: "date" }), anchor: `y${panels}` });
  const others = names.length > shown ? ` The first ${shown} of ${names.length} columns are drawn.` : "";
  const labelled = labels.length > 0 ? ` Grey on top: ${tally(labels.length, "labelled anomaly", "labelled anomalies")}.` : "";
  return {
    title: "Anomalies",
    description: `${names.slice(0, shown).join(", ")} over ${tally(series.rows, "row")}${first > 0 ? `, from row ${first} on,` : ""} with the expected band and ${tally(incidents.length, "incident")}, shaded; the score with its limit 1, and the p-value with the asked rate ${alarmRate}.${labelled}${others}`,
    data,
    layout,
  };
}

/** Numbers by row and column; NaN where there is none. */
export function matrixOf(rows: readonly (readonly (number | undefined | null)[])[], columns: number): Matrix<Float64Array> {
  const out = Matrix.zeros(rows.length, columns);
  rows.forEach((row, t) => {
    for (let c = 0; c < columns; c++) out.data[t * columns + c] = row[c] ?? Number.NaN;
  });
  return out;
}
