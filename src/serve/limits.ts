// What a server does not let grow: sizes that no option sets, and bytes that requests wait for.

export const most = {
  connections: 4096,
  /** Numbers in one answer. */
  values: 2 ** 18,
  /** Numbers of the rows that a served forecaster may come to be trained on. */
  trainedNumbers: 2 ** 20,
  /** Sequences in one request, and in one batch of several. */
  sequences: 4096,
  /**
   * Rows times neurons in one request for classes, and in one batch: states are held for that time.
   */
  states: 2 ** 26,
  /** Bytes of bodies, and of answers that are not read yet, that are held at a time. */
  heldBytes: 128 * 2 ** 20,
  /** Bodies and answers up to this size are held without waiting. */
  smallBytes: 2 ** 16,
  /** Event streams of one session. */
  listeners: 8,
  /** Bytes that an event stream may lag behind. */
  lagBytes: 2 ** 20,
  /** Requests of one connection that are not answered yet. */
  pipelined: 8,
};

/** So long may a body be on its way once it is read. */
export const bodyMs = 10_000;
/** So long may a client take to read an answer whose bytes others wait for. */
export const answerMs = 60_000;
/** The most bytes of a number in JSON, with what separates it from the next. */
export const numberBytes = 25;

/**
 * So many bytes may be held at a time; they are granted in the order of asking. What is larger than
 * all of them takes all.
 */
export class ByteBudget {
  #free: number;
  readonly #size: number;
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** Waits for bytes, and gives what hands them back. @throws the signal's reason if it is aborted */
  async take(wanted: number, signal: AbortSignal): Promise<() => void> {
    const bytes = Math.min(wanted, this.#size);
    signal.throwIfAborted();
    if (this.#waiting.length > 0 || this.#free < bytes)
      await new Promise<void>((go, fail) => {
        const granted = () => {
          signal.removeEventListener("abort", leave);
          go();
        };
        const waiter = { bytes, go: granted };
        const leave = () => {
          this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
          fail(signal.reason);
          this.#next();
        };
        signal.addEventListener("abort", leave, { once: true });
        this.#waiting.push(waiter);
      });
    else this.#free -= bytes;
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      this.#free += bytes;
      this.#next();
    };
    // The bytes may have come free just before the client went away.
    if (signal.aborted) {
      release();
      throw signal.reason;
    }
    return release;
  }

  #next(): void {
    for (let first = this.#waiting[0]; first && first.bytes <= this.#free; first = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= first.bytes;
      first.go();
    }
  }
}
