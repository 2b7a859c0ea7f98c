// A thread that draws recurrent weights, one description after the other. It is built into a file
// of its own; draw-threads.ts starts it.
import { parentPort } from "node:worker_threads";
import { isDenseBlock } from "@spillway/numerics/spectrum/radius.js";
import { isInParts } from "../recurrent-weights.js";
import { type DrawAnswer, type DrawTask, drawParts } from "./draw-threads.js";

parentPort!.on("message", (task: DrawTask) => {
  try {
    const answer = drawParts(task);
    const { radius } = answer.parts;
    const blocks = isInParts(radius) ? radius.filter(isDenseBlock) : [];
    parentPort!.postMessage(
      answer,
      blocks.map(({ values }) => values.buffer as ArrayBuffer),
    );
  } catch {
    // Such as a topology that was registered in the owner: it says what is wrong, or draws.
    parentPort!.postMessage({ drawMs: 0, radiusMs: 0 } satisfies DrawAnswer);
  }
});
