// Members of a sweep that differ in nothing but the penalty of their readouts: their states and
// Gram matrices are the same.
import type { SweepMember } from "./sweeps.js";

/** Members with the same states. */
export interface Trunk {
  /** One of them. */
  readonly member: SweepMember;
  /** All of them, by their indices in the sweep. */
  readonly places: readonly number[];
}

/** The trunks of members, in the order of their first members. */
export function trunksOf(members: readonly SweepMember[]): Trunk[] {
  const lists = new Map<readonly number[], number>();
  const trunks = new Map<string, { readonly member: SweepMember; readonly places: number[] }>();
  for (const [place, member] of members.entries()) {
    const { base, factor, inputScaling, bias, leakRate, noiseLevel } = member;
    if (typeof leakRate !== "number" && !lists.has(leakRate)) lists.set(leakRate, lists.size);
    const rate = typeof leakRate === "number" ? leakRate : `list ${lists.get(leakRate)!}`;
    const key = [base, factor, inputScaling, bias, rate, noiseLevel].join(" ");
    const known = trunks.get(key);
    if (known) known.places.push(place);
    else trunks.set(key, { member, places: [place] });
  }
  return [...trunks.values()];
}
