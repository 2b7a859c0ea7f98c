// Batches on a device: many sequences through one reservoir, in step or each on a multiprocessor of
// its own, if that is faster than one by one.
import { Held } from "@spillway/core/disposal.js";
import type { Context } from "@spillway/gpu";
import type { SequenceInput } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { isDeviceOnly } from "../../../reservoir/weight-draws.js";
import type { TakenBatchOptions } from "../../session.js";
import { worthwhile } from "../ensemble/index.js";
import { planMembers } from "../ensemble/member-plan.js";
import type { Member } from "../ensemble/members.js";
import { runMembers } from "../ensemble/run.js";
import { DenseBatchRun, type SessionWork } from "./dense.js";
import { planBatch } from "./shapes.js";

/**
 * Microseconds of a step of one reservoir that has the device to itself: waiting, and reading its
 * weights.
 */
function timeAlone(size: number): number {
  return 1.2 + (4 * size * size) / 4.5e6 / (size < 3500 ? 8 : 1);
}

/** Runs sequences beside one another; undefined if they run better one after the other. */
export function runSequences(
  context: Context,
  model: ReservoirModel,
  sequences: readonly SequenceInput[],
  options: TakenBatchOptions,
  work: SessionWork,
) {
  // W is packed on the host.
  if (isDeviceOnly(model)) return undefined;
  const { firstSequence = 0, devices } = options;
  const members = sequences.map((sequence, b): Member => ({ model, sequence, number: firstSequence + b }));
  const plan = planMembers(context, members);
  // Weights that stay on a multiprocessor need nobody to wait for.
  const resident = plan?.groups.every(({ kernel }) => kernel.resident);
  const keep = options.taker ? ("none" as const) : options.keep === "last" ? ("last" as const) : ("all" as const);
  if (plan && resident) return runMembers(context, members, plan, { ...options, keep, clock: work.clock });
  const dense = planBatch(context.info, model, sequences.length, { devices });
  if (dense && dense.microsecondsPerStep < sequences.length * timeAlone(model.size))
    return runDense(context, model, dense, sequences, { ...options, ...work });
  if (plan && !dense && worthwhile(context, members, plan))
    return runMembers(context, members, plan, { ...options, keep, clock: work.clock });
  return undefined;
}

async function runDense(...given: ConstructorParameters<typeof DenseBatchRun>) {
  using held = new Held();
  return await held.own(new DenseBatchRun(...given)).run();
}
