// A thread that draws recurrent weights, one description after the other. It is built into a file
// of its own; draw-threads.ts starts it.
import { parentPort } from "node:worker_threads";
import { drawWeights } from "../recurrent-weights.js";
import type { DrawAnswer, DrawTask } from "./draw-threads.js";

parentPort!.on("message", (task: DrawTask) => {
  try {
    parentPort!.postMessage(answerTo(task));
  } catch {
    // Such as a topology that was registered in the owner: it says what is wrong, or draws.
    parentPort!.postMessage({ drawMs: 0, radiusMs: 0 } satisfies DrawAnswer);
  }
});

function answerTo({ config, measured }: DrawTask): DrawAnswer {
  const begun = performance.now();
  const drawn = drawWeights(config);
  const { matrix, analyticRadius } = drawn;
  const between = performance.now();
  const radius = measured ? drawn.measured() : undefined;
  return { parts: { matrix, analyticRadius, radius }, drawMs: between - begun, radiusMs: performance.now() - between };
}
