// Spikes as points, neuron against time, or as a rate image if there are too many to tell apart.
import { ArgumentError } from "@spillway/core/errors.js";
import { flag, type InputOf, option, resolve, tuple, whole } from "@spillway/core/options.js";
import { axis, colourBar, heatmap, scatter } from "./elements.js";
import type { Figure } from "./figure.js";
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
