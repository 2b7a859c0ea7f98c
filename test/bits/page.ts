// The same in a browser: the page hands its line, or its error, to the server that it came from.
import { webgpuEngine } from "../../src/engine/webgpu/index.js";
import { registerEngine } from "../../src/reservoir/index.js";
import { bitsHere } from "./cases.js";

registerEngine("webgpu", async () => webgpuEngine, { automatic: false });
const engine = new URLSearchParams(location.search).get("engine") ?? undefined;
const answer = await bitsHere(engine).catch((error: unknown) => ({ error: String(error instanceof Error ? error.stack : error) }));
await fetch("/bits", { method: "POST", body: JSON.stringify(answer) });
document.title = "done";
