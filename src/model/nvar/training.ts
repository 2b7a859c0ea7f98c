// Fits the weights of NVAR by Householder reflections: in binary64 with the rows streaming by, in
// double-double with all of them kept.
import { ArgumentError } from "@spillway/core/errors.js";
import { ddSqrt, ddSubtract, Matrix } from "@spillway/numerics";
import { type DoubleDoubles, ddAt, ddLeastSquares, ddSet, doubleDoubles } from "@spillway/numerics/double-double-rows.js";
import { SingularFitError } from "../../readout/errors.js";
import { ridge, TrainedReadout } from "../../readout/index.js";
import type { DeviceAbilities } from "../../reservoir/engine.js";
import type { WorkOptions } from "../../reservoir/index.js";
import { partOf, WorkPacer } from "../../reservoir/work.js";
import type { Bound } from "../forecaster/bounds.js";
import type { Range } from "../forecaster/preprocessing.js";
import type { Standardisation } from "../standardisation.js";
import type { Numbers, NvarFeatures } from "./features.js";
import { numbers, rowsBetween } from "./features.js";
import type { NvarSettings } from "./options.js";

/** A checked series: T x D numbers, and T x K of what is known. */
export interface NvarSeries {
  readonly rows: number;
  readonly cols: number;
  readonly values: Numbers;
  readonly known?: Numbers | undefined;
  /** T x D: 1 where a value was filled and rows that touch it train nothing. */
  readonly left?: Matrix | undefined;
}

/** What training gives. */
export interface NvarWeights {
  readonly readout: TrainedReadout;
  /** What binary64 leaves of the weights (O x F) and constants, in double-double. */
  readonly low?: { readonly weights: Matrix<Float64Array>; readonly intercept: Float64Array } | undefined;
}

/** Trained polynomials. */
export interface NvarFit extends NvarWeights {
  readonly features: NvarFeatures;
  readonly scale: Standardisation;
  /** z-scores of what is known beforehand, the calendar among it; undefined if nothing is. */
  readonly knownScale: Standardisation | undefined;
  readonly range: Range;
  /** Of each column, in the units of the data. */
  readonly bounds: readonly Bound[] | undefined;
  /** The last rows of the training series, in z-scores. */
  readonly history: Numbers;
}

/** Solves least squares in double-double: numerics' `ddLeastSquares`, wherever it runs. */
export type LeastSquares = DeviceAbilities["leastSquares"];

/** On the host, letting others have a turn. */
export const leastSquaresHere: LeastSquares = async (x, y, options = {}) => {
  const pacer = new WorkPacer(options, x.length);
  const solve = ddLeastSquares(x, y);
  let solved = solve.next();
  for (; !solved.done; solved = solve.next()) if (pacer.due()) await pacer.pause(solved.value);
  pacer.finish();
  return solved.value;
};

/** Rows of features at a time. */
const chunk = 256;

/**
 * argmin sum |y - W f - c|^2 + lambda |W|^2 over all rows (and all groups of a ring), for each
 * lambda. @throws ArgumentError, SingularFitError, WorkInterruptedError
 */
export async function trainNvar(
  settings: NvarSettings,
  features: NvarFeatures,
  series: readonly NvarSeries[],
  lambdas: readonly number[],
  solve: LeastSquares,
  work: WorkOptions,
): Promise<readonly NvarWeights[]> {
  let rows = 0;
  for (const _ of trainingRows(features, series)) rows++;
  if (rows === 0)
    throw ArgumentError.because(
      "every row that could train sees or predicts a missing value; fill them: missing hold or interpolate, or take fewer delays",
      { field: "missing" },
    );
  const weights = features.count + (settings.constant ? 1 : 0);
  if (Math.min(...lambdas) === 0 && rows < weights)
    throw ArgumentError.shape(
      `${rows} rows do not determine ${weights} weights an output with lambda 0; it takes as many rows, or lambda above 0`,
    );
  if (settings.arithmetic === "float64") return streamedWeights(settings, features, { series, rows, lambdas }, work);
  const found: NvarWeights[] = [];
  for (const [l, lambda] of lambdas.entries())
    found.push(await exactWeights({ ...settings, lambda }, features, series, rows, solve, partOf(work, l, lambdas.length)));
  return found;
}

