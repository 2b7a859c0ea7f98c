// Figures of what `analysis` measures of one reservoir or of several: memory, capacity, eigenvalues.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Spectrum } from "../analysis/index.js";
import { axis, scatter, ticksOf } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { isArrayLike, type TitleOptions, titleOf } from "./options.js";
import { baselineColour, seriesColour } from "./palette.js";

/** One measured reservoir under a name, or several by theirs. @throws ArgumentError */
function byName<Measured extends object>(
  given: object,
  field: string,
  takes: string,
  isOne: boolean,
  name: string,
): readonly (readonly [name: string, of: Measured])[] {
  if (typeof given !== "object" || given === null) throw new ArgumentError(field, given, takes);
  return isOne ? [[name, given as Measured]] : Object.entries(given);
}

/** One measured memory: `memoryCapacity()` gives these. */
export interface MemoryCurve {
  readonly total: number;
  /** Squared correlation by delay, `curve[k]` for delay k. */
  readonly curve: ArrayLike<number>;
  /** Of the states; it is shown beside the total, since float32 shows less of a linear memory. */
  readonly precision?: string | undefined;
}

/** Memory curves of one or several reservoirs, by delay. @throws ArgumentError if there is none. */
export function plotMemoryCapacity(memories: MemoryCurve | Readonly<Record<string, MemoryCurve>>, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Memory capacity");
  const one = typeof memories?.total === "number";
  const takes = "what memoryCapacity() gives, or several of these by name";
  const entries = byName<MemoryCurve>(memories, "memories", takes, one, "reservoir");
  for (const [name, memory] of entries) {
    if (typeof memory?.total !== "number" || !isArrayLike(memory.curve))
      throw new ArgumentError(name, memory, "what memoryCapacity() gives");
  }
  if (entries.length === 0) throw ArgumentError.shape("there is no memory curve to draw; it takes at least one");
  return {
    title,
    description: `Squared correlation of the input k steps ago with what is read out: ${entries.map(([name, { total, precision }]) => `${name} holds ${formatNumber(total)} steps in all${precision ? ` (${precision})` : ""}`).join("; ")}.`,
    data: entries.map(([name, { total, curve, precision }], k) => {
      const label = `${name}${precision ? ` (${precision})` : ""}: ${formatNumber(total)}`;
      const columns = { x: Float64Array.from({ length: curve.length }, (_, delay) => delay), y: Float64Array.from(curve) };
      return scatter("lines", label, columns, {
        line: { color: seriesColour(k), width: 2 },
        ...(entries.length === 1 ? { fill: "tozeroy", fillcolor: `${seriesColour(k)}33` } : {}),
        hovertemplate: "delay %{x}: r² %{y:.3f}<extra></extra>",
      });
    }),
    layout: { height: 320, showlegend: entries.length > 1, xaxis: axis("delay (steps)"), yaxis: axis("r²", { range: [0, 1.02] }) },
  };
}

/** One measured capacity: `informationCapacity()` gives these. */
export interface PlottedCapacity {
  readonly total: number;
  readonly rank: number;
  readonly byDegree: readonly {
    readonly degree: number;
    readonly capacity: number;
    /** By the longest delay of the targets. */
    readonly byDelay: ArrayLike<number>;
  }[];
}

/**
 * The capacity of one reservoir by the longest delay of its targets, or those of several reservoirs
 * by name, in their order, beside their ranks. Degrees are stacked.
 * @throws ArgumentError if there is none
 */
export function plotCapacity(capacities: PlottedCapacity | Readonly<Record<string, PlottedCapacity>>, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Information processing capacity");
  const one = typeof capacities?.total === "number";
  const takes = "what informationCapacity() gives, or several of these by name";
  const entries = byName<PlottedCapacity>(capacities, "capacities", takes, one, "capacities");
  for (const [name, capacity] of entries)
    if (!isArrayLike(capacity?.byDegree) || typeof capacity.rank !== "number")
      throw new ArgumentError(name, capacity, "what informationCapacity() gives");
  if (one) return overDelays(entries[0]![1], title);
  if (entries.length === 0) throw ArgumentError.shape("there is no capacity to draw; it takes at least one");
  return overNames(entries, title);
}

const yaxis = axis("capacity", { rangemode: "tozero" });

function overDelays({ total, rank, byDegree }: PlottedCapacity, title: string): Figure {
  // Behind the last delay at which anything counts there is nothing to see.
  const last = byDegree.reduce((most, { byDelay }) => Math.max(most, lastAbove0(byDelay)), 0);
  const x = Float64Array.from({ length: last + 2 }, (_, delay) => delay);
  const layers = byDegree.map(({ degree, capacity, byDelay }) => ({
    name: `degree ${degree}: ${formatNumber(capacity)}`,
    values: Float64Array.from(x, (delay) => byDelay[delay] ?? 0),
  }));
  return {
    title,
    description: `Capacity by the longest delay of its targets, degrees stacked: ${layers.map(({ name }) => name).join(", ")}; ${formatNumber(total)} in all, of a rank of ${rank}.`,
    data: stacked(x, layers, "delay %{x}: %{y:.3f} up to this degree"),
    layout: { height: 320, showlegend: true, xaxis: axis("longest delay (steps)"), yaxis },
  };
}

