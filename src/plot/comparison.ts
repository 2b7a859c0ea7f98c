// A comparison of engines as a figure: how far apart by step, and by how many units in the last
// place.

import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Comparison } from "../analysis/index.js";
import { encodeArray, type Figure } from "./figure.js";
import { isArrayLike, titleTable } from "./options.js";
import { seriesColour } from "./palette.js";

const table = titleTable("Engines side by side");

/** A difference's rate (`TrajectoryDifference`) in words. */
export function growthWords(rate: number): string {
  const factor = Math.round(1000 * Math.exp(rate)) / 1000;
  return factor === 1 ? "neither growing nor shrinking" : `${rate > 0 ? "growing" : "shrinking"} by a factor of ${factor} a step`;
}

/**
 * The divergence of each engine from the first by step, and beneath it the distances in units in
 * the last place.
 */
export function plotComparison(comparison: Comparison, options: { readonly title?: string | undefined } = {}): Figure {
  const { title } = resolve(table, options);
  if (!isArrayLike(comparison?.others) || comparison.others.length === 0 || comparison.reference === undefined)
    throw new ArgumentError("comparison", comparison, "what compare() gives");
  const { reference, others, steps, size } = comparison;
  const bins = Math.max(...others.map(({ difference }) => difference.histogram.length));
  const widest = others.find(({ difference }) => difference.histogram.length === bins)!;
  const labels = widest.difference.histogram.map(({ label }) => label);
  const words = others.map(({ engine, difference: { equal, first, maxUlps, rate } }) =>
    equal
      ? `${engine} gives the bits of ${reference.engine} in all of them`
      : `${engine} first differs from ${reference.engine} at step ${first!.step}, neuron ${first!.neuron}, and by ${maxUlps} units in the last place at most${rate === undefined ? "" : `, ${growthWords(rate)}`}`,
  );
  const anyDiffers = others.some(({ difference }) => !difference.equal);
  return {
    title,
    description: `${steps} steps of ${size} neurons: ${words.join("; ")}.`,
    data: others.flatMap(({ engine, difference }, k) => [
      {
        type: "scatter",
        mode: "lines",
        name: engine,
        legendgroup: engine,
        x: encodeArray(Float64Array.from({ length: difference.divergence.length }, (_, i) => i * difference.every)),
        y: encodeArray(anyDiffers ? difference.divergence.map((value) => (value > 0 ? value : Number.NaN)) : difference.divergence),
        line: { color: seriesColour(k), width: 1.5 },
        hovertemplate: "step %{x}: %{y:.3e}<extra></extra>",
      },
      {
        type: "bar",
        name: engine,
        legendgroup: engine,
        showlegend: false,
        x: labels,
        y: labels.map((_, bin) => difference.histogram[bin]?.count ?? 0),
        xaxis: "x2",
        yaxis: "y2",
        marker: { color: seriesColour(k) },
        hovertemplate: "%{x} ulp: %{y} states<extra></extra>",
      },
    ]),
    layout: {
      height: 520,
      xaxis: { title: { text: "step" }, anchor: "y", automargin: true },
      yaxis: {
        title: { text: `distance from ${reference.engine}` },
        domain: [0.58, 1],
        automargin: true,
        ...(anyDiffers ? { type: "log", exponentformat: "power" } : { range: [-1, 1] }),
      },
      xaxis2: { title: { text: "units in the last place" }, type: "category", anchor: "y2", automargin: true },
      yaxis2: {
        title: { text: "states" },
        domain: [0, 0.38],
        type: "log",
        range: [-0.3, Math.log10(steps * size) + 0.3],
        dtick: 1,
        exponentformat: "power",
        automargin: true,
      },
    },
  };
}
