// Successive halving: which trials go on to the next stage, by their losses so far.
import { ArgumentError } from "@spillway/core/errors.js";

/**
 * The indices of the best ceil(keep n) of n losses, in order of index; ties go to the first. NaN is
 * the worst.
 */
export function survivors(losses: ArrayLike<number>, keep: number): number[] {
  checkKeep(keep);
  const indices = Array.from({ length: losses.length }, (_, i) => i);
  const loss = (i: number) => (Number.isNaN(losses[i]!) ? Number.POSITIVE_INFINITY : losses[i]!);
  indices.sort((a, b) => compare(loss(a), loss(b)) || a - b);
  // 3 * (1 / 3) and its like are whole numbers that rounding may lift.
  return indices.slice(0, Math.ceil(keep * indices.length - 1e-9)).sort((a, b) => a - b);
}

/** A trial on the stages: its loss at each that it has reached. */
export interface HalvingTrial {
  readonly number: number;
  readonly losses: readonly number[];
}

/**
 * What a free worker does next by ASHA (Li et al. 2018, arXiv 1810.05934, algorithm 2): the number
 * of the best trial, in the highest stage that has one, which is among the first floor(n keep) of
 * the n that reached it and was not promoted; undefined if a new trial begins.
 * @param stages how many there are
 * @param promoted whether a trial has begun its way from a stage to the next
 */
export function nextPromotion(
  trials: readonly HalvingTrial[],
  stages: number,
  keep: number,
  promoted: (number: number, stage: number) => boolean,
): { readonly number: number; readonly stage: number } | undefined {
  checkKeep(keep);
  for (let stage = stages - 2; stage >= 0; stage--) {
    const here = trials.filter(({ losses }) => losses.length > stage);
    here.sort((a, b) => compare(a.losses[stage]!, b.losses[stage]!) || a.number - b.number);
    const first = here.slice(0, Math.floor(here.length * keep + 1e-9)).find(({ number }) => !promoted(number, stage));
    if (first) return { number: first.number, stage };
  }
  return undefined;
}

/** The trials and the resource that each begins with, stage by stage, of a bracket of Hyperband. */
export type Bracket = readonly { readonly trials: number; readonly resource: number }[];

/**
 * The brackets of Hyperband (Li et al. 2017, JMLR 18, algorithm 1) up to a resource of `most`, with
 * one trial of `eta` going on.
 */
export function hyperband(most: number, eta = 3): Bracket[] {
  if (!(Number.isSafeInteger(most) && most >= 1)) throw new ArgumentError("most", most, "a whole number of at least 1");
  if (!(eta > 1)) throw new ArgumentError("eta", eta, "a number above 1");
  let last = 0;
  while (eta ** (last + 1) <= most) last++;
  return Array.from({ length: last + 1 }, (_, i) => {
    const s = last - i;
    const trials = Math.ceil(((last + 1) * eta ** s) / (s + 1));
    return Array.from({ length: s + 1 }, (__, stage) => ({
      trials: Math.floor(trials / eta ** stage),
      resource: Math.floor(most / eta ** (s - stage) + 1e-9),
    }));
  });
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function checkKeep(keep: number): void {
  if (!(keep > 0 && keep < 1)) throw new ArgumentError("keep", keep, "a number above 0 and below 1");
}
