// The tree-structured Parzen estimator (Bergstra et al. 2011) as Optuna 5 has it: multivariate,
// with the constant liar, and groups of parameters if there are conditions.
import { flag, type InputOf, option, resolve, whole } from "@spillway/core/options.js";
import { fullyWeighted, ParzenEstimator, rampWeights } from "./parzen.js";
import { Draws, randomValue, type Sampler, type SeenTrial, type Suggestion } from "./sampler.js";
import { type SamplerOptions, samplerTable } from "./sampler-options.js";
import type { SearchSpace } from "./space.js";
import { type OtherTrials, TpeTrials } from "./tpe-trials.js";

export const tpeTable = {
  ...samplerTable,
  /** Finished trials that are random before the first estimate; default 10. */
  startup: option(whole({ atLeast: 0 }), 10, "Finished trials that are random before the first estimate."),
  /** Candidates of each suggestion; default 24. */
  candidates: option(whole({ atLeast: 1, atMost: 10_000 }), 24, "Candidates of each suggestion."),
  /** Whether running trials count among the bad ones; default true. */
  liar: option(flag, true, "Whether running trials count among the bad ones, so that a batch spreads."),
};

/** Options of `tpe`. */
export interface TpeOptions extends SamplerOptions, InputOf<typeof tpeTable> {}

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
  /** What is known of a study's list of trials, as long as the study has it. */
  const knownOf = new WeakMap<readonly SeenTrial[], TpeTrials>();
  return {
    name: "tpe",
    seed,
    suggest: ({ space, trials }, numbers) => {
      const before = knownOf.get(trials);
      const known = before?.space === space ? before : new TpeTrials(space, settings.liar);
      knownOf.set(trials, known);
      const out: Suggestion[] = [];
      let current = trials;
      for (let from = 0; ; from += chunk) {
        known.update(current);
        const part = suggestChunk(space, known, numbers.slice(from, from + chunk), draws, settings);
        out.push(...part);
        if (from + chunk >= numbers.length) return out;
        const asked = part.map(({ values }, i): SeenTrial => ({ number: numbers[from + i]!, state: "running", values, loss: Number.NaN }));
        current = [...current, ...asked];
      }
    },
  };
}

type Settings = Required<Omit<{ readonly [Name in keyof TpeOptions]: NonNullable<TpeOptions[Name]> }, "seed">>;

function suggestChunk(space: SearchSpace, trials: TpeTrials, numbers: readonly number[], draws: Draws, settings: Settings): Suggestion[] {
  if (trials.finished < settings.startup)
    return numbers.map((k) => ({ values: space.fill((index) => randomValue(space, draws, k, index)) }));
  const { below, above } = trials.split();
  const chosen = numbers.map(() => new Float64Array(space.size).fill(Number.NaN));
  let address = space.size;
  for (const group of trials.groups()) {
    const of = { below: trials.having(below, group), above };
    const said = suggestGroup(space, group, trials, of, numbers, draws, settings, address);
    for (const [b, values] of said.entries()) for (const [j, index] of group.entries()) chosen[b]![index] = values[j]!;
    address += settings.candidates * (group.length + 1);
  }
  return numbers.map((k, b) => ({
    values: space.fill((index) => {
      const value = chosen[b]![index]!;
      return Number.isNaN(value) ? randomValue(space, draws, k, index) : value;
    }),
  }));
}

/** The best of each trial's candidates, each suggestion a liar for the next. */
function suggestGroup(
  space: SearchSpace,
  group: readonly number[],
  trials: TpeTrials,
  { below, above }: { readonly below: Int32Array; readonly above: OtherTrials },
  numbers: readonly number[],
  draws: Draws,
  { candidates, liar }: Settings,
  address: number,
): Float64Array[] {
  const parameters = group.map((index) => space.parameters[index]!);
  const good = new ParzenEstimator(parameters, trials.values(below, group), rampWeights(below.length));
  const { kept, weights } = thinned(trials.othersHaving(above, group), draws.thinning(numbers[0]!));
  const extra = liar ? numbers.length : 0;
  const rest = new ParzenEstimator(parameters, trials.values(kept, group), weights, extra, trials.knownMasses(kept, group));
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
        for (const each of drawn[later]!) each.rest = rest.addNewest(each.rest, each.values);
    }
    return best.values;
  });
}

/**
 * All observations, or from 1,000 beside the newest 25 on, the newest and a systematic sample of
 * the others: each is taken with a probability in proportion to its weight, and the sample has
 * their weight.
 */
function thinned(
  rows: Pick<OtherTrials, "length" | "at" | "toArray">,
  u: number,
): { readonly kept: Int32Array; readonly weights: Float64Array } {
  const { length } = rows;
  const old = length - fullyWeighted;
  if (old <= mostObservations) return { kept: rows.toArray(), weights: rampWeights(length) };
  const from = 1 / length;
  const rise = (1 - from) / (old - 1);
  /** The sum of the weights of the first i: a ramp. */
  const sumOf = (i: number) => i * from + (rise * i * (i - 1)) / 2;
  const each = sumOf(old) / mostObservations;
  const kept = new Int32Array(mostObservations + fullyWeighted);
  const weights = new Float64Array(mostObservations + fullyWeighted).fill(1);
  let count = 0;
  let last = -1;
  for (let k = 0; k < mostObservations; k++) {
    const wanted = each * (k + u);
    // The root of sumOf(i) = wanted, and from there the first whose sum with its own is not below.
    const linear = from / rise - 0.5;
    let i = Math.min(old - 1, Math.floor(Math.sqrt(linear * linear + (2 * wanted) / rise) - linear));
    while (i > 0 && sumOf(i) >= wanted) i--;
    while (i < old - 1 && sumOf(i + 1) < wanted) i++;
    if (i === last) weights[count - 1]! += each;
    else {
      kept[count] = rows.at(i);
      weights[count++] = each;
      last = i;
    }
  }
  for (let i = old; i < length; i++) {
    kept[count] = rows.at(i);
    weights[count++] = 1;
  }
  return { kept: kept.subarray(0, count), weights: weights.subarray(0, count) };
}
