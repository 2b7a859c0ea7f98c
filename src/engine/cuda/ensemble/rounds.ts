// Blocks that a device has not room for at once run in rounds. A multiprocessor with few blocks is
// no faster than with some more: one block waits for itself.
import type { DeviceInfo } from "../../../gpu/index.js";
import type { AnyKernel } from "../kernels.js";
import type { EnsembleKernel } from "./kernel-choice.js";

/** What the driver has of each block's shared memory. */
const reservedBytes = 1024;
/** Shared memory is given out in multiples of this. */
const granule = 1024;

/**
 * Dynamic shared memory of a launch of `blocks` equal blocks that need `shared` bytes each: as much
 * more as makes their rounds about equal. Of four blocks a multiprocessor that has room for three,
 * two and two run together, and not three and one.
 */
export function evenShared(
  { attributes }: DeviceInfo,
  kernel: Pick<AnyKernel, "occupancy" | "resources">,
  { threads, shared, resident }: Pick<EnsembleKernel, "threads" | "shared" | "resident">,
  blocks: number,
): number {
  const { multiprocessors, sharedBytesPerMultiprocessor, sharedBytesPerBlockOptIn } = attributes;
  // The others wait for the second cache, and may need the first.
  if (!resident) return shared;
  const each = Math.ceil(blocks / multiprocessors);
  const most = kernel.occupancy(threads, shared);
  if (most < 2 || each <= most) return shared;
  const together = Math.ceil(each / Math.ceil(each / most));
  const own = Math.min(sharedBytesPerMultiprocessor / together, sharedBytesPerBlockOptIn) - reservedBytes - kernel.resources().sharedBytes;
  const wide = Math.floor(own / granule) * granule;
  return together < most && wide > shared && kernel.occupancy(threads, wide) === together ? wide : shared;
}
