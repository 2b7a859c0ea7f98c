// Scores of the Numenta Anomaly Benchmark (numenta/NAB: nab/sweeper.py, nab/runner.py), for alarms
// as they are and for thresholds of scores.
import { existsSync, readFileSync } from "node:fs";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";

export interface NabSeries {
  readonly name: string;
  readonly values: Float64Array;
  readonly times: readonly number[];
  readonly windows: readonly (readonly [number, number])[];
  /** Of each row: -2 is not counted, -1 is outside, else the number of its window. */
  readonly group: Int32Array;
  /** What an alarm in a row is worth, before weights. */
  readonly value: Float64Array;
}

/** Weights of a hit, a window without an alarm, and an alarm outside. */
export const profiles = { standard: [1, 1, 0.11], "low FP": [1, 1, 0.22], "low FN": [1, 2, 0.11] } as const;
export type Profile = keyof typeof profiles;

const sigmoid = (y: number) => (y > 3 ? -1 : 2 / (1 + Math.exp(5 * y)) - 1);

export function readNab(root: string): NabSeries[] {
  const labels = JSON.parse(readFileSync(`${root}/labels/combined_windows.json`, "utf8")) as Record<string, [string, string][]>;
  return Object.keys(labels)
    .sort()
    .filter((name) => existsSync(`${root}/data/${name}`))
    .map((name) => {
      const [, ...lines] = readFileSync(`${root}/data/${name}`, "utf8").trim().split(/\r?\n/);
      const rows = lines.map((line) => line.split(","));
      const at = new Map<string, number>();
      for (const [t, [stamp]] of rows.entries()) if (!at.has(stamp!)) at.set(stamp!, t);
      const windows = labels[name]!.map(([from, to]) => [at.get(from.slice(0, 19))!, at.get(to.slice(0, 19))!] as const).sort(
        ([a], [b]) => a - b,
      );
      const values = Float64Array.from(rows, ([, value]) => Number(value));
      return {
        name,
        values,
        times: rows.map(([stamp]) => Date.parse(`${stamp!.replace(" ", "T")}Z`)),
        windows,
        ...worth(rows.length, windows),
      };
    });
}

function worth(length: number, windows: NabSeries["windows"]) {
  const group = new Int32Array(length).fill(-1);
  const value = new Float64Array(length).fill(-1);
  windows.forEach(([from, to], k) => {
    const width = to - from + 1;
    const end = windows[k + 1]?.[0] ?? length;
    for (let t = from; t <= to; t++) value[t] = sigmoid(-(to - t + 1) / width) / sigmoid(-1);
    group.fill(k, from, to + 1);
    for (let t = to + 1; t < end; t++) value[t] = sigmoid((t - to) / (width - 1));
  });
  group.fill(-2, 0, Math.min(Math.floor(0.15 * length), 750));
  return { group, value };
}

/** The score of a series by its alarms, before it is normalised. */
export function rawScore({ windows, group, value }: NabSeries, alarms: readonly number[], profile: Profile): number {
  const [hit, miss, wrong] = profiles[profile];
  const best = windows.map(() => Number.NEGATIVE_INFINITY);
  let total = 0;
  for (const t of alarms) {
    const k = group[t]!;
    if (k === -1) total += wrong * value[t]!;
    if (k >= 0) best[k] = Math.max(best[k]!, value[t]!);
  }
  return best.reduce((sum, one) => sum + (Number.isFinite(one) ? hit * one : -miss), total);
}

/** 0: no alarm at all; 100: one at the left edge of each window. */
export function normalised(raw: readonly number[], series: readonly NabSeries[], profile: Profile, which = (_: number) => true): number {
  const [, miss] = profiles[profile];
  const windows = series.reduce((sum, one, i) => sum + (which(i) ? one.windows.length : 0), 0);
  return (100 * (raw.reduce((sum, one, i) => sum + (which(i) ? one : 0), 0) + miss * windows)) / (windows * (1 + miss));
}

/** Windows found, false alarms, rows to a false alarm, precision, recall and F1. */
export function countsOf(series: readonly NabSeries[], alarms: readonly (readonly number[])[]) {
  let [found, wrong, rows, windows] = [0, 0, 0, 0];
  series.forEach(({ group, windows: all }, i) => {
    windows += all.length;
    found += new Set(alarms[i]!.map((t) => group[t]!).filter((k) => k >= 0)).size;
    wrong += alarms[i]!.filter((t) => group[t] === -1).length;
    rows += group.filter((k) => k === -1).length;
  });
  const [precision, recall] = [found / Math.max(1, found + wrong), found / windows];
  return { found, windows, every: rows / Math.max(1, wrong), f1: (2 * precision * recall) / (precision + recall) };
}

/** First rows of incidents at a threshold: the next `mergeRows` rows are silent. */
export function firstRows(scores: ArrayLike<number>, threshold: number, mergeRows = 100): number[] {
  const rows: number[] = [];
  for (let t = 200; t < scores.length; t++) if (scores[t]! >= threshold && t - (rows.at(-1) ?? -Infinity) > mergeRows) rows.push(t);
  return rows;
}

const thresholds = Array.from({ length: 120 }, (_, k) => 0.6 * (2.5 / 0.6) ** (k / 119));

/**
 * Scores with a threshold of the same series, of other folders, and of another random half (200 x
 * 2).
 */
export function chosenScores(series: readonly NabSeries[], scores: readonly ArrayLike<number>[], profile: Profile) {
  const raw = thresholds.map((threshold) => series.map((one, i) => rawScore(one, firstRows(scores[i]!, threshold), profile)));
  const sum = (k: number, which: (i: number) => boolean) => raw[k]!.reduce((total, one, i) => total + (which(i) ? one : 0), 0);
  const bestOf = (which: (i: number) => boolean) => raw.reduce((best, _, k) => (sum(k, which) > sum(best, which) ? k : best), 0);
  const folders = series.map(({ name }) => name.split("/")[0]!);
  const left = series.map((_, i) => raw[bestOf((j) => folders[j] !== folders[i])]![i]!);
  const draws = new RandomStream(seedKeys("halves").weights, 3);
  const halves = Array.from({ length: 200 }, (_, draw) => {
    const half = new Set<number>();
    for (const folder of new Set(folders)) {
      const own = series
        .flatMap((_, i) => (folders[i] === folder ? [{ i, key: draws.uniform(draw, i) }] : []))
        .sort((a, b) => a.key - b.key);
      const extra = own.length % 2 === 1 && draws.uniform(draw, 1000 + own[0]!.i) < 0.5 ? 1 : 0;
      for (const { i } of own.slice(0, Math.floor(own.length / 2) + extra)) half.add(i);
    }
    return [true, false].map((side) => normalised(raw[bestOf((i) => half.has(i) === side)]!, series, profile, (i) => half.has(i) !== side));
  }).flat();
  const mean = halves.reduce((total, one) => total + one, 0) / halves.length;
  const deviation = Math.sqrt(halves.reduce((total, one) => total + (one - mean) ** 2, 0) / halves.length);
  return {
    best: normalised(raw[bestOf(() => true)]!, series, profile),
    folders: normalised(left, series, profile),
    halves: mean,
    deviation,
  };
}
