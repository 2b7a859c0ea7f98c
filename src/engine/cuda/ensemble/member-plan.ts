// Which members of an ensemble run in one launch, and by which kernel. It runs nothing.
import { getOrMake } from "@spillway/core/maps.js";
import type { Context } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { floatingArithmetic } from "../../../reservoir/shape.js";
import { isDeviceOnly } from "../../../reservoir/weight-draws.js";
import { chooseEnsembleKernel, type EnsembleKernel } from "./kernel-choice.js";
import { type SlicedPattern, slicePattern } from "./slices.js";
import { sparseWeights } from "./weights.js";

/** Members of one shape and the kernel for them. */
export interface MemberGroup {
  readonly kernel: EnsembleKernel;
  /** Indices into the members. */
  readonly indices: readonly number[];
}

/** A plan for members: groups of one shape. */
export interface MemberPlan {
  readonly groups: readonly MemberGroup[];
  readonly patterns: ReadonlyMap<ReservoirModel, SlicedPattern>;
}

/** Groups members by shape; undefined if a member is too large for a block's shared memory. */
export function planMembers(context: Context, members: readonly { readonly model: ReservoirModel }[]): MemberPlan | undefined {
  const patterns = new Map<ReservoirModel, SlicedPattern>();
  const byColumns = new Map<ArrayLike<number>, SlicedPattern>();
  const groups = new Map<string, number[]>();
  const groupOf = new Map<ReservoirModel, number[]>();
  const groupFor = ({ size, inputSize, outputSize, precision, activation, config }: ReservoirModel, sparse: boolean): number[] => {
    const key = JSON.stringify([size, inputSize, outputSize, precision, activation, config.arithmetic, sparse]);
    return getOrMake(groups, key, () => []);
  };
  for (const [r, { model }] of members.entries()) {
    if (isDeviceOnly(model)) return undefined;
    const sparse = sparseWeights(model);
    if (sparse && sparse.cols > 65_536) return undefined;
    if (sparse) getOrMake(patterns, model, () => getOrMake(byColumns, sparse.columns, () => slicePattern(sparse)));
    // Sequences of a batch are members of one model.
    getOrMake(groupOf, model, () => groupFor(model, sparse !== undefined)).push(r);
  }
  const planned: MemberGroup[] = [];
  for (const indices of groups.values()) {
    const { size, precision, config } = members[indices[0]!]!.model;
    const sliced = indices.map((r) => patterns.get(members[r]!.model)).filter((pattern) => pattern !== undefined);
    const entries = Math.max(0, ...new Set(sliced.map((pattern) => pattern.entries)));
    const shape = {
      ...{ size, precision, arithmetic: floatingArithmetic(config), integers: config.arithmetic === "integer" },
      sliced: sliced[0] && { slots: sliced[0].slots, entries },
    };
    const kernel = chooseEnsembleKernel(context.info, shape);
    if (!kernel) return undefined;
    planned.push({ kernel, indices });
  }
  return { groups: planned, patterns };
}
