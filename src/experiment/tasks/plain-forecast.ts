// A forecast task that leaves nothing open: one reservoir, no lags, no calendar, one series. It is
// the same work for many reservoirs, so that a device can do it for all of them at once.

import type { Matrix, Seed } from "@spillway/numerics";
import type { CandidateSeries } from "../../model/sweep/asks.js";
import type { SeriesData } from "../data/experiment-data.js";
import { asKnown, measuredRows, ownTransforms, prepareSeries } from "../data/prepare.js";
import type { Experiment, ForecastTask } from "../description/description.js";
import type { Scores } from "../runs/result.js";
import { scoredForecasts, seasonOf } from "./forecast-baselines.js";
import { checkTraining, planForecast } from "./forecast-choice.js";
import { measuredStarts, referenceOf, startPoints } from "./forecast-starts.js";
import { scoreSeries } from "./scores.js";

export type ForecastExperiment = Experiment & { readonly task: ForecastTask };

/** What is forecast, from where, and how it is scored. */
export interface PlainForecast extends Pick<CandidateSeries, "series" | "transforms" | "trainRows" | "starts" | "warmup" | "horizon"> {
  score(forecasts: readonly Matrix[], experiment: Experiment): Scores;
}

/** Undefined if the task chooses, or sees more than the series. @throws as `runForecast` */
export function plainForecast(experiment: ForecastExperiment, data: SeriesData, seed: Seed): PlainForecast | undefined {
  const { task, washout } = experiment;
  const calendar = "calendar" in experiment.data ? (experiment.data.calendar ?? []) : [];
  const isMasked = "missing" in experiment.data && experiment.data.missing === "mask";
  if (isMasked || data.more || data.known || data.test || calendar.length > 0 || task.independent || (task.members ?? 1) !== 1)
    return undefined;
  const prepared = prepareSeries(experiment, data);
  checkTraining(task, [prepared]);
  const plan = planForecast(experiment, [prepared], data.axis?.grid.step);
  if (plan.isChosen || plan.longestLags > 0) return undefined;
  const { whole, trainRows } = prepared;
  const { horizon, warmup } = task;
  const points = measuredStarts(startPoints(experiment, [prepared], { seed }), horizon);
  const starts = points.map(({ at }) => at);
  // A sweep knows one series for all of its starts.
  if (starts.some((at) => asKnown(whole.measured, prepared.facts.filled, whole.lost + at) !== whole.measured)) return undefined;
  if (warmup < 1 || starts.some((start, k) => k > 0 && start <= starts[k - 1]!)) return undefined;
  const reference = referenceOf([prepared], washout);
  const known = scoredForecasts(points, horizon, seasonOf(points, data.axis?.grid.step));
  return {
    ...{ series: whole.measured, transforms: ownTransforms(experiment), trainRows, starts, warmup, horizon },
    score: (forecasts, { metrics, scoring }) => {
      const outcomes = forecasts.map((prediction, k) => ({ prediction, target: measuredRows(whole, prepared.facts, starts[k]!, horizon) }));
      const { dt = data.dt, lyapunovExponent = data.lyapunovExponent } = scoring;
      return scoreSeries(outcomes, metrics, { scoring, reference, dt, lyapunovExponent, forecasts: known });
    },
  };
}
