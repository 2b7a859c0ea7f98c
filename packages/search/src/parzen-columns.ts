// The parameters of a Parzen estimator, one of all kernels each: choices, and numbers.
import { portableLog } from "@spillway/numerics";
import { halfLogTwoPi, logNormalMass, truncatedNormal } from "./normal.js";
import { firstNotBelow, orderOf } from "./order.js";
import { fromScale, type SearchParameter, scaledBounds, toScale } from "./space.js";

/** No kernel is narrower than the range over this, nor than the range over their number. */
const mostKernelsOfRange = 100;

/** One parameter of all kernels. */
export interface Column {
  readonly parameter: SearchParameter;
  /** The value that `addLogs` is about. */
  aim(value: number): void;
  /**
   * Adds the logarithms of the densities of the kernels near[0] to near[count - 1] there to `logs`,
   * less what is constant. Each is at most 0.
   */
  addLogs(logs: Float64Array, near: Int32Array, count: number): void;
  /** A value of kernel i from a uniform draw. */
  draw(i: number, u: number): number;
  /** A kernel at a value is added as the i-th. */
  add(value: number, i: number): void;
  /** What of the logarithm of kernel i is constant. */
  constant(i: number): number;
}

/** A choice: 1/(m + 1) everywhere and 1 more at the observed one, divided by the sum. */
export class ChoiceColumn implements Column {
  readonly parameter: SearchParameter;
  readonly #observed: Int32Array;
  readonly #hit: number;
  readonly #miss: number;
  readonly #logHit: number;
  readonly #logMiss: number;
  readonly #logUniform: number;
  #aimed = -1;

