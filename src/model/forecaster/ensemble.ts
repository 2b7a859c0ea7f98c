// What the members of a Forecaster give, and what they agree on.
import type { Matrix } from "@spillway/numerics";
import type { WorkOptions } from "../../reservoir/index.js";
import { medianOf } from "./loss.js";
import type { Trained } from "./model.js";

/** What each member gives, one after the other. */
export async function askMembers<Member, Made>(
  { members }: { readonly members: readonly Member[] },
  { signal, onProgress }: WorkOptions,
  ask: (member: Member, work: WorkOptions) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  for (const [m, member] of members.entries()) {
    const progress = onProgress && ((done: number, total: number) => onProgress(m * total + done, members.length * total));
    made.push(await ask(member, { signal, onProgress: progress }));
  }
  return made;
}

/** The median of each kept pair's members, and then of the pairs. */
export function medianOfMembers({ groups }: Pick<Trained<unknown>, "groups">, made: readonly Matrix<Float64Array>[]): Matrix<Float64Array> {
  const pairs = Array.from({ length: Math.max(...groups) + 1 }, (_, g) => made.filter((_, m) => groups[m] === g));
  return medianOf(pairs.map(medianOf));
}
