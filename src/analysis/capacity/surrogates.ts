// Targets of inputs that the reservoir never heard: what chance gives for each degree.
import { type PhiloxKey, RandomStream, type Seed, seedKeys } from "../../numerics/index.js";
import { streams } from "../source.js";
import { evaluatePolynomials, type Recurrence } from "./polynomials.js";
import type { TargetGroup } from "./products.js";
import type { Targets } from "./targets.js";

/** Inputs drawn for the threshold. */
export const surrogateCount = 200;

/** Where the draws of all surrogates come from: row s of a stream is surrogate s. */
export function surrogateDraws(seed: Seed): { readonly key: PhiloxKey; readonly stream: number } {
  return { key: seedKeys(seed).weights, stream: streams.surrogateInputs };
}

/** One target a partition of each degree, its parts at delays 0, 1, 2, ... */
export function partitionTargets(degrees: readonly number[]): { readonly targets: Targets; readonly degreeOf: number[] } {
  const all = degrees.flatMap((degree) => partitions(degree, degree).map((parts) => ({ degree, parts })));
  const terms = all.flatMap(({ parts }) => parts.map((degree, delay) => ({ degree, delay })));
  const first = new Uint32Array(all.length + 1);
  all.forEach(({ parts }, j) => {
    first[j + 1] = first[j]! + parts.length;
  });
  const targets = {
    count: all.length,
    first,
    termDegrees: Uint8Array.from(terms, ({ degree }) => degree),
    termDelays: Uint32Array.from(terms, ({ delay }) => delay),
  };
  return { targets, degreeOf: all.map(({ degree }) => degree) };
}

function partitions(n: number, most: number): number[][] {
  if (n === 0) return [[]];
  const out: number[][] = [];
  for (let part = Math.min(n, most); part > 0; part--) for (const rest of partitions(n - part, part)) out.push([part, ...rest]);
  return out;
}

/**
 * An input whose values are drawn from those of the real one, with replacement: of the same law,
 * and independent of the states. Made a few rows at a time.
 */
export class SurrogateInput implements TargetGroup {
  readonly targets: Targets;
  values: readonly Float64Array[] = [];
  offset = 0;
  readonly #draws: RandomStream;
  readonly #number: number;

  constructor(targets: Targets, seed: Seed, number: number) {
    this.targets = targets;
    const { key, stream } = surrogateDraws(seed);
    this.#draws = new RandomStream(key, stream);
    this.#number = number;
  }

  /** Makes the values of rows `first` to `first + rows` of states. */
  prepare(u: Float64Array, steps: readonly Recurrence[], first: number, rows: number): void {
    const lags = steps.length - 1;
    const drawn = Float64Array.from({ length: rows + lags }, (_, t) => u[this.#draws.integer(this.#number, first + t, u.length)]!);
    this.values = evaluatePolynomials(steps, drawn);
    this.offset = lags - first;
  }
}
