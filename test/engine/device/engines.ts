// The CUDA engine on the device of the tests: a GPU, or the simulated device.
import { type DeviceEngine, deviceEngine } from "../../../src/engine/cuda/index.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";

/** An engine whose chunks are as long as it likes on a GPU. */
export const device: DeviceEngine = make(onHardware ? undefined : 16);

/** An engine whose chunks are short: work can be watched and stopped. */
export const inShortChunks: DeviceEngine = make(16);

/** The engine's name. */
export const name: string = onHardware ? "cuda" : "sim";

function make(stepsPerChunk: number | undefined): DeviceEngine {
  return deviceEngine({ name: onHardware ? "cuda" : "sim", open: () => openTestDevice(), stepsPerChunk });
}
