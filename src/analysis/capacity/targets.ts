// The targets of information processing capacity: products of polynomials of the input at different
// delays. What a reservoir knows of them is measured elsewhere.
import { ArgumentError } from "@spillway/core/errors.js";

/**
 * The targets of one measurement. Terms of target j are those from `first[j]` to `first[j + 1]`.
 */
export interface Targets {
  readonly count: number;
  readonly first: Uint32Array;
  readonly termDegrees: Uint8Array;
  readonly termDelays: Uint32Array;
}

/** The most targets at a time: their sums lie in memory, and time grows with them. */
const mostTargets = 2_000_000;

/**
 * How many products have this degree with delays 0 to K: C(K + degree, degree), the monomials of
 * K + 1 inputs.
 */
export function targetCount(degree: number, longestDelay: number): number {
  let count = 1;
  for (let i = 1; i <= degree; i++) count = (count * (longestDelay + i)) / i;
  return Math.round(count);
}

/**
 * Every product of each degree, at delays from 0 to the longest of that degree: degree by degree,
 * delays falling within a target.
 * @throws ArgumentError if there are more than two million
 */
export function targetsOf(degrees: readonly (readonly [degree: number, longestDelay: number])[]): Targets {
  const twice = degrees.find(([degree], i) => degrees.findIndex(([other]) => other === degree) < i);
  if (twice) throw ArgumentError.because(`degrees has ${twice[0]} twice; its targets would count twice`, { field: "degrees" });
  const count = degrees.reduce((sum, [degree, delay]) => sum + targetCount(degree, delay), 0);
  if (!(count <= mostTargets)) throw new ArgumentError("the number of targets", count, `at most ${mostTargets}: give shorter delays`);
  const first = new Uint32Array(count + 1);
  const most = degrees.reduce((sum, [degree, delay]) => sum + degree * targetCount(degree, delay), 0);
  const termDegrees = new Uint8Array(most);
  const termDelays = new Uint32Array(most);
  let target = 0;
  let end = 0;
  /**
   * The terms so far stand behind `end`; `left` degrees are to be spread over delays below `below`.
   */
  const extend = (left: number, below: number, terms: readonly (readonly [number, number])[]): void => {
    if (left === 0) {
      for (const [degree, delay] of terms) {
        termDegrees[end] = degree;
        termDelays[end++] = delay;
      }
      first[++target] = end;
      return;
    }
    for (let delay = 0; delay < below; delay++) {
      for (let degree = delay === 0 ? left : 1; degree <= left; degree++) extend(left - degree, delay, [...terms, [degree, delay]]);
    }
  };
  for (const [degree, longest] of degrees) extend(degree, longest + 1, []);
  return { count, first, termDegrees, termDelays };
}

/** Terms of a target: pairs of degree and delay. */
export function termsOf({ first, termDegrees, termDelays }: Targets, j: number): [degree: number, delay: number][] {
  const out: [number, number][] = [];
  for (let i = first[j]!; i < first[j + 1]!; i++) out.push([termDegrees[i]!, termDelays[i]!]);
  return out;
}
