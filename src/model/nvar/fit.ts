// How an NvarForecaster is trained: lambda by forecasts if there is a horizon, and then the weights
// on all rows. And its closed loop, by which both are judged.
import { Matrix } from "../../numerics/index.js";
import type { WorkOptions } from "../../reservoir/index.js";
import { WorkPacer } from "../../reservoir/work.js";
import type { ForecasterChoice } from "../forecaster/choice.js";
import { half } from "../forecaster/fit.js";
import { chooseLambda } from "../forecaster/lambda-choice.js";
import { chooseDefaults } from "../forecaster/plan.js";
import { type Numbers, NvarFeatures, numbers } from "./features.js";
import type { NvarSeries, NvarSettings } from "./options.js";
import { copyRows, heldRange, hold, NvarStep, nvarScale, restoredNumbers, scaledNumbers } from "./step.js";
import { type NvarFit, trainNvar } from "./training.js";

/** A trained model, and how its lambda was chosen. */
export interface FittedNvar {
  readonly fit: NvarFit;
  /** Undefined without a horizon. */
  readonly choice: ForecasterChoice | undefined;
}

/** @throws ArgumentError, SingularFitError, WorkInterruptedError */
export async function fitNvar(settings: NvarSettings, series: readonly NvarSeries[], work: WorkOptions): Promise<FittedNvar> {
  const { horizon, choose, lambda } = settings;
  if (horizon === undefined) {
    const [fit] = await fitsOf(settings, series, [lambda], work);
    return { fit: fit!, choice: undefined };
  }
  const lambdas = choose?.lambdas ?? chooseDefaults.lambdas;
  const { history } = new NvarFeatures(settings, series[0]!.cols);
  const choice = await chooseLambda(
    series.map(({ rows, cols, values }) => ({ series: new Matrix(rows, cols, values.high) })),
    { horizon, lambdas, choose, washout: history, masks: [] },
    async ({ training, starts }, signal) => {
      const parts = series.map((one, s) => firstRows(one, training[s]!.series.rows));
      const forecasts: Matrix<Float64Array>[] = [];
      for (const fit of await fitsOf(settings, parts, lambdas, { signal })) {
        const out = Matrix.zeros(starts.length * horizon, series[0]!.cols);
        for (const [k, { sequence, row }] of starts.entries()) {
          const from = scaledNumbers(fit.scale, copyRows(series[sequence]!.values, fit.features, row));
          out.data.set((await nvarLoop(settings, fit, from, horizon, { signal })).data, k * horizon * out.cols);
        }
        forecasts.push(out);
      }
      return forecasts.map((one) => (one.data.every(Number.isFinite) ? one : new Error("its forecasts leave the finite numbers")));
    },
    half(work, 0),
  );
  const [fit] = await fitsOf(settings, series, [choice.kept[0]!.lambda], half(work, 1));
  return { fit: fit!, choice };
}

/** Models of some lambdas, which stand at the end of the last series. */
async function fitsOf(
  settings: NvarSettings,
  series: readonly NvarSeries[],
  lambdas: readonly number[],
  work: WorkOptions,
): Promise<readonly NvarFit[]> {
  const features = new NvarFeatures(settings, series[0]!.cols);
  const scale = nvarScale(series, settings);
  const scaled = series.map((one) => ({ ...one, values: scaledNumbers(scale, one.values) }));
  const found = await trainNvar(settings, features, scaled, lambdas, work);
  const last = scaled.at(-1)!;
  const range = heldRange(scaled, settings);
  return found.map((weights) => ({ ...weights, features, scale, range, history: copyRows(last.values, features, last.rows) }));
}

function firstRows({ cols, values: { high, low } }: NvarSeries, rows: number): NvarSeries {
  return { rows, cols, values: { high: high.subarray(0, rows * cols), ...(low && { low: low.subarray(0, rows * cols) }) } };
}

/** Closed loop from the last rows of a series, in z-scores: steps x D in the units of the data. */
export async function nvarLoop(
  settings: NvarSettings,
  fit: NvarFit,
  from: Numbers,
  steps: number,
  work: WorkOptions,
): Promise<Matrix<Float64Array>> {
  const { features, scale, range } = fit;
  const step = new NvarStep(settings, fit);
  const window = copyRows(from, features, features.history);
  const cols = features.columns;
  const out = Matrix.zeros(steps, cols);
  const next = numbers(cols, settings.arithmetic === "doubleDouble");
  const pacer = new WorkPacer(work, steps);
  for (let t = 0; t < steps; t++) {
    step.next(window, features.history - 1, next);
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
