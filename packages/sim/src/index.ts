/**
 * CUDA without a GPU: a driver that runs PTX in JavaScript. Importing this makes it the device
 * "sim" of `openDevice`.
 */
import { registerDriver } from "@spillway/gpu";
import { type SimulatedDriver, simulatedDriver } from "./driver.js";

export { FaultyDriver } from "@spillway/gpu/fault-injection.js";
export { PtxSyntaxError, SimulationError, UnsupportedPtxError } from "@spillway/ptx/interpreter/index.js";
export { SimulatedDriver, simulatedDriver } from "./driver.js";
export type { LaunchReport, SimulatedDriverOptions } from "./options.js";

let shared: SimulatedDriver | undefined;

// One for all who open it by name, as the machine has one driver.
registerDriver("sim", () => {
  shared ??= simulatedDriver();
  return shared;
});
