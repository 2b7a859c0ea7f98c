// Threads that find eigenvalues of dense blocks beside each other and beside the thread that owns
// them. In Node; elsewhere the owner computes.
import { startWorker } from "../../core/node-worker.js";
import { wasmModule, wasmReserved } from "../wasm/index.js";
import type { Component } from "./components.js";
import { denseBlock, denseEigenvalues, type Eigenvalues, foundAll } from "./dense.js";

type Worker = import("node:worker_threads").Worker;

/** Blocks that a thread has, the one in work included: enough to never wait for the owner. */
const blocksPerThread = 2;

/** Threads that this machine has beside the calling one; 0 if there are none to be had. */
export function spareThreads(): number {
  const os = globalThis.process?.getBuiltinModule?.("node:os");
  return os ? Math.min(mostThreads, os.availableParallelism() - 1) : 0;
}

const mostThreads = 32;

/** A block whose eigenvalues are wanted. */
interface Task {
  readonly component: Component;
  readonly resolve: (found: Eigenvalues) => void;
  readonly reject: (error: unknown) => void;
}

/** What a thread answers. */
interface Answer extends Eigenvalues {
  readonly missing: number;
  readonly milliseconds: number;
}

interface Thread {
  readonly worker: Worker;
  /** In the order in which they were given to it. */
  readonly tasks: Task[];
}

/**
 * At most `count` threads. They start with the first block and end with `dispose`. If one ends
 * before, others take over its blocks; if none is left, the owner computes. The bits are those of
 * `denseEigenvalues`.
 */
export class DenseThreads {
  readonly #count: number;
  readonly #waiting: Task[] = [];
  #threads: Thread[] = [];
  #started: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #disposed = false;
  #milliseconds = 0;

  constructor(count: number) {
    this.#count = globalThis.process?.versions?.node ? count : 0;
  }

  /** The threads that run now. */
  get running(): number {
    return this.#threads.length;
  }

  /** What the blocks took that are done, summed over the threads. */
  get milliseconds(): number {
    return this.#milliseconds;
  }

  /** @throws Error if the QR algorithm fails, or these threads are disposed first */
  eigenvalues(component: Component): Promise<Eigenvalues> {
    if (this.#disposed) return Promise.reject(ended());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ component, resolve, reject });
      this.#started ??= this.#start();
      this.#started.then(() => this.#giveOut(), reject);
    });
  }

  /**
   * Ends the threads, and waits until they have. Blocks that are not done are rejected. Idempotent.
   */
  dispose(): Promise<void> {
    this.#disposed = true;
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    await this.#started;
    const threads = this.#threads.splice(0);
    const left = [...threads.flatMap(({ tasks }) => tasks), ...this.#waiting.splice(0)];
    for (const { reject } of left) reject(ended());
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  async #start(): Promise<void> {
    if (this.#count < 1) return;
    const workerData = { module: wasmModule(), reserved: wasmReserved };
    for (let i = 0; i < this.#count; i++) {
      const worker = startWorker("./dense-worker.mjs", import.meta.url, { workerData });
      const thread: Thread = { worker, tasks: [] };
      this.#threads.push(thread);
      worker.on("message", (answer) => this.#take(thread, answer));
      worker.on("error", () => this.#lose(thread));
      worker.on("exit", () => this.#lose(thread));
    }
  }

  #giveOut(): void {
    if (this.#disposed) return;
    for (let round = 1; round <= blocksPerThread; round++)
      for (const { worker, tasks } of this.#threads) {
        if (tasks.length >= round) continue;
        const task = this.#waiting.shift();
        if (!task) return;
        tasks.push(task);
        const block = denseBlock(task.component);
        worker.postMessage(block, [block.values.buffer as ArrayBuffer]);
      }
    if (this.#threads.length > 0) return;
    const task = this.#waiting.shift();
    if (!task) return;
    settle(task, () => denseEigenvalues(task.component));
    setTimeout(() => this.#giveOut());
  }

  #take({ tasks }: Thread, answer: Answer): void {
    this.#milliseconds += answer.milliseconds;
    const task = tasks.shift()!;
    settle(task, () => foundAll(task.component.size, answer));
    this.#giveOut();
  }

  #lose(thread: Thread): void {
    const at = this.#threads.indexOf(thread);
    if (at < 0) return;
    this.#threads.splice(at, 1);
    this.#waiting.unshift(...thread.tasks.splice(0));
    this.#giveOut();
  }
}

const ended = (): Error => new Error("the threads that computed eigenvalues were ended");

function settle({ resolve, reject }: Task, work: () => Eigenvalues): void {
  try {
    resolve(work());
  } catch (error) {
    reject(error);
  }
}
