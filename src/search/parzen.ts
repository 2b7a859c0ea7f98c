// A Parzen estimator of all parameters together: a mixture of products of truncated normal
// distributions and of weighted choices (Watanabe, arXiv 2304.11127), as Optuna 5 has it.
import { portableExp, portableLog } from "../numerics/index.js";
import { halfLogTwoPi, logNormalMass, truncatedNormal } from "./normal.js";
import { fromScale, type SearchParameter, scaledBounds, toScale } from "./space.js";

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

/** One parameter of all kernels. */
interface Column {
  readonly parameter: SearchParameter;
  /** The logarithm of kernel i's density at a value, less what is constant; at most 0. */
  logOf(value: number, i: number): number;
  /** Adds at least what of the logarithms of kernels [from, to) is constant to `bounds`. */
  addBounds(bounds: Float64Array, from: number, to: number): void;
  /**
   * Adds what is quickly known of the densities of the first `count` kernels of `near` to their
   * `logs`, and keeps those of at least `least` in `near`. Returns how many those are.
   */
  keepNear(value: number, logs: Float64Array, near: Int32Array, count: number, least: number): number;
  /** A value of kernel i from a uniform draw. */
  draw(i: number, u: number): number;
  /** A kernel at a value is added as the i-th. */
  add(value: number, i: number): void;
  /** What of the logarithm of kernel i is constant. */
  constant(i: number): number;
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
  #kernels: number;
  #total: number;

