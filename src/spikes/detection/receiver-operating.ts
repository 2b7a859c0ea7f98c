// How well scores tell two kinds of pattern apart, over all thresholds. It knows nothing of what
// the scores are.
import { ArgumentError } from "@spillway/core/errors.js";

/** One threshold: a score of at least it counts as detected. */
export interface OperatingPoint {
  readonly threshold: number;
  /** The share of positives that is detected. */
  readonly hitRate: number;
  /** The share of negatives that is detected. */
  readonly falseAlarmRate: number;
}

/** True against false positives over all thresholds. */
export interface ReceiverOperatingCurve {
  /**
   * From (0, 0), threshold Infinity, to (1, 1), by falling threshold: one point a score that
   * occurs.
   */
  readonly points: readonly OperatingPoint[];
  /** The probability that a positive scores higher than a negative, ties counting half. */
  readonly areaUnderCurve: number;
}

/**
 * The receiver-operating curve of scores of patterns that are of a kind (positives) and that are
 * not (negatives). Source: Fawcett 2006, "An introduction to ROC analysis", algorithms 1 and 2.
 * @throws ArgumentError if there are none of either, or a score is not a number.
 */
export function receiverOperatingCurve(positives: ArrayLike<number>, negatives: ArrayLike<number>): ReceiverOperatingCurve {
  const all = [...scored("positives", positives, true), ...scored("negatives", negatives, false)].sort((a, b) => b.score - a.score);
  const points: OperatingPoint[] = [{ threshold: Infinity, hitRate: 0, falseAlarmRate: 0 }];
  let hits = 0;
  let alarms = 0;
  let areaUnderCurve = 0;
  for (let i = 0; i < all.length; ) {
    const threshold = all[i]!.score;
    const before = points.at(-1)!;
    for (; i < all.length && all[i]!.score === threshold; i++) {
      if (all[i]!.positive) hits++;
      else alarms++;
    }
    const point = { threshold, hitRate: hits / positives.length, falseAlarmRate: alarms / negatives.length };
    areaUnderCurve += ((point.falseAlarmRate - before.falseAlarmRate) * (point.hitRate + before.hitRate)) / 2;
    points.push(point);
  }
  return { points, areaUnderCurve };
}

function scored(name: string, scores: ArrayLike<number>, positive: boolean): { score: number; positive: boolean }[] {
  if (typeof scores !== "object" || scores === null) throw new ArgumentError(name, scores, "a list of scores");
  if (scores.length === 0) throw new ArgumentError(`the number of ${name}`, 0, "at least 1", { code: "shape" });
  return Array.from(scores, (score, i) => {
    if (typeof score !== "number" || Number.isNaN(score)) throw new ArgumentError(`score ${i} of ${name}`, score, "a number");
    return { score, positive };
  });
}
