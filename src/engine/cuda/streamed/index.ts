// The streamed family of time loops: one plan, which takes every model and every device.
import type { DeviceInfo } from "../../../gpu/index.js";
import { isSparse } from "../../../numerics/index.js";
import { elementBytes, type ModelShape } from "../shape.js";
import type { TimeLoopFamily, TimeLoopPlan } from "../time-loop.js";
import { denseLayout, DenseWeights } from "./dense.js";
import { StreamedLoop } from "./loop.js";
import { SparseWeights, sparseVariant } from "./sparse.js";

/**
 * Bytes of W a microsecond on an H200, and what a step costs beside them (bench/results/gpu-streamed-2026-11-21.md). Rows that gather x from shared memory
 * wait for memory, those that gather it from the second cache for that.
 */
const bandwidth = { dense: 4.5e6, staged: 3.0e6, gathered: 1.4e6 };
const launchMicroseconds = 3;

/** The share of the H200's memory clock and bus width that this device has. */
function relativeBandwidth(device: DeviceInfo): number {
  const { memoryClockKilohertz, memoryBusBits } = device.attributes;
  const own = memoryClockKilohertz * memoryBusBits;
  return own > 0 ? own / (3_201_000 * 6144) : 1;
}

function plan(shape: ModelShape, device: DeviceInfo): TimeLoopPlan {
  const { size, nonzeros, precision, weightPrecision, storage } = shape;
  const dense = storage === "dense" ? denseLayout(size, precision, weightPrecision) : undefined;
  const variant = sparseVariant(size, nonzeros, precision, weightPrecision, device);
  const weights = dense ? dense.bytes : nonzeros * variant.entryBytes;
  return {
    name: "streamed",
    details: { kernel: dense ? `dense_step_${dense.variant}` : `sparse_step_${variant.name}`, bytesPerStep: weights },
    bytes: weights + (dense ? 0 : size * 8) + 4 * (dense?.stride ?? size) * elementBytes(precision),
    microsecondsPerStep:
      launchMicroseconds + weights / (bandwidth[dense ? "dense" : variant.shared > 0 ? "staged" : "gathered"] * relativeBandwidth(device)),
    open: (context, model) =>
      new StreamedLoop(context, model, (stream, neuron) =>
        isSparse(model.weights)
          ? new SparseWeights(context, stream, model.weights, precision, variant, neuron)
          : new DenseWeights(context, stream, model.weights, model.draws, precision, denseLayout(size, precision, weightPrecision), neuron),
      ),
  };
}

export const streamedLoops: TimeLoopFamily = {
  names: ["streamed"],
  plans: (shape, device) => [plan(shape, device)],
};
