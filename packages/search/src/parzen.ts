// A Parzen estimator of all parameters together: a mixture of products of truncated normal
// distributions and of weighted choices (Watanabe, arXiv 2304.11127), as Optuna 5 has it.
import { portableExp, portableLog } from "@spillway/numerics";
import { ChoiceColumn, type Column, type KnownMasses, NumberColumn } from "./parzen-columns.js";
import type { SearchParameter } from "./space.js";

/** The newest observations that count fully. */
export const fullyWeighted = 25;

/** Weights of m observations, the oldest first: a ramp from 1/m, and 1 for the newest 25. */
export function rampWeights(m: number): Float64Array {
  const ramp = m - fullyWeighted;
  const from = 1 / m;
  const weights = new Float64Array(m).fill(1);
  for (let i = 0; i < ramp; i++) weights[i] = ramp === 1 ? from : from + ((1 - from) * i) / (ramp - 1);
  return weights;
}

/** Observations of some parameters as a density. The prior is the kernel after them. */
export class ParzenEstimator {
  readonly #columns: readonly Column[];
  readonly #weights: Float64Array;
  /**
   * The logarithm of the weight of each kernel, and of what does not depend on the value; NaN until
   * it is needed, since a value has few kernels near.
   */
  readonly #constants: Float64Array;
  /** At least that: without what the bounds cut off a kernel, less than 1.08 each. */
  readonly #bounds: Float64Array;
  readonly #logs: Float64Array;
  readonly #near: Int32Array;
  readonly #prior: number;
  readonly #numbers: readonly NumberColumn[];
  #kernels: number;
  #total: number;

