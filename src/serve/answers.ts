// The answers to requests to a model, with limits of size, time and number: the part that every
// server shares.
import { isObject } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { nearest } from "@spillway/core/near-names.js";
import { given, type Resolved, resolve, text } from "@spillway/core/options.js";
import { describe, visible } from "@spillway/core/text.js";
import { type Asked, jsonBody } from "./body.js";
import { answerMs, ByteBudget, most, numberBytes } from "./limits.js";
import { type Gauge, Metrics } from "./metrics.js";
import { openApiOf } from "./openapi.js";
import type { handlerTable } from "./options.js";
import { answerOf, RequestError } from "./refused.js";
import { matching, type Route, route } from "./route.js";
import type { ServedModel } from "./served-model.js";

/** What a server says of the connection of a request. */
export interface Connection {
  /** Why it refuses the request, if it does. */
  readonly refusal?: RequestError | undefined;
  /** Bytes of the body that are read without waiting. */
  readonly free: number;
  /** Resolves when the requests before it are answered. */
  readonly turn?: Promise<void>;
}

/** So long may requests go on that were taken before the end, and their refusals after it. */
export const endingMs = { work: 1000, refusals: 500 };

/** Answers requests to a model that is served. */
export class Answers {
  readonly #model: ServedModel;
  readonly #settings: Resolved<typeof handlerTable>;
  readonly #routes: readonly Route[];
  readonly #bodies = new ByteBudget(most.heldBytes);
  readonly #held = new ByteBudget(most.heldBytes);
  /** What stops each request that is not over. */
  readonly #requests = new Pending<AbortController>();
  readonly #metrics: Metrics;
  #closing: Promise<void> | undefined;

