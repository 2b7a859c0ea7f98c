// Figures of spikes: who fired when, one reservoir or populations side by side, and what plastic
// synapses weigh before and after learning.

import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { flag, type InputOf, type Kind, number, option, optional, resolve, text, tuple, whole } from "@spillway/core/options.js";
import { axis, colourBar, heatmap, scatter, ticksOf } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { edgesOf, histogram, momentsOf } from "./histogram.js";
import { isArrayLike, most, titleOption } from "./options.js";
import { sequentialScale, seriesColour } from "./palette.js";

/** What a raster is drawn from: any spike pattern has these columns. */
export interface RasterSpikes {
  /** Spike times in ms. */
  readonly times: ArrayLike<number>;
  /** The neuron of each, from 0. */
  readonly neurons: ArrayLike<number>;
  readonly durationMs: number;
  readonly neuronCount: number;
}

const cells = whole({ atLeast: 1 });

export const rasterTable = {
  /** The figure's title; default says what is drawn. */
  title: titleOption("Spikes"),
  /** Above this many spikes a rate image is drawn in place of points; default 50,000. */
  maxPoints: option(most(0), 50_000, "Above so many spikes a rate image is drawn in place of points."),
  /** Most columns and rows of the rate image; default 600 and 200. */
  bins: option(
    tuple<readonly [number, number]>("two whole numbers above 0, for time and neurons", [cells, cells]),
    [600, 200],
    "Most columns and rows of the rate image.",
  ),
  /**
   * Let a zoom into the image bring the points back: it carries them along, 6 bytes a spike, up to
   * 600,000 of them. Default true.
   */
  zoomToPoints: option(flag, true, "Lets a zoom into the image bring the points back."),
};

/** When spikes are drawn as points, and when as rates. */
export interface RasterOptions extends InputOf<typeof rasterTable> {}

/** Spikes that a page carries for zooming at most. */
const maxCarried = 600_000;

/**
 * A spike raster: time in ms to the right, neurons upwards. More than `maxPoints` spikes are
 * drawn as their rate in Hz by bins of time and neurons; on a report page a zoom into it shows the
 * points again as soon as few enough are in view.
 * @throws ArgumentError if the columns differ in length or lie outside duration and neuron
 * count.
 */
export function plotSpikeRaster(spikes: RasterSpikes, options: RasterOptions = {}): Figure {
  const { title, maxPoints, zoomToPoints, bins } = resolve(rasterTable, options);
  check(spikes);
  const { times, durationMs, neuronCount } = spikes;
  const count = times.length;
  const rate = durationMs > 0 && neuronCount > 0 ? (1000 * count) / (durationMs * neuronCount) : 0;
  const words = `${count} spikes of ${neuronCount} neurons over ${durationMs} ms, ${rate.toFixed(1)} Hz a neuron`;
  const layout = {
    height: 380,
    xaxis: axis("time (ms)", { range: [0, durationMs] }),
    yaxis: axis("neuron", { range: [-0.5, neuronCount - 0.5] }),
  };
  const points = () =>
    scatter(
      "markers",
      "spikes",
      { x: Float32Array.from(times), y: neuronNumbers(spikes) },
      {
        marker: { color: seriesColour(0), size: 3, symbol: "line-ns-open" },
        hovertemplate: "neuron %{y}, %{x:.2f} ms<extra></extra>",
      },
    );
  if (count <= maxPoints) return { title, description: `${words}, one mark each.`, data: [points()], layout };
  const image = rateImage(spikes, bins);
  const carried = zoomToPoints && count <= maxCarried;
  return {
    title,
    description: `${words}, as rates by bins of ${image.binMs.toFixed(2)} ms and ${image.binNeurons} neurons${carried ? "; a zoom shows single spikes" : ""}.`,
    data: [
      heatmap(image.rates, [image.rows, image.cols], {
        ...{ x0: image.binMs / 2, dx: image.binMs, y0: (image.binNeurons - 1) / 2, dy: image.binNeurons, zmin: 0 },
        ...{ colorscale: sequentialScale, colorbar: colourBar("Hz") },
        hovertemplate: "%{x:.1f} ms, neurons around %{y:.0f}: %{z:.1f} Hz<extra></extra>",
      }),
    ],
    layout,
    ...(carried ? { detail: { ...points(), maxPoints } } : {}),
  };
}

