// Ensembles on a device: all members in a few launches if that is faster than one after the
// other.
import type { Context } from "@spillway/gpu";
import type { EngineOptions, EnsembleSession } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type MemberPlan, planMembers } from "./run.js";
import { DeviceEnsemble } from "./session.js";

/** `DeviceAbilities.openEnsemble`, or undefined if the members run better one after the other. */
export function openTogether(
  context: Context,
  engine: string,
  models: readonly ReservoirModel[],
  options?: EngineOptions,
): EnsembleSession | undefined {
  const members = models.map((model) => ({ model }));
  const plan = planMembers(context, members);
  if (!plan || !worthwhile(context, members, plan)) return undefined;
  return new DeviceEnsemble(context, engine, models, plan, options);
}

/**
 * Bytes a second that one multiprocessor gets from the second cache, and microseconds of a step of
 * a reservoir that has the device to itself.
 */
export const bytesPerSecond = 100e9;
export const microsecondsAlone = 1.5;

/**
 * Whether a step of all members, whose weights may have to be read again, takes less time than
 * their steps one by one.
 */
export function worthwhile(context: Context, members: readonly { readonly model: ReservoirModel }[], plan: MemberPlan): boolean {
  const { multiprocessors } = context.info.attributes;
  return plan.groups.every(({ kernel, indices }) => {
    if (kernel.resident) return true;
    const { model } = members[indices[0]!]!;
    const element = model.precision === "float32" ? 4 : 8;
    const pattern = plan.patterns.get(model);
    const entryBytes = kernel.integers ? (pattern ? 4 : 2) : pattern ? element + 2 : element;
    const bytes = entryBytes * (pattern ? pattern.entries : model.size ** 2);
    const together = (Math.ceil(indices.length / multiprocessors) * bytes) / bytesPerSecond;
    return together < indices.length * microsecondsAlone * 1e-6;
  });
}
