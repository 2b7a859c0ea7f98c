// The trials that TPE sees, in arrays that grow with a study: going over a hundred thousand objects
// would take longer than the estimate.
import { firstNotBelow } from "./order.js";
import type { KnownMasses } from "./parzen-columns.js";
import { isFinished, type SeenTrial } from "./sampler.js";
import { isConstant, type SearchSpace, toScale } from "./space.js";

const other = 0;
const complete = 1;
const pruned = 2;
const running = 3;
const codes = { complete, pruned, running, failed: other, waiting: other } as const;

/** The most good trials that an estimate takes. */
const mostGood = 25;

/**
 * What is known of one list of trials, which may grow, and whose unfinished trials may be replaced.
 * A trial that is taken costs the same in a list of any length.
 */
export class TpeTrials {
  readonly space: SearchSpace;
  readonly #free: readonly number[];
  /** Whether running trials count among the others. */
  readonly #liar: boolean;
  #known: SeenTrial[] = [];
  #states = new Uint8Array(64);
  #losses = new Float64Array(64);
  /** Values by index, of numbers on their scale; NaN if a trial has none. */
  #scaled: Float64Array[];
  /** What estimates know of values by index, of numbers; NaN if it is unknown. */
  #masses: Float64Array[];
  /**
   * Indices of all trials that count, in order, good ones too; behind `#counted` it is not known.
   */
  #counting = new Int32Array(64);
  #counted = 0;
  /** All indices below this are in `#counting` if they count. */
  #countedUpTo = 0;
  /** Indices of the best complete trials by loss, the first of equals first. */
  #best: number[] = [];
  #finished = 0;
  /** The lowest number of a finished trial by which free parameters it has. */
  #patterns = new Map<string, number>();

  constructor(space: SearchSpace, liar: boolean) {
    this.space = space;
    this.#liar = liar;
    this.#scaled = space.parameters.map(() => new Float64Array(64));
    this.#masses = space.parameters.map(() => new Float64Array(64));
    this.#free = space.parameters.flatMap((parameter, index) => (isConstant(parameter) ? [] : [index]));
  }

  /** How many are complete or pruned. */
  get finished(): number {
    return this.#finished;
  }

  /** Takes the list as it is now. A trial that has changed is another object. */
  update(trials: readonly SeenTrial[]): this {
    const known = this.#known;
    if (known.slice(trials.length).some(isFinished)) this.#clear();
    else if (trials.length < known.length) {
      known.length = trials.length;
      this.#forgetCounted(trials.length);
    }
    for (let i = this.#firstChanged(trials); i < trials.length; i++) {
      const before = this.#known[i];
      if (before === trials[i]) continue;
      if (before === undefined || !isFinished(before)) this.#take(trials[i]!, i);
      else {
        this.#clear();
        i = -1;
      }
    }
    return this;
  }

