// A search by closed loops: many reservoirs over some series, each with a ridge readout, that
// forecast from several rows of each series and are scored. If an engine can, all of it happens on
// the device.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import type { ForecastSeries } from "../../reservoir/engine.js";
import { anySeries, series as checkedSeries } from "../../reservoir/inputs.js";
import type { Profile } from "../../reservoir/profile.js";
import { type ForecastLoss, type LossContext, losses } from "../forecaster/loss.js";
import { rangeOf } from "../forecaster/preprocessing.js";
import { fitStandardisation } from "../standardisation.js";
import { SweepMembers, type SweptReservoir } from "./members.js";
import type { ForecastScore, ForecastSweepOptions } from "./options.js";

export type { ForecastScore, ForecastSweepOptions } from "./options.js";

/** What a sweep of forecasts found. */
export interface ForecastSweepResult {
  /**
   * Of each series seeds x settings, smaller is better. NaN if a state or an output is not finite
   * or lambda is too small for the factorisation.
   */
  readonly scores: readonly Matrix<Float64Array>[];
  /** The engine, and why it was chosen. */
  readonly engine: { readonly name: string; readonly reason: string };
  /** What drawing and the members cost, with `profile: true`. */
  readonly profile?: Profile | undefined;
  /** The member of a seed and a setting, by their indices, with its score on a series (0). */
  member(seed: number, setting: number, series?: number): SweptReservoir;
  /** The `count` (1) best of a series (0), best first; fewer if fewer have a score. */
  best(count?: number, series?: number): SweptReservoir[];
}

/**
 * Trains a reservoir for each seed and setting to make the next row of a series of the one before,
 * lets it go on by itself from each of `starts` for `horizon` steps, and scores that; all of it for
 * each series. Settings that differ in lambda alone share their states and sums. Weights are drawn
 * once a seed. Scores have the same bits on every engine, if the loss is one of the names.
 *
 * @example
 * const { best } = await sweepForecasts({
 *   reservoir: { size: 200 }, seeds: [1, 2, 3], settings: [1e-6, 1e-3, 1].map((lambda) => ({ lambda })),
 *   series: [series], washout: 50, starts: [-90, -60, -30], horizon: 30, refit: true,
 * });
 * const [{ config, lambda, score }] = best();
 * @throws ArgumentError naming what is wrong; SpillwayError of code "numeric" if every score is NaN
 */
export async function sweepForecasts(given: ForecastSweepOptions): Promise<ForecastSweepResult> {
  const { forecastSweepTable } = await import("./options.js");
  const options = resolve(forecastSweepTable, given);
  const { washout, horizon, refit, intercept: constant } = options;
  const all = await SweepMembers.of({ ...options, settings: given.settings });
  const { template, features, settings } = all;
  const scored = options.series.map((each, s) => {
    const name = `series[${s}]`;
    const targets = anySeries(each, name, "float64") as Matrix<Float64Array>;
    return prepare(checkedSeries(each, name, template.inputSize, "inputSize", template.precision), targets, name, options);
  });
  all.checkDetermined(Math.min(...scored.map(({ starts }) => starts[0]! - 1 - washout)));
  const scores = scored.map(() => Matrix.zeros(all.seeds.length, settings.length));
  const made = await all.evaluate({
    ...{ kind: "forecasts", washout, features, constant, series: scored, horizon, refit },
    take({ candidate }, forecasts, s) {
      scores[s]!.data[candidate] = scored[s]!.score(forecasts, s);
    },
  });
  if (scores.every(({ data }) => data.every(Number.isNaN)))
    throw new SpillwayError(
      "numeric",
      "no member has a score: a state or an output of each is not finite, or its lambda is too small for the factorisation",
    );
  const scoresOf = (s: number): Matrix<Float64Array> => {
    if (!(s in scores)) throw ArgumentError.because(`there is no series ${s}; there are ${scores.length}`);
    return scores[s]!;
  };
  const member = (s: number, i: number, of = 0): SweptReservoir => all.member(s, i, scoresOf(of));
  return {
    ...{ scores, member, engine: { name: made.engine.name, reason: made.reason } },
    best: (count = 1, of = 0) => {
      const { data } = scoresOf(of);
      const indices = Array.from(data.keys()).filter((index) => !Number.isNaN(data[index]!));
      indices.sort((a, b) => data[a]! - data[b]! || a - b);
      return indices.slice(0, count).map((index) => member(Math.floor(index / settings.length), index % settings.length, of));
    },
    ...(made.profile ? { profile: made.profile } : {}),
  };
}

/** A series with how its forecasts are scored. */
interface Scored extends ForecastSeries {
  score(forecasts: Float64Array, series: number): number;
}

function prepare(
  rows: Matrix,
  targets: Matrix<Float64Array>,
  name: string,
  given: { starts: readonly number[]; horizon: number; washout: number; refit: boolean; hold: boolean; loss: ForecastLoss | ForecastScore },
): Scored {
  const { horizon, washout, refit, hold, loss } = given;
  const starts = [...new Set(given.starts.map((start) => (start < 0 ? rows.rows + start : start)))].sort((a, b) => a - b);
  const late = starts.find((start) => start + horizon > rows.rows);
  if (late !== undefined)
    throw ArgumentError.shape(`a start is row ${late} and horizon is ${horizon}; ${name} has ${rows.rows} rows`, { field: "starts" });
  if (starts[0]! < washout + 2)
    throw ArgumentError.shape(
      `the first start is row ${starts[0]} of ${name} and washout is ${washout}; it takes ${washout + 2} or more, so that a row trains`,
      { field: "starts", value: starts[0] },
    );
  const known = starts.map((start) => targets.subarray(0, refit ? start : starts[0]!));
  const ranges = known.map((part) => (hold ? rangeOf([part]) : undefined));
  const ends = (of: "lower" | "upper", free: number) =>
    new Matrix(
      starts.length,
      rows.cols,
      Float64Array.from(ranges.flatMap((range) => Array.from(range?.[of] ?? new Float64Array(rows.cols).fill(free)))),
    );
  const came = Matrix.zeros(starts.length * horizon, rows.cols);
  for (const [k, start] of starts.entries()) came.data.set(targets.subarray(start, start + horizon).data, k * horizon * rows.cols);
  return {
    ...{ rows, targets, starts, lower: ends("lower", Number.NEGATIVE_INFINITY), upper: ends("upper", Number.POSITIVE_INFINITY) },
    score: scoring(loss, came, contextOf(known[0]!, horizon)),
  };
}

function contextOf(part: Matrix<Float64Array>, horizon: number): LossContext {
  const { deviation } = fitStandardisation([part]);
  const changing = Array.from({ length: part.cols }, (_, c) => part.data.some((value, i) => i % part.cols === c && value !== part.data[c]));
  return { deviation, changing, horizon };
}

function scoring(loss: ForecastLoss | ForecastScore, targets: Matrix<Float64Array>, context: LossContext): Scored["score"] {
  return (values, series) => {
    for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) return Number.NaN;
    const forecasts = new Matrix(targets.rows, targets.cols, values);
    if (typeof loss === "function") return loss(forecasts, targets, series);
    return losses[loss].score(losses[loss].costs(forecasts, targets, context));
  };
}
