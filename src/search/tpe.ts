// The tree-structured Parzen estimator (Bergstra et al. 2011) as Optuna 5 has it: multivariate,
// with the constant liar, and groups of parameters if there are conditions.
import { flag, option, resolve, type TableOf, whole } from "../core/options.js";
import { addLogs, fullyWeighted, ParzenEstimator, rampWeights } from "./parzen.js";
import { Draws, isFinished, randomValue, type Sampler, type SamplerView, type SeenTrial, type Suggestion } from "./sampler.js";
import { type SamplerOptions, samplerTable } from "./sampler-options.js";
import { isConstant, type SearchSpace } from "./space.js";

/** Options of `tpe`. */
export interface TpeOptions extends SamplerOptions {
  /** Finished trials that are random before the first estimate; default 10. */
  readonly startup?: number | undefined;
  /** Candidates of each suggestion; default 24. */
  readonly candidates?: number | undefined;
  /** Whether running trials count among the bad ones; default true. */
  readonly liar?: boolean | undefined;
}

/** The options of `tpe`. */
export const tpeTable = {
  ...samplerTable,
  startup: option(whole({ atLeast: 0 }), 10, "Finished trials that are random before the first estimate."),
  candidates: option(whole({ atLeast: 1, atMost: 10_000 }), 24, "Candidates of each suggestion."),
  liar: option(flag, true, "Whether running trials count among the bad ones, so that a batch spreads."),
} satisfies TableOf<TpeOptions>;

/** The most observations whose kernels are all kept, beside the newest 25. */
const mostObservations = 1000;

/** Suggestions that share candidates' sums; after so many the estimator is made anew. */
const chunk = 64;

/**
 * Suggests what maximises l(x)/g(x): the density of the best ceil(n/10), at most 25, of n finished
 * trials over that of the others. From 1,000 of the others on, a suggestion sees the newest 25 and
 * a sample of 1,000, so its cost is bounded.
 * @throws ArgumentError for an unknown option
 */
export function tpe(options: TpeOptions = {}): Sampler {
  const { seed, ...settings } = resolve(tpeTable, options, "tpe");
  const draws = new Draws(seed);
  return {
    name: "tpe",
    seed,
    suggest: (view, numbers) => {
      const out: Suggestion[] = [];
      const trials = numbers.length > chunk ? [...view.trials] : view.trials;
      for (let from = 0; from < numbers.length; from += chunk) {
        const part = suggestChunk({ space: view.space, trials }, numbers.slice(from, from + chunk), draws, settings);
        out.push(...part);
        if (from + chunk >= numbers.length) break;
        for (const [i, { values }] of part.entries())
          (trials as SeenTrial[]).push({ number: numbers[from + i]!, state: "running", values, loss: Number.NaN });
      }
      return out;
    },
  };
}

type Settings = Required<Omit<{ readonly [Name in keyof TpeOptions]: NonNullable<TpeOptions[Name]> }, "seed">>;

function suggestChunk(view: SamplerView, numbers: readonly number[], draws: Draws, settings: Settings): Suggestion[] {
  const { space, trials } = view;
  let finished = 0;
  for (const trial of trials) if (isFinished(trial)) finished++;
  if (finished < settings.startup) return numbers.map((k) => ({ values: space.fill((place) => randomValue(space, draws, k, place)) }));
  const { below, above } = split(trials, finished, settings.liar);
  const chosen = numbers.map(() => new Float64Array(space.size).fill(Number.NaN));
  let address = space.size;
  for (const group of groupsOf(space, trials)) {
    const said = suggestGroup(space, group, below, above, numbers, draws, settings, address);
    for (const [b, values] of said.entries()) for (const [j, place] of group.entries()) chosen[b]![place] = values[j]!;
    address += settings.candidates * (group.length + 1);
  }
  return numbers.map((k, b) => ({
    values: space.fill((place) => {
      const value = chosen[b]![place]!;
      return Number.isNaN(value) ? randomValue(space, draws, k, place) : value;
    }),
  }));
}

/** The best of each trial's candidates, each suggestion a liar for the next. */
function suggestGroup(
  space: SearchSpace,
  group: readonly number[],
  below: readonly SeenTrial[],
  above: readonly SeenTrial[],
  numbers: readonly number[],
  draws: Draws,
  { candidates, liar }: Settings,
  address: number,
): Float64Array[] {
  const parameters = group.map((place) => space.parameters[place]!);
  const hasAll = ({ values }: SeenTrial) => {
    for (const place of group) if (Number.isNaN(values[place]!)) return false;
    return true;
  };
  // Without conditions every trial has all.
  const having = (list: readonly SeenTrial[]) => (space.isConditional ? list.filter(hasAll) : list);
  const rows = (list: readonly SeenTrial[]) => list.map(({ values }) => valuesAt(values, group));
  const good = new ParzenEstimator(parameters, rows(having(below)));
  const { kept, weights } = thinned(having(above), draws.thinning(numbers[0]!));
  const rest = new ParzenEstimator(parameters, rows(kept), weights, liar ? numbers.length : 0);
  const stride = group.length + 1;
  const drawn = numbers.map((k) =>
    Array.from({ length: candidates }, (_, c) => {
      const values = good.draw((i) => draws.uniform(k, address + c * stride + i));
      return { values, good: good.logSum(values), rest: rest.logSum(values) };
    }),
  );
  return drawn.map((mine, b) => {
    let best = mine[0]!;
    for (const each of mine) if (each.good - each.rest > best.good - best.rest) best = each;
    if (liar && b + 1 < drawn.length) {
      rest.add(best.values);
      for (let later = b + 1; later < drawn.length; later++)
        for (const each of drawn[later]!) each.rest = addLogs(each.rest, rest.logOfNewest(each.values));
    }
    return best.values;
  });
}