  /** Where a list first differs from what is known; goes over pointers alone. */
  #firstChanged(trials: readonly SeenTrial[]): number {
    const known = this.#known;
    for (let i = 0; i < known.length; i++) if (known[i] !== trials[i]) return i;
    return known.length;
  }

  #clear(): void {
    this.#known = [];
    this.#counted = 0;
    this.#countedUpTo = 0;
    this.#best = [];
    this.#finished = 0;
    this.#patterns = new Map();
  }

  #take(trial: SeenTrial, i: number): void {
    if (i >= this.#losses.length) {
      const states = new Uint8Array(2 * this.#states.length);
      states.set(this.#states);
      this.#states = states;
      this.#losses = longer(this.#losses);
      this.#scaled = this.#scaled.map(longer);
      this.#masses = this.#masses.map(longer);
    }
    const before = this.#known[i] && this.#counts(i);
    this.#known[i] = trial;
    this.#states[i] = codes[trial.state];
    this.#losses[i] = trial.loss;
    if (before !== undefined && before !== this.#counts(i)) this.#forgetCounted(i);
    for (const [index, parameter] of this.space.parameters.entries()) {
      const value = trial.values[index]!;
      this.#scaled[index]![i] = parameter.kind === "choice" ? value : toScale(parameter, value);
      this.#masses[index]![i] = Number.NaN;
    }
    if (!isFinished(trial)) return;
    this.#finished++;
    if (trial.state === "complete") insert(this.#best, i, mostGood, (a, b) => this.#isBetter(a, b));
    if (!this.space.isConditional) return;
    const pattern = this.#free.map((index) => (Number.isNaN(trial.values[index]!) ? "0" : "1")).join("");
    this.#patterns.set(pattern, Math.min(i, this.#patterns.get(pattern) ?? i));
  }

  /** By loss, those without one last, and then by index. */
  #isBetter(a: number, b: number): boolean {
    const [mine, other] = [this.#losses[a]!, this.#losses[b]!];
    if (Number.isNaN(mine) || Number.isNaN(other)) return Number.isNaN(mine) === Number.isNaN(other) ? a < b : Number.isNaN(other);
    return mine < other || (mine === other && a < b);
  }

  #counts(i: number): boolean {
    const state = this.#states[i];
    return state === complete || state === pruned || (this.#liar && state === running);
  }

  /** Trials from this index on are to be counted again. */
  #forgetCounted(from: number): void {
    if (from >= this.#countedUpTo) return;
    this.#countedUpTo = from;
    while (this.#counted > 0 && this.#counting[this.#counted - 1]! >= from) this.#counted--;
  }

  /** Indices of all trials that count, in order. */
  #allCounting(): Int32Array {
    const { length } = this.#known;
    if (this.#counting.length < length) {
      const larger = new Int32Array(2 * length);
      larger.set(this.#counting.subarray(0, this.#counted));
      this.#counting = larger;
    }
    for (let i = this.#countedUpTo; i < length; i++) if (this.#counts(i)) this.#counting[this.#counted++] = i;
    this.#countedUpTo = length;
    return this.#counting.subarray(0, this.#counted);
  }

  /**
   * The good ones, min(ceil(n/10), 25) of n finished trials: complete ones by loss, then pruned
   * ones by how far they came; and all others, with running ones if they count. Both by their
   * indices in the list, in order.
   */
  split(): { readonly below: Int32Array; readonly above: OtherTrials } {
    const wanted = Math.min(Math.ceil(0.1 * this.#finished), mostGood);
    const good = this.#best.slice(0, wanted);
    if (good.length < wanted) {
      const known = this.#known;
      const furthest: number[] = [];
      const isFurther = (a: number, b: number) => cameFurther(known[a]!, known[b]!);
      for (let i = 0; i < known.length; i++) if (this.#states[i] === pruned) insert(furthest, i, wanted - good.length, isFurther);
      good.push(...furthest);
    }
    const below = Int32Array.from(good).sort();
    return { below, above: new OtherTrials(this.#allCounting(), below) };
  }

  /** The values of trials by their indices in the list; only of those that have all of `group`. */
  having(indices: Int32Array, group: readonly number[]): Int32Array {
    if (!this.space.isConditional) return indices;
    return indices.filter((i) => {
      const { values } = this.#known[i]!;
      for (const index of group) if (Number.isNaN(values[index]!)) return false;
      return true;
    });
  }

  /** Those of the others that have all of `group`. */
  othersHaving(others: OtherTrials, group: readonly number[]): Pick<OtherTrials, "length" | "at" | "toArray"> {
    if (!this.space.isConditional) return others;
    const indices = this.having(others.toArray(), group);
    return { length: indices.length, at: (i) => indices[i]!, toArray: () => indices };
  }

  /** The values of trials by their indices in the list, of numbers on their scale. */
  values(indices: Int32Array, group: readonly number[]): Float64Array[] {
    return group.map((index) => {
      const column = this.#scaled[index]!;
      const out = new Float64Array(indices.length);
      for (let i = 0; i < out.length; i++) out[i] = column[indices[i]!]!;
      return out;
    });
  }

  /** What estimates know, and add to, of trials by their indices in the list. */
  knownMasses(rows: Int32Array, group: readonly number[]): KnownMasses[] {
    return group.map((index) => ({ rows, logs: this.#masses[index]! }));
  }

  /**
   * Parameters that are estimated together. Without conditions all are; with them, each finished
   * trial splits every group by what it has, and what no group had before is one of its own.
   * Parameters of one value are in none.
   */
  groups(): readonly (readonly number[])[] {
    const free = this.#free;
    if (free.length === 0) return [];
    if (!this.space.isConditional) return [free];
    let groups: number[][] = [];
    for (const [pattern] of [...this.#patterns].sort(([, a], [, b]) => a - b)) {
      const has = (index: number) => pattern[free.indexOf(index)] === "1";
      const known = new Set(groups.flat());
      groups = groups.flatMap((group) => [group.filter(has), group.filter((index) => !has(index))]);
      groups.push(free.filter((index) => has(index) && !known.has(index)));
      groups = groups.filter(({ length }) => length > 0);
    }
    return groups;
  }
}

/** Trials in order without a few of them. */
export class OtherTrials {
  readonly length: number;
  readonly #all: Int32Array;
  /** Where those few are in all. */
  readonly #gaps: Int32Array;

  /** @param without in order, each one of `all` */
  constructor(all: Int32Array, without: Int32Array) {
    this.#all = all;
    this.#gaps = without.map((index) => firstNotBelow(all, index));
    this.length = all.length - without.length;
  }

  /** The index in the list of the i-th of them. */
  at(i: number): number {
    let k = i;
    for (let g = 0; g < this.#gaps.length && this.#gaps[g]! <= k; g++) k++;
    return this.#all[k]!;
  }

  /** The indices of all of them. */
  toArray(): Int32Array {
    return Int32Array.from({ length: this.length }, (_, i) => this.at(i));
  }
}

/**
 * Puts an index into a list in order, which keeps at most so many; behind those it is no better
 * than.
 */
function insert(list: number[], i: number, most: number, before: (a: number, b: number) => boolean): void {
  if (list.length === most && (most === 0 || !before(i, list[most - 1]!))) return;
  let at = list.length;
  while (at > 0 && before(i, list[at - 1]!)) at--;
  list.splice(at, 0, i);
  if (list.length > most) list.pop();
}

function longer(values: Float64Array): Float64Array<ArrayBuffer> {
  const out = new Float64Array(2 * values.length);
  out.set(values);
  return out;
}

/** Whether a pruned trial came further than another, or as far with a smaller loss. */
function cameFurther({ last: a }: SeenTrial, { last: b }: SeenTrial): boolean {
  if (a === undefined || b === undefined) return a !== undefined && b === undefined;
  if (a.step !== b.step) return a.step > b.step;
  return a.loss < b.loss || (Number.isNaN(b.loss) && !Number.isNaN(a.loss));
}
