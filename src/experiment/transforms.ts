// What is done to a series before a reservoir sees it, and undone on predictions. Standardising is
// the model's own: it keeps the figures.
import { Matrix, portableLog, portableTanh } from "../numerics/index.js";
import { ExperimentError } from "./errors.js";
import type { TransformDescription } from "./description.js";

/** A series with its transforms done. Row t of `series` and of `original` are the same time. */
export interface TransformedSeries {
  /** T x D: what the reservoir sees. */
  readonly series: Matrix<Float64Array>;
  /** T x D, in the units of the data. */
  readonly original: Matrix<Float64Array>;
  /** Rows lost at the start to differences. */
  readonly lost: number;
  /**
   * A prediction of rows `start`, `start` + 1, ... in the units of the data. In closed loop,
   * differences are added to what was predicted before; else every row earlier than its target is
   * known.
   */
  undo(prediction: Matrix, start: number, closedLoop: boolean): Matrix<Float64Array>;
}

interface Stage {
  readonly output: Matrix<Float64Array>;
  /** Row t of the output is the time of row t + lag of the input. */
  readonly lag: number;
  undo(prediction: Matrix<Float64Array>, start: number, closedLoop: boolean): Matrix<Float64Array>;
}

/**
 * Applies transforms in order; "standardise" is left to the model. @throws ExperimentError if a
 * difference leaves no rows.
 */
export function transformSeries(data: Matrix<Float64Array>, transforms: readonly TransformDescription[]): TransformedSeries {
  const stages: Stage[] = [];
  let here = data;
  for (const transform of transforms) {
    if (transform === "standardise") continue;
    const stage = transform === "squash" ? squash(here) : difference(here, transform.difference);
    stages.push(stage);
    here = stage.output;
  }
  const lost = data.rows - here.rows;
  return {
    series: here,
    original: data.subarray(lost),
    lost,
    undo(prediction, start, closedLoop) {
      let out = Matrix.from(prediction, "float64");
      let at = start;
      for (const stage of stages.toReversed()) {
        out = stage.undo(out, at, closedLoop);
        at += stage.lag;
      }
      return out;
    },
  };
}

/**
 * How many rows ahead a one-step prediction may look before a difference adds what is not known
 * yet.
 */
export function longestLookAhead(transforms: readonly TransformDescription[]): number {
  return Math.min(...transforms.map((transform) => (typeof transform === "object" ? transform.difference : Number.POSITIVE_INFINITY)));
}

/**
 * y -> tanh(y - 1) (Jaeger 2001, GMD report 148, section 6); back: 1 + atanh, of values held inside
 * (-1, 1).
 */
function squash(input: Matrix<Float64Array>): Stage {
  const limit = 1 - 2 ** -53;
  return {
    output: map(input, (value) => portableTanh(value - 1)),
    lag: 0,
    undo: (prediction) =>
      map(prediction, (value) => {
        const inside = Math.max(-limit, Math.min(limit, value));
        return 1 + 0.5 * portableLog((1 + inside) / (1 - inside));
      }),
  };
}

/**
 * y(t) -> y(t) - y(t - lag): a season of `lag` steps and a constant drop out, a trend becomes a
 * constant.
 */
function difference(input: Matrix<Float64Array>, lag: number): Stage {
  const { rows, cols } = input;
  if (rows <= lag) throw new ExperimentError(`transforms: a difference of ${lag} rows takes a longer series; this one has ${rows} rows`);
  const output = Matrix.zeros(rows - lag, cols);
  for (let i = 0; i < output.data.length; i++) output.data[i] = input.data[i + lag * cols]! - input.data[i]!;
  return {
    output,
    lag,
    undo(prediction, start, closedLoop) {
      const out = Matrix.zeros(prediction.rows, cols);
      for (let k = 0; k < prediction.rows; k++) {
        const isKnown = !closedLoop || k < lag;
        for (let c = 0; c < cols; c++) {
          const earlier = isKnown ? input.data[(start + k) * cols + c]! : out.data[(k - lag) * cols + c]!;
          out.data[k * cols + c] = prediction.data[k * cols + c]! + earlier;
        }
      }
      return out;
    },
  };
}

function map(matrix: Matrix<Float64Array>, change: (value: number) => number): Matrix<Float64Array> {
  return new Matrix(matrix.rows, matrix.cols, matrix.data.map(change));
}
