// Members of a combination that have forecast from earlier rows, and what these forecasts are
// compared with.
import { resolve } from "@spillway/core/options.js";
import { Matrix, portableExp, portableLog } from "@spillway/numerics";
import { IllConditionedError, SingularFitError } from "../../readout/errors.js";
import type { AnyReservoirComputer, WorkOptions } from "../../reservoir/index.js";
import { type EarlierOrigins, leastWithNeighbours, meanSize } from "../../series/combination.js";
import { fitNvarMembers } from "../nvar/member.js";
import { type NvarSettings, nvarTable } from "../nvar/options.js";
import { leastSquaresHere } from "../nvar/training.js";
import { fitStandardisation } from "../standardisation.js";
import type { Bound, Bounds } from "./bounds.js";
import type { WeightedMember } from "./choice.js";
import { ClassicalMember, type ClassicalMemberMethod } from "./classical.js";
import type { CombinedMember } from "./combined-file.js";
import type { CheckedSeries } from "./data.js";
import { chooseDefaults } from "./lambda-choice.js";
import type { Trained } from "./model.js";
import { PooledMember } from "./pooled.js";
import { forecastAll, type ValidationParts } from "./validation.js";

/** The seasonal naive forecast takes part if so many horizons validate. */
export const fewestHorizons = 3;

/** NVAR takes part with at most so many features, and so many rows for each before the first origin. */
const mostNvarFeatures = 300;
const rowsOfNvarFeature = 10;
/** Its error is at most this share of the least of the others. */
const mostOfLeast = 0.8;

/** What forecasts are compared with. */
export interface Validation extends EarlierOrigins {
  readonly data: CheckedSeries;
  /** 1 where a value was filled and not measured. */
  readonly filled: Matrix | undefined;
  readonly horizon: number;
  readonly season: number;
  readonly parts: ValidationParts;
  /** Origins * horizon x D: what came; NaN where nothing was measured. */
  readonly targets: Matrix<Float64Array>;
  readonly bounds: readonly Bound[];
  /** Columns that are known beforehand. */
  readonly known: number;
}

/** A member that has forecast from the origins. */
export interface Tried extends Pick<WeightedMember, "name" | "scores"> {
  /** Origins * horizon x D. */
  readonly forecasts: Matrix<Float64Array>;
  /** Trains it on all rows. */
  train(work: WorkOptions): Promise<Pick<Trained<CombinedMember>, "members" | "groups">>;
  /** Gives back what it holds beside what `train` gave. Idempotent. */
  dispose(): Promise<void>;
}

export const holdsNothing = (): Promise<void> => Promise.resolve();

/** The pooled member of one series, whose readout is trained already. */
export function triedPooled(
  computer: AnyReservoirComputer,
  parts: Pick<PooledMember["parts"], "shape" | "season" | "readout">,
  forecasts: Matrix<Float64Array>,
  { data, known, bounds }: Validation,
): Tried {
  return {
    name: "pooled",
    forecasts,
    async train() {
      const member = new PooledMember(computer, { ...parts, columns: data.series.cols, known, bounds });
      member.start({ series: data.held ?? data.series });
      return { members: [member], groups: [0] };
    },
    dispose: holdsNothing,
  };
}

export async function tryClassical(name: ClassicalMemberMethod, validation: Validation): Promise<Tried | undefined> {
  const { data, filled, origins, horizon, horizons, season, bounds, known } = validation;
  const { series } = data;
  if (name === "seasonalNaive" && (season < 2 || horizons < fewestHorizons)) return undefined;
  const member = new ClassicalMember({ method: name, season, columns: series.cols, known, bounds });
  const forecasts = Matrix.zeros(origins.length * horizon, series.cols);
  for (const [k, origin] of origins.entries()) {
    member.fit(series.subarray(0, origin), filled?.subarray(0, origin));
    forecasts.data.set((await member.forecast(horizon)).data, k * horizon * series.cols);
  }
  return {
    name,
    forecasts,
    async train() {
      member.fit(series, filled);
      return { members: [member], groups: [0] };
    },
    dispose: holdsNothing,
  };
}

/**
 * Polynomials of two delays, of several columns without noise. They take part if their error is
 * clearly less than that of every other member: noise enters every monomial. Undefined if not.
 * @param others members that have forecast from the same origins
 */