function valuesAt(values: Float64Array, places: readonly number[]): Float64Array {
  const out = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) out[i] = values[places[i]!]!;
  return out;
}

/**
 * All observations, or from 1,000 beside the newest 25 on, the newest and a systematic sample of
 * the others: each is taken with a probability in proportion to its weight, and the sample has
 * their weight.
 */
function thinned(rows: readonly SeenTrial[], u: number): { readonly kept: readonly SeenTrial[]; readonly weights: Float64Array } {
  const all = rampWeights(rows.length);
  const old = rows.length - fullyWeighted;
  if (old <= mostObservations) return { kept: rows, weights: all };
  let total = 0;
  for (let i = 0; i < old; i++) total += all[i]!;
  const each = total / mostObservations;
  const kept: SeenTrial[] = [];
  const weights: number[] = [];
  let sum = 0;
  let taken = 0;
  for (let i = 0; i < old; i++) {
    sum += all[i]!;
    const upTo = Math.min(mostObservations, Math.floor(sum / each - u) + 1);
    if (upTo <= taken) continue;
    kept.push(rows[i]!);
    weights.push((upTo - taken) * each);
    taken = upTo;
  }
  for (let i = old; i < rows.length; i++) {
    kept.push(rows[i]!);
    weights.push(1);
  }
  return { kept, weights: Float64Array.from(weights) };
}

/**
 * The good ones, min(ceil(n/10), 25) of n finished trials: complete ones by loss, then pruned ones
 * by how far they came; and all others. Both by number.
 */
function split(
  trials: readonly SeenTrial[],
  finished: number,
  liar: boolean,
): { below: readonly SeenTrial[]; above: readonly SeenTrial[] } {
  const wanted = Math.min(Math.ceil(0.1 * finished), 25);
  const best: SeenTrial[] = [];
  const insert = (trial: SeenTrial, before: (a: SeenTrial, b: SeenTrial) => boolean, from: number) => {
    if (best.length === wanted && (wanted === 0 || best.length === from || !before(trial, best[best.length - 1]!))) return;
    let place = best.length;
    while (place > from && before(trial, best[place - 1]!)) place--;
    best.splice(place, 0, trial);
    if (best.length > wanted) best.pop();
  };
  const isBetter = (a: SeenTrial, b: SeenTrial) => a.loss < b.loss;
  for (const trial of trials) {
    if (trial.state !== "complete") continue;
    // Nearly all trials of a long study end here.
    if (best.length < wanted || (wanted > 0 && trial.loss < best[wanted - 1]!.loss)) insert(trial, isBetter, 0);
  }
  const complete = best.length;
  if (complete < wanted) for (const trial of trials) if (trial.state === "pruned") insert(trial, cameFurther, complete);
  const below = best.sort((a, b) => a.number - b.number);
  const above: SeenTrial[] = [];
  let passed = 0;
  for (const trial of trials) {
    // Both lists are in the order of numbers.
    if (trial === below[passed]) passed++;
    else if (isFinished(trial) || (liar && trial.state === "running")) above.push(trial);
  }
  return { below, above };
}

/** Whether a pruned trial came further than another, or as far with a smaller loss. */
function cameFurther({ last: a }: SeenTrial, { last: b }: SeenTrial): boolean {
  if (a === undefined || b === undefined) return a !== undefined && b === undefined;
  if (a.step !== b.step) return a.step > b.step;
  return a.loss < b.loss || (Number.isNaN(b.loss) && !Number.isNaN(a.loss));
}

/**
 * Parameters that are estimated together. Without conditions all are; with them, each finished
 * trial splits every group by what it has, and what no group had before is one of its own.
 * Parameters of one value are in none.
 */
function groupsOf(space: SearchSpace, trials: readonly SeenTrial[]): readonly (readonly number[])[] {
  const free = space.parameters.flatMap((parameter, place) => (isConstant(parameter) ? [] : [place]));
  if (free.length === 0) return [];
  if (!space.isConditional) return [free];
  let groups: number[][] = [];
  const seen = new Set<string>();
  for (const trial of trials) {
    if (!isFinished(trial)) continue;
    const has = (place: number) => !Number.isNaN(trial.values[place]!);
    const pattern = free.map((place) => (has(place) ? "1" : "0")).join("");
    if (seen.has(pattern)) continue;
    seen.add(pattern);
    const known = new Set(groups.flat());
    groups = groups.flatMap((group) => [group.filter(has), group.filter((place) => !has(place))]);
    groups.push(free.filter((place) => has(place) && !known.has(place)));
    groups = groups.filter(({ length }) => length > 0);
  }
  return groups;
}
