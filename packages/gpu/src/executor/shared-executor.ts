// One executor a thread and device, for calls that bring none of their own.
import { ArgumentError } from "@spillway/core/errors.js";
import { describe } from "@spillway/core/text.js";
import { KernelExecutor } from "./kernel-executor.js";

const shared = new Map<number | string, KernelExecutor>();

/**
 * The thread's executor on a device, by its number or registered name, opened by the first call; a
 * later call for the same device gives the same one. After its `dispose`, or when its context was
 * lost, the next call opens another. Default: device 0.
 *
 * @throws ArgumentError for options or a context, which a new KernelExecutor accepts; LibraryError
 * or CudaError if no GPU can be used; `probe()` says why in a sentence.
 */
export function sharedExecutor(device: number | string = 0): KernelExecutor {
  if (typeof device !== "number" && typeof device !== "string")
    throw ArgumentError.because(
      `sharedExecutor got ${describe(device)}; it takes a device's number or name, and a new KernelExecutor takes the rest`,
      { field: "device", value: device, expected: "a device's number or name" },
    );
  const known = shared.get(device);
  if (known && !known.device.context.disposed && !known.device.context.loss) return known;
  shared.delete(device);
  known?.dispose();
  const executor = new KernelExecutor(device);
  shared.set(device, executor);
  return executor;
}
