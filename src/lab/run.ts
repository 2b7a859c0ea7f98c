// One run that the page asked the server for.
import { performance } from "node:perf_hooks";
import { Matrix } from "@spillway/numerics";
import { ReservoirComputer } from "../reservoir/index.js";
import { withTimeLimit } from "../serve/work.js";
import type { RunRequest, ServerMessage } from "./messages.js";
import { reservoirOf } from "./settings.js";
import { hashedSteps, hashOf, signalOf } from "./signal.js";

/** Values of states that are held at a time. */
const chunkValues = 2 ** 22;
/** Seconds after which a run ends without a result. */
const longestRun = 600;

/**
 * Does a run: sends progress, then a result or an error. It never throws, and sends no more once
 * `stop` says so.
 */
export async function runRequest(
  request: RunRequest,
  engine: string | undefined,
  stop: AbortSignal,
  send: (message: ServerMessage) => void,
  seconds = longestRun,
): Promise<void> {
  if (stop.aborted) return;
  const late = () => new Error(`the run took more than ${seconds} s; take fewer neurons or steps`);
  try {
    send(await withTimeLimit(stop, seconds, late, (signal) => resultOf(request, engine, signal, send)));
  } catch (error) {
    if (stop.aborted) return;
    send({ type: "error", id: request.id, message: error instanceof Error ? error.message : String(error) });
  }
}

async function resultOf(
  { id, settings, steps }: RunRequest,
  engine: string | undefined,
  signal: AbortSignal,
  send: (message: ServerMessage) => void,
): Promise<ServerMessage> {
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
  return { type: "result", id, engine: name, plan: plan.summary, seconds, stepsPerSecond: steps / seconds, hash };
}
