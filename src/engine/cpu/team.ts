// Worker threads that run one reservoir together with the thread that owns it. Opt-in: on a busy machine they can be slower than one thread.
import type { Globals, Share } from "./stepper.js";

type Worker = import("node:worker_threads").Worker;

/** Command words in shared memory, one block of four for each worker. */
const words = 4;
const idle = 0;
const go = 1;
const quit = 2;

/**
 * A team of `size` threads: the caller and size - 1 workers. A worker sleeps on its command word; `advance` wakes it with its share of the next chunk, and `join`
 * waits until all have finished. The steps inside a chunk are held together by the barrier in the WebAssembly memory.
 */
export class WorkerTeam {
  readonly size: number;
  readonly #workers: readonly Worker[];
  readonly #commands: Int32Array;
  readonly #shares: Int32Array;

  private constructor(workers: readonly Worker[], commands: Int32Array, shares: Int32Array) {
    this.size = workers.length + 1;
    this.#workers = workers;
    this.#commands = commands;
    this.#shares = shares;
  }

  /** Starts the workers over a shared memory and waits until each has its instance. */
  static async create(threads: number, module: WebAssembly.Module, memory: WebAssembly.Memory, precision: string): Promise<WorkerTeam> {
    const { Worker } = await import("node:worker_threads");
    const commands = new Int32Array(new SharedArrayBuffer(threads * words * 4));
    const shares = new Int32Array(new SharedArrayBuffer(threads * 8 * 4));
    const workers = Array.from({ length: threads - 1 }, (_, i) => {
      const worker = new Worker(new URL("./worker.mjs", import.meta.url), {
        workerData: { module, memory, precision, thread: i + 1, commands, shares },
      });
      worker.unref();
      return worker;
    });
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise<void>((ready, failed) => {
            worker.once("message", () => ready());
            worker.once("error", failed);
          }),
      ),
    );
    return new WorkerTeam(workers, commands, shares);
  }

  /** Tells every worker the module's globals. They read them before their next chunk. */
  start(globals: Globals): void {
    for (const worker of this.#workers) worker.postMessage(globals);
  }

  /** Sets every worker to its share of a chunk and returns at once. */
  advance(steps: number, step: number, sequence: number, shares: readonly Share[]): void {
    for (let thread = 1; thread < this.size; thread++) {
      const { firstPart, lastPart, firstRow, lastRow } = shares[thread]!;
      this.#shares.set([steps, step | 0, sequence | 0, firstPart, lastPart, firstRow, lastRow], thread * 8);
      this.#command(thread, go);
    }
  }

  /** Waits until every worker has finished its chunk. */
  join(): void {
    for (let thread = 1; thread < this.size; thread++) {
      const at = thread * words;
      while (Atomics.load(this.#commands, at) !== idle) Atomics.wait(this.#commands, at, go, 1);
    }
  }

  async dispose(): Promise<void> {
    for (let thread = 1; thread < this.size; thread++) this.#command(thread, quit);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #command(thread: number, command: number): void {
    Atomics.store(this.#commands, thread * words, command);
    Atomics.notify(this.#commands, thread * words);
  }
}
