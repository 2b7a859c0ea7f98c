// The public face of the package, and the one place where its parts are put together. Importing it loads no native code.
import { registerEngine, registerSpikingKind } from "./reservoir/index.js";

registerEngine("cpu", async () => (await import("./engine/cpu/index.js")).cpuEngine, { automatic: true });
registerEngine("reference", async () => (await import("./engine/reference/index.js")).referenceEngine, { automatic: false });
registerSpikingKind(() => import("./spikes/liquid/build.js"));

export * from "./metrics/index.js";
export * from "./model/index.js";
export * from "./readout/index.js";
export * from "./reservoir/index.js";
export * from "./tasks/index.js";
