// How an NvarForecaster is trained: lambda by forecasts if there is a horizon, and then the weights
// on all rows. And what it predicts: its closed loop, and single steps.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import { chooseEngine, type WorkOptions } from "../../reservoir/index.js";
import { WorkPacer } from "../../reservoir/work.js";
import { endsWithin } from "../forecaster/bounds.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import { half } from "../forecaster/fit.js";
import { chooseLambda } from "../forecaster/lambda-choice.js";
import { chooseDefaults } from "../forecaster/plan.js";
import { firstRows, type ValidationStart } from "../forecaster/validation.js";
import type { NvarSeries } from "./data.js";
import { type Numbers, NvarFeatures, numbers, rowsBetween } from "./features.js";
import type { NvarSettings } from "./options.js";
import { copyRows, heldRange, hold, knownScale, NvarStep, nvarBounds, nvarScale, restoredNumbers, scaledNumbers } from "./step.js";
import { type LeastSquares, leastSquaresHere, type NvarFit, trainNvar } from "./training.js";

/** A trained model, and how its lambda was chosen. */
export interface FittedNvar {
  readonly fit: NvarFit;
  /** Undefined without a horizon. */
  readonly choice: ForecasterChoice | undefined;
}

/** What solves for the weights on an engine. @throws EngineUnavailableError, ArgumentError */
export async function solverOn(name: string | undefined, { arithmetic }: NvarSettings): Promise<LeastSquares> {
  if (name === undefined || name === "auto") return leastSquaresHere;
  const { engine } = await chooseEngine(name);
  const { device } = engine;
  if (!device) return leastSquaresHere;
  if (arithmetic !== "doubleDouble")
    throw new ArgumentError("engine", name, `"cpu" with arithmetic "${arithmetic}": devices solve in double-double alone`);
  return (x, y, options) => device.leastSquares(x, y, options);
}

/** @throws ArgumentError, SingularFitError, WorkInterruptedError */
export async function fitNvar(
  settings: NvarSettings,
  series: readonly NvarSeries[],
  masks: readonly (Matrix | undefined)[],
  solve: LeastSquares,
  work: WorkOptions,
): Promise<FittedNvar> {
  const { horizon, choose, lambda, targets } = settings;
  if (horizon === undefined) {
    const [fit] = await fitsOf(settings, series, [lambda], solve, work);
    return { fit: fit!, choice: undefined };
  }
  const lambdas = choose?.lambdas ?? chooseDefaults.lambdas;
  const { history } = new NvarFeatures(settings, series[0]!.cols);
  const choice = await chooseLambda(
    series.map(({ rows, cols, values }) => ({ series: new Matrix(rows, cols, values.high) })),
    { horizon, lambdas, choose, washout: history, masks, targets },
    ({ training, starts }) => {
      let fits: readonly NvarFit[] = [];
      return {
        async forecasts(signal) {
          const parts = series.map((one, s) => seriesUpTo(one, training[s]!.series.rows));
          fits = await fitsOf(settings, parts, lambdas, solve, { signal });
          const made: (Matrix<Float64Array> | Error)[] = [];
          for (const fit of fits) {
            const out = await forecastsFrom(settings, fit, { series, starts, horizon }, signal);
            made.push(out.data.every(Number.isFinite) ? out : new Error("its forecasts leave the finite numbers"));
          }
          return made;
        },
        async again(lambda, places, signal) {
          return forecastsFrom(settings, fits[lambdas.indexOf(lambda)]!, { series, starts: places, horizon }, signal);
        },
      };
    },
    half(work, 0),
  );
  const [fit] = await fitsOf(settings, series, [choice.kept[0]!.lambda], solve, half(work, 1));
  return { fit: fit!, choice };
}

/** Forecasts from every start, under each other; infinite from those where they run away. */
async function forecastsFrom(
  settings: NvarSettings,
  fit: NvarFit,
  {
    series,
    starts,
    horizon,
  }: { readonly series: readonly NvarSeries[]; readonly starts: readonly ValidationStart[]; readonly horizon: number },
  signal: AbortSignal | undefined,
): Promise<Matrix<Float64Array>> {
  const out = Matrix.zeros(starts.length * horizon, series[0]!.cols);
  for (const [k, { sequence, row }] of starts.entries()) {
    const { values, held = values, known } = series[sequence]!;
    const from = scaledNumbers(fit.scale, copyRows(held, fit.features, row));
    const ahead = known && rowsBetween(known, fit.features.known, row, row + horizon);
    const { data } = await nvarLoop(settings, fit, { from, ahead, steps: horizon }, { signal });
    const place = k * horizon * out.cols;
    if (data.every(Number.isFinite)) out.data.set(data, place);
    else out.data.fill(Number.POSITIVE_INFINITY, place, place + data.length);
  }
  return out;
}

