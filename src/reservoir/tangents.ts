// Small differences that follow a trajectory, and the Lyapunov exponents they grow by. What drives
// the trajectory, an input or the reservoir's own readout, is not known here.
import { ArgumentError } from "@spillway/core/errors.js";
import { type DoubleDouble, ddAdd, type FloatArray, isSparse, type Matrix, portableLog, type SparseMatrix } from "@spillway/numerics";
import type { ReservoirModel } from "./model.js";

/** Lyapunov exponents. */
export interface LyapunovSpectrum {
  /** Falling; -Infinity for directions that are gone after finitely many steps. */
  readonly exponents: Float64Array;
  /**
   * The Kaplan-Yorke dimension j + (l_1 + ... + l_j) / |l_(j+1)|, j the most for which the sum is
   * not below 0; 0 if the first is below 0. Undefined if more exponents would be needed.
   */
  readonly dimension: number | undefined;
}

/** The dimension of exponents. `complete`: there are no more of them. */
export function kaplanYorke(found: Float64Array, complete: boolean): number | undefined {
  let sum = 0;
  for (let j = 0; j < found.length; j++) {
    if (sum + found[j]! < 0) return j + sum / -found[j]!;
    sum += found[j]!;
  }
  return complete ? found.length : undefined;
}

/** Differences of length 1, orthogonal to each other. */
export class Tangents {
  /** Those that are left; the length of each is then the factor by which it grew. */
  readonly vectors: Float64Array[];
  /** Sums of logarithms of growth, exact to the last digit. */
  readonly #sums: DoubleDouble[];

  /** From the rows of a matrix. */
  constructor(starts: Matrix<Float64Array>) {
    this.vectors = Array.from({ length: starts.rows }, (_, i) => starts.row(i));
    this.#sums = this.vectors.map(() => ({ high: 0, low: 0 }));
    this.grow(false);
  }

  /** Makes them orthogonal and of length 1 again, and counts how they grew. */
  grow(counts: boolean): void {
    const { vectors } = this;
    for (let i = 0; i < vectors.length; i++) {
      const growth = orthogonalise(vectors[i]!, vectors, i);
      // This direction is gone, and with it those behind.
      if (growth === 0) vectors.length = i;
      else if (counts) this.#sums[i] = ddAdd(this.#sums[i]!, { high: portableLog(growth), low: 0 });
    }
  }

  /** Exponents, for each of so many steps that were counted. */
  exponents(steps: number): Float64Array {
    return Float64Array.from(this.#sums, ({ high }, i) => (i < this.vectors.length ? high / steps : Number.NEGATIVE_INFINITY));
  }
}

/** f'(z), written in f(z). */
const slopes: Readonly<Record<string, (f: number) => number>> = {
  tanh: (f) => 1 - f * f,
  identity: () => 1,
  relu: (f) => (f > 0 ? 1 : 0),
  sigmoid: (f) => f * (1 - f),
};

/** @throws ArgumentError for a reservoir whose step has no known derivative */
export function checkSlope({ activation }: ReservoirModel): void {
  if (!Object.hasOwn(slopes, activation))
    throw new ArgumentError("activation", activation, `one of ${Object.keys(slopes).join(", ")}, whose slopes are known`);
}

/**
 * Takes small changes v of the state over the step from x to `next`: (1 - a) v + a f' (W v + W_in
 * du), du those of the step's input, if it changes.
 */
export function followRates(
  model: ReservoirModel,
  vectors: readonly Float64Array[],
  x: FloatArray,
  next: FloatArray,
  inputs?: readonly Float64Array[],
): void {
  const { leakRate, weights, inputWeights, activation, size, cell } = model;
  const slope = slopes[activation]!;
  const keptState = kept(model, x);
  vectors.forEach((vector, i) => {
    const out = new Float64Array(size);
    multiply(weights, vector, out);
    if (inputs) {
      const driven = new Float64Array(size);
      multiply(inputWeights, inputs[i]!, driven);
      for (let r = 0; r < size; r++) out[r] = out[r]! + driven[r]!;
    }
    const keptVector = kept(model, vector);
    for (let r = 0; r < size; r++) {
      const a = leakRate[r]!;
      const keep = cell?.keep[r] ?? 1 - a;
      const f = (next[r]! - keep * keptState[r]!) / a;
      out[r] = keep * keptVector[r]! + (a === 0 ? 0 : a * slope(f) * out[r]!);
    }
    vector.set(out);
  });
}

/** O times a vector, if the cell has an O. */
function kept({ cell, size }: ReservoirModel, vector: ArrayLike<number>): ArrayLike<number> {
  if (!cell?.orthogonal) return vector;
  const out = new Float64Array(size);
  multiply(cell.orthogonal, vector, out);
  return out;
}

/**
 * Takes away from v what lies along the first `count` others, of length 1 and orthogonal, and
 * rescales what is left to length 1. Returns the length it had; a second pass takes what rounding
 * left.
 */
function orthogonalise(v: Float64Array, others: readonly Float64Array[], count: number): number {
  let length = 1;
  for (let pass = 0; pass < (count === 0 ? 1 : 2); pass++) {
    for (let i = 0; i < count; i++) subtractAlong(v, others[i]!);
    length *= rescale(v);
  }
  return length;
}

function rescale(v: Float64Array): number {
  let sum = 0;
  for (const value of v) sum += value * value;
  const norm = Math.sqrt(sum);
  if (norm > 0) for (let i = 0; i < v.length; i++) v[i] = v[i]! / norm;
  return norm;
}

/** v -= (v . q) q, q of length 1. */
function subtractAlong(v: Float64Array, q: Float64Array): void {
  let dot = 0;
  for (let i = 0; i < v.length; i++) dot += v[i]! * q[i]!;
  for (let i = 0; i < v.length; i++) v[i] = v[i]! - dot * q[i]!;
}

/** out = W v. */
function multiply(weights: Matrix | SparseMatrix, v: ArrayLike<number>, out: Float64Array): void {
  for (let r = 0; r < weights.rows; r++) {
    let sum = 0;
    if (isSparse(weights)) {
      for (let p = weights.rowOffsets[r]!; p < weights.rowOffsets[r + 1]!; p++) sum += weights.values[p]! * v[weights.columns[p]!]!;
    } else {
      for (let c = 0, p = r * weights.cols; c < weights.cols; c++) sum += weights.data[p++]! * v[c]!;
    }
    out[r] = sum;
  }
}