  constructor(model: ServedModel, settings: Resolved<typeof handlerTable>, gauges: readonly Gauge[] = []) {
    this.#model = model;
    this.#settings = settings;
    this.#metrics = new Metrics([
      { name: "spillway_requests_waiting", help: "Requests whose work waits or runs.", read: model.waiting },
      { name: "spillway_sessions_open", help: "Sessions that are open.", read: model.sessions },
      ...gauges,
    ]);
    this.#routes = [...this.#commonRoutes(), ...model.routes];
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#model.end();
    await this.#requests.over(endingMs.work);
    for (const request of this.#requests) request.abort(ending());
    await this.#requests.over(endingMs.refusals);
  }

  #commonRoutes(): readonly Route[] {
    return [
      route({
        method: "GET",
        path: "/health",
        summary: "Whether the server takes requests.",
        answer: { status: 200, description: "It does.", fields: healthFields },
        run: () => ({ status: "ok", kind: this.#model.kind, engine: this.#model.engine }),
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
        run: () => openApiOf(`A ${this.#model.kind} of spillway`, this.#routes, this.#settings.base),
      }),
    ];
  }

  /** Answers a request, with a refusal if it has to. */
  async answer(asked: Asked, { refusal, free, turn }: Connection = { free: most.smallBytes }): Promise<Response> {
    const begun = performance.now();
    const stop = new AbortController();
    const { signal } = stop;
    let path = "other";
    let status = 499;
    let releaseAnswer: (() => void) | undefined;
    let releaseBody = (): void => {};
    const leave = () => stop.abort(new RequestError(499 as number, "aborted", "the client is gone"));
    if (asked.signal.aborted) leave();
    else asked.signal.addEventListener("abort", leave, { once: true });
    this.#requests.add(stop);
    const over = () => {
      if (!this.#requests.delete(stop)) return;
      asked.signal.removeEventListener("abort", leave);
      releaseAnswer?.();
      this.#metrics.add(path, status, (performance.now() - begun) / 1000);
    };
    /** A large answer waits for bytes that others hold until they are read. */
    const hold = async (bytes: number): Promise<void> => {
      if (bytes <= most.smallBytes || releaseAnswer) return;
      releaseAnswer = await this.#held.take(bytes, signal);
    };
    try {
      if (refusal) throw refusal;
      if (this.#closing) throw ending();
      const [found, id] = this.#routeOf(asked);
      path = found.path;
      let body: unknown = {};
      if (found.body) {
        const read = await jsonBody(asked, { longest: this.#settings.maxBody, free, budget: this.#bodies, signal });
        releaseBody = read.release;
        body = checkedBody(found, read.value);
      }
      await turn;
      signal.throwIfAborted();
      const reserve = (numbers: number) => hold(numbers * numberBytes);
      const result = await found.run({ body: body as never, id, signal, reserve });
      const { type = json } = found.answer;
      status = found.answer.status;
      if (result instanceof ReadableStream)
        return new Response(readOnce(result, signal, over), { status, headers: { ...safe, "Content-Type": type } });
      if (result === undefined) {
        over();
        return new Response(null, { status });
      }
      const text = utf8.encode(typeof result === "string" ? result : `${JSON.stringify(result)}\n`);
      await hold(text.length);
      const isLong = text.length > most.smallBytes && asked.method !== "HEAD";
      if (!isLong) over();
      return whole(asked, status, type, text, isLong ? readOnce(new Blob([text]).stream(), signal, over, answerMs) : text);
    } catch (error) {
      const refused = this.#refused(asked, error);
      status = refused.status;
      over();
      return refused;
    } finally {
      releaseBody();
    }
  }

  /** The path of a request, without the base; undefined if it is elsewhere. */
  #pathOf({ url }: Asked): string {
    const { base } = this.#settings;
    const [, path = "/"] = /^(?:[a-z][a-z\d+.-]*:\/\/[^/?#]*)?([^?#]*)/i.exec(url)!;
    if (base !== "" && !`${path}/`.startsWith(`${base}/`))
      throw new RequestError(404, "value", `there is no ${describe(path)}; the model is at ${base}`);
    return path.slice(base.length) || "/";
  }

  #routeOf(asked: Asked): readonly [Route, string] {
    const path = this.#pathOf(asked);
    const found = matching(this.#routes, path);
    if (found.length === 0) {
      const near = nearest(path, [...new Set(this.#routes.map((one) => one.path))]);
      const advice = near ? `did you mean ${near}?` : "GET /openapi.json says what there is";
      throw new RequestError(404, "value", `there is no ${describe(path)}; ${advice}`);
    }
    const method = asked.method === "HEAD" ? "GET" : asked.method;
    const right = found.find(([one]) => one.method === method);
    if (right) return right;
    const methods = found.map(([one]) => one.method).join(", ");
    const refusal = `${found[0]![0].path} takes ${methods}, not ${visible(asked.method, 20)}`;
    throw new RequestError(405, "value", refusal, undefined, { Allow: methods });
  }

  /** Answers with a sentence. */
  #refused(asked: Asked, error: unknown): Response {
    const [status, body] = answerOf(error);
    if (status === 500)
      console.error(`spillway: ${visible(error instanceof Error ? (error.stack ?? error.message) : String(error), 4000)}`);
    const own = error instanceof RequestError ? error.headers : {};
    const text = utf8.encode(`${JSON.stringify(body)}\n`);
    return whole(asked, status, json, text, text, { ...own, ...((status === 503 || status === 429) && { "Retry-After": "1" }) });
  }
}

/** A response whose length is known; without its body if only its head was asked for. */
function whole(
  { method }: Asked,
  status: number,
  type: string,
  { length }: Uint8Array,
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers = { ...safe, "Content-Type": type, "Content-Length": `${length}`, ...more };
  return new Response(method === "HEAD" ? null : body, { status, headers });
}

const ending = () => new RequestError(503, "aborted", "the server is ending; ask another one");

/** What is not over yet. */
export class Pending<Each> extends Set<Each> {
  #whenOver: (() => void) | undefined;

  override delete(each: Each): boolean {
    const wasHere = super.delete(each);
    if (this.size === 0) this.#whenOver?.();
    return wasHere;
  }

  /** Waits until all is over, but not longer than some time. */
  async over(milliseconds: number): Promise<void> {
    if (this.size === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((done) => {
      this.#whenOver = done;
      timer = setTimeout(done, milliseconds);
    });
    clearTimeout(timer);
  }
}

/**
 * A stream whose reader makes it go on; `over` is called when it is read, given up, or was not read
 * in some time.
 */
function readOnce(stream: ReadableStream<Uint8Array>, signal: AbortSignal, over: () => void, milliseconds?: number) {
  const reader = stream.getReader();
  const end = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    over();
  };
  const giveUp = (reason: unknown): void => {
    end();
    reader.cancel(reason).catch(() => {});
  };
  let fail: (reason: unknown) => void = () => {};
  const stop = () => {
    fail(signal.reason);
    giveUp(signal.reason);
  };
  signal.addEventListener("abort", stop, { once: true });
  const late = () => new RequestError(503, "limit", `the answer was not read within ${milliseconds! / 1000} s`);
  const timer = milliseconds === undefined ? undefined : setTimeout(() => [fail, giveUp].map((act) => act(late())), milliseconds);
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        fail = (reason) => controller.error(reason);
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel: giveUp,
    },
    { highWaterMark: 0 },
  );
}

const utf8 = new TextEncoder();

/** What /health answers. */
const healthFields = {
  status: given(text(), "ok."),
  kind: given(text(), "What the model is."),
  engine: given(text(), "What it runs on."),
};

const json = "application/json";
/** Sent with every answer. */
const safe = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };

/** @throws ArgumentError for a body that the route does not take */
function checkedBody({ body: table = {} }: Route, value: unknown): unknown {
  if (isObject(value)) return resolve(table, value);
  throw new ArgumentError("the body", value, `a JSON object with ${Object.keys(table).join(", ")}`);
}
