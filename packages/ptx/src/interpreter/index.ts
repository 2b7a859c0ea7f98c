// The PTX interpreter: reads PTX and runs it without a GPU, strictly. It has no driver API and
// loads nothing native.

export { LaunchError } from "@spillway/core/errors.js";
export type { MachineArgument, MachineDimensions } from "./arguments.js";
export type { SimulationErrorKind, SimulationSite } from "./errors.js";
export { PtxSyntaxError, SimulationError, UnsupportedPtxError } from "./errors.js";
export { type MachineOptions, PtxMachine } from "./machine.js";
export { parsePtx } from "./parser.js";
export type { MachineLaunchOptions } from "./program.js";
export { type KernelInfo, type LaunchResult, PtxProgram } from "./program.js";
export type { LaunchCounters } from "./run/counters.js";
export type { Checks, Limits } from "./run/options.js";
export type { PtxModule } from "./types.js";