function overNames(entries: readonly (readonly [string, PlottedCapacity])[], title: string): Figure {
  const x = Float64Array.from(entries, (_, k) => k);
  const ranks = Float64Array.from(entries, ([, { rank }]) => rank);
  const degrees = [...new Set(entries.flatMap(([, { byDegree }]) => byDegree.map(({ degree }) => degree)))].sort((a, b) => a - b);
  const layers = degrees.map((degree) => ({
    name: `degree ${degree}`,
    values: Float64Array.from(entries, ([, { byDegree }]) => byDegree.find((each) => each.degree === degree)?.capacity ?? 0),
  }));
  return {
    title,
    description: `Capacity by degree, stacked, beside the rank: ${entries.map(([name, { total, rank }]) => `${name} has ${formatNumber(total)} of ${rank}`).join("; ")}.`,
    data: [
      ...stacked(x, layers, "%{y:.3f} up to this degree"),
      scatter("lines", "rank", { x, y: ranks }, { line: { color: baselineColour, width: 2, dash: "dash" } }),
    ],
    layout: { height: 360, showlegend: true, xaxis: axis(undefined, ticksOf(entries.map(([name]) => name))), yaxis },
  };
}

function lastAbove0(values: ArrayLike<number>): number {
  let last = values.length - 1;
  while (last > 0 && !(values[last]! > 0)) last--;
  return last;
}

/** Areas on top of each other: the highest sum is drawn first, and each later one covers it. */
function stacked(x: Float64Array, layers: readonly { readonly name: string; readonly values: Float64Array }[], hover: string) {
  const sum = new Float64Array(x.length);
  return layers
    .map(({ name, values }, k) => {
      for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + values[i]!;
      const color = seriesColour(k);
      const style = { line: { color, width: 1 }, fill: "tozeroy", fillcolor: color, hovertemplate: `${hover}<extra></extra>` };
      return scatter("lines", name, { x, y: sum.slice() }, style);
    })
    .reverse();
}

/** Eigenvalues re[i] + i im[i]. */
export interface PlottedEigenvalues {
  readonly re: ArrayLike<number>;
  readonly im: ArrayLike<number>;
}

/**
 * The eigenvalues of one or two matrices (such as `weights` and `effective` of `spectrum()`), with
 * the unit circle, on axes of one scale.
 * @throws ArgumentError if real and imaginary parts differ in number, or there are none.
 */
export function plotSpectrum(
  spectra: Spectrum | Readonly<Record<string, PlottedEigenvalues>> | PlottedEigenvalues,
  options: TitleOptions = {},
): Figure {
  const title = titleOf(options, "Eigenvalues");
  const one = isArrayLike((spectra as PlottedEigenvalues | undefined)?.re) && "im" in spectra;
  const takes = "what spectrum() gives, or lists re and im of eigenvalues";
  const entries = byName<PlottedEigenvalues>(spectra, "spectra", takes, one, "W");
  if (entries.length === 0) throw ArgumentError.because("there are no eigenvalues to draw; it takes at least one spectrum");
  const radii = entries.map(([name, eigenvalues]) => {
    if (!isArrayLike(eigenvalues?.re) || !isArrayLike(eigenvalues.im))
      throw new ArgumentError(name, eigenvalues, "lists re and im of eigenvalues, such as spectrum() gives");
    const { re, im } = eigenvalues;
    if (re.length !== im.length)
      throw ArgumentError.shape(`${name} has ${re.length} real and ${im.length} imaginary parts; it takes as many of both`, {
        field: name,
      });
    let radius = 0;
    for (let i = 0; i < re.length; i++) radius = Math.max(radius, Math.hypot(re[i]!, im[i]!));
    return radius;
  });
  const reach = 1.08 * Math.max(1, ...radii);
  return {
    title,
    description: `Eigenvalues in the complex plane with the unit circle: ${entries.map(([name, { re }], k) => `${re.length} of ${name}, the largest of modulus ${formatNumber(radii[k]!)}`).join("; ")}.`,
    data: entries.map(([name, { re, im }], k) =>
      scatter(
        "markers",
        name,
        { x: Float64Array.from(re), y: Float64Array.from(im) },
        {
          marker: { color: seriesColour(k), size: 5, symbol: k === 0 ? "circle" : "circle-open", opacity: 0.8 },
          hovertemplate: "%{x:.4f} + %{y:.4f}i<extra></extra>",
        },
      ),
    ),
    layout: {
      height: 460,
      shapes: [
        { type: "circle", xref: "x", yref: "y", x0: -1, y0: -1, x1: 1, y1: 1, line: { color: baselineColour, width: 1, dash: "dash" } },
      ],
      xaxis: axis("real part", { range: [-reach, reach] }),
      yaxis: axis("imaginary part", { range: [-reach, reach], scaleanchor: "x" }),
    },
  };
}