  /**
   * @param observations a row of internal values for each trial, by number
   * @param weights of the observations; the prior's is 1
   * @param room for so many kernels that `add` brings
   * @param places where the parameters stand in a row; left out, in their order
   */
  constructor(
    parameters: readonly SearchParameter[],
    observations: readonly ArrayLike<number>[],
    weights: Float64Array = rampWeights(observations.length),
    room = 0,
    places: readonly number[] = parameters.map((_, j) => j),
  ) {
    const m = observations.length;
    const capacity = m + 1 + room;
    this.#kernels = m + 1;
    this.#prior = m;
    this.#columns = parameters.map((parameter, j) => {
      const values = new Float64Array(m);
      const place = places[j]!;
      for (let i = 0; i < m; i++) values[i] = observations[i]![place]!;
      return parameter.kind === "choice" ? new ChoiceColumn(parameter, values, room) : new NumberColumn(parameter, values, room);
    });
    this.#weights = new Float64Array(capacity).fill(1);
    this.#weights.set(weights);
    this.#total = 0;
    for (let i = 0; i <= m; i++) this.#total += this.#weights[i]!;
    this.#constants = new Float64Array(capacity).fill(Number.NaN);
    this.#bounds = new Float64Array(capacity);
    for (const column of this.#columns) column.addBounds(this.#bounds, 0, m + 1);
    let last = Number.NaN;
    let log = 0;
    for (let i = 0; i <= m; i++) {
      const weight = this.#weights[i]!;
      if (weight !== last) log = portableLog(weight);
      last = weight;
      this.#bounds[i] = this.#bounds[i]! + log;
    }
    this.#logs = new Float64Array(capacity);
    this.#near = new Int32Array(capacity);
  }

  /** The weights of the observations and then of the prior, of sum 1. */
  get weights(): Float64Array {
    return this.#weights.subarray(0, this.#kernels).map((weight) => weight / this.#total);
  }

  /** Means and widths of the kernels of a numeric parameter, on its scale; for tests. */
  kernelsOf(place: number): { readonly means: Float64Array; readonly widths: Float64Array } {
    const column = this.#columns[place] as NumberColumn;
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
    // What lies below e^-42 of the largest changes no bit that counts, and the prior is no larger.
    const near = this.#nearKernels(values, this.#logOf(values, this.#prior) - 42);
    const logs = this.#logs;
    let most = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < near; k++) {
      const log = this.#logOf(values, this.#near[k]!);
      logs[k] = log;
      if (log > most) most = log;
    }
    let sum = 0;
    for (let k = 0; k < near; k++) if (logs[k]! - most > -42) sum += portableExp(logs[k]! - most);
    return most + portableLog(sum);
  }

  /** Finds the kernels that may have at least this logarithm at a value; how many there are. */
  #nearKernels(values: ArrayLike<number>, least: number): number {
    const near = this.#near;
    const bounds = this.#bounds;
    let count = 0;
    for (let i = 0; i < this.#kernels; i++) near[count++] = i;
    const logs = this.#logs;
    logs.set(bounds.subarray(0, this.#kernels));
    // Rounding is far below 1.
    for (const [j, column] of this.#columns.entries()) count = column.keepNear(values[j]!, logs, near, count, least - 1);
    return count;
  }

  /** The logarithm of a kernel with its weight. */
  #logOf(values: ArrayLike<number>, i: number): number {
    let log = this.#constants[i]!;
    if (Number.isNaN(log)) {
      log = portableLog(this.#weights[i]!);
      for (const column of this.#columns) log += column.constant(i);
      this.#constants[i] = log;
    }
    const columns = this.#columns;
    for (let j = 0; j < columns.length; j++) log += columns[j]!.logOf(values[j]!, i);
    return log;
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
    for (const [j, column] of this.#columns.entries()) {
      column.add(values[j]!, i);
      column.addBounds(this.#bounds, i, i + 1);
    }
    this.#total += 1;
  }

  /** What `logSum` was of a value before the newest kernel, with that kernel. */
  addNewest(before: number, values: ArrayLike<number>): number {
    const i = this.#kernels - 1;
    this.#logs[i] = this.#bounds[i]!;
    this.#near[0] = i;
    for (const [j, column] of this.#columns.entries())
      if (column.keepNear(values[j]!, this.#logs, this.#near, 1, before - 43) === 0) return before;
    return addLogs(before, this.#logOf(values, i));
  }
}

/** Sums in logarithms: log(e^a + e^b). */
function addLogs(a: number, b: number): number {
  const [large, small] = a > b ? [a, b] : [b, a];
  return small - large > -42 ? large + portableLog(1 + portableExp(small - large)) : large;
}

/** A choice: 1/(m + 1) everywhere and 1 more at the observed one, divided by the sum. */
class ChoiceColumn implements Column {
  readonly parameter: SearchParameter;
  readonly #observed: Int32Array;
  readonly #hit: number;
  readonly #miss: number;
  readonly #logHit: number;
  readonly #logMiss: number;
  readonly #logUniform: number;

  constructor(parameter: SearchParameter, values: Float64Array, room: number) {
    this.parameter = parameter;
    const m = values.length;
    const choices = parameter.choices.length;
    this.#observed = new Int32Array(m + 1 + room).fill(-1);
    this.#observed.set(values);
    const sum = choices / (m + 1) + 1;
    this.#hit = (1 / (m + 1) + 1) / sum;
    this.#miss = 1 / (m + 1) / sum;
    this.#logHit = portableLog(this.#hit);
    this.#logMiss = portableLog(this.#miss);
    this.#logUniform = portableLog(1 / choices);
  }

  constant(): number {
    return 0;
  }

  addBounds(): void {}

  keepNear(_value: number, _logs: Float64Array, _near: Int32Array, count: number): number {
    return count;
  }

  logOf(value: number, i: number): number {
    const observed = this.#observed[i]!;
    return observed < 0 ? this.#logUniform : observed === value ? this.#logHit : this.#logMiss;
  }

  draw(i: number, u: number): number {
    const choices = this.parameter.choices.length;
    const observed = this.#observed[i]!;
    if (observed < 0) return Math.min(choices - 1, Math.floor(u * choices));
    let left = u;
    for (let c = 0; c < choices - 1; c++) {
      const share = c === observed ? this.#hit : this.#miss;
      if (left < share) return c;
      left -= share;
    }
    return choices - 1;
  }

  add(value: number, i: number): void {
    this.#observed[i] = value;
  }
}

/** A number: a normal distribution within the bounds, its width from the nearest neighbours. */
class NumberColumn implements Column {
  readonly parameter: SearchParameter;
  readonly means: Float64Array;
  readonly widths: Float64Array;
  readonly #low: number;
  readonly #high: number;
  readonly #least: number;
  /** Observed means in order, as far as they go. */
  readonly #sorted: Float64Array;
  #observed: number;
  /** Kernels of equal mean and width have one class: stepped values repeat. */
  readonly #classes: Int32Array;
  #classCount = 0;
  /** The logarithms of classes at a stepped value that was asked for, and the ends of its step. */
  readonly #masses = new Map<number, Float64Array>();
  readonly #steps = new Map<number, readonly [number, number]>();
  #lastStepped = Number.NaN;
  #lastMasses: Float64Array = new Float64Array(0);
  #lastValue = Number.NaN;
  #lastScaled = Number.NaN;
  readonly #logLeast: number;

  constructor(parameter: SearchParameter, values: Float64Array, room: number) {
    this.parameter = parameter;
    const m = values.length;
    const [low, high] = scaledBounds(parameter);
    this.#low = low;
    this.#high = high;
    this.#least = (high - low) / Math.min(100, m + 2);
    this.#logLeast = portableLog(this.#least);
    this.#observed = m;
    const capacity = m + 1 + room;
    this.means = new Float64Array(capacity);
    this.widths = new Float64Array(capacity);
    this.#classes = new Int32Array(capacity);
    for (let i = 0; i < m; i++) this.means[i] = toScale(parameter, values[i]!);
    this.#sorted = new Float64Array(m + room);
    this.#sorted.set(this.means.subarray(0, m));
    this.#sorted.subarray(0, m).sort();
    this.#setWidths(m);
    this.means[m] = (low + high) / 2;
    this.widths[m] = high - low;
    this.#classes[m] = this.#classCount++;
  }

  /** Widths of the observed kernels; equal means get their places by number. */
  #setWidths(m: number): void {
    const sorted = this.#sorted;
    const taken = new Int32Array(m);
    /** Up to four classes for each run of equal means, by the place where it begins. */
    const classesOf = new Map<number, [width: number, name: number][]>();
    for (let i = 0; i < m; i++) {
      const begin = lowerBound(sorted, m, this.means[i]!);
      const place = begin + taken[begin]!++;
      const width = this.#widthAt(place, m);
      this.widths[i] = width;
      if (this.parameter.step === 0) continue;
      const classes = classesOf.get(begin) ?? [];
      classesOf.set(begin, classes);
      let found = classes.find(([each]) => each === width);
      if (!found) {
        found = [width, this.#classCount++];
        classes.push(found);
      }
      this.#classes[i] = found[1];
    }
  }

  /**
   * The larger distance to a neighbour; the bounds are neighbours only if there is nothing else.
   */
  #widthAt(place: number, m: number): number {
    const sorted = this.#sorted;
    const here = sorted[place]!;
    const left = here - (place === 0 ? this.#low : sorted[place - 1]!);
    const right = (place === m - 1 ? this.#high : sorted[place + 1]!) - here;
    const width = m >= 2 && place === 0 ? right : m >= 2 && place === m - 1 ? left : Math.max(left, right);
    return Math.min(Math.max(width, this.#least), this.#high - this.#low);
  }

  constant(i: number): number {
    const mean = this.means[i]!;
    const width = this.widths[i]!;
    const mass = logNormalMass((this.#low - mean) / width, (this.#high - mean) / width);
    return this.parameter.step > 0 ? -mass : -mass - halfLogTwoPi - this.#logWidth(width);
  }

  /** Most widths are the least. */
  #logWidth(width: number): number {
    return width === this.#least ? this.#logLeast : portableLog(width);
  }

  addBounds(bounds: Float64Array, from: number, to: number): void {
    const isStepped = this.parameter.step > 0;
    for (let i = from; i < to; i++) {
      const mean = this.means[i]!;
      const peak = isStepped ? 0 : -halfLogTwoPi - this.#logWidth(this.widths[i]!);
      // A mean within the bounds has at least 0.34 of its mass there, as no width is larger.
      bounds[i] = bounds[i]! + (mean >= this.#low && mean <= this.#high ? peak + 1.08 : Number.POSITIVE_INFINITY);
    }
  }

  keepNear(value: number, logs: Float64Array, near: Int32Array, count: number, least: number): number {
    const { means, widths } = this;
    const { step } = this.parameter;
    const [from, to] = step > 0 ? this.#stepAt(value) : [this.#scaled(value), 0];
    let kept = 0;
    for (let k = 0; k < count; k++) {
      const i = near[k]!;
      const mean = means[i]!;
      // Of a step the end that is next to the mean: its mass is at most that of all beyond.
      const away = step > 0 ? (mean < from ? from - mean : mean > to ? mean - to : 0) : from - mean;
      const z = away / widths[i]!;
      const log = logs[i]! - (z * z) / 2;
      if (log < least) continue;
      logs[i] = log;
      near[kept++] = i;
    }
    return kept;
  }

  logOf(value: number, i: number): number {
    const { step } = this.parameter;
    const mean = this.means[i]!;
    const width = this.widths[i]!;
    if (step > 0) {
      const masses = this.#massesAt(value);
      const name = this.#classes[i]!;
      const known = masses[name]!;
      if (!Number.isNaN(known)) return known;
      const [from, to] = this.#stepAt(value);
      const mass = logNormalMass((from - mean) / width, (to - mean) / width);
      masses[name] = mass;
      return mass;
    }
    const z = (this.#scaled(value) - mean) / width;
    return -(z * z) / 2;
  }

  /** The logarithms of the mass of a stepped value, by class; NaN where it is not known yet. */
  #massesAt(value: number): Float64Array {
    if (value === this.#lastStepped) return this.#lastMasses;
    const masses = this.#masses.get(value) ?? new Float64Array(this.means.length).fill(Number.NaN);
    this.#masses.set(value, masses);
    this.#lastStepped = value;
    this.#lastMasses = masses;
    return masses;
  }

  /** The ends of a stepped value's step, on the scale. */
  #stepAt(value: number): readonly [number, number] {
    const before = this.#steps.get(value);
    if (before) return before;
    const { parameter } = this;
    const { step } = parameter;
    const ends = [toScale(parameter, value - step / 2), toScale(parameter, value + step / 2)] as const;
    this.#steps.set(value, ends);
    return ends;
  }

  /** A value on the scale. */
  #scaled(value: number): number {
    if (value !== this.#lastValue) {
      this.#lastValue = value;
      this.#lastScaled = toScale(this.parameter, value);
    }
    return this.#lastScaled;
  }

  draw(i: number, u: number): number {
    const mean = this.means[i]!;
    const width = this.widths[i]!;
    const z = truncatedNormal(u, (this.#low - mean) / width, (this.#high - mean) / width);
    return fromScale(this.parameter, mean + width * z);
  }

  add(value: number, i: number): void {
    const mean = toScale(this.parameter, value);
    const m = this.#observed++;
    const place = lowerBound(this.#sorted, m, mean);
    this.#sorted.copyWithin(place + 1, place, m);
    this.#sorted[place] = mean;
    this.means[i] = mean;
    this.widths[i] = this.#widthAt(place, m + 1);
    if (this.parameter.step > 0) this.#classes[i] = this.#classCount++;
  }
}

/** The first place of sorted numbers that is not below a value. */
function lowerBound(sorted: Float64Array, length: number, value: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
