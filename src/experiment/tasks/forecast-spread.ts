// The bands and quantiles of a task's forecasts, from errors of forecasts of the training rows.
import { Matrix } from "@spillway/numerics";
import { bandsAround, boundedBands, type MeasuredErrors } from "../../model/forecaster/bands.js";
import { boundsOf } from "../../model/forecaster/bounds.js";
import type { ForecastBand } from "../../model/index.js";
import { asKnownAt, type PreparedSeries } from "../data/prepare.js";
import { calibrate, canGive } from "./bands.js";
import { closedLoop, type ForecastExperiment, type ModelPlan, type RunModel } from "./forecast-model.js";

/** What forecasts may be off by. */
export interface Spread {
  /** Of one of several series, if the model measured each. */
  measuredOf(group?: string): MeasuredErrors;
  band(prediction: Matrix, share: number, group?: string): ForecastBand;
  /** NaN if the errors are of too few starts. */
  quantile(prediction: Matrix, level: number, group?: string): Matrix;
}

/**
 * The bands and quantiles of forecasts, from the errors that the settings were chosen by; if none
 * were chosen, from those of the longest training part. Undefined if it is too short.
 */
export async function spreadOf(
  experiment: ForecastExperiment,
  prepared: readonly PreparedSeries[],
  model: RunModel,
  plan: ModelPlan,
): Promise<Spread | undefined> {
  const { horizon } = experiment.task;
  const longest = prepared.toSorted((a, b) => b.trainRows - a.trainRows)[0]!;
  const least = Math.max(experiment.washout + 2, plan.warmup);
  const measured =
    model.measuredOf() ??
    (await calibrate(longest, { horizon, least }, async (fitted) => {
      const earlier = await plan.fit([{ ...asKnownAt({ ...longest, at: fitted }), trainRows: fitted }], {});
      return { forecast: (at) => closedLoop(earlier, horizon, { ...longest, at }), dispose: () => earlier.dispose() };
    }));
  if (!measured) return undefined;
  const bounds = boundsOf(
    undefined,
    prepared.map(({ whole, trainRows }) => whole.original.subarray(0, trainRows)),
  );
  const measuredOf = (group: string | undefined) => model.measuredOf(group) ?? measured;
  const band = (prediction: Matrix, share: number, group?: string) =>
    boundedBands(bandsAround(prediction as Matrix<Float64Array>, measuredOf(group), [longest.fitted], [share]), bounds)[0]!;
  return {
    measuredOf,
    band,
    quantile(prediction, level, group) {
      const share = Math.abs(2 * level - 1);
      if (share === 0) return prediction;
      if (canGive(measuredOf(group), share)) return band(prediction, share, group)[level < 0.5 ? "lower" : "upper"];
      return new Matrix(prediction.rows, prediction.cols, new Float64Array(prediction.data.length).fill(Number.NaN));
    },
  };
}
