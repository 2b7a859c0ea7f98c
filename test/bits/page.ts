// The same in a browser: the page hands its line, or its error, to the server that it came from.
import { bitsHere } from "./cases.js";

const answer = await bitsHere().catch((error: unknown) => ({ error: String(error instanceof Error ? error.stack : error) }));
await fetch("/bits", { method: "POST", body: JSON.stringify(answer) });
document.title = "done";
