// What the lab's page takes of the package: the engine that runs in a browser, without the parts
// that need Node.
import { registerEngine } from "../reservoir/index.js";

registerEngine("cpu", async () => (await import("../engine/cpu/index.js")).cpuEngine, { automatic: true });

export { nrmse } from "../metrics/index.js";
export { Forecaster } from "../model/index.js";
export { loadWasm } from "../numerics/wasm/index.js";
export { ReservoirComputer } from "../reservoir/index.js";
