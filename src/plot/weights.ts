// The weights of plastic synapses before and after learning, as two histograms over each other.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, resolve, text, whole } from "@spillway/core/options.js";
import { axis } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { edgesOf, histogram, momentsOf } from "./histogram.js";
import { titleOption } from "./options.js";
import { seriesColour } from "./palette.js";

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
