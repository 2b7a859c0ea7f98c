// The process in which inputs are read. A thread beside the cases ends it when one of them takes
// too long or too much.
import { openSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { type Loaded, loadFormat, makeInput, readInput } from "./cases.js";
import { type Answer, endedBy, type Request } from "./child-messages.js";
import type { Limits } from "./format.js";

/**
 * Beside the cases: [case number, case is running, MiB of resident memory before the first case,
 * largest growth in MiB].
 */
const shared = new Int32Array(new SharedArrayBuffer(16));
const [, , path, limitsText] = process.argv;
const status = openSync(path!, "r+");
const limits: Limits = JSON.parse(limitsText!);

const watch = `
const { workerData: { shared, limits, path, endedBy } } = require("node:worker_threads");
const { openSync, writeSync } = require("node:fs");
const status = openSync(path, "r+");
const end = (reason) => {
  writeSync(status, Int32Array.of(reason), 0, 4, 4);
  process.kill(process.pid, "SIGKILL");
};
const computed = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
let at = -1, cpu = 0, clock = 0;
setInterval(() => {
  const now = Atomics.load(shared, 0);
  if (Atomics.load(shared, 1) === 0) { at = -1; return; }
  const growth = process.memoryUsage.rss() / 2 ** 20 - Atomics.load(shared, 2);
  if (growth > Atomics.load(shared, 3)) Atomics.store(shared, 3, growth);
  if (growth * 2 ** 20 > limits.memoryBytes) end(endedBy.memory);
  if (now !== at) { at = now; cpu = computed(); clock = performance.now(); return; }
  if (computed() - cpu > limits.computeSeconds || performance.now() - clock > 1000 * limits.waitSeconds) end(endedBy.time);
}, 20);
`;
new Worker(watch, { eval: true, workerData: { shared, limits, path, endedBy } }).unref();

let loaded: Loaded | undefined;
let count = 0;

async function load(name: string): Promise<Loaded> {
  if (loaded?.name === name) return loaded;
  loaded = await loadFormat(name);
  await loaded.format.start?.();
  Atomics.store(shared, 2, process.memoryUsage.rss() / 2 ** 20);
  Atomics.store(shared, 3, 0);
  return loaded;
}

async function run(loaded: Loaded, index: number, input: Uint8Array): Promise<{ refused: boolean; milliseconds: number }> {
  writeSync(status, Int32Array.of(index, endedBy.nothing), 0, 8, 0);
  Atomics.store(shared, 0, ++count);
  Atomics.store(shared, 1, 1);
  const start = performance.now();
  const { refused, problem } = await readInput(loaded, input, limits);
  const milliseconds = performance.now() - start;
  Atomics.store(shared, 1, 0);
  if (problem) process.send!({ kind: "finding", index, problem } satisfies Answer);
  return { refused, milliseconds };
}

process.on("message", async (request: Request) => {
  const loaded = await load(request.format);
  const sum = { refused: 0, slowestMs: 0, slowest: 0 };
  const [from, to] = request.kind === "input" ? [0, 1] : [request.from, request.to];
  for (let index = from; index < to; index++) {
    const input = request.kind === "input" ? request.input : await makeInput(loaded, request.seed, index);
    const { refused, milliseconds } = await run(loaded, index, input);
    if (refused) sum.refused++;
    if (milliseconds > sum.slowestMs) [sum.slowestMs, sum.slowest] = [milliseconds, index];
    // Messages and the ends of promises need a turn of the event loop.
    if (index % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  process.send!({ kind: "done", ...sum, growthBytes: Atomics.load(shared, 3) * 2 ** 20 } satisfies Answer);
});
