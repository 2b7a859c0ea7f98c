// Sessions: states of one model that clients move on row by row, and the event streams that see
// what comes out. A session is a state and no reservoir of its own.
import { most } from "./limits.js";
import { RequestError } from "./refused.js";

const utf8 = new TextEncoder();

/** A client's own position in a series. */
export class Session<State> {
  readonly id = crypto.randomUUID();
  state: State;
  /** Rows that went through. */
  rows = 0;
  /** When it was last used, by `performance.now()`. */
  used = performance.now();
  readonly #listeners = new Set<ReadableStreamDefaultController<Uint8Array>>();

  constructor(state: State) {
    this.state = state;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  /** Every row from now on as an event. @throws RequestError if too many listen already */
  listen(): ReadableStream<Uint8Array> {
    if (this.#listeners.size >= most.listeners)
      throw new RequestError(429, "limit", `${most.listeners} event streams of this session are open; close one`);
    let listener!: ReadableStreamDefaultController<Uint8Array>;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          listener = controller;
          listener.enqueue(utf8.encode(`retry: 1000\n: session ${this.id} at row ${this.rows}\n\n`));
          this.#listeners.add(listener);
        },
        cancel: () => {
          this.#listeners.delete(listener);
          this.used = performance.now();
        },
      },
      { highWaterMark: most.lagBytes, size: (bytes) => bytes.length },
    );
  }

  /** Takes the outputs of the next rows. */
  add(outputs: readonly (readonly number[])[]): void {
    const first = this.rows;
    this.rows += outputs.length;
    const rows = outputs.map((output, i) => ({ row: first + i, output }));
    this.tell("row", rows);
  }

  /** Sends events of a kind to those who listen, each with the number of its row. */
  tell(event: string, all: readonly { readonly row: number }[]): void {
    if (this.hasListeners && all.length > 0)
      this.#send(all.map((each) => `id: ${each.row}\nevent: ${event}\ndata: ${JSON.stringify(each)}\n\n`).join(""));
  }

  /** Shows that the stream is alive, to both sides. */
  keepAlive(): void {
    this.#send(": \n\n");
  }

  /** Ends the event streams with a reason. */
  end(reason: string): void {
    this.#send(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    for (const listener of this.#listeners) listener.close();
    this.#listeners.clear();
  }

  /** A listener that does not read is let go. */
  #send(text: string): void {
    const bytes = utf8.encode(text);
    for (const listener of this.#listeners) {
      listener.enqueue(bytes);
      if (listener.desiredSize! >= 0) continue;
      listener.error(new RequestError(503, "limit", `the event stream lags behind by more than ${most.lagBytes} bytes`));
      this.#listeners.delete(listener);
      this.used = performance.now();
    }
  }
}

/** The sessions that are open: at most so many, each for so long after its last use. */
export class Sessions<State> {
  readonly #open = new Map<string, Session<State>>();
  readonly #most: number;
  readonly #idleMs: number;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(mostOpen: number, idleSeconds: number) {
    this.#most = mostOpen;
    this.#idleMs = 1000 * idleSeconds;
    this.#timer = setInterval(() => this.#look(), Math.min(15_000, Math.max(50, this.#idleMs / 4)));
    this.#timer.unref?.();
  }

  get size(): number {
    return this.#open.size;
  }

  /** @throws RequestError if as many are open as may be */
  checkNotFull(): void {
    if (this.#open.size >= this.#most)
      throw new RequestError(429, "limit", `${this.#most} sessions are open, which is the most; close one, or wait until one is idle`);
  }

  /** Opens a session. @throws RequestError as `checkNotFull` does */
  add(state: State): Session<State> {
    this.checkNotFull();
    const session = new Session(state);
    this.#open.set(session.id, session);
    return session;
  }

  /** A session that is open. @throws RequestError for one that is not */
  get(id: string): Session<State> {
    const session = this.#open.get(id);
    if (!session) throw new RequestError(404, "value", "there is no such session; it may have been idle for too long: open a new one");
    session.used = performance.now();
    return session;
  }

  /** Closes a session. @throws RequestError for one that is not open */
  close(id: string): void {
    this.get(id).end("the session was closed");
    this.#open.delete(id);
  }

  /** Closes all of them, and tells those who listen why. */
  closeAll(reason: string): void {
    for (const session of this.#open.values()) session.end(reason);
    this.#open.clear();
  }

  /** Closes all of them for good. */
  end(): void {
    clearInterval(this.#timer);
    this.closeAll("the server is ending");
  }

  #look(): void {
    const now = performance.now();
    for (const session of this.#open.values()) {
      if (session.hasListeners) session.keepAlive();
      else if (now - session.used > this.#idleMs) this.#open.delete(session.id);
    }
  }
}
