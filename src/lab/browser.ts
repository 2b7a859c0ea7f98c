// What the lab's page takes of the package: the engine that runs in a browser, without the parts
// that need Node.
import "../reservoir/config-schema.js";
import "../reservoir/oversized.js";
import "../reservoir/weights.js";
import { cpuEngine } from "../engine/cpu/index.js";
import { registerEngine } from "../reservoir/index.js";

// All at once, what makes a reservoir too: a file that is asked for late is there late.
registerEngine("cpu", async () => cpuEngine, { automatic: true });

export { loadWasm } from "@spillway/numerics/wasm/index.js";
export { ReservoirComputer } from "../reservoir/index.js";
