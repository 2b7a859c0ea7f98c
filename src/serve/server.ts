// A model behind HTTP: JSON in and out, with limits of size, time and number.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ArgumentError } from "@spillway/core/errors.js";
import { nearest } from "@spillway/core/near-names.js";
import { given, type Resolved, resolve, text } from "@spillway/core/options.js";
import { describe, visible } from "@spillway/core/text.js";
import { jsonBody } from "./body.js";
import {
  boundConnections,
  hostRefusal,
  idleMs,
  listen,
  originRefusal,
  partingMs,
  pathOf,
  requestLimits,
  targetRefusal,
} from "./http-server.js";
import { answerMs, most, numberBytes, Room } from "./limits.js";
import { Metrics } from "./metrics.js";
import { openServed, type ServedModel } from "./open.js";
import { openApiOf } from "./openapi.js";
import { type ServeOptions, serveTable } from "./options.js";
import { answerOf, asError, inJson, RequestError } from "./refused.js";
import { RequestQueue } from "./request-queue.js";
import { matching, type Route, route, taken } from "./route.js";

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

/** So long may requests go on that were taken before the end, and their refusals after it. */
const endingMs = { work: 1000, refusals: 500 };

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
  const model = await openServed(path, settings);
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
  readonly #routes: readonly Route[];
  readonly #bodies = new Room(most.heldBytes);
  readonly #answers = new Room(most.heldBytes);
  /** What stops each request that is not over. */
  readonly #requests = new Set<AbortController>();
  readonly #queues = new WeakMap<Socket, RequestQueue>();
  readonly #metrics: Metrics;
  readonly #server = createServer({ ...requestLimits, requestTimeout: 0 }, (request, response) => void this.#answer(request, response));
  readonly #connections = boundConnections(this.#server, most.connections, inJson);
  #idle: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  port = 0;

  constructor(model: ServedModel, settings: Resolved<typeof serveTable>) {
    this.#model = model;
    this.#settings = settings;
    this.#metrics = new Metrics([
      { name: "spillway_requests_waiting", help: "Requests whose work waits or runs.", read: model.waiting },
      { name: "spillway_sessions_open", help: "Sessions that are open.", read: model.sessions },
      { name: "spillway_connections_open", help: "Connections that are open.", read: () => this.#connections.size },
      { name: "process_resident_memory_bytes", help: "Resident memory.", read: () => process.memoryUsage.rss() },
      { name: "process_cpu_seconds_total", help: "Processor time.", read: () => cpuSeconds() },
      { name: "process_start_time_seconds", help: "When the process began.", read: () => performance.timeOrigin / 1000 },
    ]);
    this.#routes = [...this.#commonRoutes(), ...model.routes];
    this.#server.on("checkContinue", (request, response) => void this.#answer(request, response));
  }

  get url(): string {
    const { host } = this.#settings;
    const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
    return `http://${shown}:${this.port}`;
  }

  get kind(): string {
    return this.#model.kind;
  }

  get trainedTo(): string | undefined {
    return this.#model.trainedTo;
  }

  get engine(): string {
    return this.#model.engine;
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
    this.#model.end();
    await this.#allAnswered(endingMs.work);
    for (const request of this.#requests) request.abort(ending());
    await this.#allAnswered(endingMs.refusals);
    for (const connection of this.#connections) connection.destroy();
    await closed;
    await this.#model.dispose();
  }

  /** Waits until every request is answered, but not longer than some time. */
  async #allAnswered(milliseconds: number): Promise<void> {
    if (this.#requests.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((idle) => {
        this.#idle = idle;
      }),
      new Promise<void>((late) => {
        timer = setTimeout(late, milliseconds);
      }),
    ]);
    clearTimeout(timer);
  }

  #commonRoutes(): readonly Route[] {
    return [
      route({
        method: "GET",
        path: "/health",
        summary: "Whether the server takes requests.",
        answer: { status: 200, description: "It does.", fields: healthFields },
        run: () => ({ status: "ok", kind: this.kind, engine: this.engine }),
      }),
      route({
        method: "GET",
        path: "/metrics",
        summary: "Counts for Prometheus.",
        answer: {
          status: 200,
          description: "Text exposition format.",
          type: "text/plain; version=0.0.4; charset=utf-8",
          schema: { type: "string" },
        },
        run: () => this.#metrics.text(),
      }),
      route({
        method: "GET",
        path: "/openapi.json",
        summary: "This document.",
        answer: { status: 200, description: "OpenAPI 3.1.", schema: { type: "object" } },
        run: () => openApiOf(`A ${this.kind} of spillway`, this.#routes),
      }),
    ];
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const queue = this.#queueOf(socket);
    // A client that sends so many at once and reads nothing is let go.
    if (queue.size >= most.pipelined) socket.destroy();
    if (socket.destroyed) return;
    const begun = performance.now();
    const stop = new AbortController();
    const { signal } = stop;
    let path = "other";
    let releaseAnswer: (() => void) | undefined;
    let releaseBody = (): void => {};
    let hasTurn = false;
    const free = queue.size === 0 ? most.smallBytes : 0;
    this.#requests.add(stop);
    const turn = queue.add(response, () => {
      stop.abort(new RequestError(499 as number, "aborted", "the client is gone"));
      releaseAnswer?.();
      this.#requests.delete(stop);
      this.#metrics.add(path, response.headersSent ? response.statusCode : 499, (performance.now() - begun) / 1000);
      // Only now has the last byte left: an end before it would cut the answer off.
      if (this.#requests.size === 0) this.#idle?.();
    });
    /** A large answer waits for room that others hold until they are read. */
    const hold = async (bytes: number): Promise<void> => {
      if (bytes <= most.smallBytes || releaseAnswer) return;
      releaseAnswer = await this.#answers.take(bytes, signal);
    };
    try {
      const refusal = this.#refusalOf(request);
      if (refusal) throw refusal;
      const [found, id] = this.#routeOf(request);
      path = found.path;
      let body: unknown = {};
      if (found.body) {
        const read = await jsonBody(request, response, { longest: this.#settings.maxBody, free, room: this.#bodies, signal });
        releaseBody = read.release;
        body = checkedBody(found, read.value);
      }
      await turn;
      signal.throwIfAborted();
      hasTurn = true;
      // Work that waits for its turn says nothing, and may do so for long.
      socket.setTimeout(0);
      const reserve = (numbers: number) => hold(numbers * numberBytes);
      const result = await found.run({ body: body as never, id, request, response, signal, reserve });
      if (result !== taken) await this.#send(request, response, found, result, hold);
    } catch (error) {
      this.#refuse(request, response, error);
    } finally {
      releaseBody();
      if (hasTurn) socket.setTimeout(idleMs);
    }
  }

  #queueOf(socket: Socket): RequestQueue {
    const queue = this.#queues.get(socket) ?? new RequestQueue(socket);
    this.#queues.set(socket, queue);
    return queue;
  }

  #refusalOf(request: IncomingMessage): RequestError | undefined {
    const { names } = this.#settings;
    const asked = hostRefusal(request, "this server", names) ?? targetRefusal(request);
    const foreign = request.headers.origin === undefined ? undefined : originRefusal(request, "this server", names);
    const refusal = asked ?? foreign;
    if (refusal) return asError(refusal);
    return this.#closing && ending();
  }

  #routeOf(request: IncomingMessage): readonly [Route, string] {
    const path = pathOf(request);
    const found = matching(this.#routes, path);
    if (found.length === 0) {
      const near = nearest(path, [...new Set(this.#routes.map((one) => one.path))]);
      throw new RequestError(
        404,
        "value",
        `there is no ${describe(path)}${near ? `; did you mean ${near}?` : "; GET /openapi.json says what there is"}`,
      );
    }
    const method = request.method === "HEAD" ? "GET" : request.method;
    const right = found.find(([one]) => one.method === method);
    if (right) return right;
    const methods = found.map(([one]) => one.method).join(", ");
    throw new RequestError(405, "value", `${found[0]![0].path} takes ${methods}, not ${visible(request.method ?? "", 20)}`);
  }

  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    { answer }: Route,
    result: unknown,
    hold: (bytes: number) => Promise<void>,
  ): Promise<void> {
    const { status, type = "application/json" } = answer;
    if (result === undefined) return this.#write(request, response, status, {});
    const text = Buffer.from(typeof result === "string" ? result : `${JSON.stringify(result)}\n`);
    await hold(text.length);
    this.#write(request, response, status, { ...safe, "Content-Type": type }, text);
    if (text.length <= most.smallBytes) return;
    const reading = setTimeout(() => response.destroy(), answerMs);
    response.once("close", () => clearTimeout(reading));
  }

  /** Answers with a sentence. */
  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (request.socket.destroyed || response.destroyed || response.headersSent) return void response.destroy();
    const [status, body] = answerOf(error);
    if (status === 500)
      process.stderr.write(`spillway: ${visible(error instanceof Error ? (error.stack ?? error.message) : String(error), 4000)}\n`);
    const methods = matching(this.#routes, pathOf(request)).map(([one]) => one.method);
    const headers = {
      ...safe,
      "Content-Type": "application/json",
      ...(status === 405 && { Allow: methods.join(", ") }),
      ...((status === 503 || status === 429) && { "Retry-After": "1" }),
    };
    this.#write(request, response, status, headers, Buffer.from(`${JSON.stringify(body)}\n`));
  }

  /**
   * Writes an answer. What of the request's body is still coming is thrown away for a moment, then
   * cut off.
   */
  #write(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    headers: Readonly<Record<string, string>>,
    text?: Buffer,
  ): void {
    const isComing = !request.complete && hasBody(request);
    const length = text && { "Content-Length": text.length };
    const close = (isComing || this.#closing) && { Connection: "close" };
    response.writeHead(status, { ...headers, ...length, ...close });
    if (!isComing) return void response.end(text);
    if (text) response.write(text);
    const parting = setTimeout(() => request.destroy(), partingMs / 2);
    request
      .on("end", () => response.end())
      .on("error", () => {})
      .resume();
    response.on("close", () => clearTimeout(parting));
  }
}

const ending = () => new RequestError(503, "aborted", "the server is ending; ask another one");

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** What /health answers. */
const healthFields = {
  status: given(text(), "ok."),
  kind: given(text(), "What the model is."),
  engine: given(text(), "What it runs on."),
};

/** Sent with every answer. */
const safe = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };

/** @throws ArgumentError for a body that the route does not take */
function checkedBody({ body: table = {} }: Route, value: unknown): unknown {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return resolve(table, value);
  throw new ArgumentError("the body", value, `a JSON object with ${Object.keys(table).join(", ")}`);
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
