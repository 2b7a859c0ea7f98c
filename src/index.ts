/**
 * The public face of the package, and the file where its parts are put together. Importing it
 * loads no native code.
 * @module spillway
 */
import { checkHas, checkText } from "@spillway/core/checks.js";
import { disposeAll } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context } from "@spillway/gpu";
import type { DeviceEngine } from "./engine/cuda/index.js";
import type { DeviceDoubleDouble } from "./engine/cuda/least-squares.js";
import type { DeviceBlas } from "./engine/cuda/training/device-blas.js";
import { chooseEngine, type Engine, registerContextEngine, registerEngine } from "./reservoir/index.js";

registerEngine("cpu", async () => (await import("./engine/cpu/index.js")).cpuEngine, { automatic: true });
registerEngine("cuda", async (device) => (await import("./engine/cuda/index.js")).cudaEngine(device), {
  automatic: true,
  numbered: true,
  count: async () => (await import("@spillway/gpu")).listDevices().length,
  needsNode: true,
  leastMicroseconds: 0.4,
});
registerEngine("sim", simulatedEngine, { automatic: false, numbered: true, count: simulatedDevices, needsNode: true });
registerEngine("reference", async () => (await import("./engine/reference/index.js")).referenceEngine, { automatic: false });
registerContextEngine(async (context) => (await import("./engine/cuda/index.js")).contextEngine(context));

/** The CUDA engine on the simulated device, in chunks short enough to be interrupted. */
async function simulatedEngine(device: number): Promise<Engine> {
  const [{ deviceEngine, simulatedChunk }, { openDevice }] = await Promise.all([
    import("./engine/cuda/index.js"),
    import("@spillway/gpu"),
    import("@spillway/sim"),
  ]);
  const name = device === 0 ? "sim" : `sim:${device}`;
  return deviceEngine({ name, open: () => openDevice(name), stepsPerChunk: simulatedChunk });
}

/** How many devices the simulated driver has. */
async function simulatedDevices(): Promise<number> {
  const [{ openDevices }] = await Promise.all([import("@spillway/gpu"), import("@spillway/sim")]);
  const contexts = openDevices("sim:all");
  disposeAll(contexts);
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
 * const description = { size: 1000, seed: 1 };
 * await using computer = await ReservoirComputer.create(description, { engine: "cuda" });
 * const trainer = ridge({ blas });
 * const sink = trainer.accumulator({ stateSize: 1000, inputSize: 1, outputSize: 1 });
 * await computer.train(inputs, targets, sink);
 * const readout = trainer.solve(sink);
 * @throws LibraryError naming every path tried if a library is missing; EngineUnavailableError
 * if there is no such device
 */
export async function cudaBlas(engine = "cuda"): Promise<DeviceBlas> {
  const [{ DeviceBlas: Blas }, context] = await Promise.all([
    import("./engine/cuda/training/device-blas.js"),
    contextOf(engine, "cudaBlas"),
  ]);
  return new Blas(context);
}

/**
 * A device for ridge regression in double-double: `ridge({ solver: "doubleDouble", blas })` then
 * reflects its rows there, columns side by side, with the host's bits. "cuda", "cuda:1", "sim", or
 * a context of `openDevice`, which stays its owner's.
 *
 * @example
 * using blas = await deviceDoubleDouble("cuda");
 * const readout = ridge({ solver: "doubleDouble", lambda: 0, blas }).fit(states, targets);
 * @throws ArgumentError for an engine that is no device; EngineUnavailableError if there is none
 */
export async function deviceDoubleDouble(engine: string | Context = "cuda"): Promise<DeviceDoubleDouble> {
  const { DeviceDoubleDouble: Reflections } = await import("./engine/cuda/least-squares.js");
  return new Reflections(
    typeof engine === "string"
      ? await contextOf(engine, "deviceDoubleDouble")
      : checkHas("engine", engine, "the name of a device, or a Context", "stream"),
  );
}

async function contextOf(name: string, asking: string): Promise<Context> {
  const { engine } = await chooseEngine(checkText("engine", name, "the name of a device"));
  if ("context" in engine) return (engine as DeviceEngine).context();
  throw ArgumentError.because(`engine is ${JSON.stringify(name)}; ${asking} takes "cuda" or a device by number, "cuda:1"`, {
    field: "engine",
  });
}

export * from "./exports.js";
export type { DeviceBlas, DeviceDoubleDouble };
