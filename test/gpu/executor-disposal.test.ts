// Disposing an executor when the driver fails: what comes after the failure is disposed too.
import { expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { KernelExecutor, openDevice } from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";

it("unloads every module and disposes the stream if the first unloading fails", async () => {
  const driver = new FaultyDriver(simulatedDriver(), [{ call: "cuModuleUnload", use: 1, code: 400 }]);
  const context = openDevice({ driver, onLeak: () => undefined });
  const executor = new KernelExecutor(context);
  expect([...(await executor.relu(new Float32Array([-1, 2])))]).toEqual([0, 2]);
  expect([...(await executor.vectorAdd(new Float32Array([1]), new Float32Array([2])))]).toEqual([3]);
  const loaded = context.held().filter(({ kind }) => kind === "module").length;
  expect(loaded).toBeGreaterThan(1);
  expect(() => executor.dispose()).toThrow(/cuModuleUnload/);
  expect(driver.uses.get("cuModuleUnload")).toBe(loaded);
  expect(context.held().filter(({ kind }) => kind === "stream")).toEqual([]);
  context.dispose();
});
