// The WebGPU engine: reservoirs in integers in a compute shader, in a browser. WGSL has no binary64
// and promises no rounding of binary32: no other arithmetic would have the same bits there.
import { formatBytes } from "@spillway/core/bytes.js";
import { isSparse, storedValues } from "@spillway/numerics";
import { loadWasm } from "@spillway/numerics/wasm/index.js";
import { EngineUnavailableError } from "../../reservoir/engine/errors.js";
import type { Engine, EngineOptions, EnginePlan } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { EngineModel } from "../../reservoir/spiking-model.js";
import { stepperSession } from "../host-steps.js";
import { clockFor } from "../phase-clock.js";
import { stepsOfChunk, WebGpuStepper } from "./stepper.js";

const name = "webgpu";

/** A compute shader over WebGPU. */
export const webgpuEngine: Engine = {
  name,
  supports: new Set(["integers"]),

  async probe() {
    const adapter = await adapterHere();
    if (typeof adapter === "string") return { available: false, reason: adapter };
    // The host draws weights and trains readouts by WebAssembly.
    await loadWasm();
    const { vendor, architecture, description } = adapter.info;
    const device = description || [vendor, architecture].filter(Boolean).join(" ") || "a device without a name";
    return { available: true, reason: `WebGPU has an adapter here: ${device}`, device };
  },

  plan: (model, options) => planOf(integersOf(model), options),

  async open(model, options) {
    const integers = integersOf(model);
    const plan = planOf(integers, options);
    return stepperSession(integers, plan, await WebGpuStepper.open(integers, await deviceHere()), clockFor(options));
  },
};

/** The adapter, or the sentence that says what is missing. */
async function adapterHere(): Promise<GPUAdapter | string> {
  const gpu = (globalThis.navigator as Navigator | undefined)?.gpu;
  if (!gpu) return "there is no WebGPU here (navigator.gpu): it takes a browser that has it, and a page from https or localhost";
  try {
    return (await gpu.requestAdapter()) ?? "this browser has WebGPU and finds no device for it";
  } catch (error) {
    return `WebGPU gives no device: ${(error as Error).message}`;
  }
}

let device: Promise<GPUDevice> | undefined;

/** One device for all sessions; another if it was lost. @throws EngineUnavailableError */
function deviceHere(): Promise<GPUDevice> {
  device ??= openDevice().catch((error: unknown) => {
    device = undefined;
    throw error;
  });
  return device;
}

async function openDevice(): Promise<GPUDevice> {
  const adapter = await adapterHere();
  if (typeof adapter === "string") throw new EngineUnavailableError(name, adapter);
  const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
  const opened = await adapter.requestDevice({ requiredLimits: { maxStorageBufferBindingSize, maxBufferSize } }).catch((error: Error) => {
    throw new EngineUnavailableError(name, `the adapter gives no device: ${error.message}`);
  });
  void opened.lost.then(() => {
    device = undefined;
  });
  return opened;
}

/** @throws EngineUnavailableError for a model in floating-point numbers */
function integersOf(model: EngineModel): ReservoirModel {
  if (model.kind === undefined && model.config.arithmetic === "integer") return model;
  throw new EngineUnavailableError(name, 'it runs reservoirs with arithmetic "integer" alone; take that, or the engine "cpu"');
}

/** @throws EngineUnavailableError for threads */
function planOf(model: ReservoirModel, options: EngineOptions | undefined): EnginePlan {
  const { size, inputSize, outputSize, weights, config } = model;
  const threads = options?.threads ?? 1;
  if (threads !== 1) throw new EngineUnavailableError(name, `threads is ${threads}; a device has its own, so it takes 1`);
  const storage = isSparse(weights) ? "sparse" : "dense";
  const bits = config.weightPrecision === "int8" ? 8 : 16;
  const stepsPerChunk = stepsOfChunk(size);
  const wordsOfWeights = storage === "sparse" ? storedValues(weights) : (size * size * bits) / 32;
  const bytes = Math.ceil(4 * (wordsOfWeights + (inputSize + outputSize + 4) * size + stepsPerChunk * (2 * size + inputSize + outputSize)));
  return {
    engine: name,
    summary: `WebGPU, 16-bit states, ${bits}-bit weights, 32-bit sums, ${storage}, a dispatch a step, ${formatBytes(bytes)}`,
    bytes,
    details: { arithmetic: "integer", storage, weightBits: bits, stepsPerChunk },
  };
}
