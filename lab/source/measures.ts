// The worker that measures beside the running reservoir, to keep the views smooth. What it does is
// imported late: if a chunk imported this file back, WebKit would run it twice.
import type { MeasureRequest } from "./measuring.js";

const measuring = import("./measuring.js");

addEventListener("message", async ({ data }: MessageEvent<MeasureRequest>) => (await measuring).measureAll(data));
