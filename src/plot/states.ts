// Figures of a reservoir's states: all neurons as a heat map, a few as lines.
import { ArgumentError } from "@spillway/core/errors.js";
import { flag, type InputOf, number, option, optional, resolve, tuple } from "@spillway/core/options.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import { thin } from "./decimate.js";
import { axis, colourBar, heatmap } from "./elements.js";
import type { Figure } from "./figure.js";
import { line, type SeriesPlotOptions, seriesTable } from "./line.js";
import { afterWashout, listKind, most, type WashoutOptions, washoutTable } from "./options.js";
import { divergingScale, seriesColour } from "./palette.js";

export const heatmapTable = {
  ...seriesTable("States of the reservoir"),
  ...washoutTable,
  /** Steps drawn at most, evenly spaced; default 300. */
  maxSteps: option(most(1), 300, "Steps drawn at most, evenly spaced."),
  /** Neurons drawn at most, evenly spaced; default 200. */
  maxNeurons: option(most(1), 200, "Neurons drawn at most, evenly spaced."),
  /**
   * Draw what is above and below each neuron's mean over these steps, if biases would hide what
   * moves. Default false.
   */
  centred: option(flag, false, "Draw what is above and below each neuron's mean over these steps."),
  /**
   * Between which values the colours run; default from -m to m, m being the largest size that
   * occurs.
   */
  range: optional(
    tuple<readonly [number, number]>("two numbers that rise", [number(), number()]),
    "Between which values the colours run; left out, as far as the largest size to both sides.",
  ),
};

/** Options of `plotStateHeatmap`. */
export interface StateHeatmapOptions extends SeriesPlotOptions, WashoutOptions, InputOf<typeof heatmapTable> {}

/**
 * A heat map of T x N states, time to the right, one line a neuron. @throws ArgumentError on ragged
 * rows.
 */
export function plotStateHeatmap(states: MatrixLike, options: StateHeatmapOptions = {}): Figure {
  const { title, start, timeLabel, maxSteps, maxNeurons, centred, range, washout } = resolve(heatmapTable, options);
  const whole = afterWashout(states, washout);
  const means = centred ? columnMeans(whole) : new Float64Array(whole.cols);
  const { matrix, everyRow, everyColumn } = thin(whole, maxSteps, maxNeurons);
  const z = new Float32Array(matrix.data.length);
  let largest = 0;
  for (let t = 0; t < matrix.rows; t++) {
    for (let i = 0; i < matrix.cols; i++) {
      const value = matrix.data[t * matrix.cols + i]! - means[i * everyColumn]!;
      z[i * matrix.rows + t] = value;
      largest = Math.max(largest, Math.abs(value));
    }
  }
  if (range && !(range[0] < range[1])) throw new ArgumentError("range", range, "two numbers that rise", { shown: JSON.stringify(range) });
  const [zmin, zmax] = range ?? [-(largest || 1), largest || 1];
  const every = [everyRow > 1 ? `every ${ordinal(everyRow)} step` : "", everyColumn > 1 ? `every ${ordinal(everyColumn)} neuron` : ""];
  const drawn = every.filter(Boolean).join(" and ");
  return {
    title,
    description: `The states of ${whole.cols} neurons over ${whole.rows} steps as colours${centred ? ", less each neuron's mean" : ""}${drawn ? `; ${drawn} is drawn` : ""}.`,
    data: [
      heatmap(z, [matrix.cols, matrix.rows], {
        ...{ x0: start + washout, dx: everyRow, y0: 0, dy: everyColumn, zmin, zmax },
        ...{ colorscale: divergingScale, colorbar: colourBar(centred ? "x - mean" : "x") },
        hovertemplate: "step %{x}, neuron %{y}: %{z:.3f}<extra></extra>",
      }),
    ],
    layout: { height: 360, xaxis: axis(timeLabel), yaxis: axis("neuron") },
  };
}

export const trajectoryTable = {
  ...seriesTable("Trajectories of a few neurons", 1000),
  ...washoutTable,
  /** Which neurons; default six at equal distances. */
  neurons: optional(listKind<number>(), "Which neurons; left out, six at equal distances."),
};

/** Options of `plotTrajectories`. */
export interface TrajectoryOptions extends SeriesPlotOptions, WashoutOptions, InputOf<typeof trajectoryTable> {}

/**
 * The states of a few neurons over time, one line each. @throws ArgumentError for a neuron that
 * does not exist.
 */
export function plotTrajectories(states: MatrixLike, options: TrajectoryOptions = {}): Figure {
  const { title, start, timeLabel, maxPoints, washout, ...asked } = resolve(trajectoryTable, options);
  const matrix = afterWashout(states, washout);
  const count = Math.min(6, matrix.cols);
  const neurons = asked.neurons ?? Array.from({ length: count }, (_, k) => Math.floor((k * matrix.cols) / count));
  return {
    title,
    description: `The states of neurons ${neurons.join(", ")} over ${matrix.rows} steps.`,
    data: neurons.map((neuron, k) => {
      const style = { color: seriesColour(k), width: 1.5 };
      return line({ name: `neuron ${neuron}`, values: matrix.column(neuron), start: start + washout, style, maxPoints });
    }),
    layout: { height: 320, xaxis: axis(timeLabel), yaxis: axis("state") },
  };
}

function columnMeans(matrix: Matrix): Float64Array {
  const means = new Float64Array(matrix.cols);
  for (let i = 0; i < matrix.data.length; i++) means[i % matrix.cols] = means[i % matrix.cols]! + matrix.data[i]! / matrix.rows;
  return means;
}

function ordinal(n: number): string {
  const last = n % 100 >= 11 && n % 100 <= 13 ? 0 : n % 10;
  return `${n}${last === 1 ? "st" : last === 2 ? "nd" : last === 3 ? "rd" : "th"}`;
}