async function streamedWeights(
  { constant, target }: NvarSettings,
  features: NvarFeatures,
  { series, rows, lambdas }: { readonly series: readonly NvarSeries[]; readonly rows: number; readonly lambdas: readonly number[] },
  work: WorkOptions,
): Promise<readonly NvarWeights[]> {
  const trainers = lambdas.map((lambda) => ridge({ solver: "qr", lambda, intercept: constant }));
  const { count, outputs } = features;
  const sink = trainers[0]!.accumulator({ stateSize: count, inputSize: 0, outputSize: outputs });
  const x = Matrix.zeros(chunk, count);
  const y = Matrix.zeros(chunk, outputs);
  const none = new Matrix(chunk, 0, new Float64Array(0));
  const pacer = new WorkPacer(work, rows);
  let filled = 0;
  let done = 0;
  const flush = () => {
    sink.add(x.subarray(0, filled), none.subarray(0, filled), y.subarray(0, filled));
    filled = 0;
  };
  const scratch = features.scratch(false);
  try {
    for (const { values, cols, at, ...where } of trainingRows(features, series)) {
      features.write(values, where, scratch, { high: x.row(filled) });
      for (let o = 0; o < outputs; o++)
        y.data[filled * outputs + o] = values.high[at + cols + o]! - (target === "increment" ? values.high[at + o]! : 0);
      done++;
      if (++filled === chunk) flush();
      if (pacer.due()) await pacer.pause(done);
    }
    flush();
    pacer.finish();
    return trainers.map((trainer) => ({ readout: trainer.solve(sink) }));
  } finally {
    sink.dispose();
  }
}

async function exactWeights(
  { lambda, constant, target }: NvarSettings,
  features: NvarFeatures,
  series: readonly NvarSeries[],
  rows: number,
  solve: LeastSquares,
  work: WorkOptions,
): Promise<NvarWeights> {
  const { count, outputs } = features;
  // The rows of the penalty follow those of the data; a constant has none.
  const all = rows + (lambda > 0 ? count : 0);
  const x = Array.from({ length: count + (constant ? 1 : 0) }, () => doubleDoubles(all));
  const y = Array.from({ length: outputs }, () => doubleDoubles(all));
  const pacer = new WorkPacer(work, rows + x.length);
  const scratch = features.scratch(true);
  const row = numbers(count, true) as DoubleDoubles;
  let r = 0;
  for (const { values, cols, at, ...where } of trainingRows(features, series)) {
    features.write(values, where, scratch, row);
    for (let f = 0; f < count; f++) ddSet(x[f]!, r, ddAt(row, f));
    if (constant) x[count]!.high[r] = 1;
    const both = values as DoubleDoubles;
    for (let o = 0; o < outputs; o++) {
      const next = ddAt(both, at + cols + o);
      ddSet(y[o]!, r, target === "increment" ? ddSubtract(next, ddAt(both, at + o)) : next);
    }
    if (pacer.due()) await pacer.pause(r);
    r++;
  }
  if (lambda > 0) {
    const penalty = ddSqrt({ high: lambda, low: 0 });
    for (let f = 0; f < count; f++) ddSet(x[f]!, rows + f, penalty);
  }
  const { signal, onProgress } = work;
  const total = rows + x.length;
  const found = await solve(x, y, { signal, onProgress: onProgress && ((done) => onProgress(rows + done, total)) });
  if (!found?.every(({ high }) => high.every(Number.isFinite))) throw new SingularFitError(lambda, rows, count);
  const part = (name: "high" | "low") => ({
    weights: new Matrix(outputs, count, Float64Array.from(found.flatMap((one) => Array.from(one[name].subarray(0, count))))),
    intercept: Float64Array.from(found, (one) => one[name][count] ?? 0),
  });
  const details = { solver: "qr", lambda, arithmetic: "doubleDouble" };
  const data = { features: { state: "plain", input: false, squares: false } as const, stateSize: count, inputSize: 0, ...part("high") };
  return { readout: new TrainedReadout(data, { method: "ridge", rows, details }), low: part("low") };
}

/**
 * Every row (and group) that trains: row t, whose target is row t + 1, and where its group's values
 * begin.
 */
function* trainingRows(features: NvarFeatures, series: readonly NvarSeries[]) {
  for (const { rows, cols, values, known, left } of series)
    for (let t = features.history - 1; t < rows - 1; t++) {
      const ahead = known && rowsBetween(known, features.known, t + 1, t + 2);
      for (let group = 0; group < features.groups; group++)
        if (!left || !features.touches(left, t, group)) yield { values, cols, at: t * cols + group, t, group, ahead };
    }
}
