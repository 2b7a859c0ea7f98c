// The server of a model in Node: its connections, and what the handler gets of a request.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getOrMake } from "@spillway/core/maps.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { Answers, endingMs, Pending } from "./answers.js";
import type { Asked } from "./body.js";
import { boundConnections, hostRefusal, idleMs, listen, originRefusal, partingMs, requestLimits, targetRefusal } from "./http-server.js";
import { most } from "./limits.js";
import { openModel } from "./open.js";
import { type ServeOptions, serveTable } from "./options.js";
import { asError, inJson, type RequestError } from "./refused.js";
import { RequestQueue } from "./request-queue.js";
import { type ServedModel, servedModel } from "./served-model.js";

/** A model that is served. */
export interface ModelServer extends AsyncDisposable {
  /** Where it is: http://127.0.0.1:8080 */
  readonly url: string;
  readonly port: number;
  /** What the model file holds. */
  readonly kind: string;
  /** The last row that the model was trained on, its time stamp or number; if its file says so. */
  readonly trainedTo: string | undefined;
  /** What it runs on. */
  readonly engine: string;
  /**
   * Takes no more requests, answers those that were taken, and gives the model back. What takes
   * longer than a second is broken off. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Serves a model file: a Forecaster, Classifier, Pipeline or reservoir. `GET /openapi.json` says
 * what it takes. Requests that come at once wait for one another; those that name classes are
 * answered together. There are no passwords and no TLS: reach it from outside by a proxy that has
 * them.
 * @throws FileError for a model that cannot be used, ArgumentError for an option, SpillwayError if
 * the port is taken
 */
export async function serveModel(path: string, options: ServeOptions = {}): Promise<ModelServer> {
  const settings = resolve(serveTable, options, "serveModel");
  const open = await openModel(path, settings);
  const model = servedModel(open, settings);
  const serving = new Serving(model, settings);
  try {
    await serving.listen();
  } catch (error) {
    await model.dispose();
    throw error;
  }
  return serving;
}

class Serving implements ModelServer {
  readonly #model: ServedModel;
  readonly #settings: Resolved<typeof serveTable>;
  readonly #answers: Answers;
  readonly #responses = new Pending<ServerResponse>();
  readonly #queues = new WeakMap<Socket, RequestQueue>();
  readonly #server = createServer({ ...requestLimits, requestTimeout: 0 }, (request, response) => void this.#answer(request, response));
  readonly #connections = boundConnections(this.#server, most.connections, inJson);
  #closing: Promise<void> | undefined;
  readonly kind: string;
  readonly trainedTo: string | undefined;
  readonly engine: string;
  port = 0;

  constructor(model: ServedModel, settings: Resolved<typeof serveTable>) {
    this.#model = model;
    this.kind = model.kind;
    this.trainedTo = model.trainedTo;
    this.engine = model.engine;
    this.#settings = settings;
    this.#answers = new Answers(model, settings, [
      { name: "spillway_connections_open", help: "Connections that are open.", read: () => this.#connections.size },
      { name: "process_resident_memory_bytes", help: "Resident memory.", read: () => process.memoryUsage.rss() },
      { name: "process_cpu_seconds_total", help: "Processor time.", read: () => cpuSeconds() },
      { name: "process_start_time_seconds", help: "When the process began.", read: () => performance.timeOrigin / 1000 },
    ]);
    this.#server.on("checkContinue", (request, response) => void this.#answer(request, response));
  }

  get url(): string {
    const { host } = this.#settings;
    const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
    return `http://${shown}:${this.port}`;
  }

  async listen(): Promise<void> {
    this.port = await listen(this.#server, this.#settings.port, this.#settings.host);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeIdleConnections();
    await this.#answers.close();
    // Only when the last byte has left: an end before it would cut an answer off.
    await this.#responses.over(endingMs.refusals);
    for (const connection of this.#connections) connection.destroy();
    await closed;
    await this.#model.dispose();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const queue = this.#queueOf(socket);
    // A client that sends so many at once and reads nothing is let go.
    if (queue.size >= most.pipelined) socket.destroy();
    if (socket.destroyed) return;
    const stop = new AbortController();
    const free = queue.size === 0 ? most.smallBytes : 0;
    this.#responses.add(response);
    const turn = queue.add(response, () => {
      stop.abort();
      this.#responses.delete(response);
    });
    // Work that waits for its turn says nothing, and may do so for long.
    const quiet = turn.then(() => void socket.setTimeout(0));
    const asked = askedBy(request, response, stop.signal);
    const answer = await this.#answers.answer(asked, { refusal: this.#refusalOf(request), free, turn: quiet });
    socket.setTimeout(idleMs);
    if (socket.destroyed || response.destroyed) void answer.body?.cancel();
    else await this.#send(request, response, answer);
  }

  #queueOf(socket: Socket): RequestQueue {
    return getOrMake(this.#queues, socket, () => new RequestQueue(socket));
  }

  #refusalOf(request: IncomingMessage): RequestError | undefined {
    const { names } = this.#settings;
    const asked = hostRefusal(request, "this server", names) ?? targetRefusal(request);
    const foreign = request.headers.origin === undefined ? undefined : originRefusal(request, "this server", names);
    const refusal = asked ?? foreign;
    return refusal && asError(refusal);
  }

  /**
   * Sends an answer. What of the request's body is still coming is thrown away for a moment, then
   * cut off.
   */
  async #send(request: IncomingMessage, response: ServerResponse, answer: Response): Promise<void> {
    const isComing = !request.complete && hasBody(request);
    const isEndless = answer.body !== null && !answer.headers.has("content-length");
    const close = (isComing || isEndless || this.#answers.isClosing) && { Connection: "close" };
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...close });
    if (answer.body) await pipe(answer.body, response);
    if (!isComing) return void response.end();
    const parting = setTimeout(() => request.destroy(), partingMs / 2);
    request
      .on("end", () => response.end())
      .on("error", () => {})
      .resume();
    response.on("close", () => clearTimeout(parting));
  }
}

/** A request as a handler reads it; its body comes when it is read. */
function askedBy(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Asked {
  const read = () => {
    if (request.headers.expect !== undefined) response.writeContinue();
    const parts = (request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    return { read: () => parts.next() as Promise<ReadableStreamReadResult<Uint8Array>>, cancel: () => Promise.resolve() };
  };
  const header = (name: string) => request.headers[name] ?? null;
  return {
    method: request.method ?? "",
    url: request.url ?? "/",
    headers: { get: (name) => header(name) as string | null },
    body: { getReader: read },
    signal,
  };
}

/** Writes a body as fast as it is read; destroys the response if the body fails. */
async function pipe(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader();
  response.once("close", () => void reader.cancel().catch(() => {}));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!response.write(value)) await new Promise<void>((go) => response.once("drain", go).once("close", go));
    }
  } catch {
    response.destroy();
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
