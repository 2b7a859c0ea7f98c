// Information processing capacity by degree: over delays for one reservoir, stacked beside the rank
// for several. It is measured by `analysis`.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { axis, scatter, ticksOf } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { isArrayLike, titleTable } from "./options.js";
import { baselineColour, seriesColour } from "./palette.js";

const table = titleTable("Information processing capacity");

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
export function plotCapacity(
  capacities: PlottedCapacity | Readonly<Record<string, PlottedCapacity>>,
  options: { readonly title?: string | undefined } = {},
): Figure {
  const { title } = resolve(table, options);
  if (typeof capacities !== "object" || capacities === null)
    throw new ArgumentError("capacities", capacities, "what informationCapacity() gives, or several of these by name");
  if (isOne(capacities)) return overDelays(checked(capacities, "capacities"), title);
  const entries = Object.entries(capacities).map(([name, capacity]) => [name, checked(capacity, name)] as const);
  if (entries.length === 0) throw ArgumentError.shape("there is no capacity to draw; it takes at least one");
  return overNames(entries, title);
}

function isOne(capacities: object): capacities is PlottedCapacity {
  return typeof (capacities as PlottedCapacity).total === "number";
}

function checked(capacity: PlottedCapacity, name: string): PlottedCapacity {
  if (!isArrayLike(capacity?.byDegree) || typeof capacity.rank !== "number")
    throw new ArgumentError(name, capacity, "what informationCapacity() gives");
  return capacity;
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
