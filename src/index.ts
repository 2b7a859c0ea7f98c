/**
 * The public face of the package, and the one place where its parts are put together. Importing it
 * loads no native code.
 * @module spillway
 */
import { ArgumentError } from "./core/errors.js";
import type { DeviceEngine } from "./engine/cuda/index.js";
import { whyGeneral } from "./engine/cuda/network/neurons.js";
import type { DeviceBlas } from "./engine/cuda/training/device-blas.js";
import { chooseEngine, type Engine, registerContextEngine, registerEngine } from "./reservoir/index.js";
import { registerNetworkEngine } from "./spikes/network/engines.js";

registerEngine("cpu", async () => (await import("./engine/cpu/index.js")).cpuEngine, { automatic: true });
registerEngine("cuda", async (device) => (await import("./engine/cuda/index.js")).cudaEngine(device), {
  automatic: true,
  numbered: true,
  count: async () => (await import("./gpu/index.js")).listDevices().length,
  needsNode: true,
  leastMicroseconds: 0.4,
});
registerEngine("sim", simulatedEngine, { automatic: false, numbered: true, count: simulatedDevices, needsNode: true });
registerEngine("reference", async () => (await import("./engine/reference/index.js")).referenceEngine, { automatic: false });
registerNetworkEngine("reference", async () => (await import("./spikes/network/reference.js")).referenceNetworks);
registerNetworkEngine(
  "cpu",
  async () => (await import("./engine/cpu/network.js")).cpuNetworks,
  () => true,
);
registerNetworkEngine(
  "cuda",
  async () => (await import("./engine/cuda/network/engine.js")).deviceNetworks("cuda"),
  (plan) => plan.size >= 2000 && whyGeneral(plan) === undefined,
);
registerNetworkEngine("sim", async () => (await import("./engine/cuda/network/engine.js")).deviceNetworks("sim"));
registerContextEngine(async (context) => (await import("./engine/cuda/index.js")).contextEngine(context));

/** The CUDA engine on the simulated device, in chunks short enough to be interrupted. */
async function simulatedEngine(device: number): Promise<Engine> {
  const [{ deviceEngine, simulatedChunk }, { openDevice }] = await Promise.all([
    import("./engine/cuda/index.js"),
    import("./gpu/index.js"),
    import("./sim/index.js"),
  ]);
  const name = device === 0 ? "sim" : `sim:${device}`;
  return deviceEngine({ name, open: () => openDevice(name), stepsPerChunk: simulatedChunk });
}

/** How many devices the simulated driver has. */
async function simulatedDevices(): Promise<number> {
  const [{ openDevices }] = await Promise.all([import("./gpu/index.js"), import("./sim/index.js")]);
  const contexts = openDevices("sim:all");
  for (const context of contexts) context.dispose();
  return contexts.length;
}

/**
 * cuBLAS and cuSOLVER of a CUDA device for ridge regression, if they are installed:
 * `ridge({ blas })` then sums training rows by cuBLAS, where the states of that engine are, and
 * solves by cuSOLVER. Weights differ in their last digits from the portable ones and from version
 * to version of the libraries.
 *
 * @example
 * using blas = await cudaBlas();
 * await using computer = await ReservoirComputer.create({ size: 1000, seed: 1 }, { engine: "cuda" });
 * const trainer = ridge({ blas });
 * const sink = trainer.accumulator({ stateSize: 1000, inputSize: 1, outputSize: 1 });
 * await computer.train(inputs, targets, sink);
 * const readout = trainer.solve(sink);
 * @throws LibraryError naming every path tried if a library is missing; EngineUnavailableError
 * if there is no such device
 */
export async function cudaBlas(engine = "cuda"): Promise<DeviceBlas> {
  const [{ DeviceBlas: Blas }, chosen] = await Promise.all([import("./engine/cuda/training/device-blas.js"), chooseEngine(engine)]);
  if (!("context" in chosen.engine))
    throw ArgumentError.because(`engine is ${JSON.stringify(engine)}; cudaBlas takes "cuda" or a device by number, "cuda:1"`, {
      field: "engine",
    });
  return new Blas((chosen.engine as DeviceEngine).context());
}

export * from "./exports.js";
export type { DeviceBlas };