/** Models of some lambdas, which stand at the end of the last series. */
async function fitsOf(
  settings: NvarSettings,
  series: readonly NvarSeries[],
  lambdas: readonly number[],
  solve: LeastSquares,
  work: WorkOptions,
): Promise<readonly NvarFit[]> {
  const scale = nvarScale(series, settings);
  const known = knownScale(series, settings);
  const features = new NvarFeatures(settings, series[0]!.cols, known?.mean.length);
  const scaled = series.map((one) => ({
    ...one,
    values: scaledNumbers(scale, one.values),
    known: known && scaledNumbers(known, one.known!),
  }));
  const found = await trainNvar(settings, features, scaled, lambdas, solve, work);
  const last = scaled.at(-1)!;
  const bounds = nvarBounds(series, settings);
  const { lower, upper } = endsWithin(heldRange(series, settings), bounds);
  const range = { lower: scaledNumbers(scale, { high: lower }).high, upper: scaledNumbers(scale, { high: upper }).high };
  return found.map((weights) => ({
    ...weights,
    features,
    scale,
    knownScale: known,
    range,
    bounds,
    history: copyRows(last.values, features, last.rows),
  }));
}

function seriesUpTo({ rows: all, cols, values, held, known, left }: NvarSeries, rows: number): NvarSeries {
  const part = { ...rowsBetween(values, cols, 0, rows) };
  if (held) {
    const matrix = ({ high }: Numbers) => new Matrix(all, cols, high);
    part.high = firstRows(matrix(values), matrix(held), rows).data as Float64Array;
    part.low = part.low?.map((low, i) => (part.high[i] === held.high[i] ? held.low![i]! : low));
  }
  return {
    rows,
    cols,
    values: part,
    known: known && rowsBetween(known, known.high.length / all, 0, rows),
    left: left?.subarray(0, rows),
  };
}

/** What a closed loop starts from. */
export interface NvarLoop {
  /** The last rows of the series, in z-scores. */
  readonly from: Numbers;
  /** What is known of each step, in the units of the data; undefined if nothing is. */
  readonly ahead: Numbers | undefined;
  readonly steps: number;
}

/** Closed loop from the last rows of a series: steps x D in the units of the data. */
export async function nvarLoop(
  settings: NvarSettings,
  fit: NvarFit,
  { from, ahead, steps }: NvarLoop,
  work: WorkOptions,
): Promise<Matrix<Float64Array>> {
  const { features, scale, range } = fit;
  const known = ahead && scaledNumbers(fit.knownScale!, ahead);
  const step = new NvarStep(settings, fit);
  const window = copyRows(from, features, features.history);
  const cols = features.columns;
  const out = Matrix.zeros(steps, cols);
  const next = numbers(cols, settings.arithmetic === "doubleDouble");
  const pacer = new WorkPacer(work, steps);
  for (let t = 0; t < steps; t++) {
    step.next(window, features.history - 1, known && rowsBetween(known, features.known, t, t + 1), next);
    if (settings.hold) hold(range, next);
    for (const part of ["high", "low"] as const) {
      window[part]?.copyWithin(0, cols);
      window[part]?.set(next[part]!, (features.history - 1) * cols);
    }
    out.data.set(restoredNumbers(scale, next), t * cols);
    if (pacer.due()) await pacer.pause(t + 1);
  }
  pacer.finish();
  return out;
}

/**
 * One-step predictions of rows that go on from the history of a fit: row t is what follows row t of
 * the series, or with known inputs row t itself. And the history after them.
 */
export async function nvarPredictions(settings: NvarSettings, fit: NvarFit, { rows, cols, values, known }: NvarSeries, work: WorkOptions) {
  const { features, scale, knownScale: scaleOfKnown, history } = fit;
  const isExact = settings.arithmetic === "doubleDouble";
  const all = numbers((features.history + rows) * cols, isExact);
  const scaled = scaledNumbers(scale, values);
  for (const part of ["high", "low"] as const) {
    all[part]?.set(history[part]!);
    all[part]?.set(scaled[part]!, features.history * cols);
  }
  const ahead = known && scaledNumbers(scaleOfKnown!, known);
  const first = features.history - (ahead ? 1 : 0);
  const step = new NvarStep(settings, fit);
  const predicted = Matrix.zeros(rows, cols);
  const next = numbers(cols, isExact);
  const pacer = new WorkPacer(work, rows);
  for (let t = 0; t < rows; t++) {
    step.next(all, first + t, ahead && rowsBetween(ahead, features.known, t, t + 1), next);
    predicted.data.set(restoredNumbers(scale, next), t * cols);
    if (pacer.due()) await pacer.pause(t + 1);
  }
  pacer.finish();
  return { predicted, history: copyRows(all, features, features.history + rows) };
}
