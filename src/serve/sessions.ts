// Sessions: states of one model that clients move on row by row, and the event streams that see
// what comes out. A session is a state and no reservoir of its own.
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { most } from "./limits.js";
import { RequestError } from "./refused.js";

/** A client's own place in a series. */
export class Session<State> {
  readonly id = randomUUID();
  state: State;
  /** Rows that went through. */
  rows = 0;
  /** When it was last used, by `performance.now()`. */
  used = performance.now();
  readonly #listeners = new Set<ServerResponse>();

  constructor(state: State) {
    this.state = state;
  }

  get isHeardOf(): boolean {
    return this.#listeners.size > 0;
  }

  /** Sends every row from now on as an event. @throws RequestError if too many listen already */
  listen(response: ServerResponse): void {
    if (this.#listeners.size >= most.listeners)
      throw new RequestError(429, "limit", `${most.listeners} event streams of this session are open; close one`);
    response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", Connection: "close" });
    response.write(`retry: 1000\n: session ${this.id} at row ${this.rows}\n\n`);
    this.#listeners.add(response);
    response.on("close", () => {
      this.#listeners.delete(response);
      this.used = performance.now();
    });
  }

  /** Takes the outputs of the next rows. */
  add(outputs: readonly (readonly number[])[]): void {
    let events = "";
    for (const output of outputs) {
      const row = this.rows++;
      if (this.isHeardOf) events += `id: ${row}\nevent: row\ndata: ${JSON.stringify({ row, output })}\n\n`;
    }
    if (events !== "") this.#send(events);
  }

  /** Shows that the stream is alive, to both sides. */
  breathe(): void {
    this.#send(": \n\n");
  }

  /** Ends the event streams with a reason. */
  end(reason: string): void {
    for (const response of this.#listeners) response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    this.#listeners.clear();
  }

  /** A listener that does not read is let go. */
  #send(text: string): void {
    for (const response of this.#listeners) {
      response.write(text);
      if (response.writableLength > most.lagBytes) response.destroy();
    }
  }
}

/** The sessions that are open: at most so many, each for so long after its last use. */
export class Sessions<State> {
  readonly #open = new Map<string, Session<State>>();
  readonly #most: number;
  readonly #idleMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(mostOpen: number, idleSeconds: number) {
    this.#most = mostOpen;
    this.#idleMs = 1000 * idleSeconds;
    this.#timer = setInterval(() => this.#look(), Math.min(15_000, Math.max(50, this.#idleMs / 4)));
    this.#timer.unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** @throws RequestError if as many are open as may be */
  checkRoom(): void {
    if (this.#open.size >= this.#most)
      throw new RequestError(429, "limit", `${this.#most} sessions are open, which is the most; close one, or wait until one is idle`);
  }

  /** Opens a session. @throws RequestError as `checkRoom` does */
  add(state: State): Session<State> {
    this.checkRoom();
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

  /** Closes all of them. */
  end(): void {
    clearInterval(this.#timer);
    for (const session of this.#open.values()) session.end("the server is ending");
    this.#open.clear();
  }

  #look(): void {
    const now = performance.now();
    for (const session of this.#open.values()) {
      if (session.isHeardOf) session.breathe();
      else if (now - session.used > this.#idleMs) this.#open.delete(session.id);
    }
  }
}
