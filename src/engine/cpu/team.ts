// Worker threads that run one reservoir together with the thread that owns it. Opt-in: on a busy machine they can be slower than one thread.
import type { Globals, Share } from "./stepper.js";

type Worker = import("node:worker_threads").Worker;

/** Command words in shared memory, one block of four for each thread. The caller's first word tells that a worker has ended. */
const words = 4;
const ended = 0;
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
    try {
      await Promise.all(workers.map((worker) => ready(worker, commands)));
    } catch (error) {
      await Promise.all(workers.map((worker) => worker.terminate()));
      throw error;
    }
    return new WorkerTeam(workers, commands, shares);
  }

  /** What the caller's own instance imports, beside the memory, to sleep in the barrier. @throws Error from there when a worker has ended */
  barrierImports(memory: WebAssembly.Memory): { sleep(address: number, round: number): void; wake(address: number): void } {
    const memoryWords = new Int32Array(memory.buffer);
    return {
      sleep: (address, round) => {
        this.#checkWorkers();
        Atomics.wait(memoryWords, address >>> 2, round, 1);
      },
      wake: (address) => {
        Atomics.notify(memoryWords, address >>> 2);
      },
    };
  }

  /** Tells every worker the module's globals. They read them before their next chunk. */
  start(globals: Globals): void {
    for (const worker of this.#workers) worker.postMessage(globals);
  }

  /** Sets every worker to its share of a chunk and returns at once. @throws Error when a worker has ended */
  advance(steps: number, step: number, sequence: number, shares: readonly Share[]): void {
    this.#checkWorkers();
    for (let thread = 1; thread < this.size; thread++) {
      const { firstPart, lastPart, firstRow, lastRow } = shares[thread]!;
      this.#shares.set([steps, step | 0, sequence | 0, firstPart, lastPart, firstRow, lastRow], thread * 8);
      this.#command(thread, go);
    }
  }

  /** Waits until every worker has finished its chunk. @throws Error when one has ended instead */
  join(): void {
    for (let thread = 1; thread < this.size; thread++) {
      const at = thread * words;
      while (Atomics.load(this.#commands, at) !== idle) {
        this.#checkWorkers();
        Atomics.wait(this.#commands, at, go, 1);
      }
    }
  }

  /** Lets the workers out of a chunk that the caller cannot finish; the team is of no use afterwards. */
  fail(): void {
    Atomics.store(this.#commands, ended, 1);
  }

  async dispose(): Promise<void> {
    for (let thread = 1; thread < this.size; thread++) this.#command(thread, quit);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #checkWorkers(): void {
    if (Atomics.load(this.#commands, ended) !== 0) {
      throw new Error("a worker thread of this reservoir has ended; dispose of the reservoir and create another one");
    }
  }

  #command(thread: number, command: number): void {
    Atomics.store(this.#commands, thread * words, command);
    Atomics.notify(this.#commands, thread * words);
  }
}

/** Resolves when a worker has its instance, and from then on notes when it ends. */
function ready(worker: Worker, commands: Int32Array): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once("message", () => resolve());
    worker.on("error", (error) => {
      Atomics.store(commands, ended, 1);
      reject(error);
    });
    worker.on("exit", () => {
      Atomics.store(commands, ended, 1);
      reject(new Error("a worker thread ended before it was ready"));
    });
  });
}
