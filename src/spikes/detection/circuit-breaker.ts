// Stops calling what keeps failing, and tries again after a while. It knows nothing of spikes.
import { ArgumentError, SpillwayError, checkFields } from "../../core/errors.js";
import { checkNotNegative, checkWhole } from "../errors.js";

/**
 * "closed": calls go through. "open": they are refused. "halfOpen": they go through on probation.
 */
export type CircuitState = "closed" | "open" | "halfOpen";

/** When a circuit opens and closes again. */
export interface CircuitBreakerOptions {
  /** Failures in a row that open the circuit; default 10. */
  readonly failureThreshold?: number | undefined;
  /** How long it stays open, in ms; default 1000. */
  readonly recoveryMs?: number | undefined;
  /** Successes in a row on probation that close it; default 5. One failure opens it again. */
  readonly successThreshold?: number | undefined;
  /** The clock, in ms; default performance.now. */
  readonly now?: (() => number) | undefined;
}

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
  readonly #failureThreshold: number;
  readonly #recoveryMs: number;
  readonly #successThreshold: number;
  readonly #now: () => number;
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
    checkFields(options, ["failureThreshold", "recoveryMs", "successThreshold", "now"] satisfies (keyof CircuitBreakerOptions)[]);
    const { failureThreshold = 10, recoveryMs = 1000, successThreshold = 5, now = () => performance.now() } = options;
    if (typeof now !== "function") throw new ArgumentError("now", now, "a function that gives the time in ms");
    this.#failureThreshold = checkWhole("failureThreshold", failureThreshold, 1);
    this.#recoveryMs = checkNotNegative("recoveryMs", recoveryMs, "ms");
    this.#successThreshold = checkWhole("successThreshold", successThreshold, 1);
    this.#now = now;
  }

  /** The state now: an open circuit is half open once its time is over. */
  get state(): CircuitState {
    return this.#state === "open" && this.#now() - this.#openedAt >= this.#recoveryMs ? "halfOpen" : this.#state;
  }

  /**
   * Calls `work` and passes on what it returns or throws. @throws CircuitOpenError while the
   * circuit is open.
   */
  call<Result>(work: () => Result): Result {
    const state = this.#enter();
    let result: Result;
    try {
      result = work();
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    this.#succeeded(state);
    return result;
  }

  /** The same for work that is waited for. @throws CircuitOpenError while the circuit is open. */
  async callAsync<Result>(work: () => Promise<Result>): Promise<Result> {
    const state = this.#enter();
    let result: Result;
    try {
      result = await work();
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    this.#succeeded(state);
    return result;
  }

  #enter(): CircuitState {
    const state = this.state;
    if (state === "open") throw new CircuitOpenError(this.#failures, this.#recoveryMs - (this.#now() - this.#openedAt), this.#lastError);
    this.#state = state;
    return state;
  }

  #succeeded(before: CircuitState): void {
    this.#failures = 0;
    if (before === "halfOpen" && ++this.#successes >= this.#successThreshold) this.#state = "closed";
  }

  #failed(error: unknown): void {
    this.#failures++;
    this.#lastError = error;
    this.#successes = 0;
    if (this.#state !== "halfOpen" && this.#failures < this.#failureThreshold) return;
    this.#state = "open";
    this.#openedAt = this.#now();
  }
}
