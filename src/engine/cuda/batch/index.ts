// Batches on a device: many sequences through one reservoir, in step or each on a multiprocessor of
// its own, if that is faster than one by one.
import type { Context } from "@spillway/gpu";
import type { SequenceInput } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { isDeviceOnly } from "../../../reservoir/weight-draws.js";
import type { TakenBatchOptions } from "../../session.js";
import type { OpenBatch, SessionWork } from "../device-work.js";
import { worthwhile } from "../ensemble/index.js";
import type { Member } from "../ensemble/members.js";
import { planMembers, runMembers } from "../ensemble/run.js";
import { DenseBatchRun } from "./dense.js";
import { type BatchPlan, planBatch } from "./shapes.js";

/** Runs batches of a model, or declines them. */
export const openBatch: OpenBatch = (context, model, work) => ({
  details: {},
  run: (sequences, options) => runSequences(context, model, sequences, options, work),
  dispose: () => undefined,
});

/**
 * Microseconds of a step of one reservoir that has the device to itself: waiting, and reading its
 * weights.
 */
function timeAlone(size: number): number {
  return 1.2 + (4 * size * size) / 4.5e6 / (size < 3500 ? 8 : 1);
}

function runSequences(
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
    return runDense(context, model, dense, sequences, options, work);
  if (plan && !dense && worthwhile(context, members, plan))
    return runMembers(context, members, plan, { ...options, keep, clock: work.clock });
  return undefined;
}

async function runDense(
  context: Context,
  model: ReservoirModel,
  plan: BatchPlan,
  sequences: readonly SequenceInput[],
  options: TakenBatchOptions,
  work: SessionWork,
) {
  const run = new DenseBatchRun(context, model, plan, sequences, { ...options, ...work });
  try {
    return await run.run();
  } finally {
    run.dispose();
  }
}
