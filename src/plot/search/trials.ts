// What figures of searches share: trials as data, axes of parameters and of values, ranks, images
// of many trials. The shapes are those of a study of spillway/search, which this module does not
// import.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import { axis, type Columns, columnsOf, type Element, heatmap } from "../elements.js";
import { formatNumber } from "../format.js";
import { isArrayLike } from "../options.js";
import { sequentialScale } from "../palette.js";
import { linearTicks, logTicks } from "../svg/scale.js";

/** A trial of a search, such as `study.trials` holds. */
export interface PlottedTrial {
  readonly number: number;
  /** "complete", "pruned", "failed", "running" or "waiting". */
  readonly state: string;
  readonly params: Readonly<Record<string, number | string | boolean | null>>;
  /** Undefined unless it is complete, or pruned with a value. */
  readonly value?: number | undefined;
  /** Values on the way, by step: training rows or seeds. */
  readonly intermediate?: Readonly<Record<number, number>> | undefined;
  /** Milliseconds since 1970. */
  readonly started?: number | undefined;
  readonly finished?: number | undefined;
}

/** A parameter of the space of a search. */
export interface PlottedParameter {
  readonly name: string;
  readonly kind: "float" | "int" | "choice";
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
  /** Of a choice, its values. */
  readonly choices: readonly (number | string | boolean | null)[];
}

/** A search as figures take it: a `Study` of spillway/search is one. */
export interface PlottedStudy {
  /** "minimise" or "maximise". */
  readonly direction: string;
  readonly trials: readonly PlottedTrial[];
  readonly space: { readonly parameters: readonly PlottedParameter[] };
}

/** Trials above which most of them are drawn as an image, and those that are still drawn. */
export const manyTrials = 5000;
export const drawnTrials = 500;

/** From the best to the worst: each can be told apart on light paper and on dark. */
export const rankColours = ["#D55E00", "#E69F00", "#4CA98A", "#56B4E9", "#8FA3B3", "#A9B4BD"] as const;

/** A study whose trials were read once. */
export interface ReadStudy {
  readonly isMinimised: boolean;
  readonly trials: readonly PlottedTrial[];
  /** Complete trials with finite values, the best first. */
  readonly best: readonly ScoredTrial[];
  readonly parameters: readonly PlottedParameter[];
  /** Over the values of `best`. */
  readonly values: PlotAxis;
}

/** @throws ArgumentError if it is no study */
export function readStudy(study: PlottedStudy): ReadStudy {
  const takes = "a study, or an object with direction, trials and space.parameters";
  if (typeof study !== "object" || study === null) throw new ArgumentError("study", study, takes);
  const { direction, trials, space } = study;
  if (direction !== "minimise" && direction !== "maximise")
    throw new ArgumentError("study.direction", direction, '"minimise" or "maximise"');
  if (!isArrayLike(trials)) throw new ArgumentError("study.trials", trials, "a list of trials");
  if (!isArrayLike(space?.parameters)) throw new ArgumentError("study.space.parameters", space?.parameters, "a list of parameters");
  const isMinimised = direction === "minimise";
  const all = Array.from(trials);
  const best = all.filter((trial): trial is ScoredTrial => trial.state === "complete" && Number.isFinite(trial.value));
  best.sort((a, b) => (isMinimised ? 1 : -1) * (a.value - b.value) || a.number - b.number);
  return { isMinimised, trials: all, best, parameters: space.parameters, values: valueAxis(best.map(({ value }) => value)) };
}

/** A trial whose value is finite. */
export type ScoredTrial = PlottedTrial & { readonly value: number };

/** One axis: where a value is, and the ticks. Logarithms are taken here, so that images fit. */
export interface PlotAxis {
  readonly low: number;
  readonly high: number;
  /** NaN for what does not stand on it. */
  at(value: unknown): number;
  readonly ticks: { readonly tickvals: readonly number[]; readonly ticktext: readonly string[] };
}

/** The axis of a parameter, over its bounds. */
export function parameterAxis({ kind, low, high, log, choices }: PlottedParameter): PlotAxis {
  if (kind === "choice") {
    const ticks = { tickvals: choices.map((_, k) => k), ticktext: choices.map(String) };
    const at = (value: unknown) => (choices.includes(value as string) ? choices.indexOf(value as string) : Number.NaN);
    return { low: -0.5, high: choices.length - 0.5, at, ticks };
  }
  return numberAxis(low, high, log);
}

/** The axis of values: logarithmic if all are above 0 and they span more than two powers of ten. */
export function valueAxis(values: readonly number[]): PlotAxis {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (low > high) [low, high] = [0, 1];
  return numberAxis(low, high, low > 0 && high / low > 100);
}

function numberAxis(least: number, most: number, log: boolean): PlotAxis {
  const to = (value: number) => (log ? Math.log10(value) : value);
  const at = (value: unknown) => (typeof value === "number" && Number.isFinite(value) && (!log || value > 0) ? to(value) : Number.NaN);
  const [from, end] = [to(least), to(most)];
  const margin = 0.03 * (end - from || Math.abs(from) || 1);
  const ticks = end > from ? (log ? logTicks(from, end) : linearTicks(from, end)) : [{ at: from, label: formatNumber(least) }];
  return {
    low: from - margin,
    high: end + margin,
    at,
    ticks: { tickvals: ticks.map((tick) => tick.at), ticktext: ticks.map(({ label }) => label) },
  };
}

/** An axis as plotly's layout. */
export function axisLayout({ low, high, ticks }: PlotAxis, title?: string): Element {
  return axis(title, { range: [low, high], tickmode: "array", ...ticks });
}

/** How many points lie where, as an image beneath those that are drawn one by one. */
export function densityImage(
  points: Iterable<readonly [number, number]>,
  [x0, x1]: readonly [number, number],
  [y0, y1]: readonly [number, number],
  [cols, rows]: readonly [number, number],
): Element {
  const counts = Matrix.zeros(rows, cols);
  let most = 0;
  for (const [x, y] of points) {
    const c = Math.min(cols - 1, Math.floor(((x - x0) / (x1 - x0)) * cols));
    const r = Math.min(rows - 1, Math.floor(((y - y0) / (y1 - y0)) * rows));
    if (!(c >= 0 && r >= 0)) continue;
    const count = ++counts.data[r * cols + c]!;
    most = Math.max(most, count);
  }
  const [dx, dy] = [(x1 - x0) / cols, (y1 - y0) / rows];
  const z = Float32Array.from(counts.data, (count) => Math.log1p(count));
  return heatmap(z, [rows, cols], {
    ...{ x0: x0 + dx / 2, dx, y0: y0 + dy / 2, dy, zmin: 0, zmax: Math.log1p(most || 1) },
    ...{ colorscale: sequentialScale, showscale: false, hoverinfo: "skip" },
  });
}

/** Lines that do not touch as one trace: values that are no numbers interrupt it. */
export function brokenLine(lines: readonly (readonly (readonly [number, number])[])[]): Columns {
  return columnsOf(lines.flatMap((line) => [...line, [Number.NaN, Number.NaN] as const]));
}
