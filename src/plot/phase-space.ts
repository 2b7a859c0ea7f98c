// States against each other: a few neurons, or the directions in which all of them move most.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, checkedLater, type InputOf, option, optional, type Resolved, resolve, text } from "@spillway/core/options.js";
import { asMatrix, Matrix, type MatrixLike, stackRows } from "@spillway/numerics";
import { axis } from "./elements.js";
import { encodeArray, type Figure } from "./figure.js";
import { afterWashout, listKind, most, titleOption, type WashoutOptions, washoutTable } from "./options.js";
import { baselineColour, predictionColour, sequentialScale, seriesColour } from "./palette.js";

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
 * components, whose share of the variance the axes show.
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

/** Rows that the directions are found from. */
const maxRows = 4000;
const iterations = 60;

/** States seen along their leading directions. */
export interface Projection {
  /** T x K. */
  readonly coordinates: Matrix;
  /** Share of the variance along each, falling. */
  readonly explained: Float64Array;
}

/**
 * Projects T x N states, less their mean, on the K leading eigenvectors of their covariance, found
 * by subspace iteration on at most 4000 rows at equal distances. The sign of a direction makes its
 * largest entry positive: the same states give the same picture.
 */
export function principalComponents(states: Matrix, count: number): Projection {
  const { rows, cols } = states;
  const every = Math.max(1, Math.ceil(rows / maxRows));
  const mean = new Float64Array(cols);
  let used = 0;
  for (let t = 0; t < rows; t += every, used++) for (let i = 0; i < cols; i++) mean[i] = mean[i]! + states.data[t * cols + i]!;
  for (let i = 0; i < cols; i++) mean[i] = mean[i]! / used;
  const centred = Matrix.zeros(used, cols);
  let total = 0;
  for (let k = 0; k < used; k++) {
    for (let i = 0; i < cols; i++) {
      const value = states.data[k * every * cols + i]! - mean[i]!;
      centred.data[k * cols + i] = value;
      total += value * value;
    }
  }
  const directions = startDirections(count, cols);
  for (let n = 0; n < iterations; n++) {
    for (const direction of directions) direction.set(covarianceTimes(centred, direction));
    orthonormalise(directions);
  }
  const variances = directions.map((direction) => {
    const image = covarianceTimes(centred, direction);
    return dot(image, direction);
  });
  const order = directions.map((_, k) => k).sort((a, b) => variances[b]! - variances[a]!);
  const sorted = order.map((k) => signed(directions[k]!));
  const coordinates = Matrix.zeros(rows, count);
  for (let t = 0; t < rows; t++) {
    for (let k = 0; k < count; k++) {
      let sum = 0;
      for (let i = 0; i < cols; i++) sum += (states.data[t * cols + i]! - mean[i]!) * sorted[k]![i]!;
      coordinates.data[t * count + k] = sum;
    }
  }
  return { coordinates, explained: Float64Array.from(order, (k) => (total > 0 ? variances[k]! / total : 0)) };
}

/** Different enough from each other and from axes, and the same every time. */
function startDirections(count: number, cols: number): Float64Array[] {
  const directions = Array.from({ length: count }, (_, k) =>
    Float64Array.from({ length: cols }, (_, i) => Math.cos((i + 1) * (k + 1) * 1.7)),
  );
  orthonormalise(directions);
  return directions;
}

function covarianceTimes(centred: Matrix, v: Float64Array): Float64Array {
  const { rows, cols } = centred;
  const out = new Float64Array(cols);
  for (let t = 0; t < rows; t++) {
    const row = centred.data.subarray(t * cols, (t + 1) * cols);
    const along = dot(row, v);
    for (let i = 0; i < cols; i++) out[i] = out[i]! + along * row[i]!;
  }
  return out;
}

/** Gram-Schmidt; a direction that vanishes (fewer dimensions than asked for) stays zero. */
function orthonormalise(directions: readonly Float64Array[]): void {
  directions.forEach((direction, k) => {
    const before = Math.sqrt(dot(direction, direction));
    for (let again = 0; again < 2; again++) {
      for (const other of directions.slice(0, k)) {
        const along = dot(direction, other);
        for (let i = 0; i < direction.length; i++) direction[i] = direction[i]! - along * other[i]!;
      }
    }
    const length = Math.sqrt(dot(direction, direction));
    const scale = length > 1e-12 * before ? 1 / length : 0;
    for (let i = 0; i < direction.length; i++) direction[i] = direction[i]! * scale;
  });
}

function signed(direction: Float64Array): Float64Array {
  const largest = direction.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
  return largest < 0 ? direction.map((value) => -value) : direction;
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
