// The threads that run one reservoir: the one that owns it, and workers of the pool. Opt-in: on a busy machine they can be slower than one thread.
import type { Globals, Share } from "./stepper.js";
import { WorkerPool } from "./worker-pool.js";

/** Gives back the workers of reservoirs that were collected without `dispose()`. */
const collected = new FinalizationRegistry<{ readonly pool: WorkerPool; readonly id: number }>(({ pool, id }) => void pool.release(id));

/**
 * A team of `size` threads: the caller and size - 1 workers. `advance` wakes each worker with its share of the next chunk, and `join` waits until
 * all have finished. The steps inside a chunk are held together by the barrier in the WebAssembly memory.
 */
export class WorkerTeam {
  readonly size: number;
  readonly #pool: WorkerPool;
  readonly #id: number;

  private constructor(size: number, pool: WorkerPool, id: number) {
    this.size = size;
    this.#pool = pool;
    this.#id = id;
    collected.register(this, { pool, id }, this);
  }

  /** Takes workers and has each make its instance over a shared memory. */
  static async create(threads: number, module: WebAssembly.Module, memory: WebAssembly.Memory, precision: string): Promise<WorkerTeam> {
    const { pool, id } = await WorkerPool.take(threads - 1, memory.buffer.byteLength);
    pool.tell(id, threads - 1, { module, memory, precision });
    return new WorkerTeam(threads, pool, id);
  }

  /** What the caller's own instance imports, beside the memory, to sleep in the barrier. @throws WorkerEndedError from there */
  barrierImports(memory: WebAssembly.Memory): { sleep(address: number, round: number): void; wake(address: number): void } {
    const pool = this.#pool;
    const memoryWords = new Int32Array(memory.buffer);
    return {
      sleep: (address, round) => {
        if (Atomics.wait(memoryWords, address >>> 2, round, 1) === "timed-out") pool.check();
      },
      wake: (address) => {
        Atomics.notify(memoryWords, address >>> 2);
      },
    };
  }

  /** Tells every worker the module's globals. */
  start(globals: Globals): void {
    this.#pool.tell(this.#id, this.size - 1, { globals });
  }

  /** Sets every worker to its share of a chunk and returns at once. @throws WorkerEndedError */
  advance(steps: number, step: number, sequence: number, shares: readonly Share[]): void {
    this.#pool.checkFailure();
    for (let thread = 1; thread < this.size; thread++) {
      const { firstPart, lastPart, firstRow, lastRow } = shares[thread]!;
      this.#pool.start(thread, [this.#id, steps, step | 0, sequence | 0, firstPart, lastPart, firstRow, lastRow]);
    }
  }

  /** Waits until every worker has finished its chunk. @throws WorkerEndedError */
  join(): void {
    this.#pool.join(this.size - 1);
  }

  /** Lets the workers out of a chunk that the caller cannot finish; the team is of no use afterwards. */
  fail(): void {
    void this.#pool.abandon();
  }

  async dispose(): Promise<void> {
    collected.unregister(this);
    await this.#pool.release(this.#id);
  }
}
