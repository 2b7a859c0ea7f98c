// Stops calling what keeps failing, and tries again after a while. It knows nothing of spikes.
import { SpillwayError } from "./errors.js";
import { callback, type InputOf, number, option, type Resolved, resolve, whole } from "./options.js";

/**
 * "closed": calls go through. "open": they are refused. "halfOpen": they go through on probation.
 */
export type CircuitState = "closed" | "open" | "halfOpen";

export const circuitBreakerTable = {
  /** Failures in a row that open the circuit; default 10. */
  failureThreshold: option(whole({ atLeast: 1 }), 10, "Failures in a row that open the circuit."),
  /** How long it stays open, in ms; default 1000. */
  recoveryMs: option(number({ atLeast: 0, takes: "a number of ms, at least 0" }), 1000, "How long it stays open."),
  /** Successes in a row on probation that close it; default 5. One failure opens it again. */
  successThreshold: option(whole({ atLeast: 1 }), 5, "Successes in a row on probation that close it."),
  /** The clock, in ms; default performance.now. */
  now: option(
    callback<() => number>("a function that gives the time in ms"),
    () => performance.now(),
    "The clock; left out, performance.now.",
  ),
};

/** When a circuit opens and closes again. */
export interface CircuitBreakerOptions extends InputOf<typeof circuitBreakerTable> {}

/** A call was refused, because too many before it failed. */
export class CircuitOpenError extends SpillwayError {
  override readonly name = "CircuitOpenError";
  /** Failures in a row that opened the circuit. */
  readonly failures: number;
  /** How long it stays open yet, in ms. */
  readonly remainingMs: number;
  constructor(failures: number, remainingMs: number, cause: unknown) {
    super("limit", `detection is paused after ${failures} failures in a row; it takes calls again in ${Math.ceil(remainingMs)} ms`, {
      cause,
    });
    this.failures = failures;
    this.remainingMs = remainingMs;
  }
}

/** A circuit breaker (Nygard 2007, "Release It!"). */
export class CircuitBreaker {
  readonly #options: Resolved<typeof circuitBreakerTable>;
  #state: CircuitState = "closed";
  #failures = 0;
  #successes = 0;
  #openedAt = 0;
  #lastError: unknown;

  /**
   * Closed, with no failure counted. @throws ArgumentError on a threshold below 1 or a negative
   * time
   */
  constructor(options: CircuitBreakerOptions = {}) {
    this.#options = resolve(circuitBreakerTable, options);
  }

  /** The state now: an open circuit is half open once its time is over. */
  get state(): CircuitState {
    return this.#state === "open" && this.#options.now() - this.#openedAt >= this.#options.recoveryMs ? "halfOpen" : this.#state;
  }

  /**
   * Calls `work` and passes on what it returns or throws. @throws CircuitOpenError while the
   * circuit is open.
   */
  call<Result>(work: () => Result): Result {
    const state = this.#enter();
    try {
      return this.#succeeded(state, work());
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** The same for work that is waited for. @throws CircuitOpenError while the circuit is open. */
  async callAsync<Result>(work: () => Promise<Result>): Promise<Result> {
    const state = this.#enter();
    try {
      return this.#succeeded(state, await work());
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #enter(): CircuitState {
    const state = this.state;
    const { recoveryMs, now } = this.#options;
    if (state === "open") throw new CircuitOpenError(this.#failures, recoveryMs - (now() - this.#openedAt), this.#lastError);
    this.#state = state;
    return state;
  }

  #succeeded<Result>(before: CircuitState, result: Result): Result {
    this.#failures = 0;
    if (before === "halfOpen" && ++this.#successes >= this.#options.successThreshold) this.#state = "closed";
    return result;
  }

  #failed(error: unknown): unknown {
    this.#failures++;
    this.#lastError = error;
    this.#successes = 0;
    if (this.#state === "halfOpen" || this.#failures >= this.#options.failureThreshold) {
      this.#state = "open";
      this.#openedAt = this.#options.now();
    }
    return error;
  }
}