function check(spikes: RasterSpikes): void {
  if (!isArrayLike(spikes?.times) || !isArrayLike(spikes.neurons))
    throw new ArgumentError("spikes", spikes, "{ times, neurons, durationMs, neuronCount }, such as a spike pattern");
  const { times, neurons, durationMs, neuronCount } = spikes;
  if (!(durationMs >= 0)) throw new ArgumentError("durationMs", durationMs, "a number of at least 0");
  if (!Number.isSafeInteger(neuronCount) || neuronCount < 0)
    throw new ArgumentError("neuronCount", neuronCount, "a whole number of at least 0");
  if (times.length !== neurons.length)
    throw ArgumentError.shape(`there are ${times.length} spike times and ${neurons.length} neurons; it takes as many of both`);
  for (let i = 0; i < times.length; i++) {
    if (!(times[i]! >= 0 && times[i]! <= durationMs))
      throw ArgumentError.because(`spike ${i} is at ${times[i]} ms; the pattern lasts from 0 to ${durationMs} ms`);
    if (!(neurons[i]! >= 0 && neurons[i]! < neuronCount))
      throw ArgumentError.because(`spike ${i} is of neuron ${neurons[i]}; there are neurons 0 to ${neuronCount - 1}`);
  }
}

function neuronNumbers({ neurons, neuronCount }: RasterSpikes): Uint16Array | Int32Array {
  return neuronCount <= 65_536 ? Uint16Array.from(neurons) : Int32Array.from(neurons);
}

function rateImage({ times, neurons, durationMs, neuronCount }: RasterSpikes, [maxCols, maxRows]: readonly [number, number]) {
  const binNeurons = Math.ceil(neuronCount / maxRows);
  const rows = Math.ceil(neuronCount / binNeurons);
  const cols = maxCols;
  const binMs = durationMs / cols;
  const rates = new Float32Array(rows * cols);
  for (let i = 0; i < times.length; i++) {
    const cell = Math.floor(neurons[i]! / binNeurons) * cols + Math.min(cols - 1, Math.floor(times[i]! / binMs));
    rates[cell] = rates[cell]! + 1;
  }
  for (let r = 0; r < rows; r++) {
    const inRow = Math.min(binNeurons, neuronCount - r * binNeurons);
    for (let c = 0; c < cols; c++) rates[r * cols + c] = (1000 * rates[r * cols + c]!) / (binMs * inRow);
  }
  return { rates, rows, cols, binMs, binNeurons };
}

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

export const weightPlotTable = {
  /** The figure's title; default "Weights before and after". */
  title: titleOption("Weights before and after"),
  /** The unit of the weights, in brackets on the axis; default "mV". */
  unit: option(text(), "mV", "The unit of the weights."),
  /** Bars; default by the rule of Freedman and Diaconis over all weights, 8 to 60. */
  bins: optional(whole({ atLeast: 1, atMost: 1000 }), "Bars; left out, by the rule of Freedman and Diaconis."),
};

/** Options of `plotWeights`. */
export interface WeightPlotOptions extends InputOf<typeof weightPlotTable> {}

/**
 * How the weights of synapses are distributed before and after learning: shares of all synapses, in
 * the same bars. `SpikingNetwork.weights` gives them.
 * @throws ArgumentError if there are no weights, or one is not finite
 */
export function plotWeights(before: ArrayLike<number>, after: ArrayLike<number>, options: WeightPlotOptions = {}): Figure {
  const { title, unit, bins } = resolve(weightPlotTable, options);
  const times = [
    { name: "before", values: checkedWeights(before, "before") },
    { name: "after", values: checkedWeights(after, "after") },
  ] as const;
  const all = new Float64Array(times[0].values.length + times[1].values.length);
  all.set(times[0].values);
  all.set(times[1].values, times[0].values.length);
  const edges = edgesOf(all.sort(), bins);
  const moments = times.map(({ name, values }) => {
    const { mean, sd } = momentsOf(values);
    return `${name}: mean ${formatNumber(mean)}, standard deviation ${formatNumber(sd)}`;
  });
  return {
    title,
    description: `Weights of ${times[1].values.length} synapses in ${unit}; ${moments.join("; ")}.`,
    data: times.map(({ name, values }, k) => {
      const color = seriesColour(k);
      return histogram(name, values, edges, { line: { color, width: 1.5 }, fill: "tozeroy", fillcolor: `${color}33` });
    }),
    layout: { height: 320, xaxis: axis(`weight (${unit})`), yaxis: axis("share of synapses", { rangemode: "tozero" }) },
  };
}

function checkedWeights(given: ArrayLike<number>, field: string): Float64Array {
  if (typeof given !== "object" || given === null || !(given.length > 0))
    throw new ArgumentError(field, given, "a list of at least one weight");
  const values = Float64Array.from(given);
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new ArgumentError(`${field}[${bad}]`, given[bad], "a finite number");
  return values;
}
