// Runs side by side: the scores of each with those of its seeds, and their errors by step.
import type { Matrix } from "@spillway/numerics";
import { axis, columnsOf, scatter, ticksOf } from "./elements.js";
import { errorByStep, rmsByStep } from "./error.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { line } from "./line.js";
import { baselineColour, predictionColour, seriesColour } from "./palette.js";

/** A score of a run. */
export interface PlottedScore {
  readonly run: string;
  readonly value: number;
  /** Of each seed. */
  readonly seeds: readonly number[];
}

/** One metric of several runs, a line each: its score, and a point for each seed. */
export function plotScores(metric: string, scores: readonly PlottedScore[], better: "lower" | "higher" | undefined): Figure {
  const points = scores.flatMap(({ seeds }, k) =>
    seeds.flatMap((value): [number, number][] => (Number.isFinite(value) ? [[value, k]] : [])),
  );
  const values = scores.flatMap(({ value }, k): [number, number][] => (Number.isFinite(value) ? [[value, k]] : []));
  const ofSeed = { color: baselineColour, size: 5, opacity: 0.6 };
  const told = scores.map(({ run, value }) => `${run} ${formatNumber(value)}`).join(", ");
  const names = scores.map(({ run }) => (run.length > 40 ? `${run.slice(0, 39)}…` : run));
  return {
    title: `${metric} of ${scores.length} runs`,
    description: `${metric}${better ? `, ${better} is better` : ""}: ${told}.`,
    data: [
      ...(points.length > 0 ? [scatter("markers", "each seed", columnsOf(points), { marker: ofSeed })] : []),
      scatter("markers", "score", columnsOf(values), { marker: { color: predictionColour, size: 9, symbol: "diamond" } }),
    ],
    layout: {
      height: Math.min(900, 140 + 28 * scores.length),
      xaxis: axis(`${metric}${better ? ` (${better} is better)` : ""}`),
      yaxis: axis(undefined, { ...ticksOf(names), range: [scores.length - 0.5, -0.5] }),
    },
  };
}

/** The forecasts of a run, H x D each. */
export interface PlottedForecasts {
  readonly run: string;
  readonly predictions: readonly Matrix[];
  readonly targets: readonly Matrix[];
}

/** The root mean square error of each run by step of the forecast. */
export function plotRunErrors(runs: readonly PlottedForecasts[]): Figure {
  const errors = runs.map(({ predictions, targets }) => rmsByStep(predictions.map((said, k) => errorByStep(said, targets[k]!))));
  const told = runs.map(
    ({ run }, k) => `${run} ${formatNumber(errors[k]![0]!)} at the first step, ${formatNumber(errors[k]!.at(-1)!)} at the last`,
  );
  return {
    title: `Error by step of ${runs.length} runs`,
    description: `The root mean square error of the forecasts by step: ${told.join("; ")}.`,
    data: runs.map(({ run }, k) =>
      line({ name: run, values: errors[k]!, start: 1, style: { color: seriesColour(k), width: 2 }, maxPoints: 2000 }),
    ),
    layout: { height: 320, xaxis: axis("step of the forecast"), yaxis: axis("error", { rangemode: "tozero" }) },
  };
}
