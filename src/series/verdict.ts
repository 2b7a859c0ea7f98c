// Whether one forecaster beats another on the same starts, and whether so many starts can show it.
import { RandomStream, seedKeys } from "@spillway/numerics";

/** Mean square errors of a forecaster, one a start; several seeds, one list each. */
export interface StartErrors {
  readonly name: string;
  readonly errors: readonly (readonly number[])[];
  /** Of how many measured values each start's error is; left out, of as many. */
  readonly counts?: readonly number[] | undefined;
}

/** How a model compares with the best of its baselines. */
export interface Verdict {
  /** The best baseline. */
  readonly against: string;
  /** Root mean square errors: over the starts, and the median or mean over the seeds. */
  readonly rmse: number;
  readonly baselineRmse: number;
  /** 1 - rmse / baselineRmse. */
  readonly skill: number;
  /** On how many of the starts the model's error is smaller. */
  readonly betterOn: number;
  /**
   * Whether it is on so few or so many of them that chance gives less than 5 % of the time
   * (McNemar's test with continuity correction; equal errors do not count).
   */
  readonly oneSided: boolean;
  readonly starts: number;
  /** 95 % interval of the mean difference of square errors, model less baseline. */
  readonly interval: readonly [number, number];
  /** Whether so many starts show a difference: the interval does not hold 0. */
  readonly differs: boolean;
  /** Every baseline, the best first. */
  readonly baselines: readonly { readonly name: string; readonly rmse: number }[];
}

const draws = 2000;
const level = 0.95;
/**
 * With fewer starts even a model that wins on each may have won by chance: 2 / 2^5 is above 5 %.
 */
const fewestStarts = 6;

/**
 * Compares a model with the baseline whose root mean square error is the smallest. The interval is
 * that of a bootstrap (Efron and Tibshirani 1993, chapter 13: percentiles): 2,000 draws of whole
 * starts with replacement, from a fixed seed. Undefined if no baseline has a finite error.
 * @param middle makes one figure of those of several seeds.
 */
export function compareStarts(
  model: StartErrors,
  baselines: readonly StartErrors[],
  middle: (values: readonly number[]) => number,
): Verdict | undefined {
  const ranked = baselines
    .map((each) => ({ each, name: each.name, rmse: middle(each.errors.map((squares) => Math.sqrt(weightedMean(squares, each.counts)))) }))
    .filter((one) => Number.isFinite(one.rmse))
    .toSorted((a, b) => a.rmse - b.rmse);
  const [best] = ranked;
  if (!best) return undefined;
  const rmse = worstIfNaN(middle(model.errors.map((squares) => Math.sqrt(weightedMean(squares, model.counts)))));
  const starts = model.errors[0]!.length;
  const ofStart = ({ errors }: StartErrors, k: number) => worstIfNaN(middle(errors.map((seed) => seed[k]!)));
  const differences = Array.from({ length: starts }, (_, k) => ofStart(model, k) - ofStart(best.each, k));
  const interval = bootstrap(differences, model.counts);
  const betterOn = differences.filter((difference) => difference < 0).length;
  const worseOn = differences.filter((difference) => difference > 0).length;
  return {
    against: best.name,
    rmse,
    baselineRmse: best.rmse,
    skill: best.rmse > 0 ? 1 - rmse / best.rmse : rmse > 0 ? Number.NEGATIVE_INFINITY : 0,
    betterOn,
    oneSided: starts >= fewestStarts && Math.abs(betterOn - worseOn) - 1 > 1.96 * Math.sqrt(betterOn + worseOn),
    starts,
    interval,
    differs: starts >= fewestStarts && (interval[0] > 0 || interval[1] < 0),
    baselines: ranked.map(({ name, rmse: value }) => ({ name, rmse: value })),
  };
}

/** A forecast that left for infinity. */
function worstIfNaN(value: number): number {
  return Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
}

function weightedMean(values: readonly number[], weights: readonly number[] | undefined): number {
  const all = weights?.reduce((sum, weight) => sum + weight, 0) ?? values.length;
  return values.reduce((sum, value, k) => sum + value * (weights?.[k] ?? 1), 0) / all;
}

function bootstrap(differences: readonly number[], counts: readonly number[] | undefined): [number, number] {
  const stream = new RandomStream(seedKeys("verdict").weights, 0);
  const n = differences.length;
  const means = Float64Array.from({ length: draws }, (_, draw) => {
    let sum = 0;
    let weights = 0;
    for (let k = 0; k < n; k++) {
      const start = stream.integer(draw, k, n);
      const weight = counts?.[start] ?? 1;
      sum += differences[start]! * weight;
      weights += weight;
    }
    return sum / weights;
  }).sort();
  const tail = ((1 - level) / 2) * draws;
  return [means[Math.floor(tail)]!, means[Math.ceil(draws - tail) - 1]!];
}
