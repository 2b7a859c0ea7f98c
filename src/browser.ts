// The package's root as bundlers for browsers take it (the condition "browser" in package.json):
// what index.ts exports, with the engines that need no driver. Nothing that it reaches imports a
// module of Node.

import type { Context } from "@spillway/gpu";
import type { DeviceDoubleDouble } from "./engine/cuda/least-squares.js";
import type { DeviceBlas } from "./engine/cuda/training/device-blas.js";
import { EngineUnavailableError, registerEngine } from "./reservoir/index.js";

const elsewhere = (name: string) => new EngineUnavailableError(name, "it runs in Node only");

registerEngine("cpu", async () => (await import("./engine/cpu/index.js")).cpuEngine, { automatic: true });
for (const name of ["cuda", "sim"])
  registerEngine(name, () => Promise.reject(elsewhere(name)), { automatic: false, numbered: true, needsNode: true });
registerEngine("webgpu", async () => (await import("./engine/webgpu/index.js")).webgpuEngine, { automatic: false });
registerEngine("reference", async () => (await import("./engine/reference/index.js")).referenceEngine, { automatic: false });

/** Node alone has CUDA. @throws EngineUnavailableError always */
export function cudaBlas(engine = "cuda"): Promise<DeviceBlas> {
  return Promise.reject(elsewhere(engine));
}

/** Node alone has devices. @throws EngineUnavailableError always */
export function deviceDoubleDouble(engine: string | Context = "cuda"): Promise<DeviceDoubleDouble> {
  return Promise.reject(elsewhere(typeof engine === "string" ? engine : "cuda"));
}

export * from "./exports.js";
export type { DeviceBlas, DeviceDoubleDouble };
