// States against each other: a few neurons, or the directions in which all of them move most.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, checkedLater, type InputOf, option, optional, type Resolved, resolve, text } from "@spillway/core/options.js";
import { asMatrix, type Matrix, type MatrixLike, stackRows } from "@spillway/numerics";
import { axis } from "./elements.js";
import { encodeArray, type Figure } from "./figure.js";
import { afterWashout, listKind, most, titleOption, type WashoutOptions, washoutTable } from "./options.js";
import { baselineColour, predictionColour, sequentialScale, seriesColour } from "./palette.js";
import { principalComponents } from "./principal-components.js";

export const phaseSpaceTable = {
  /** The figure's title; default says what is drawn. */
  title: titleOption("Phase space"),
  ...washoutTable,
  /** 2 or 3; default 2. Three are drawn in a turnable view, which needs WebGL. */
  dimensions: option(
    checked<2 | 3>("2 or 3", (value) => value === 2 || value === 3, { enum: [2, 3] }),
    2,
    "Three are drawn in a turnable view, which needs WebGL.",
  ),
  /**
   * Columns to draw against each other, as many as dimensions. Left out: the columns themselves
   * if there are just that many, else principal components.
   */
  columns: optional(listKind<number>(), "Columns to draw against each other; left out, the columns themselves or principal components."),
  /** A name for each axis. */
  names: optional(listKind<string>(), "A name for each axis."),
  /**
   * A second trajectory over the same columns, T' x N, such as a free-running forecast beside the
   * truth.
   */
  beside: optional(checkedLater<MatrixLike>("a series, T' x N"), "A second trajectory over the same columns."),
  /** What it calls the second trajectory; default "beside". */
  besideName: option(text(), "beside", "What it calls the second trajectory."),
  /** What the legend calls the states; default "trajectory". */
  name: option(text(), "trajectory", "What the legend calls the states."),
  /** Most points a trajectory keeps, at equal distances; default 5000. */
  maxPoints: option(most(0), 5000, "Most points a trajectory keeps, at equal distances."),
};

/** Which columns, or principal components, are drawn against each other. */
export interface PhaseSpaceOptions extends WashoutOptions, InputOf<typeof phaseSpaceTable> {}

/**
 * A trajectory in phase space, T x N: two or three of its columns, or its leading principal
 * components, whose share of the variance stands on the axes.
 * @throws ArgumentError for columns that do not exist, or fewer columns than dimensions.
 */
export function plotPhaseSpace(states: MatrixLike, options: PhaseSpaceOptions = {}): Figure {
  const asked = resolve(phaseSpaceTable, options);
  const { title, dimensions, maxPoints, name, besideName } = asked;
  const matrix = afterWashout(states, asked.washout);
  const beside = asked.beside === undefined ? undefined : asMatrix(asked.beside, "beside");
  if (matrix.cols < dimensions)
    throw ArgumentError.shape(`states has ${matrix.cols} columns; ${dimensions} dimensions take at least ${dimensions}`, {
      field: "states",
    });
  if (beside && beside.cols !== matrix.cols)
    throw ArgumentError.shape(`beside has ${beside.cols} columns and states has ${matrix.cols}; they take the same`, { field: "beside" });
  const view = viewOf(matrix, beside, asked);
  const both = [{ part: view.first, label: name, colour: seriesColour(0) }];
  if (view.second) both.push({ part: view.second, label: besideName, colour: predictionColour });
  const data = both.map(({ part, label, colour }, k) => {
    const kept = strided(part, maxPoints);
    const column = (c: number) => encodeArray(kept.column(c));
    const single = both.length === 1;
    const steps = Float64Array.from({ length: kept.rows }, (_, i) => i * Math.ceil(part.rows / Math.max(1, kept.rows)));
    const scale = { colorscale: sequentialScale, cmin: -steps.length * 0.4, showscale: false };
    const marks = single
      ? { color: encodeArray(steps), size: dimensions === 3 ? 2 : 4, ...scale }
      : { color: colour, size: dimensions === 3 ? 2 : 3 };
    const common = { name: label, x: column(0), y: column(1), line: { color: single ? baselineColour : colour, width: 1 }, marker: marks };
    const opacity = k === 0 ? 0.9 : 0.75;
    return dimensions === 3
      ? { type: "scatter3d", mode: "lines", z: column(2), ...common, line: { color: colour, width: 2 }, opacity }
      : { type: "scatter", mode: "lines+markers", ...common, opacity };
  });
  const titles = view.names.map((text) => ({ title: { text } }));
  return {
    title,
    description: `${matrix.rows} states seen along ${view.names.join(", ")}${beside ? `, and ${besideName} over ${beside.rows} steps in the same view` : ""}.`,
    data,
    layout:
      dimensions === 3
        ? { height: 480, scene: { xaxis: titles[0], yaxis: titles[1], zaxis: titles[2], aspectmode: "cube", camera } }
        : { height: 420, xaxis: axis(view.names[0]), yaxis: axis(view.names[1]) },
  };
}

/** From further away than plotly's own and a little lower, so that no number of an axis is cut, also on a phone. */
const camera = { eye: { x: 1.8, y: 1.8, z: 1.7 }, center: { x: 0, y: 0, z: -0.15 } };

interface View {
  readonly first: Matrix;
  readonly second: Matrix | undefined;
  readonly names: readonly string[];
}

function viewOf(matrix: Matrix, beside: Matrix | undefined, asked: Resolved<typeof phaseSpaceTable>): View {
  const { dimensions } = asked;
  const { columns = matrix.cols === dimensions ? Array.from({ length: dimensions }, (_, c) => c) : undefined } = asked;
  if (columns) {
    if (columns.length !== dimensions)
      throw ArgumentError.shape(`columns names ${columns.length} columns; ${dimensions} dimensions take ${dimensions}`, {
        field: "columns",
      });
    const wrong = columns.find((c) => !Number.isInteger(c) || c < 0 || c >= matrix.cols);
    if (wrong !== undefined)
      throw ArgumentError.shape(`columns holds ${wrong}; states has columns 0 to ${matrix.cols - 1}`, { field: "columns" });
    const names = asked.names ?? columns.map((c) => `column ${c}`);
    return { first: chosen(matrix, columns), second: beside && chosen(beside, columns), names };
  }
  // One view for both: the directions are those of all rows together.
  const together = beside ? stackRows([matrix, beside]) : matrix;
  const { coordinates, explained } = principalComponents(together, dimensions);
  const names = asked.names ?? Array.from(explained, (share, k) => `component ${k + 1} (${(100 * share).toFixed(0)} %)`);
  return {
    first: coordinates.subarray(0, matrix.rows),
    second: beside && coordinates.subarray(matrix.rows),
    names,
  };
}

function chosen(matrix: Matrix, columns: readonly number[]): Matrix {
  return asMatrix(Array.from({ length: matrix.rows }, (_, t) => columns.map((c) => matrix.at(t, c))));
}

function strided(matrix: Matrix, maximal: number): Matrix {
  const every = Math.max(1, Math.ceil(matrix.rows / maximal));
  if (every === 1) return matrix;
  return asMatrix(Array.from({ length: Math.ceil(matrix.rows / every) }, (_, k) => Array.from(matrix.row(k * every))));
}
