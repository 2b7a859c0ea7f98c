// One run that the page asked the server for.
import { performance } from "node:perf_hooks";
import { Matrix } from "../numerics/index.js";
import { ReservoirComputer } from "../reservoir/index.js";
import { parseRequest, type ServerMessage } from "./messages.js";
import { reservoirOf } from "./settings.js";
import { hashedSteps, hashOf, signalOf } from "./signal.js";

/** Values of states that are held at a time. */
const chunkValues = 2 ** 22;

/** Answers a message: progress, then a result or an error. It never throws. */
export async function runRequest(
  text: string,
  engine: string | undefined,
  signal: AbortSignal,
  send: (message: ServerMessage) => unknown,
): Promise<void> {
  const request = parseRequest(text);
  if (typeof request === "string") {
    send({ type: "error", id: -1, message: request });
    return;
  }
  const { id, settings, steps } = request;
  try {
    await using computer = await ReservoirComputer.create(reservoirOf(settings), { engine });
    const hash = await hashOf(await computer.run(signalOf(settings, hashedSteps).input, { signal }));
    computer.reset();
    const { input } = signalOf(settings, steps);
    const chunk = Math.max(1, Math.floor(chunkValues / settings.size));
    const into = Matrix.zeros(Math.min(chunk, steps), settings.size, computer.model.precision);
    let seconds = 0;
    for (let from = 0; from < steps; from += chunk) {
      const rows = Math.min(chunk, steps - from);
      const begin = performance.now();
      await computer.run(input.subarray(from, from + rows), { signal, into: into.subarray(0, rows) });
      seconds += (performance.now() - begin) / 1000;
      send({ type: "progress", id, done: from + rows, total: steps });
    }
    const { name, plan } = computer.engine;
    send({ type: "result", id, engine: name, plan: plan.summary, seconds, stepsPerSecond: steps / seconds, hash });
  } catch (error) {
    if (!signal.aborted) send({ type: "error", id, message: error instanceof Error ? error.message : String(error) });
  }
}