export async function tryNvar(
  validation: Validation,
  others: readonly Pick<Tried, "forecasts">[],
  limits: Bounds | undefined,
  signal: AbortSignal | undefined,
): Promise<Tried | undefined> {
  const { data, filled, origins, horizon, known, parts, targets } = validation;
  const settings: NvarSettings = resolve(nvarTable, { bounds: limits });
  const linear = settings.delays * data.series.cols;
  const features = linear + (linear * (linear + 1)) / 2;
  if (data.series.cols < 2 || known > 0 || filled?.data.includes(1)) return undefined;
  if (features > mostNvarFeatures || origins[0]! < rowsOfNvarFeature * features) return undefined;
  const trained = (rows: CheckedSeries, lambdas: readonly number[], work: WorkOptions) =>
    fitNvarMembers(settings, [{ series: rows.series }], [undefined], lambdas, leastSquaresHere, work);
  const { lambdas } = chooseDefaults;
  const [training] = parts.training as readonly [CheckedSeries];
  try {
    const made = await forecastAll([data], parts, await trained(training, lambdas, { signal }), { horizon }, signal);
    const { index, errors, scores, scale } = bestOf(made, lambdas, validation);
    const least = Math.min(...others.map(({ forecasts }) => rootMeanSquare(targets, forecasts, scale)));
    if (index < 0 || !(errors[index]! <= mostOfLeast * least)) return undefined;
    return {
      name: "nvar",
      forecasts: made[index] as Matrix<Float64Array>,
      scores,
      train: async (work) => ({ members: await trained(data, [lambdas[index]!], work), groups: [0] }),
      dispose: holdsNothing,
    };
  } catch (error) {
    if (error instanceof IllConditionedError || error instanceof SingularFitError) return undefined;
    throw error;
  }
}

/**
 * Which of the forecasts with several penalties is best, as `leastWithNeighbours` says; -1 if none
 * is. Errors are over the deviations of the training rows (`scale`), NaN of a forecast that failed.
 */
export function bestOf(
  made: readonly (Matrix<Float64Array> | Error)[],
  lambdas: readonly number[],
  { parts, targets }: Pick<Validation, "parts" | "targets">,
) {
  const scale = fitStandardisation([parts.training[0]!.series]).deviation;
  const errors = made.map((one) => (one instanceof Matrix ? rootMeanSquare(targets, one, scale) : Number.NaN));
  const { index, error: score } = leastWithNeighbours(errors);
  const scores = lambdas.flatMap((lambda, l) => (Number.isFinite(errors[l]!) ? [{ lambda, error: errors[l]! }] : []));
  return { index, score, errors, scores, scale };
}

/** The mean absolute error of each column; NaN if nothing of it was measured. */
export function columnSizes(targets: Matrix<Float64Array>, made: Matrix<Float64Array>): number[] {
  return Array.from({ length: targets.cols }, (_, c) => {
    const said = made.column(c);
    return meanSize([Float64Array.from(targets.column(c), (value, t) => value - said[t]!)]);
  });
}

/** Of errors over the deviation of each column. */
export function rootMeanSquare(targets: Matrix<Float64Array>, made: Matrix<Float64Array>, scale: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (const [i, value] of targets.data.entries()) {
    if (Number.isNaN(value)) continue;
    const error = (value - made.data[i]!) / scale[i % targets.cols]!;
    sum += error * error;
    count++;
  }
  return count > 0 ? Math.sqrt(sum / count) : 0;
}

/** An origin's error below this share of that of all origins counts as much. */
const leastShare = 0.01;

/**
 * The geometric mean over origins of `rootMeanSquare`: one origin from which every forecast fails
 * does not hide which are better from the others.
 */
export function typicalError(targets: Matrix<Float64Array>, made: Matrix<Float64Array>, scale: Float64Array, horizon: number): number {
  const least = Math.max(1e-300, leastShare * rootMeanSquare(targets, made, scale));
  let sum = 0;
  for (let row = 0; row < targets.rows; row += horizon) {
    const error = rootMeanSquare(targets.subarray(row, row + horizon), made.subarray(row, row + horizon), scale);
    sum += portableLog(Math.max(error, least));
  }
  return portableExp((sum * horizon) / targets.rows);
}
