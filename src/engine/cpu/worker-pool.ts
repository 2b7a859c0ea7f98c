// The worker threads of the CPU engine, shared by every reservoir of this JavaScript thread: as
// many as the reservoir with the most threads has. What a reservoir does with them is in team.ts.
import { SpillwayError } from "../../core/errors.js";
import { startWorker } from "../../core/node-worker.js";
import { WorkerEndedError } from "../../reservoir/engine.js";

type Worker = import("node:worker_threads").Worker;

/**
 * One command word for each thread. The first belongs to the caller, and tells that a worker has
 * ended.
 */
const ended = 0;
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
/** How long the caller waits for threads that were told to end. */
const mostWaitMs = 5000;

/**
 * Workers that sleep on a command word each: `go` starts its share of a chunk, `read` makes it look
 * for messages, which open a reservoir or forget it. A worker that ends is noticed while this
 * thread is blocked, when neither its `exit` nor its `error` event can come.
 */
export class WorkerPool {
  static #current: WorkerPool | undefined;
  static #reservoirs = 0;
  readonly #workers: Worker[] = [];
  readonly #commands = new Int32Array(new SharedArrayBuffer(mostThreads * 4));
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
      const started: Promise<void>[] = [];
      while (this.#workers.length < count) {
        const thread = this.#workers.length + 1;
        const workerData = { thread, commands: this.#commands, shares: this.#shares };
        const worker = startWorker("./worker.mjs", import.meta.url, { workerData });
        this.#workers.push(worker);
        worker.on("error", (error) => this.#fail(thread, error));
        worker.on("exit", (code) => this.#fail(thread, code));
        started.push(whenReady(worker));
      }
      await Promise.all(started);
    });
    return this.#starting;
  }

  /** Sends workers a message about a reservoir. They read it before their next chunk. */
  tell(id: number, count: number, message: object): void {
    for (let thread = 1; thread <= count; thread++) {
      this.#workers[thread - 1]!.postMessage({ id, ...message });
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
  }

  /** @throws WorkerEndedError when a worker has ended, whether or not its events have come */
  check(): void {
    const dead = this.#workers.findIndex(hasEnded);
    if (dead >= 0) this.#fail(dead + 1);
    if (this.#failure) throw new WorkerEndedError(...this.#failure);
  }

  /** True if its workers have ended, or are about to. */
  get gone(): boolean {
    return Atomics.load(this.#commands, ended) !== 0;
  }

  /** Ends the pool and waits until no worker computes any more. */
  end(): void {
    void this.abandon();
    for (let waited = 0; waited < mostWaitMs && this.#workers.some((worker) => !hasEnded(worker)); waited++)
      Atomics.wait(this.#commands, ended, 1, 1);
  }

  /**
   * Ends the pool: its workers leave the chunk that they are in, and the next reservoir gets new
   * ones.
   */
  async abandon(): Promise<void> {
    Atomics.store(this.#commands, ended, 1);
    this.#retire();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  /** Forgets a reservoir. The threads end with the last. */
  async release(id: number): Promise<void> {
    const bytes = this.#users.get(id);
    if (bytes === undefined) return;
    this.#users.delete(id);
    if (this.#users.size === 0) return this.abandon();
    if (!this.#failure) this.tell(id, this.#workers.length, { forget: true });
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
    void this.abandon();
  }
}

/**
 * Node has no call that asks whether a thread lives. One that has ended has no idle time: it is -1,
 * from that moment on.
 */
const hasEnded = (worker: Worker): boolean => worker.performance.eventLoopUtilization().idle === -1;

/** Resolves when a worker is in its loop. It keeps the process alive until then, and no longer. */
async function whenReady(worker: Worker): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    // Both: Node tells nothing of a thread's idle time before it has heard that the thread is
    // online.
    let awaited = 2;
    const seen = () => {
      if (--awaited === 0) resolve();
    };
    worker.once("online", seen);
    worker.once("message", seen);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new SpillwayError("device", `a worker thread ended with exit code ${code} before it was ready`)));
  });
  worker.performance.eventLoopUtilization();
  worker.unref();
}