  constructor(parameter: SearchParameter, values: Float64Array, extra: number) {
    this.parameter = parameter;
    const m = values.length;
    const choices = parameter.choices.length;
    this.#observed = new Int32Array(m + 1 + extra).fill(-1);
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

  aim(value: number): void {
    this.#aimed = value;
  }

  addLogs(logs: Float64Array, near: Int32Array, count: number): void {
    for (let k = 0; k < count; k++) {
      const observed = this.#observed[near[k]!]!;
      logs[k] = logs[k]! + (observed < 0 ? this.#logUniform : observed === this.#aimed ? this.#logHit : this.#logMiss);
    }
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

/**
 * What of the kernels that the observations of a study have at the least width lies within the
 * bounds, in logarithms: it is the same in every estimate from about 100 observations on.
 */
export interface KnownMasses {
  /** Of each observation its index in the study. */
  readonly rows: Int32Array;
  /** By index; NaN until it is known. */
  readonly logs: Float64Array;
}

/** A number: a normal distribution within the bounds, its width from the nearest neighbours. */
export class NumberColumn implements Column {
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
  /** Ends of the step of a value that was asked for, and the logarithms of its mass by class. */
  readonly #masses = new Map<number, { readonly from: number; readonly to: number; readonly logs: Float64Array }>();
  readonly #isStepped: boolean;
  /** Classes that kernels may bring which are added. */
  readonly #capacity: number;
  /** Of each kernel 1 / (width sqrt(2)). */
  readonly inverse: Float64Array;
  /** The ends of the step of the value that is aimed at, on the scale; without steps the value. */
  from = 0;
  to = 0;
  /** The logarithms of its mass by class; NaN for one that is not known yet. */
  #aimed: Float64Array = new Float64Array(0);
  readonly #logLeast: number;
  readonly #known: KnownMasses | undefined;

  /** @param known is filled and read if the least width is that of every larger estimator */
  constructor(parameter: SearchParameter, values: Float64Array, extra: number, known?: KnownMasses) {
    this.parameter = parameter;
    this.#known = values.length + 2 >= mostKernelsOfRange ? known : undefined;
    this.#isStepped = parameter.step > 0;
    this.#capacity = extra;
    const m = values.length;
    const [low, high] = scaledBounds(parameter);
    this.#low = low;
    this.#high = high;
    this.#least = (high - low) / Math.min(mostKernelsOfRange, m + 2);
    this.#logLeast = portableLog(this.#least);
    this.#observed = m;
    const capacity = m + 1 + extra;
    this.means = new Float64Array(capacity);
    this.widths = new Float64Array(capacity);
    this.inverse = new Float64Array(capacity);
    this.#classes = new Int32Array(capacity);
    this.means.set(values);
    this.#sorted = new Float64Array(m + extra);
    this.#setWidths(m);
    this.means[m] = (low + high) / 2;
    this.widths[m] = high - low;
    this.#classes[m] = this.#classCount++;
  }

  /** Widths of the observed kernels; equal means are ordered by number. */
  #setWidths(m: number): void {
    const { means } = this;
    const order = orderOf(means, m);
    for (let index = 0; index < m; index++) this.#sorted[index] = means[order[index]!]!;
    /** The widths of the classes of a run of equal means: up to four. */
    let begin = 0;
    const widths: number[] = [];
    for (let index = 0; index < m; index++) {
      const i = order[index]!;
      const width = this.#widthAt(index, m);
      this.widths[i] = width;
      if (!this.#isStepped) continue;
      if (index > 0 && means[i] !== this.#sorted[index - 1]) {
        begin += widths.length;
        widths.length = 0;
      }
      let name = widths.indexOf(width);
      if (name < 0) name = widths.push(width) - 1;
      this.#classes[i] = begin + name;
    }
    this.#classCount = begin + widths.length;
  }

  /**
   * The larger distance to a neighbour; the bounds are neighbours only if there is nothing else.
   */
  #widthAt(index: number, m: number): number {
    const sorted = this.#sorted;
    const here = sorted[index]!;
    const left = here - (index === 0 ? this.#low : sorted[index - 1]!);
    const right = (index === m - 1 ? this.#high : sorted[index + 1]!) - here;
    const width = m >= 2 && index === 0 ? right : m >= 2 && index === m - 1 ? left : Math.max(left, right);
    return Math.min(Math.max(width, this.#least), this.#high - this.#low);
  }

  constant(i: number): number {
    const width = this.widths[i]!;
    const mass = this.#logMass(i, width);
    return this.#isStepped ? -mass : -mass - halfLogTwoPi - this.#logWidth(width);
  }

  /** The logarithm of what of kernel i lies within the bounds. */
  #logMass(i: number, width: number): number {
    const known = this.#known;
    const index = known !== undefined && width === this.#least && i < known.rows.length ? known.rows[i]! : -1;
    const before = index < 0 ? Number.NaN : known!.logs[index]!;
    if (!Number.isNaN(before)) return before;
    const mean = this.means[i]!;
    const mass = logNormalMass((this.#low - mean) / width, (this.#high - mean) / width);
    if (index >= 0) known!.logs[index] = mass;
    return mass;
  }

  /** Most widths are the least. */
  #logWidth(width: number): number {
    return width === this.#least ? this.#logLeast : portableLog(width);
  }

  /** Adds at least what of the logarithms of kernels [from, to) is constant. */
  addMostConstants(bounds: Float64Array, from: number, to: number): void {
    // A mean within the bounds has at least 0.34 of its mass there, as no width is larger.
    const most = 1.08 + (this.#isStepped ? 0 : -halfLogTwoPi - this.#logLeast);
    for (let i = from; i < to; i++) {
      const mean = this.means[i]!;
      this.inverse[i] = Math.SQRT1_2 / this.widths[i]!;
      bounds[i] = bounds[i]! + (mean >= this.#low && mean <= this.#high ? most : Number.POSITIVE_INFINITY);
    }
  }

  aim(value: number): void {
    const { parameter } = this;
    const half = parameter.step / 2;
    if (half === 0) {
      this.from = toScale(parameter, value);
      this.to = this.from;
      return;
    }
    const known = this.#masses.get(value);
    this.from = known?.from ?? toScale(parameter, value - half);
    this.to = known?.to ?? toScale(parameter, value + half);
    this.#aimed = known?.logs ?? new Float64Array(this.#classCount + this.#capacity).fill(Number.NaN);
    if (!known) this.#masses.set(value, { from: this.from, to: this.to, logs: this.#aimed });
  }

  addLogs(logs: Float64Array, near: Int32Array, count: number): void {
    const { means, widths, from } = this;
    if (!this.#isStepped) {
      for (let k = 0; k < count; k++) {
        const i = near[k]!;
        const z = (from - means[i]!) / widths[i]!;
        logs[k] = logs[k]! - (z * z) / 2;
      }
      return;
    }
    const classes = this.#classes;
    const aimed = this.#aimed;
    for (let k = 0; k < count; k++) {
      const i = near[k]!;
      const name = classes[i]!;
      let mass = aimed[name]!;
      if (Number.isNaN(mass)) {
        mass = logNormalMass((from - means[i]!) / widths[i]!, (this.to - means[i]!) / widths[i]!);
        aimed[name] = mass;
      }
      logs[k] = logs[k]! + mass;
    }
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
    const index = firstNotBelow(this.#sorted, mean, m);
    this.#sorted.copyWithin(index + 1, index, m);
    this.#sorted[index] = mean;
    this.means[i] = mean;
    this.widths[i] = this.#widthAt(index, m + 1);
    if (this.parameter.step > 0) this.#classes[i] = this.#classCount++;
  }
}
