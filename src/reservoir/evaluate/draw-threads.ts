// Threads that draw recurrent weights and measure their radii, beside each other and beside the
// thread that owns them. In Node; elsewhere the owner draws.
import { startWorker } from "@spillway/core/node-worker.js";
import { denseLimit, denseOnDevice, radiusParts } from "@spillway/numerics/spectrum/radius.js";
import type { DrawnConfig } from "../known-radii.js";
import { type DrawnParts, drawWeights } from "../recurrent-weights.js";

type Worker = import("node:worker_threads").Worker;

/** Descriptions that a thread has, the one in work included: enough to never wait for the owner. */
const tasksPerThread = 2;

/** Threads that this machine has beside the calling one; 0 if there are none to be had. */
export function spareThreads(): number {
  const os = globalThis.process?.getBuiltinModule?.("node:os");
  return os ? Math.min(mostThreads, os.availableParallelism() - 1) : 0;
}

const mostThreads = 32;

/** What is asked for. */
export interface DrawTask {
  readonly config: DrawnConfig;
  /** Whether the radius is wanted: none, whole, or without the blocks that a device computes. */
  readonly radius: "none" | "whole" | "parts";
}

/** What is answered; without parts if a thread could not draw: the owner then tries itself. */
export interface DrawAnswer {
  readonly parts?: DrawnParts | undefined;
  readonly drawMs: number;
  readonly radiusMs: number;
}

/** Whether blocks of a radius may be left to a device that is asked for many. */
export function hasDeviceParts({ size, radiusMethod }: DrawnConfig): boolean {
  const most = radiusMethod === "dense" ? denseOnDevice.mostRows : radiusMethod === "auto" ? denseLimit : 0;
  return size >= denseOnDevice.leastRows && size <= most;
}

/** W, and of its radius what is asked for. */
export function drawParts({ config, radius: wanted }: DrawTask): DrawAnswer & { readonly parts: DrawnParts } {
  const begun = performance.now();
  const drawn = drawWeights(config);
  const { matrix, analyticRadius } = drawn;
  const between = performance.now();
  const method = config.radiusMethod;
  const inParts = wanted === "parts" && analyticRadius === undefined && (method === "auto" || method === "dense");
  const radius = inParts ? radiusParts(matrix, method) : wanted === "none" ? undefined : drawn.measured();
  return { parts: { matrix, analyticRadius, radius }, drawMs: between - begun, radiusMs: performance.now() - between };
}

interface Pending {
  readonly task: DrawTask;
  readonly resolve: (parts: DrawnParts | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  /** In the order in which they were given to it. */
  readonly pending: Pending[];
}

/**
 * At most `count` threads. They start with the first description and end with `dispose`. If one
 * ends before, others take over its descriptions; if none is left, the owner draws. The bits are
 * those of `drawWeights`.
 */
export class DrawThreads {
  readonly #count: number;
  readonly #waiting: Pending[] = [];
  #threads: Thread[] | undefined;
  #ending: Promise<void> | undefined;
  #drawMs = 0;
  #radiusMs = 0;

  constructor(count: number) {
    this.#count = globalThis.process?.versions?.node ? count : 0;
  }

  /** What is done took, summed over the threads. */
  get milliseconds(): { readonly draw: number; readonly radius: number } {
    return { draw: this.#drawMs, radius: this.#radiusMs };
  }

  /**
   * W as a description draws it; undefined if the owner has to draw it.
   * @throws Error if these threads are disposed first
   */
  draw(task: DrawTask): Promise<DrawnParts | undefined> {
    if (this.#ending) return Promise.reject(ended());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#threads ??= Array.from({ length: this.#count }, () => this.#start());
      this.#giveOut();
    });
  }

  /** Ends the threads, and waits until they have. What is not done is rejected. Idempotent. */
  dispose(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const threads = this.#threads?.splice(0) ?? [];
    const left = [...threads.flatMap(({ pending }) => pending), ...this.#waiting.splice(0)];
    for (const { reject } of left) reject(ended());
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #start(): Thread {
    // From the bundle, whose chunks lie in the package's root. Run from the sources there is no
    // such file, and the owner draws.
    const worker = startWorker("./reservoir/evaluate/draw-worker.js", import.meta.url);
    const thread: Thread = { worker, pending: [] };
    worker.on("message", (answer) => this.#take(thread, answer));
    worker.on("error", () => this.#lose(thread));
    worker.on("exit", () => this.#lose(thread));
    return thread;
  }

  #giveOut(): void {
    const threads = this.#threads!;
    for (let round = 1; round <= tasksPerThread; round++)
      for (const { worker, pending } of threads) {
        if (pending.length >= round) continue;
        const next = this.#waiting.shift();
        if (!next) return;
        pending.push(next);
        worker.postMessage(next.task);
      }
    if (threads.length === 0) for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
  }

  #take({ pending }: Thread, { parts, drawMs, radiusMs }: DrawAnswer): void {
    this.#drawMs += drawMs;
    this.#radiusMs += radiusMs;
    pending.shift()!.resolve(parts);
    this.#giveOut();
  }

  #lose(thread: Thread): void {
    const at = this.#threads?.indexOf(thread) ?? -1;
    if (at < 0) return;
    this.#threads!.splice(at, 1);
    this.#waiting.unshift(...thread.pending.splice(0));
    this.#giveOut();
  }
}

const ended = (): Error => new Error("the threads that drew weights were ended");
