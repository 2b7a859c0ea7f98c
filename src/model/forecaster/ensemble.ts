// What the members of a Forecaster give, and what they agree on.
import { Matrix } from "@spillway/numerics";
import type { WorkOptions } from "../../reservoir/index.js";
import { partOf } from "../../reservoir/work.js";
import { type Bound, bounded } from "./bounds.js";
import type { WeightedMember } from "./choice.js";
import { medianOf } from "./loss.js";
import type { Trained } from "./model.js";

/** What each member gives, one after the other. */
export async function askMembers<Member, Made>(
  { members }: { readonly members: readonly Member[] },
  work: WorkOptions,
  ask: (member: Member, work: WorkOptions) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  for (const [m, member] of members.entries()) made.push(await ask(member, partOf(work, m, members.length)));
  return made;
}

/**
 * The median of each group's members, and then of the groups; of a combination the weighted mean of
 * its members, each the median of its groups and within its bounds.
 */
export function agreed(
  { groups, choice }: Pick<Trained<unknown>, "groups" | "choice">,
  made: readonly Matrix<Float64Array>[],
  bounds: readonly Bound[],
): Matrix<Float64Array> {
  const medians = Array.from({ length: Math.max(...groups) + 1 }, (_, g) => medianOf(made.filter((_, m) => groups[m] === g)));
  if (!choice?.members) return medianOf(medians);
  let first = 0;
  const each = choice.members.map((member) => {
    const own = medianOf(medians.slice(first, first + member.groups));
    first += member.groups;
    return bounded(own, bounds);
  });
  return weighted(choice.members, each);
}

/** The weighted mean of forecasts, one a member, column by column. */
export function weighted(
  members: readonly Pick<WeightedMember, "weights">[],
  forecasts: readonly Matrix<Float64Array>[],
): Matrix<Float64Array> {
  const { rows, cols } = forecasts[0]!;
  const out = Matrix.zeros(rows, cols);
  for (const [m, { weights }] of members.entries()) {
    const { data } = forecasts[m]!;
    for (let i = 0; i < data.length; i++) {
      const weight = weights[i % cols]!;
      if (weight !== 0) out.data[i] = out.data[i]! + weight * data[i]!;
    }
  }
  return out;
}
