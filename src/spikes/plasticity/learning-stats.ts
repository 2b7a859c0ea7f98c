// What can be said of learning from the weights and the activity as they are: every figure is
// computed from the samples.
import { checkHas } from "@spillway/core/checks.js";
import { portableLog } from "@spillway/numerics";
import type { PlasticityProfile } from "./profiles.js";

/** The figures of {@link learningStats}. */
export interface LearningStats {
  /** Mean, population variance, largest and smallest of |w|; NaN if there is no synapse. */
  readonly mean: number;
  readonly variance: number;
  readonly maximum: number;
  readonly minimum: number;
  /** Percent of weights with |w| >= 0.95 maxWeight or |w| <= 1.05 minWeight. */
  readonly saturationPercent: number;
  /** Changes of single weights so far. */
  readonly updates: number;
  readonly learningRate: number;
  /** Mean of the last 1000 recorded activities; 0 before the first. */
  readonly meanActivity: number;
  /**
   * Shannon entropy of |w| over 20 bins of [minWeight, maxWeight], in bits: 0 if all are
   * in one, log2(20) = 4.32 at most.
   */
  readonly entropyBits: number;
  /**
   * 1, less 0.006 for each percent of saturated weights (0.3 from half of them on), 0.2 if the
   * entropy is below 0.5 bits, 0.2 if the mean is outside [0.5, 4]; at least 0.
   */
  readonly healthScore: number;
  /** Whether the variance of |w| is below `variance`. */
  isConverged(variance: number): boolean;
  /** Whether saturationPercent is above `percent`. */
  isSaturated(percent: number): boolean;
}

/** Activities that the mean and the test of convergence look back on. */
export const remembered = 1000;

/**
 * The figures of some weight sizes |w|, learnt under `profile`, and of the activities recorded on
 * the way.
 */
export function learningStats(
  sizes: ArrayLike<number>,
  profile: PlasticityProfile,
  updates: number,
  activities: readonly number[],
): LearningStats {
  checkHas("profile", profile, "a profile", "maxWeight");
  const { maxWeight, minWeight, learningRate } = profile;
  let sum = 0;
  let maximum = -Infinity;
  let minimum = Infinity;
  let saturated = 0;
  const bins = new Float64Array(20);
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i]!;
    sum += size;
    if (size > maximum) maximum = size;
    if (size < minimum) minimum = size;
    if (size >= 0.95 * maxWeight || size <= 1.05 * minWeight) saturated++;
    const share = (size - minWeight) / (maxWeight - minWeight);
    const bin = Math.min(19, Math.max(0, Math.floor(share * 20) || 0));
    bins[bin] = bins[bin]! + 1;
  }
  const count = sizes.length;
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += (sizes[i]! - mean) * (sizes[i]! - mean);
  const variance = squares / count;
  const saturationPercent = count === 0 ? 0 : (100 * saturated) / count;
  const entropyBits = entropy(bins, count);
  return {
    mean,
    variance,
    maximum: count === 0 ? Number.NaN : maximum,
    minimum: count === 0 ? Number.NaN : minimum,
    saturationPercent,
    updates,
    learningRate,
    meanActivity: meanOf(activities.slice(-remembered)),
    entropyBits,
    healthScore: health(saturationPercent, entropyBits, mean),
    isConverged: (threshold) => variance < threshold,
    isSaturated: (percent) => saturationPercent > percent,
  };
}

function entropy(bins: Float64Array, count: number): number {
  let bits = 0;
  for (const inBin of bins) if (inBin > 0) bits -= ((inBin / count) * portableLog(inBin / count)) / portableLog(2);
  return Math.max(0, bits);
}

function health(saturationPercent: number, entropyBits: number, mean: number): number {
  let score = 1 - Math.min(0.3, 0.006 * saturationPercent);
  if (entropyBits < 0.5) score -= 0.2;
  if (!(mean >= 0.5 && mean <= 4)) score -= 0.2;
  return Math.max(0, score);
}

/** 0 of none. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
