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

export class DifferenceMeter {
  readonly #precision: Precision;
  readonly #every: number;
  readonly #divergence: Float64Array;
  readonly #counts: number[] = [];
  #differing = 0;
  #compared = 0;
  #first: FirstDifference | undefined;
  #maxUlps = 0;
  #maxAbsolute = 0;
  #sumOfSquares = 0;

  constructor(precision: Precision, steps: number) {
    this.#precision = precision;
    this.#every = Math.max(1, Math.ceil(steps / maxPoints));
    this.#divergence = new Float64Array(Math.ceil(steps / this.#every));
  }

  /**
   * Takes rows of both; `from` is the first row's step. Of several sequences that begin at step 0,
   * curves show the one that is furthest off.
   */
  add(reference: Matrix, other: Matrix, from: number): void {
    const { rows, cols } = reference;
    const order = this.#precision === "float32" ? order32(reference.data, other.data) : order64(reference.data, other.data);
    for (let t = 0; t < rows; t++) {
      let squares = 0;
      for (let i = 0; i < cols; i++) {
        const at = t * cols + i;
        const a = reference.data[at]!;
        const b = other.data[at]!;
        this.#sumOfSquares += a * a;
        const ulps = order(at);
        this.#count(ulps);
        if (ulps === 0) continue;
        squares += (a - b) * (a - b);
        this.#maxAbsolute = Math.max(this.#maxAbsolute, Math.abs(a - b));
        if (!this.#first || from + t < this.#first.step) this.#first = { step: from + t, neuron: i, values: [a, b], ulps };
      }
      const slot = Math.floor((from + t) / this.#every);
      this.#divergence[slot] = Math.max(this.#divergence[slot]!, Math.sqrt(squares / cols));
    }
  }

  result(): TrajectoryDifference {
    const size = this.#compared > 0 ? Math.sqrt(this.#sumOfSquares / this.#compared) : 0;
    return {
      equal: this.#differing === 0,
      differing: this.#differing,
      compared: this.#compared,
      first: this.#first,
      maxUlps: this.#maxUlps,
      maxAbsolute: this.#maxAbsolute,
      histogram: this.#counts.map((count, k) => ({ label: binLabel(k), from: binStart(k), count: count ?? 0 })),
      divergence: this.#divergence,
      every: this.#every,
      rate: growthRate(this.#divergence, this.#every, 0.1 * size),
    };
  }

  #count(ulps: number): void {
    this.#compared++;
    const bin = ulps === 0 ? 0 : 1 + Math.ceil(Math.log2(ulps));
    while (this.#counts.length <= bin) this.#counts.push(0);
    this.#counts[bin] = this.#counts[bin]! + 1;
    if (ulps === 0) return;
    this.#differing++;
    this.#maxUlps = Math.max(this.#maxUlps, ulps);
  }
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
