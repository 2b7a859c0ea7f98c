// The requests of one connection. HTTP lets a client send several before it reads an answer; they
// are worked on one at a time, in their order. A response that waits behind another one is not told
// that its connection closed, so the connection itself is listened to.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export class RequestQueue {
  readonly #ends = new Set<() => void>();
  /** Resolves when all requests so far are over. */
  #last: Promise<void> = Promise.resolve();

  constructor(socket: Socket) {
    socket.once("close", () => {
      for (const end of this.#ends) end();
    });
  }

  /** Requests that are not over. */
  get size(): number {
    return this.#ends.size;
  }

  /**
   * Adds a request; resolves when those before it are over. `onOver` is called once: when the
   * response is sent or given up, or the connection is closed.
   */
  add(response: ServerResponse, onOver: () => void): Promise<void> {
    const before = this.#last;
    this.#last = new Promise((over) => {
      const end = () => {
        if (!this.#ends.delete(end)) return;
        onOver();
        over();
      };
      this.#ends.add(end);
      response.once("close", end);
    });
    return before;
  }
}
