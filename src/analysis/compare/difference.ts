// How two trajectories of states differ: where first, by how many units in the last place, and how
// that grows. Rows come in order, in chunks.
import type { FloatArray, Matrix, Precision } from "@spillway/numerics";

/** One state where two engines first differ. */
export interface FirstDifference {
  /** Steps before it, from 0. */
  readonly step: number;
  readonly neuron: number;
  /** The two values, the reference's first. */
  readonly values: readonly [number, number];
  readonly ulps: number;
}

/** Values whose distance lies in a range. */
export interface UlpBin {
  /** "0", "1", "2", "3 to 4", ... */
  readonly label: string;
  /** From this distance on, in units in the last place. */
  readonly from: number;
  readonly count: number;
}

/** How the states of one engine differ from the reference's. */
export interface TrajectoryDifference {
  /** Whether every bit of every state is the same. */
  readonly equal: boolean;
  /** States that differ, of `compared`. */
  readonly differing: number;
  readonly compared: number;
  readonly first: FirstDifference | undefined;
  readonly maxUlps: number;
  readonly maxAbsolute: number;
  /** Distances in units in the last place, by powers of two. */
  readonly histogram: readonly UlpBin[];
  /**
   * Root of the mean square of the difference over neurons, by step (each the largest of `every`
   * steps).
   */
  readonly divergence: Float64Array;
  /** Steps a value of `divergence` stands for. */
  readonly every: number;
  /**
   * Growth of the difference by step, natural logarithm: the slope of log divergence over the later
   * half of the stretch from where it begins to where it reaches a tenth of the states' size. The
   * earlier half is how the first rounding errors add up, in a reservoir that forgets them too.
   * Below 0 the difference shrinks; undefined if fewer than three values tell.
   */
  readonly rate: number | undefined;
}

/** Values that a divergence curve keeps at most. */
const maxPoints = 4096;

/** Compares two trajectories as their rows come. */
export interface DifferenceMeter {
  /**
   * Takes rows of both; `from` is the first row's step. Of several sequences that begin at step 0,
   * curves show the one that is furthest off.
   */
  add(reference: Matrix, other: Matrix, from: number): void;
  result(): TrajectoryDifference;
}

export function differenceMeter(precision: Precision, steps: number): DifferenceMeter {
  const every = Math.max(1, Math.ceil(steps / maxPoints));
  const divergence = new Float64Array(Math.ceil(steps / every));
  const counts: number[] = [];
  let first: FirstDifference | undefined;
  let [differing, compared, maxUlps, maxAbsolute, sumOfSquares] = [0, 0, 0, 0, 0];
  return {
    add(reference, other, from) {
      const { rows, cols } = reference;
      const order = precision === "float32" ? order32(reference.data, other.data) : order64(reference.data, other.data);
      for (let t = 0; t < rows; t++) {
        let squares = 0;
        for (let i = 0; i < cols; i++) {
          const at = t * cols + i;
          const a = reference.data[at]!;
          const b = other.data[at]!;
          sumOfSquares += a * a;
          compared++;
          const ulps = order(at);
          const bin = ulps === 0 ? 0 : 1 + Math.ceil(Math.log2(ulps));
          while (counts.length <= bin) counts.push(0);
          counts[bin] = counts[bin]! + 1;
          if (ulps === 0) continue;
          differing++;
          squares += (a - b) * (a - b);
          maxUlps = Math.max(maxUlps, ulps);
          maxAbsolute = Math.max(maxAbsolute, Math.abs(a - b));
          if (!first || from + t < first.step) first = { step: from + t, neuron: i, values: [a, b], ulps };
        }
        const slot = Math.floor((from + t) / every);
        divergence[slot] = Math.max(divergence[slot]!, Math.sqrt(squares / cols));
      }
    },
    result() {
      const size = compared > 0 ? Math.sqrt(sumOfSquares / compared) : 0;
      return {
        ...{ equal: differing === 0, differing, compared, first, maxUlps, maxAbsolute },
        histogram: counts.map((count, k) => ({ label: binLabel(k), from: binStart(k), count })),
        ...{ divergence, every, rate: growthRate(divergence, every, 0.1 * size) },
      };
    },
  };
}

function binStart(k: number): number {
  return k <= 1 ? k : 2 ** (k - 2) + 1;
}

function binLabel(k: number): string {
  if (k <= 2) return String(binStart(k));
  if (k > 8) return `to 2^${k - 1}`;
  return `${binStart(k)} to ${2 ** (k - 1)}`;
}

/**
 * Distance of two floats in representable numbers between them; +0 and -0 are 1 apart, so 0 means
 * the same bits.
 */
function order32(a: FloatArray, b: FloatArray): (at: number) => number {
  const left = new Int32Array(a.buffer, a.byteOffset, a.length);
  const right = new Int32Array(b.buffer, b.byteOffset, b.length);
  const ordered = (bits: number) => (bits >= 0 ? bits : -1 - (bits & 0x7fffffff));
  return (at) => (left[at] === right[at] ? 0 : Math.abs(ordered(left[at]!) - ordered(right[at]!)));
}

function order64(a: FloatArray, b: FloatArray): (at: number) => number {
  const left = new BigInt64Array(a.buffer, a.byteOffset, a.length);
  const right = new BigInt64Array(b.buffer, b.byteOffset, b.length);
  const ordered = (bits: bigint) => (bits >= 0n ? bits : -1n - (bits & 0x7fffffffffffffffn));
  return (at) => {
    if (left[at] === right[at]) return 0;
    const distance = ordered(left[at]!) - ordered(right[at]!);
    return Number(distance < 0n ? -distance : distance);
  };
}

/**
 * Least squares slope of log(divergence) over the later half of the stretch from its first value
 * above 0 to where it first passes `ceiling`.
 */
function growthRate(divergence: Float64Array, every: number, ceiling: number): number | undefined {
  const begin = divergence.findIndex((value) => value > 0);
  if (begin < 0) return undefined;
  let end = divergence.findIndex((value, k) => k > begin && value > ceiling);
  if (end < 0) end = divergence.length;
  let n = 0;
  let sumX = 0;
  let sumY = 0;
  let sumXX = 0;
  let sumXY = 0;
  for (let k = (begin + end) >> 1; k < end; k++) {
    if (!(divergence[k]! > 0)) continue;
    const x = k * every;
    const y = Math.log(divergence[k]!);
    n++;
    sumX += x;
    sumY += y;
    sumXX += x * x;
    sumXY += x * y;
  }
  const spread = n * sumXX - sumX * sumX;
  return n >= 3 && spread > 0 ? (n * sumXY - sumX * sumY) / spread : undefined;
}
