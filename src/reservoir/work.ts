// Long work that stays polite: it lets the event loop run, reports progress and can be stopped.
import { SpillwayError } from "@spillway/core/errors.js";
import { callback, checked, type InputOf, optional, resolve } from "@spillway/core/options.js";

/**
 * Work was stopped by its AbortSignal, whose reason is its `cause`. A run keeps its state and the states made so far; a batch or
 * a closed loop returns nothing.
 */
export class WorkInterruptedError extends SpillwayError {
  override readonly name = "AbortError";
  readonly done: number;
  readonly total: number;
  constructor(done: number, total: number, reason: unknown) {
    super("aborted", `stopped after ${done} of ${total} steps${said(reason)}`, { cause: reason });
    this.done = done;
    this.total = total;
  }
}

/** The reason of a signal, if its owner gave one. */
function said(reason: unknown): string {
  if (typeof reason === "string") return `: ${reason}`;
  return reason instanceof Error && reason.name !== "AbortError" ? `: ${reason.message}` : "";
}

export const workTable = {
  /** Stops the work, which then throws WorkInterruptedError. */
  signal: optional(
    checked<AbortSignal>(
      "an AbortSignal, such as the `signal` of an AbortController",
      (value) => typeof (value as AbortSignal | null)?.aborted === "boolean",
    ),
    "Stops the work, which then throws WorkInterruptedError.",
  ),
  /** Called with steps done and steps in all, at most some dozens of times a second. */
  onProgress: optional(callback<(done: number, total: number) => void>(), "Called with steps done and steps in all."),
};

/** Watching and stopping long work. */
export interface WorkOptions extends InputOf<typeof workTable> {}

/** Work of part `k` of so many that are as long as one another: progress is that of the whole. */
export function partOf({ signal, onProgress }: WorkOptions, k: number, parts: number): WorkOptions {
  return { signal, onProgress: onProgress && ((done: number, total: number) => onProgress(k * total + done, parts * total)) };
}

/** Milliseconds of work between two visits to the event loop. */
const patience = 15;

/**
 * When the event loop last had its turn. Shared by all work: many short pieces in a row let signals
 * and timers through too.
 */
let lastTurn = performance.now();

/** Called between pieces of work. */
export class WorkPacer {
  readonly #options: WorkOptions;
  readonly #total: number;

  /**
   * For `total` pieces of work. @throws WorkInterruptedError when the signal is aborted already,
   * ArgumentError for a signal that is none
   */
  constructor(options: WorkOptions, total: number) {
    const { signal, onProgress } = options;
    resolve(workTable, { signal, onProgress });
    this.#options = options;
    this.#total = total;
    this.check(0);
  }

  /** Throws when the work was stopped. @throws WorkInterruptedError */
  check(done: number): void {
    if (this.#options.signal?.aborted) throw new WorkInterruptedError(done, this.#total, this.#options.signal.reason);
  }

  /** Whether it is time to call `pause`. */
  due(): boolean {
    return performance.now() - lastTurn > patience;
  }

  /** Reports progress, lets the event loop run, and then looks whether the work was stopped. */
  async pause(done: number): Promise<void> {
    this.#options.onProgress?.(done, this.#total);
    await new Promise<void>((resume) => (typeof setImmediate === "function" ? setImmediate(resume) : setTimeout(resume, 0)));
    lastTurn = performance.now();
    this.check(done);
  }

  /** Reports the end. */
  finish(): void {
    this.#options.onProgress?.(this.#total, this.#total);
  }
}

/**
 * Calls one after the other, in the order in which they were made: for what has one state. A call
 * that fails holds up no other.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #calls = 0;

  /** Does the work when all that was asked for before is over; at once if that is so now. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#calls === 0 ? work() : this.#last.then(work);
    this.#calls++;
    const over = () => {
      this.#calls--;
    };
    this.#last = turn.then(over, over);
    return turn;
  }
}
