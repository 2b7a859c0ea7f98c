// What work on a device must do when the driver fails: the error is the driver's, and all that was
// taken is given back.
import { expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { type Context, type DriverCall, openDevice } from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { casesOf } from "../exhaustive.js";

const calls =
  /^cuMemAllocFromPoolAsync|^cuMemFreeAsync|^cuStreamCreate|^cuEventCreate|^cuLaunchKernelEx|^cuMemcpy(HtoD|DtoH)Async|^cuModuleLoad/;

/**
 * A test for each driver function that the work uses, which fails at the first of its uses, in the
 * middle and at the last.
 */
export async function givesBack(work: (context: Context) => Promise<unknown>): Promise<void> {
  const healthy = new FaultyDriver(simulatedDriver());
  const context = openDevice({ driver: healthy, onLeak: () => undefined });
  const opening = new Map(healthy.uses);
  await work(context);
  const uses = [...healthy.uses].filter(([name, count]) => calls.test(name) && count > (opening.get(name) ?? 0));
  context.dispose();

  it.each(
    casesOf(uses, ([call], k) => /^cuLaunchKernelEx$/.test(call) || (k === 0 && !uses.some(([other]) => other === "cuLaunchKernelEx"))),
  )("gives everything back when %s fails at one of its %i uses", async (call: DriverCall, count) => {
    const first = (opening.get(call) ?? 0) + 1;
    for (const use of new Set([first, Math.floor((first + count) / 2), count])) {
      const driver = new FaultyDriver(simulatedDriver({ memoryBytes: 2 ** 24 }), [{ call, use, code: 400 }]);
      const device = openDevice({ driver, onLeak: () => undefined });
      const error = await work(device).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error !== undefined) expect(String(error), `${call}, use ${use}`).toMatch(/CUDA_ERROR_|cu[A-Z]/);
      expect(
        device.held().filter(({ kind }) => kind !== "module"),
        `${call}, use ${use}`,
      ).toEqual([]);
      try {
        device.dispose();
      } catch {
        // What the driver refused to give back was said before.
      }
    }
  });
}
