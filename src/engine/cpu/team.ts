// The threads that run one reservoir: the one that owns it, and workers of the pool. Opt-in: on a
// busy machine they can be slower than one thread.
import { exportsOf, loadThreadsModule, type WasmInstance } from "@spillway/numerics/wasm/index.js";
import { WorkerPool } from "./worker-pool.js";

/** The values of the module's globals, by name; the same in every thread. */
export type Globals = Readonly<Record<string, number>>;

/** The pool that a team has its workers of, and its number there. */
interface PoolEntry {
  readonly pool: WorkerPool;
  readonly id: number;
}

/** Gives back the workers of reservoirs that were collected without `dispose()`. */
const collected = new FinalizationRegistry<{ entry: PoolEntry }>(({ entry: { pool, id } }) => void pool.release(id));

/** What workers make their instance of. */
interface Opening {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly kernel: TeamKernel;
}

/** Exports that run steps as threads: `(steps, ...share)`. */
export type TeamKernel = "run32" | "run64" | "runNetwork32" | "runNetwork64";

/**
 * A team of `size` threads: the caller and size - 1 workers. `advance` wakes each worker with its
 * share of the next chunk, and `join` waits until all have finished. The steps inside a chunk are
 * held together by the barrier in the WebAssembly memory.
 */
export class WorkerTeam {
  readonly size: number;
  readonly #opening: Opening;
  readonly #at: { entry: PoolEntry };
  #globals: Globals = {};
  #renewal: Promise<void> | undefined;
  #disposed = false;

  private constructor(size: number, opening: Opening, entry: PoolEntry) {
    this.size = size;
    this.#opening = opening;
    this.#at = { entry };
    collected.register(this, this.#at, this);
    this.#tell(opening);
  }

  /**
   * Takes workers, and has them and the caller make their instances over a shared memory of so many
   * bytes. Only if `whyOneThread` has no reason against it.
   */
  static async load(threads: number, bytes: number, kernel: TeamKernel): Promise<WasmInstance & { readonly team: WorkerTeam }> {
    const module = await loadThreadsModule();
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536), maximum: 65536, shared: true });
    const team = new WorkerTeam(threads, { module, memory, kernel }, await WorkerPool.take(threads - 1, memory.buffer.byteLength));
    const instance = new WebAssembly.Instance(module, { env: { memory, ...team.#barrierImports(memory) } });
    return { exports: exportsOf<WasmInstance["exports"]>(instance), memory, team };
  }

  /**
   * Whether its workers are there. If a worker has ended, perhaps in a chunk of another reservoir,
   * the team asks for others, and its owner computes without them until they have come.
   */
  get ready(): boolean {
    if (!this.#pool.gone) return true;
    // Threads that cannot be had are not asked for again.
    this.#renewal ??= this.#renew().catch(() => undefined);
    return false;
  }

  async #renew(): Promise<void> {
    const { pool, id } = this.#at.entry;
    const entry = await WorkerPool.take(this.size - 1, this.#opening.memory.buffer.byteLength);
    await pool.release(id);
    if (this.#disposed) return entry.pool.release(entry.id);
    this.#at.entry = entry;
    this.#renewal = undefined;
    this.#tell(this.#opening);
    this.#tell({ globals: this.#globals });
  }

  get #pool(): WorkerPool {
    return this.#at.entry.pool;
  }

  #tell(message: object): void {
    this.#pool.tell(this.#at.entry.id, this.size - 1, message);
  }

  /**
   * What the caller's own instance imports, beside the memory, to sleep in the barrier. @throws
   * WorkerEndedError from there
   */
  #barrierImports(memory: WebAssembly.Memory): { sleep(address: number, round: number): void; wake(address: number): void } {
    const memoryWords = new Int32Array(memory.buffer);
    return {
      sleep: (address, round) => {
        if (Atomics.wait(memoryWords, address >>> 2, round, 1) === "timed-out") this.#pool.check();
      },
      wake: (address) => {
        Atomics.notify(memoryWords, address >>> 2);
      },
    };
  }

  /** Tells every worker the module's globals. */
  start(globals: Globals): void {
    this.#globals = globals;
    this.#tell({ globals });
  }

  /**
   * Sets every worker to its share of a chunk, four words at most, and returns at once. `step` and
   * `sequence` are the counters of noise.
   */
  advance(steps: number, step: number, sequence: number, shares: readonly (readonly number[])[]): void {
    const { pool, id } = this.#at.entry;
    for (let thread = 1; thread < this.size; thread++) pool.start(thread, [id, steps, step | 0, sequence | 0, ...shares[thread]!]);
  }

  /** Waits until every worker has finished its chunk. @throws WorkerEndedError */
  join(): void {
    this.#pool.join(this.size - 1);
  }

  /**
   * Ends the workers, for a chunk that the caller cannot finish. Afterwards none of them writes to
   * the memory.
   */
  fail(): void {
    this.#pool.end();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    collected.unregister(this);
    // Workers that are on their way are given back by what asked for them.
    await Promise.all([this.#pool.release(this.#at.entry.id), this.#renewal]);
  }
}
