// The worker threads of the CPU engine, shared by every reservoir of this JavaScript thread: as
// many as the reservoir with the most threads has. What a reservoir does with them is in team.ts.
import { WorkerEndedError } from "../../reservoir/engine.js";
import { startThread, type Thread } from "./thread.js";

/**
 * One command word for each thread. The first belongs to no worker: it has the number of one that
 * has ended, or `byOwner` once the pool was ended.
 */
const ended = 0;
const byOwner = -1;
const idle = 0;
const go = 1;
const read = 2;
const wordsOfShare = 8;
const mostThreads = 64;
/**
 * A sleeping worker collects no garbage: it keeps the memory of reservoirs that it has forgotten.
 * Above this many bytes it gets no new ones.
 */
const mostForgottenBytes = 2 ** 26;
/** How long the caller waits for threads that were told to leave their chunk. */
const mostWaitMs = 5000;

/**
 * Workers that sleep on a command word each: `go` starts its share of a chunk, `read` makes it look
 * for messages, which open a reservoir or forget it. A worker that ends is noticed while this
 * thread is blocked, when neither its `exit` nor its `error` event can come.
 */
export class WorkerPool {
  static #current: WorkerPool | undefined;
  static #reservoirs = 0;
  readonly #threads: Thread[] = [];
  readonly #commands = new Int32Array(new SharedArrayBuffer(mostThreads * 4));
  /** Messages that each thread was sent. */
  readonly #messages = new Int32Array(new SharedArrayBuffer(mostThreads * 4));
  readonly #shares = new Int32Array(new SharedArrayBuffer(mostThreads * wordsOfShare * 4));
  /** Bytes of the memory of each reservoir, by its number. */
  readonly #users = new Map<number, number>();
  #forgottenBytes = 0;
  #starting: Promise<unknown> = Promise.resolve();
  #failure: readonly [thread: number, cause: unknown] | undefined;

  /**
   * A pool with at least `count` workers, and the number in it of a reservoir with `bytes` of
   * memory, until `release`.
   */
  static async take(count: number, bytes: number): Promise<{ readonly pool: WorkerPool; readonly id: number }> {
    WorkerPool.#current ??= new WorkerPool();
    const pool = WorkerPool.#current;
    const id = WorkerPool.#reservoirs++;
    pool.#users.set(id, bytes);
    try {
      await pool.#grow(count);
    } catch (error) {
      await pool.release(id);
      throw error;
    }
    return { pool, id };
  }

  /** Starts the workers that are missing; one caller after the other. */
  #grow(count: number): Promise<unknown> {
    this.#starting = this.#starting.then(async () => {
      const started: Promise<unknown>[] = [];
      while (this.#threads.length < count) {
        const thread = this.#threads.length + 1;
        const first = { thread, commands: this.#commands, messages: this.#messages, shares: this.#shares };
        const begun = startThread(first, (cause) => this.#fail(thread, cause));
        this.#threads.push(begun.thread);
        started.push(begun.ready);
      }
      await Promise.all(started);
    });
    return this.#starting;
  }

  /** Sends workers a message about a reservoir. They read it before their next chunk. */
  tell(id: number, count: number, message: object): void {
    for (let thread = 1; thread <= count; thread++) {
      this.#threads[thread - 1]!.post({ id, ...message });
      Atomics.add(this.#messages, thread, 1);
      if (Atomics.compareExchange(this.#commands, thread, idle, read) === idle) Atomics.notify(this.#commands, thread);
    }
  }

  /** Sets a worker to its share of a chunk and returns at once. */
  start(thread: number, share: readonly number[]): void {
    this.#shares.set(share, thread * wordsOfShare);
    Atomics.store(this.#commands, thread, go);
    Atomics.notify(this.#commands, thread);
  }

  /** Waits until the workers 1 to `count` have finished. @throws WorkerEndedError */
  join(count: number): void {
    for (let thread = 1; thread <= count; thread++) {
      while (Atomics.load(this.#commands, thread) === go) {
        if (Atomics.wait(this.#commands, thread, go, 1) === "timed-out") this.check();
      }
    }
    if (this.gone) this.check();
  }

  /** @throws WorkerEndedError when a worker has ended, whether or not its events have come */
  check(): void {
    const dead = Atomics.load(this.#commands, ended) || this.#threads.findIndex(({ hasEnded }) => hasEnded) + 1;
    if (dead > 0) this.#failure ??= [dead, undefined];
    if (this.#failure) throw new WorkerEndedError(...this.#failure);
  }

  /** True if its workers have ended, or are about to. */
  get gone(): boolean {
    return Atomics.load(this.#commands, ended) !== 0;
  }

  /** Ends the pool once no worker computes any more. */
  end(): void {
    this.#close();
    const computes = ({ hasEnded }: Thread, k: number) => !hasEnded && Atomics.load(this.#commands, k + 1) === go;
    const word = Atomics.load(this.#commands, ended);
    for (let waited = 0; waited < mostWaitMs && this.#threads.some(computes); waited++) Atomics.wait(this.#commands, ended, word, 1);
    void this.terminate();
  }

  /** Ends the pool, whatever its workers do; the next reservoir gets new ones. */
  async terminate(): Promise<void> {
    this.#close();
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  /** Has workers leave the chunk that they are in, and the next reservoir get another pool. */
  #close(): void {
    Atomics.compareExchange(this.#commands, ended, 0, byOwner);
    this.#retire();
  }

  /** Forgets a reservoir. The threads end with the last. */
  async release(id: number): Promise<void> {
    const bytes = this.#users.get(id);
    if (bytes === undefined) return;
    this.#users.delete(id);
    if (this.#users.size === 0) return this.terminate();
    if (!this.#failure) this.tell(id, this.#threads.length, { forget: true });
    this.#forgottenBytes += bytes;
    if (this.#forgottenBytes > mostForgottenBytes) this.#retire();
  }

  /** The next reservoir gets another pool. */
  #retire(): void {
    if (WorkerPool.#current === this) WorkerPool.#current = undefined;
  }

  #fail(thread: number, cause?: unknown): void {
    if (this.#users.size === 0) return;
    this.#failure ??= [thread, cause];
    void this.terminate();
  }
}
