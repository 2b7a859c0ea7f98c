// A page's WebSocket: checks its messages, runs what they ask for, and ends a page that does not
// listen.
import type { WebSocket } from "ws";
import { parseRequest, type ServerMessage } from "./messages.js";
import { runRequest } from "./run.js";

/** Bytes that a page may leave unread before its socket is ended. */
const mostUnread = 2 ** 20;
/** A page that has not answered a ping by the next one is gone. */
const pingMs = 30_000;

/** Runs of all pages, one after the other: each wants the whole machine. */
export class RunQueue {
  readonly engine: string | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(engine: string | undefined) {
    this.engine = engine;
  }

  /** Does `work` after what was asked for before. */
  add(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work);
    return this.#last;
  }

  /** Resolves when nothing is running. */
  idle(): Promise<void> {
    return this.#last;
  }
}

/** Greets a page and answers its messages until its socket closes, which ends its run. */
export function serveClient(client: WebSocket, queue: RunQueue, hello: ServerMessage): void {
  const stop = new AbortController();
  let running: number | undefined;
  let listening = true;
  const whileRead = (act: () => void) => {
    if (client.bufferedAmount > mostUnread) client.terminate();
    else if (client.readyState === client.OPEN) act();
  };
  const send = (message: ServerMessage) => whileRead(() => client.send(JSON.stringify(message)));
  const pings = setInterval(() => {
    if (!listening) client.terminate();
    listening = false;
    whileRead(() => client.ping());
  }, pingMs);
  // A frame that the protocol does not allow: ws has closed the socket with the code that says why.
  client.on("error", () => {});
  client.on("pong", () => {
    listening = true;
  });
  client.on("ping", (data) => whileRead(() => client.pong(data)));
  client.on("close", () => {
    clearInterval(pings);
    stop.abort();
  });
  client.on("message", (data) => {
    const request = parseRequest(String(data));
    if (request.type === "error") return send(request);
    const { id } = request;
    if (running !== undefined) return send({ type: "error", id, message: `run ${running} is under way; wait for its result` });
    running = id;
    void queue
      .add(() => runRequest(request, queue.engine, stop.signal, send))
      .then(() => {
        running = undefined;
      });
  });
  send(hello);
}
