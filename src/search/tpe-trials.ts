// The trials that TPE sees, in arrays that grow with a study: going over a hundred thousand objects
// would take longer than the estimate.
import { isFinished, type SeenTrial } from "./sampler.js";
import { isConstant, type SearchSpace, toScale } from "./space.js";

const other = 0;
const complete = 1;
const pruned = 2;
const running = 3;
const codes = { complete, pruned, running, failed: other, waiting: other } as const;

/** What is known of one list of trials, which may grow, and whose trials may be replaced. */
export class TpeTrials {
  readonly space: SearchSpace;
  readonly #free: readonly number[];
  #known: SeenTrial[] = [];
  #states = new Uint8Array(64);
  #losses = new Float64Array(64);
  /** Values by place, of numbers on their scale; NaN if a trial has none. */
  #scaled: Float64Array[];
  /** Room for what `split` gives. */
  #above = new Int32Array(64);
  #finished = 0;
  /** The lowest number of a finished trial by which free parameters it has. */
  #patterns = new Map<string, number>();

  constructor(space: SearchSpace) {
    this.space = space;
    this.#scaled = space.parameters.map(() => new Float64Array(64));
    this.#free = space.parameters.flatMap((parameter, place) => (isConstant(parameter) ? [] : [place]));
  }

  /** How many are complete or pruned. */
  get finished(): number {
    return this.#finished;
  }

  /** Takes the list as it is now. A trial that has changed is another object. */
  update(trials: readonly SeenTrial[]): this {
    if (trials.length < this.#known.length) this.#clear();
    for (let i = 0; i < trials.length; i++) {
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

  #clear(): void {
    this.#known = [];
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
    }
    this.#known[i] = trial;
    this.#states[i] = codes[trial.state];
    this.#losses[i] = trial.loss;
    for (const [place, parameter] of this.space.parameters.entries()) {
      const value = trial.values[place]!;
      this.#scaled[place]![i] = parameter.kind === "choice" ? value : toScale(parameter, value);
    }
    if (!isFinished(trial)) return;
    this.#finished++;
    if (!this.space.isConditional) return;
    const pattern = this.#free.map((place) => (Number.isNaN(trial.values[place]!) ? "0" : "1")).join("");
    this.#patterns.set(pattern, Math.min(i, this.#patterns.get(pattern) ?? i));
  }

  /**
   * The good ones, min(ceil(n/10), 25) of n finished trials: complete ones by loss, then pruned ones
   * by how far they came; and all others, with running ones if they count. Both by their places in
   * the list, until `split` is called again.
   */
  split(liar: boolean): { readonly below: Int32Array; readonly above: Int32Array } {
    const { length } = this.#known;
    const states = this.#states;
    const losses = this.#losses;
    const wanted = Math.min(Math.ceil(0.1 * this.#finished), 25);
    const best: number[] = [];
    const insert = (i: number, before: (a: number, b: number) => boolean, from: number) => {
      if (best.length === wanted && (wanted === 0 || best.length === from || !before(i, best[best.length - 1]!))) return;
      let place = best.length;
      while (place > from && before(i, best[place - 1]!)) place--;
      best.splice(place, 0, i);
      if (best.length > wanted) best.pop();
    };
    const isBetter = (a: number, b: number) => losses[a]! < losses[b]!;
    for (let i = 0; i < length; i++) {
      if (states[i] !== complete) continue;
      // Nearly all trials of a long study end here.
      if (best.length < wanted || (wanted > 0 && losses[i]! < losses[best[wanted - 1]!]!)) insert(i, isBetter, 0);
    }
    const count = best.length;
    const known = this.#known;
    const cameFurtherAt = (a: number, b: number) => cameFurther(known[a]!, known[b]!);
    if (count < wanted) for (let i = 0; i < length; i++) if (states[i] === pruned) insert(i, cameFurtherAt, count);
    const below = Int32Array.from(best).sort();
    if (this.#above.length < length) this.#above = new Int32Array(2 * length);
    const above = this.#above;
    let others = 0;
    let passed = 0;
    for (let i = 0; i < length; i++) {
      if (i === below[passed]) passed++;
      else if (states[i] === complete || states[i] === pruned || (liar && states[i] === running)) above[others++] = i;
    }
    return { below, above: above.subarray(0, others) };
  }

  /** The values of trials by their places in the list; only of those that have all of `group`. */
  having(places: Int32Array, group: readonly number[]): Int32Array {
    if (!this.space.isConditional) return places;
    return places.filter((i) => {
      const { values } = this.#known[i]!;
      for (const place of group) if (Number.isNaN(values[place]!)) return false;
      return true;
    });
  }

  /** The values of trials by their places in the list, of numbers on their scale. */
  values(places: Int32Array, group: readonly number[]): Float64Array[] {
    return group.map((place) => {
      const column = this.#scaled[place]!;
      const out = new Float64Array(places.length);
      for (let i = 0; i < out.length; i++) out[i] = column[places[i]!]!;
      return out;
    });
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
      const has = (place: number) => pattern[free.indexOf(place)] === "1";
      const known = new Set(groups.flat());
      groups = groups.flatMap((group) => [group.filter(has), group.filter((place) => !has(place))]);
      groups.push(free.filter((place) => has(place) && !known.has(place)));
      groups = groups.filter(({ length }) => length > 0);
    }
    return groups;
  }
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
