// Work of a model that has one state: one piece at a time, each with its own limit of time.
import { SpillwayError } from "@spillway/core/errors.js";
import { Turns } from "../reservoir/work.js";
import { RequestError } from "./refused.js";

/** Pieces of work one after the other. A piece whose client is gone is not begun. */
export class Work {
  readonly #turns = new Turns();
  readonly #seconds: number;
  #waiting = 0;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** Pieces that wait or run. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Does a piece of work when its turn has come. The time counts from then. @throws RequestError if
   * it takes too long, the signal's reason, and what the work throws
   */
  async take<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const seconds = this.#seconds;
    const late = () => new RequestError(503, "aborted", `the work took more than ${seconds} s; ask for less, or set --timeout higher`);
    this.#waiting++;
    try {
      return await this.#turns.take(() => withTimeLimit(signal, seconds, late, work));
    } finally {
      this.#waiting--;
    }
  }

  /** Does work when all that was asked for before is over. */
  async last(work: () => Promise<void>): Promise<void> {
    await this.#turns.take(work);
  }
}

/**
 * Does work until a signal or a time stops it. Unlike `AbortSignal.any` it leaves nothing behind on
 * a signal that lives longer. @throws the signal's reason, `late()`, and what the work throws
 */
export async function withTimeLimit<T>(
  signal: AbortSignal,
  seconds: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const limit = new AbortController();
  let isLate = false;
  const stop = () => limit.abort(signal.reason);
  const timer = setTimeout(() => {
    isLate = true;
    limit.abort();
  }, 1000 * seconds);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await work(limit.signal);
  } catch (error) {
    if (!(error instanceof SpillwayError && error.code === "aborted")) throw error;
    signal.throwIfAborted();
    throw isLate ? late() : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
