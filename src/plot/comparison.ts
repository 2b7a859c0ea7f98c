// A comparison of engines as a figure: how far apart by step, and by how many units in the last
// place.

import { ArgumentError } from "@spillway/core/errors.js";
import type { Comparison } from "../analysis/index.js";
import { axis, scatter } from "./elements.js";
import type { Figure } from "./figure.js";
import { isArrayLike, type TitleOptions, titleOf } from "./options.js";
import { seriesColour } from "./palette.js";

const logarithmic = { type: "log", exponentformat: "power" };

/** A difference's rate (`TrajectoryDifference`) in words. */
export function growthWords(rate: number): string {
  const factor = Math.round(1000 * Math.exp(rate)) / 1000;
  return factor === 1 ? "neither growing nor shrinking" : `${rate > 0 ? "growing" : "shrinking"} by a factor of ${factor} a step`;
}

/**
 * The divergence of each engine from the first by step, and beneath it the distances in units in
 * the last place.
 */
export function plotComparison(comparison: Comparison, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Engines side by side");
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
    data: others.flatMap(({ engine, difference: { divergence, every, histogram } }, k) => {
      const color = seriesColour(k);
      const x = Float64Array.from({ length: divergence.length }, (_, i) => i * every);
      const y = anyDiffers ? divergence.map((value) => (value > 0 ? value : Number.NaN)) : divergence;
      const hovertemplate = "step %{x}: %{y:.3e}<extra></extra>";
      const counts = { x: labels, y: labels.map((_, bin) => histogram[bin]?.count ?? 0), xaxis: "x2", yaxis: "y2" };
      return [
        scatter("lines", engine, { x, y }, { legendgroup: engine, line: { color, width: 1.5 }, hovertemplate }),
        {
          ...{ type: "bar", name: engine, legendgroup: engine, showlegend: false },
          ...{ ...counts, marker: { color }, hovertemplate: "%{x} ulp: %{y} states<extra></extra>" },
        },
      ];
    }),
    layout: {
      height: 520,
      xaxis: axis("step", { anchor: "y" }),
      yaxis: axis(`distance from ${reference.engine}`, { domain: [0.58, 1], ...(anyDiffers ? logarithmic : { range: [-1, 1] }) }),
      xaxis2: axis("units in the last place", { type: "category", anchor: "y2" }),
      yaxis2: axis("states", { domain: [0, 0.38], ...logarithmic, range: [-0.3, Math.log10(steps * size) + 0.3], dtick: 1 }),
    },
  };
}
