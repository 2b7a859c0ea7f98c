// What was promised against what came: bands that should hold a share of the values, and
// probabilities that should come true as often as they say.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, resolve, text } from "@spillway/core/options.js";
import { axis, scatter } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber, formatShare } from "./format.js";
import { checkList, listKind, titleOption } from "./options.js";
import { baselineColour, predictionColour } from "./palette.js";

export const calibrationTable = {
  /** The figure's title; default "Calibration". */
  title: titleOption("Calibration"),
  /** What was promised; default "nominal coverage". */
  nominalLabel: option(text(), "nominal coverage", "What was promised."),
  /** What came; default "measured coverage". */
  measuredLabel: option(text(), "measured coverage", "What came."),
  /** How many values each point stands for: the weights of the mean gap. Default equal. */
  counts: optional(listKind<number>(), "How many values each point stands for."),
};

/** Options of `plotCalibration`. */
export interface CalibrationPlotOptions extends InputOf<typeof calibrationTable> {}

/**
 * Shares that were promised against shares that came, 0 to 1 each: the levels of bands against the
 * values inside them, or the confidence of a classifier against how often it was right (a
 * reliability diagram). On the diagonal they are equal; the description gives the mean gap, which
 * of confidences is the expected calibration error (Naeini et al. 2015).
 * @throws ArgumentError if the lists differ in length, are empty or hold anything but shares
 */
export function plotCalibration(nominal: readonly number[], measured: readonly number[], options: CalibrationPlotOptions = {}): Figure {
  const { title, nominalLabel, measuredLabel, counts } = resolve(calibrationTable, options);
  checkShares(nominal, "nominal");
  checkShares(measured, "measured");
  const count = nominal.length;
  if (count === 0 || measured.length !== count || (counts && counts.length !== count))
    throw ArgumentError.shape(
      `there are ${count} nominal and ${measured.length} measured shares${counts ? ` and ${counts.length} counts` : ""}; it takes as many of each, at least one`,
    );
  const weights = counts ?? nominal.map(() => 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const gap = nominal.reduce((sum, share, k) => sum + (weights[k]! / total) * Math.abs(share - measured[k]!), 0);
  const points = { x: Float64Array.from(nominal), y: Float64Array.from(measured) };
  return {
    title,
    description: `${measuredLabel} against ${nominalLabel}, which should be equal: mean gap ${formatShare(gap)}. ${nominal
      .map((share, k) => `${formatShare(share)}: ${formatShare(measured[k]!)}${counts ? ` of ${formatNumber(counts[k]!)}` : ""}`)
      .join("; ")}.`,
    data: [
      scatter("lines", "equal", { x: [0, 1], y: [0, 1] }, { hoverinfo: "skip", line: { color: baselineColour, width: 1, dash: "dash" } }),
      scatter("lines+markers", "measured", points, {
        ...(counts ? { customdata: [...counts], hovertemplate: "%{x:.3f}: %{y:.3f} of %{customdata}<extra></extra>" } : {}),
        line: { color: predictionColour, width: 1.5 },
        marker: { color: predictionColour, size: 7 },
      }),
    ],
    layout: { height: 360, xaxis: axis(nominalLabel, { range: [0, 1] }), yaxis: axis(measuredLabel, { range: [0, 1] }) },
  };
}

function checkShares(shares: readonly number[], name: string): void {
  checkList(shares, name, "shares from 0 to 1");
  for (const [k, share] of Array.from(shares).entries())
    if (!(share >= 0 && share <= 1)) throw new ArgumentError(`${name}[${k}]`, share, "a share from 0 to 1");
}
