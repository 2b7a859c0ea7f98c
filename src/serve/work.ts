// Work of a model that has one state: one piece at a time, each with its own limit of time.
import { SpillwayError } from "../core/errors.js";
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
    this.#waiting++;
    try {
      return await this.#turns.take(async () => {
        signal.throwIfAborted();
        const late = AbortSignal.timeout(1000 * this.#seconds);
        try {
          return await work(AbortSignal.any([signal, late]));
        } catch (error) {
          if (!(error instanceof SpillwayError && error.code === "aborted")) throw error;
          signal.throwIfAborted();
          if (late.aborted)
            throw new RequestError(503, "aborted", `the work took more than ${this.#seconds} s; ask for less, or set --timeout higher`);
          throw error;
        }
      });
    } finally {
      this.#waiting--;
    }
  }

  /** Does work when all that was asked for before is over. */
  async last(work: () => Promise<void>): Promise<void> {
    await this.#turns.take(work);
  }
}
