// Blocks that a device cannot hold at once run in rounds. A multiprocessor with few blocks is
// no faster than with some more: one block waits for itself.
import type { DeviceInfo } from "@spillway/gpu";
import type { AnyKernel } from "../kernels.js";
import type { EnsembleKernel } from "./kernel-choice.js";

/** Shared memory that the driver reserves for each block, and the step in which it is given out. */
const reservedBytes = 1024;
const unit = 1024;

/**
 * Dynamic shared memory of a launch of `blocks` equal blocks that need `shared` bytes each: as much
 * more as makes their rounds about equal. Of four blocks a multiprocessor that holds three,
 * two and two run together, and not three and one.
 */
export function evenShared(
  { attributes }: DeviceInfo,
  kernel: Pick<AnyKernel, "occupancy" | "resources">,
  { threads, shared, resident }: Pick<EnsembleKernel, "threads" | "shared" | "resident">,
  blocks: number,
): number {
  const { multiprocessors, sharedBytesPerMultiprocessor, sharedBytesPerBlockOptIn } = attributes;
  // Other kernels read their weights through L2, and may need L1.
  if (!resident) return shared;
  const ofMultiprocessor = Math.ceil(blocks / multiprocessors);
  const fitting = kernel.occupancy(threads, shared);
  if (fitting < 2 || ofMultiprocessor <= fitting) return shared;
  const together = Math.ceil(ofMultiprocessor / Math.ceil(ofMultiprocessor / fitting));
  if (together === fitting) return shared;
  const most = Math.min(sharedBytesPerMultiprocessor / together, sharedBytesPerBlockOptIn);
  const wider = Math.floor((most - reservedBytes - kernel.resources().sharedBytes) / unit) * unit;
  return wider > shared && kernel.occupancy(threads, wider) === together ? wider : shared;
}
