// One step at once, for callers that cannot wait: no chunk is under way meanwhile.
import type { FloatArray } from "@spillway/numerics";
import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import type { SessionRecord } from "../session-record.js";
import { runSize } from "./chunk-pipeline.js";
import type { SessionMemory } from "./session-memory.js";
import type { RealSlice } from "./time-loop.js";

/** x after one more step; the record does not know of it yet. @throws NonFiniteStateError */
export function singleStep(memory: SessionMemory, record: SessionRecord, input: FloatArray): FloatArray {
  const { context, model, device, common, compute, loop, clock } = memory;
  const { size, inputSize, outputSize } = model;
  const buffers = memory.buffersFor(1);
  const { drive, feedback } = buffers;
  const slot = buffers.slots[0];
  const row = (matrix: RealSlice | null, columns: number) => (matrix ? matrix.slice(0, columns) : null);
  const [u, y, state] = [row(slot.inputs, inputSize), row(slot.outputs, outputSize), device.state];
  clock?.on(compute, "upload");
  if (u) compute.upload(u, input);
  if (y) compute.upload(y, record.output);
  clock?.on(compute, "drive");
  common.drive(compute, device.inputWeights, device.bias, u, row(drive, size)!, { size, inputs: inputSize, steps: 1 });
  if (y) common.drive(compute, device.feedbackWeights, null, y, row(feedback, size)!, { size, inputs: outputSize, steps: 1 });
  clock?.off(compute);
  compute.copy(slot.before, state);
  clock?.on(compute, "run", runSize(loop, 1));
  loop.enqueue(compute, {
    ...{ steps: 1, firstStep: record.step, sequence: 0, state },
    drive: row(drive, size)!,
    feedback: row(feedback, size) ?? undefined,
    states: row(slot.states, size)!,
  });
  clock?.off(compute);
  compute.sync();
  loop.check();
  clock?.enter("download");
  const values = context.read(state);
  clock?.leave();
  clock?.came(values.byteLength);
  clock?.settle();
  const neuron = values.findIndex((value) => !Number.isFinite(value));
  if (neuron < 0) return values;
  compute.copy(state, slot.before);
  throw new NonFiniteStateError(record.step, neuron);
}
