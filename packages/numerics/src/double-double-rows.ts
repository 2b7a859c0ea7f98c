// Sums over rows of double-doubles, kept as two arrays, and least squares by Householder
// reflections with them. Single numbers stand in double-double.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { type DoubleDouble, ddAdd, ddDivide, ddMultiply, ddNegate, ddSqrt, ddSubtract } from "./double-double.js";

/** n numbers: element i is high[i] + low[i]. */
export interface DoubleDoubles {
  readonly high: Float64Array;
  readonly low: Float64Array;
}

const zero: DoubleDouble = { high: 0, low: 0 };
/** 2^27 + 1, which splits a binary64 number into two halves (Veltkamp 1968). */
const splitter = 134217729;

/** n zeros. */
export function doubleDoubles(length: number): DoubleDoubles {
  return { high: new Float64Array(length), low: new Float64Array(length) };
}

/** Element i. */
export function ddAt({ high, low }: DoubleDoubles, i: number): DoubleDouble {
  return { high: high[i]!, low: low[i]! };
}

/** Sets element i. */
export function ddSet({ high, low }: DoubleDoubles, i: number, value: DoubleDouble): void {
  high[i] = value.high;
  low[i] = value.low;
}

/**
 * The sum of a[i] b[i] for i in `from` to `to` (exclusive), in rising order: `ddAdd` of
 * `ddMultiply`, written out since this is where the time goes.
 */
export function ddDotOf(a: DoubleDoubles, b: DoubleDoubles, from: number, to: number): DoubleDouble {
  const { high: ah, low: al } = a;
  const { high: bh, low: bl } = b;
  let high = 0;
  let low = 0;
  for (let i = from; i < to; i++) {
    const x = ah[i]!;
    const y = bh[i]!;
    const p = x * y;
    let t = x * splitter;
    const x1 = t - (t - x);
    const x2 = x - x1;
    t = y * splitter;
    const y1 = t - (t - y);
    const y2 = y - y1;
    const e = x1 * y1 - p + x1 * y2 + x2 * y1 + x2 * y2 + (x * bl[i]! + al[i]! * y);
    const ph = p + e;
    const pl = e - (ph - p);
    // (high, low) += (ph, pl), by ddAdd.
    const s = high + ph;
    const sPart = s - high;
    const sLow = high - (s - sPart) + (ph - sPart);
    const r = low + pl;
    const rPart = r - low;
    const rLow = low - (r - rPart) + (pl - rPart);
    const c = sLow + r;
    const v = s + c;
    const w = rLow + (c - (v - s));
    high = v + w;
    low = w - (high - v);
  }
  return { high, low };
}

/** y[i] -= f x[i] for i in `from` to `to` (exclusive). */
function subtractMultiple(f: DoubleDouble, x: DoubleDoubles, y: DoubleDoubles, from: number, to: number): void {
  const { high: xh, low: xl } = x;
  const { high: yh, low: yl } = y;
  const a = -f.high;
  const aLow = -f.low;
  let t = a * splitter;
  const a1 = t - (t - a);
  const a2 = a - a1;
  for (let i = from; i < to; i++) {
    const b = xh[i]!;
    const p = a * b;
    t = b * splitter;
    const b1 = t - (t - b);
    const b2 = b - b1;
    const e = a1 * b1 - p + a1 * b2 + a2 * b1 + a2 * b2 + (a * xl[i]! + aLow * b);
    const ph = p + e;
    const pl = e - (ph - p);
    const high = yh[i]!;
    const low = yl[i]!;
    const s = high + ph;
    const sPart = s - high;
    const sLow = high - (s - sPart) + (ph - sPart);
    const r = low + pl;
    const rPart = r - low;
    const rLow = low - (r - rPart) + (pl - rPart);
    const c = sLow + r;
    const v = s + c;
    const w = rLow + (c - (v - s));
    yh[i] = v + w;
    yl[i] = w - (yh[i]! - v);
  }
}

/**
 * Least squares: W (F columns of O) that minimises |X W - Y|^2, by Householder reflections (Golub
 * and Van Loan, Matrix Computations, section 5.3) in about 106 bits. X and Y are given as columns
 * of T numbers, T >= F, and are overwritten. It yields after every column, so that the caller can
 * let others have a turn; the same bits everywhere.
 * @returns one list of F weights for each column of Y; undefined if X has not full rank
 */
export function* ddLeastSquares(x: readonly DoubleDoubles[], y: readonly DoubleDoubles[]): Generator<number, DoubleDoubles[] | undefined> {
  const features = x.length;
  const rows = x[0]?.high.length ?? 0;
  if (rows < features) throw ArgumentError.shape(`${rows} rows do not determine ${features} weights; least squares takes as many rows`);
  const norms = x.map((column) => ddDotOf(column, column, 0, rows).high);
  const diagonal = doubleDoubles(features);
  for (let k = 0; k < features; k++) {
    const pivot = ddEliminate(x, y, k, rows);
    if (!ddIsPivot(pivot, norms[k]!, rows)) return undefined;
    ddSet(diagonal, k, pivot);
    yield k + 1;
  }
  return y.map((target) => ddBackSubstitute(x, diagonal, target));
}

/**
 * Reflects column k of X into (pivot, 0, 0, ...) from row k on, and the later columns and Y with
 * it. Returns the pivot, 0 if there is nothing to reflect; the column then holds the reflection.
 */
export function ddEliminate(x: readonly DoubleDoubles[], y: readonly DoubleDoubles[], k: number, rows: number): DoubleDouble {
  const column = x[k]!;
  const norm = ddSqrt(ddDotOf(column, column, k, rows));
  if (!(norm.high > 0)) return norm;
  const head = ddAt(column, k);
  const pivot = head.high > 0 ? ddNegate(norm) : norm;
  ddSet(column, k, ddSubtract(head, pivot));
  // 2 / v'v = -1 / (pivot v_k).
  const scale = ddNegate(ddDivide({ high: 1, low: 0 }, ddMultiply(pivot, ddAt(column, k))));
  for (let j = k + 1; j < x.length; j++) reflect(column, scale, x[j]!, k, rows);
  for (const target of y) reflect(column, scale, target, k, rows);
  return pivot;
}

/**
 * Solves R w = target by rising rows from the last: R is the upper triangle of the columns, with
 * its diagonal beside it.
 */
export function ddBackSubstitute(x: readonly DoubleDoubles[], diagonal: DoubleDoubles, target: DoubleDoubles): DoubleDoubles {
  const features = x.length;
  const weights = doubleDoubles(features);
  for (let k = features - 1; k >= 0; k--) {
    let sum = zero;
    for (let j = k + 1; j < features; j++) sum = ddAdd(sum, ddMultiply(ddAt(x[j]!, k), ddAt(weights, j)));
    ddSet(weights, k, ddDivide(ddSubtract(ddAt(target, k), sum), ddAt(diagonal, k)));
  }
  return weights;
}

/** Whether a pivot is more than what rounding leaves of a column that the others already span. */
export function ddIsPivot(pivot: DoubleDouble, squaredNorm: number, rows: number): boolean {
  return Math.abs(pivot.high) > Math.sqrt(squaredNorm) * rows * 2 ** -104;
}

/** column -= scale (v . column) v, from row k on. */
function reflect(v: DoubleDoubles, scale: DoubleDouble, column: DoubleDoubles, k: number, rows: number): void {
  subtractMultiple(ddMultiply(scale, ddDotOf(v, column, k, rows)), v, column, k, rows);
}
