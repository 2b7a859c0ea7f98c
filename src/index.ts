/**
 * The public face of the package, and the one place where its parts are put together. Importing it loads no native code.
 * @module spillway
 */
import { type Engine, registerEngine, registerSpikingKind } from "./reservoir/index.js";

registerEngine("cpu", async () => (await import("./engine/cpu/index.js")).cpuEngine, { automatic: true });
registerEngine("cuda", async (device) => (await import("./engine/cuda/index.js")).cudaEngine(device), {
  automatic: true,
  numbered: true,
  needsNode: true,
  leastMicroseconds: 0.4,
});
registerEngine("sim", simulatedEngine, { automatic: false, needsNode: true });
registerEngine("reference", async () => (await import("./engine/reference/index.js")).referenceEngine, { automatic: false });
registerSpikingKind(() => import("./spikes/liquid/kind.js"));

/** The CUDA engine on the simulated device, in chunks short enough to be interrupted. */
async function simulatedEngine(): Promise<Engine> {
  const [{ deviceEngine }, { openDevice }] = await Promise.all([
    import("./engine/cuda/index.js"),
    import("./gpu/index.js"),
    import("./sim/index.js"),
  ]);
  return deviceEngine({ name: "sim", open: () => openDevice("sim"), stepsPerChunk: 16 });
}

export * from "./metrics/index.js";
export * from "./model/index.js";
export * from "./readout/index.js";
export * from "./reservoir/index.js";
export * from "./tasks/index.js";
