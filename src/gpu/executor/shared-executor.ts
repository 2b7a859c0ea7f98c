// One executor for a thread, made when it is first asked for. It is a convenience: everything takes an executor of one's own as well.
import { KernelExecutor } from "./kernel-executor.js";

let shared: KernelExecutor | undefined;

/**
 * The thread's executor on device 0, opened by the first call; a later call gives the same one. After its `dispose`, or when its context was lost,
 * the next call opens another.
 *
 * @throws LibraryError or CudaError where no GPU can be used; `probe()` says why in a sentence.
 */
export function sharedExecutor(): KernelExecutor {
  if (!shared || shared.device.context.disposed || shared.device.context.loss) {
    shared?.dispose();
    shared = undefined;
    shared = new KernelExecutor();
  }
  return shared;
}
