// The bands and quantiles of a task's forecasts, from errors of forecasts of the training rows.
import type { Matrix } from "@spillway/numerics";
import { bandsAround, boundedBands, type MeasuredErrors } from "../../model/forecaster/bands.js";
import { boundsOf } from "../../model/forecaster/bounds.js";
import type { ForecastBand } from "../../model/index.js";
import type { TransformedSeries } from "../../series/index.js";
import { asKnownAt, type PreparedSeries } from "../data/prepare.js";
import { type AdaptedBands, adaptedBands } from "./adaptive-bands.js";
import { calibrate, canGive } from "./bands.js";
import type { StartPoint } from "./forecast-baselines.js";
import { closedLoop, type ForecastExperiment, type ModelPlan, type RunModel } from "./forecast-model.js";
import type { Outcome } from "./scores.js";

/** A forecast, and where it starts: at a start of the test part, by its number, or at the end of a series. */
export interface ForecastFrom {
  readonly prediction: Matrix;
  readonly group?: string | undefined;
  readonly from: number | TransformedSeries;
}

/** What was forecast, and from where. */
export interface TestedForecasts {
  readonly prepared: readonly PreparedSeries[];
  readonly starts: readonly StartPoint[];
  readonly outcomes: readonly Outcome[];
}

/** What forecasts may be off by. */
export interface Spread {
  /** Of one of several series, if the model measured each. */
  measuredOf(group?: string): MeasuredErrors;
  band(forecast: ForecastFrom, share: number): ForecastBand;
  /** NaN if the errors are of too few starts. */
  quantile(forecast: ForecastFrom, level: number): Matrix;
}

/**
 * The bands and quantiles of forecasts, from the errors that the settings were chosen by; if none
 * were chosen, from those of the longest training part. Undefined if it is too short. Adaptive ones
 * also know what forecasts from earlier starts missed.
 */
export async function spreadOf(
  { task, washout }: ForecastExperiment,
  { prepared, starts, outcomes }: TestedForecasts,
  model: RunModel,
  plan: ModelPlan,
): Promise<Spread | undefined> {
  const { horizon, adaptive } = task;
  const longest = prepared.toSorted((a, b) => b.trainRows - a.trainRows)[0]!;
  const least = Math.max(washout + 2, plan.warmup);
  const measured =
    model.measuredOf() ??
    (await calibrate(longest, { horizon, least }, async (fitted) => {
      const earlier = await plan.fit([{ ...asKnownAt({ ...longest, at: fitted }), trainRows: fitted }], {});
      return { forecast: (at) => closedLoop(earlier, horizon, { ...longest, at }), dispose: () => earlier.dispose() };
    }));
  if (!measured) return undefined;
  const training = prepared.map(({ whole, trainRows }) => whole.original.subarray(0, trainRows));
  const bounds = boundsOf(undefined, training);
  const measuredOf = (group: string | undefined) => model.measuredOf(group) ?? measured;
  const adapted = new Map<number, AdaptedBands>();
  const adaptedBand = ({ prediction, group, from }: ForecastFrom, share: number) => {
    const bands = adapted.get(share) ?? adaptedBands(starts, outcomes, measuredOf, [longest.fitted], share);
    adapted.set(share, bands);
    return { level: share, ...(typeof from === "number" ? bands.tested[from]! : bands.atEnd({ whole: from, group }, prediction)) };
  };
  const splitBand = ({ prediction, group }: ForecastFrom, share: number) =>
    bandsAround(prediction as Matrix<Float64Array>, measuredOf(group), [longest.fitted], [share])[0]!;
  const band = (forecast: ForecastFrom, share: number) => boundedBands([(adaptive ? adaptedBand : splitBand)(forecast, share)], bounds)[0]!;
  return {
    measuredOf,
    band,
    quantile(forecast, level) {
      const { prediction, group } = forecast;
      const share = Math.abs(2 * level - 1);
      if (share === 0) return prediction;
      if (canGive(measuredOf(group), share)) return band(forecast, share)[level < 0.5 ? "lower" : "upper"];
      return prediction.map(() => Number.NaN);
    },
  };
}
