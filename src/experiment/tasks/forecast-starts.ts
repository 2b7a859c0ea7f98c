// Where the forecasts of a task start, and the rows that train before them.

import { Matrix, stackRows } from "@spillway/numerics";
import { transformSeries } from "../../series/index.js";
import { generateIndependent } from "../data/data.js";
import { forecastStarts, measuredRows, mostStarts, type PreparedSeries } from "../data/prepare.js";
import type { Experiment, ForecastTask, GeneratedData } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import type { StartPoint, TrainingParts } from "./forecast-baselines.js";
import type { TrialOptions } from "./trial.js";

/** The rows that train the readout, in the units of the data. */
export function referenceOf(trained: readonly PreparedSeries[], washout: number): Matrix<Float64Array> {
  const parts = trained.map(({ whole, trainRows }) => whole.original.subarray(washout, trainRows));
  return parts.length === 1 ? parts[0]! : (stackRows(parts) as Matrix<Float64Array>);
}

/** Starts of whose rows a value at least was measured. @throws ExperimentError if there is none */
export function measuredStarts(starts: readonly StartPoint[], horizon: number): readonly StartPoint[] {
  if (starts.length === 0) return starts;
  const measured = starts.filter(({ whole, facts, at }) => !measuredRows(whole, facts, at, horizon).data.every(Number.isNaN));
  if (measured.length > 0) return measured;
  throw new ExperimentError(
    `the test part has no measured value: all that its ${starts.length} forecasts are held against were missing; take other rows to test (split.test)`,
  );
}

/** Where the forecasts of a task start. */
export function startPoints(
  experiment: Experiment & { readonly task: ForecastTask },
  prepared: readonly PreparedSeries[],
  { seed }: Pick<TrialOptions, "seed">,
): StartPoint[] {
  const { task, data, washout } = experiment;
  const { horizon, starts, warmup } = task;
  const trainsWith = (group: string | undefined): TrainingParts => {
    const all = prepared.filter(({ trainRows }) => trainRows > washout + 1);
    const own = all.filter((each) => each.group === group);
    const parts = own.length > 0 ? own : all;
    const longest = parts.toSorted((a, b) => b.trainRows - a.trainRows)[0];
    return {
      reference: referenceOf(parts, washout),
      measured: longest ? measuredRows(longest.whole, longest.facts, 0, longest.trainRows) : Matrix.zeros(0, 0),
      original: parts.map(({ whole, trainRows }) => whole.original.subarray(0, trainRows)),
      series: parts.map(({ whole, trainRows }) => whole.series.subarray(0, trainRows)),
      facts: parts.map(({ facts }) => facts),
    };
  };
  const parts = new Map([...new Set(prepared.map(({ group }) => group))].map((group) => [group, trainsWith(group)]));
  if (!task.independent)
    return forecastStarts(task, prepared, experiment.split).map(({ series, at }) => ({
      whole: series.test.whole,
      facts: series.test.facts,
      at,
      times: series.test.isSeparate ? undefined : series.times,
      training: parts.get(series.group)!,
      group: series.group,
    }));
  const generated = data as GeneratedData;
  const base = generated.redraw ? seed : (generated.options["seed"] ?? "spillway");
  const [{ fitted }] = prepared as [PreparedSeries];
  const training = parts.get(undefined)!;
  return Array.from({ length: starts === "auto" ? mostStarts : starts }, (_, k) => {
    const series = generateIndependent(generated, fitted.lost + warmup + horizon, `${String(base)}/start ${k}`);
    return { whole: transformSeries(series, fitted), facts: {}, at: warmup, training };
  });
}