  /**
   * @param observations of each parameter a value a trial, by number: of numbers on their scale
   * @param weights of the observations; the prior's is 1
   * @param extra kernels that `add` may bring
   * @param known of each parameter what earlier estimates of the same study know
   */
  constructor(
    parameters: readonly SearchParameter[],
    observations: readonly Float64Array[],
    weights: Float64Array = rampWeights(observations[0]!.length),
    extra = 0,
    known: readonly KnownMasses[] = [],
  ) {
    const m = weights.length;
    const capacity = m + 1 + extra;
    this.#kernels = m + 1;
    this.#prior = m;
    this.#columns = parameters.map((parameter, j) =>
      parameter.kind === "choice"
        ? new ChoiceColumn(parameter, observations[j]!, extra)
        : new NumberColumn(parameter, observations[j]!, extra, known[j]),
    );
    this.#numbers = this.#columns.filter((column) => column instanceof NumberColumn);
    this.#weights = new Float64Array(capacity).fill(1);
    this.#weights.set(weights);
    this.#total = 0;
    for (let i = 0; i <= m; i++) this.#total += this.#weights[i]!;
    this.#constants = new Float64Array(capacity).fill(Number.NaN);
    this.#bounds = new Float64Array(capacity);
    this.#logs = new Float64Array(capacity);
    this.#near = new Int32Array(capacity);
    this.#bound(0, m + 1);
  }

  #bound(from: number, to: number): void {
    const bounds = this.#bounds;
    let last = 1;
    let log = 0;
    for (let i = from; i < to; i++) {
      const weight = this.#weights[i]!;
      if (weight !== last) log = portableLog(weight);
      last = weight;
      bounds[i] = log;
    }
    for (const column of this.#numbers) column.addMostConstants(bounds, from, to);
  }

  /** The weights of the observations and then of the prior, of sum 1. */
  get weights(): Float64Array {
    return this.#weights.subarray(0, this.#kernels).map((weight) => weight / this.#total);
  }

  /** Means and widths of the kernels of a numeric parameter, on its scale; for tests. */
  kernelsOf(index: number): { readonly means: Float64Array; readonly widths: Float64Array } {
    const column = this.#columns[index] as NumberColumn;
    return { means: column.means.subarray(0, this.#kernels), widths: column.widths.subarray(0, this.#kernels) };
  }

  /**
   * The logarithm of the density; of stepped and whole values, of the mass of their step.
   */
  logDensity(values: ArrayLike<number>): number {
    return this.logSum(values) - portableLog(this.#total);
  }

  /**
   * The logarithm of the sum over kernels, each with its weight: what `logDensity` divides by the
   * sum of the weights.
   */
  logSum(values: ArrayLike<number>): number {
    this.#aim(values);
    // What lies below e^-42 of the largest changes no bit that counts, and the prior is no larger.
    const count = this.#findNear(this.#logOf(this.#prior) - 42);
    const logs = this.#logs;
    const near = this.#near;
    for (let k = 0; k < count; k++) logs[k] = this.#constant(near[k]!);
    for (const column of this.#columns) column.addLogs(logs, near, count);
    let most = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < count; k++) if (logs[k]! > most) most = logs[k]!;
    let sum = 0;
    for (let k = 0; k < count; k++) if (logs[k]! - most > -42) sum += portableExp(logs[k]! - most);
    return most + portableLog(sum);
  }

  /** The value that the following are about. */
  #aim(values: ArrayLike<number>): void {
    const columns = this.#columns;
    for (let j = 0; j < columns.length; j++) columns[j]!.aim(values[j]!);
  }

  /** Finds the kernels that may have at least this logarithm; how many there are. */
  #findNear(least: number): number {
    const numbers = this.#numbers;
    const logs = this.#logs;
    const near = this.#near;
    const { length } = numbers;
    const first = numbers[0];
    // Rounding is far below 1.
    let count = first ? keepNearAll(first, numbers[1], this.#bounds, this.#kernels, least - 1, logs, near) : this.#allNear();
    for (let j = 2; j < length; j++) count = keepNear(numbers[j]!, logs, near, count, least - 1);
    return count;
  }

  #allNear(): number {
    for (let i = 0; i < this.#kernels; i++) this.#near[i] = i;
    return this.#kernels;
  }

  /** The logarithm of a kernel with its weight. */
  #logOf(i: number): number {
    this.#near[0] = i;
    this.#logs[0] = this.#constant(i);
    for (const column of this.#columns) column.addLogs(this.#logs, this.#near, 1);
    return this.#logs[0];
  }

  #constant(i: number): number {
    const known = this.#constants[i]!;
    if (!Number.isNaN(known)) return known;
    let constant = portableLog(this.#weights[i]!);
    for (const column of this.#columns) constant += column.constant(i);
    this.#constants[i] = constant;
    return constant;
  }

  /** Values from a draw for the kernel and one for each parameter. */
  draw(uniform: (i: number) => number): Float64Array {
    let left = uniform(0) * this.#total;
    let i = 0;
    while (i < this.#kernels - 1 && left >= this.#weights[i]!) left -= this.#weights[i++]!;
    return Float64Array.from(this.#columns, (column, j) => column.draw(i, uniform(1 + j)));
  }

  /**
   * Adds an observation of weight 1. The kernels that stand keep their widths, so candidates can
   * keep their sums.
   */
  add(values: ArrayLike<number>): void {
    const i = this.#kernels++;
    for (const [j, column] of this.#columns.entries()) column.add(values[j]!, i);
    this.#bound(i, i + 1);
    this.#total += 1;
  }

  /** What `logSum` was of a value before the newest kernel, with that kernel. */
  addNewest(before: number, values: ArrayLike<number>): number {
    const i = this.#kernels - 1;
    const numbers = this.#numbers;
    this.#aim(values);
    this.#logs[0] = this.#bounds[i]!;
    this.#near[0] = i;
    for (let j = 0; j < numbers.length; j++) if (keepNear(numbers[j]!, this.#logs, this.#near, 1, before - 43) === 0) return before;
    return addLogs(before, this.#logOf(i));
  }
}

/** Sums in logarithms: log(e^a + e^b). */
function addLogs(a: number, b: number): number {
  const [large, small] = a > b ? [a, b] : [b, a];
  return small - large > -42 ? large + portableLog(1 + portableExp(small - large)) : large;
}

/**
 * Takes off at most what the densities of the first `count` kernels of `near` have lost at the
 * value that a column is aimed at, and keeps those of at least `least` in both lists.
 * @returns how many those are
 */
function keepNear({ means, inverse, from, to }: NumberColumn, logs: Float64Array, near: Int32Array, count: number, least: number): number {
  const middle = (from + to) / 2;
  const half = (to - from) / 2;
  let kept = 0;
  for (let k = 0; k < count; k++) {
    const i = near[k]!;
    // Of a step the end that is next to the mean: its mass is at most that of all beyond.
    const away = Math.abs(middle - means[i]!) - half;
    const z = 0.5 * (away + Math.abs(away)) * inverse[i]!;
    const log = logs[k]! - z * z;
    logs[kept] = log;
    near[kept] = i;
    if (log >= least) kept++;
  }
  return kept;
}

/**
 * The same of two columns and of all kernels, which is most of the work: in the order they lie in.
 */
function keepNearAll(
  { means, inverse, from, to }: NumberColumn,
  second: NumberColumn | undefined,
  bounds: Float64Array,
  kernels: number,
  least: number,
  logs: Float64Array,
  near: Int32Array,
): number {
  const middle = (from + to) / 2;
  const half = (to - from) / 2;
  // Without a second column the first counts once more, and to nothing.
  const { means: means2, inverse: inverse2, from: from2, to: to2 } = second ?? { means, inverse, from, to };
  const middle2 = (from2 + to2) / 2;
  const half2 = second ? (to2 - from2) / 2 : Number.MAX_VALUE;
  let kept = 0;
  for (let i = 0; i < kernels; i++) {
    const away = Math.abs(middle - means[i]!) - half;
    const away2 = Math.abs(middle2 - means2[i]!) - half2;
    const z = 0.5 * (away + Math.abs(away)) * inverse[i]!;
    const z2 = 0.5 * (away2 + Math.abs(away2)) * inverse2[i]!;
    const log = bounds[i]! - z * z - z2 * z2;
    logs[kept] = log;
    near[kept] = i;
    if (log >= least) kept++;
  }
  return kept;
}
