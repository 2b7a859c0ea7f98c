// Figures of a network of populations: the spikes of all of them above one another, and their
// rates beside references. Any spike pattern has the columns.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, type Kind, number, option, optional, resolve, whole } from "@spillway/core/options.js";
import { axis, scatter, ticksOf } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { titleOption } from "./options.js";
import { seriesColour } from "./palette.js";
import type { RasterSpikes } from "./spike-raster.js";

export const populationRasterTable = {
  /** The figure's title. */
  title: titleOption("Spikes by population"),
  /** Neurons that are drawn of all populations together, evenly; default 2000. */
  neurons: option(whole({ atLeast: 1 }), 2000, "Neurons that are drawn, of all populations together."),
  /** Where the time begins, ms; default 0. */
  fromMs: option(number({ atLeast: 0, unit: "ms" }), 0, "Where the time begins."),
};

/** What of populations is drawn. */
export interface PopulationRasterOptions extends InputOf<typeof populationRasterTable> {}

/**
 * The spikes of several populations, the first at the top, each as high as its share of all
 * neurons.
 * @throws ArgumentError if there is no population
 */
export function plotPopulationRaster(populations: Readonly<Record<string, RasterSpikes>>, options: PopulationRasterOptions = {}): Figure {
  const { title, neurons, fromMs } = resolve(populationRasterTable, options);
  const given = entriesOf(populations);
  const total = given.reduce((sum, [, { neuronCount }]) => sum + neuronCount, 0);
  const every = Math.max(1, Math.ceil(total / neurons));
  const durationMs = Math.max(...given.map(([, each]) => each.durationMs));
  let above = 0;
  const ticks: number[] = [];
  const data = given.map(([name, spikes], p) => {
    const { times, neurons: of, neuronCount } = checkHas(name, spikes, "spikes of a population", "times", "neurons");
    const [x, y]: [number[], number[]] = [[], []];
    for (let s = 0; s < times.length; s++) {
      if (of[s]! % every !== 0 || times[s]! < fromMs) continue;
      x.push(times[s]!);
      y.push(above + of[s]! / every);
    }
    ticks.push(above + neuronCount / every / 2);
    above += Math.ceil(neuronCount / every);
    const marker = { color: seriesColour(p % 2), size: 2 };
    const columns = { x: Float32Array.from(x), y: Float32Array.from(y) };
    return scatter("markers", name, columns, { marker, hovertemplate: `${name}, %{x:.1f} ms<extra></extra>` });
  });
  return {
    title,
    description: `Spikes of every ${every === 1 ? "" : `${every}. `}neuron of ${given.map(([name]) => name).join(", ")}, from ${fromMs} to ${durationMs} ms.`,
    data,
    layout: {
      height: 520,
      showlegend: false,
      xaxis: axis("time (ms)", { range: [fromMs, durationMs] }),
      yaxis: axis(undefined, { ...ticksOf(given.map(([name]) => name)), tickvals: ticks, range: [above, 0], showgrid: false }),
    },
  };
}

/** Rates of a reference, by population. */
export interface PlottedRates {
  readonly name: string;
  readonly rates: Readonly<Record<string, number>>;
}

const anyRates: Kind<Readonly<Record<string, number>>> = {
  takes: "an object of numbers by population",
  schema: {},
  read: (value) => value as Readonly<Record<string, number>>,
};

export const populationRatesTable = {
  /** The figure's title. */
  title: titleOption("Rates by population"),
  /** Standard deviation of the neurons' rates, drawn as a line to both sides. */
  deviations: optional(anyRates, "Standard deviation of the neurons' rates."),
};

/** What is drawn beside the rates. */
export interface PopulationRatesOptions extends InputOf<typeof populationRatesTable> {}

/**
 * The rate of each population in Hz, the first at the top, with references as marks of their own.
 * @throws ArgumentError for a rate that is none
 */
export function plotPopulationRates(
  rates: Readonly<Record<string, number>>,
  references: readonly PlottedRates[] = [],
  options: PopulationRatesOptions = {},
): Figure {
  const { title, deviations = {} } = resolve(populationRatesTable, options);
  const given = entriesOf(rates);
  for (const [name, rate] of given)
    if (!(Number.isFinite(rate) && rate >= 0)) throw new ArgumentError(`rates.${name}`, rate, "a number of Hz of at least 0");
  const names = given.map(([name]) => name);
  const rows = names.map((_, k) => k);
  const marks = (of: PlottedRates, k: number) => {
    const marker = { color: seriesColour(k), size: k === 0 ? 11 : 9, symbol: k === 0 ? "circle" : "line-ns-open", line: { width: 3 } };
    return scatter("markers", of.name, { x: names.map((name) => of.rates[name] ?? null), y: rows }, { marker });
  };
  const lines = names.flatMap((name, k) => {
    const own = deviations[name];
    return own === undefined ? [] : [[Math.max(0, rates[name]! - own), rates[name]! + own, k] as const];
  });
  const deviation = { x: lines.flatMap(([from, to]) => [from, to, null]), y: lines.flatMap(([, , k]) => [k, k, null]) };
  return {
    title,
    description: given.map(([name, rate]) => `${name} ${formatNumber(rate)} Hz`).join(", "),
    data: [
      scatter("lines", "deviation over neurons", deviation, { line: { color: seriesColour(0), width: 2 } }),
      ...[{ name: "this run", rates }, ...references].map(marks),
    ],
    layout: {
      height: 120 + 34 * names.length,
      xaxis: axis("Hz", { rangemode: "tozero" }),
      yaxis: axis(undefined, { ...ticksOf(names), range: [names.length - 0.4, -0.6], showgrid: false }),
    },
  };
}

function entriesOf<Value>(populations: Readonly<Record<string, Value>>): [string, Value][] {
  const entries = typeof populations === "object" && populations !== null ? Object.entries(populations) : [];
  if (entries.length === 0) throw new ArgumentError("populations", populations, "an object with at least one population");
  return entries;
}
