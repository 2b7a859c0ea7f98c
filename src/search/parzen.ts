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
  /** Adds the logarithm of each kernel's density at a value to `logs`, less what is constant. */
  addLog(value: number, logs: Float64Array, kernels: number): void;
  /** The same of kernel i alone. */
  logOf(value: number, i: number): number;
  /** A value of kernel i from a uniform draw. */
  draw(i: number, u: number): number;
  /** A kernel at a value is added as the i-th. Returns what of its logarithm is constant. */
  add(value: number, i: number): number;
  /** What of the logarithm of kernel i is constant. */
  constant(i: number): number;
}

/** Observations of some parameters as a density. The prior is the kernel after them. */
export class ParzenEstimator {
  readonly #columns: readonly Column[];
  readonly #weights: Float64Array;
  /** The logarithm of the weight of each kernel, and of what does not depend on the value. */
  readonly #constants: Float64Array;
  readonly #logs: Float64Array;
  #kernels: number;
  #total: number;

  /**
   * @param observations a row of internal values for each trial, by number
   * @param weights of the observations; the prior's is 1
   * @param room for so many kernels that `add` brings
   */
  constructor(
    parameters: readonly SearchParameter[],
    observations: readonly ArrayLike<number>[],
    weights: Float64Array = rampWeights(observations.length),
    room = 0,
  ) {
    const m = observations.length;
    this.#kernels = m + 1;
    this.#columns = parameters.map((parameter, j) => {
      const values = new Float64Array(m);
      for (let i = 0; i < m; i++) values[i] = observations[i]![j]!;
      return parameter.kind === "choice" ? new ChoiceColumn(parameter, values, room) : new NumberColumn(parameter, values, room);
    });
    this.#weights = new Float64Array(m + 1 + room).fill(1);
    this.#weights.set(weights);
    this.#total = 0;
    for (let i = 0; i <= m; i++) this.#total += this.#weights[i]!;
    this.#constants = new Float64Array(m + 1 + room);
    for (let i = 0; i <= m; i++) {
      let constant = portableLog(this.#weights[i]!);
      for (const column of this.#columns) constant += column.constant(i);
      this.#constants[i] = constant;
    }
    this.#logs = new Float64Array(m + 1 + room);
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
    const kernels = this.#kernels;
    const logs = this.#logs;
    for (let i = 0; i < kernels; i++) logs[i] = this.#constants[i]!;
    for (const [j, column] of this.#columns.entries()) column.addLog(values[j]!, logs, kernels);
    let most = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < kernels; i++) if (logs[i]! > most) most = logs[i]!;
    let sum = 0;
    // What lies below 2^-60 of the largest changes no bit that counts.
    for (let i = 0; i < kernels; i++) if (logs[i]! - most > -42) sum += portableExp(logs[i]! - most);
    return most + portableLog(sum);
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
    let constant = 0;
    this.#columns.forEach((column, j) => {
      constant += column.add(values[j]!, i);
    });
    this.#constants[i] = constant;
    this.#total += 1;
  }

  /** The logarithm of the newest kernel alone. */
  logOfNewest(values: ArrayLike<number>): number {
    const i = this.#kernels - 1;
    let log = this.#constants[i]!;
    this.#columns.forEach((column, j) => {
      log += column.logOf(values[j]!, i);
    });
    return log;
  }
}

/** Sums in logarithms: log(e^a + e^b). */
export function addLogs(a: number, b: number): number {
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

  addLog(value: number, logs: Float64Array, kernels: number): void {
    for (let i = 0; i < kernels; i++) logs[i] = logs[i]! + this.logOf(value, i);
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

  add(value: number, i: number): number {
    this.#observed[i] = value;
    return 0;
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
  /** The logarithms of all classes at a stepped value that was asked for. */
  readonly #masses = new Map<number, Float64Array>();

  constructor(parameter: SearchParameter, values: Float64Array, room: number) {
    this.parameter = parameter;
    const m = values.length;
    const [low, high] = scaledBounds(parameter);
    this.#low = low;
    this.#high = high;
    this.#least = (high - low) / Math.min(100, m + 2);
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
    return this.parameter.step > 0 ? -mass : -mass - halfLogTwoPi - portableLog(width);
  }

  addLog(value: number, logs: Float64Array, kernels: number): void {
    if (this.parameter.step > 0) {
      const masses = this.#massesAt(value);
      const classes = this.#classes;
      for (let i = 0; i < kernels; i++) logs[i] = logs[i]! + masses[classes[i]!]!;
      return;
    }
    const { means, widths } = this;
    const x = toScale(this.parameter, value);
    for (let i = 0; i < kernels; i++) {
      const z = (x - means[i]!) / widths[i]!;
      logs[i] = logs[i]! - (z * z) / 2;
    }
  }

  logOf(value: number, i: number): number {
    const { parameter } = this;
    const { step } = parameter;
    const mean = this.means[i]!;
    const width = this.widths[i]!;
    if (step > 0)
      return logNormalMass((toScale(parameter, value - step / 2) - mean) / width, (toScale(parameter, value + step / 2) - mean) / width);
    const z = (toScale(parameter, value) - mean) / width;
    return (-z * z) / 2;
  }

  /** The logarithm of the mass of a stepped value, by class. */
  #massesAt(value: number): Float64Array {
    const before = this.#masses.get(value);
    if (before?.length === this.#classCount) return before;
    const masses = new Float64Array(this.#classCount).fill(Number.NaN);
    const kernels = this.#observed + 1;
    for (let i = 0; i < kernels; i++) {
      const name = this.#classes[i]!;
      if (Number.isNaN(masses[name]!)) masses[name] = this.logOf(value, i);
    }
    this.#masses.set(value, masses);
    return masses;
  }

  draw(i: number, u: number): number {
    const mean = this.means[i]!;
    const width = this.widths[i]!;
    const z = truncatedNormal(u, (this.#low - mean) / width, (this.#high - mean) / width);
    return fromScale(this.parameter, mean + width * z);
  }

  add(value: number, i: number): number {
    const mean = toScale(this.parameter, value);
    const m = this.#observed++;
    const place = lowerBound(this.#sorted, m, mean);
    this.#sorted.copyWithin(place + 1, place, m);
    this.#sorted[place] = mean;
    this.means[i] = mean;
    this.widths[i] = this.#widthAt(place, m + 1);
    if (this.parameter.step > 0) this.#classes[i] = this.#classCount++;
    return this.constant(i);
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
