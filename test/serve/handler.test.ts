// The handler of a model gives what its server gives, wherever a Request comes from: called by
// itself, in Hono, and behind Node's http.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Forecaster, loadReservoir } from "../../src/model/index.js";
import { Pipeline } from "../../src/pipeline/index.js";
import { type HandlerOptions, handler, type ModelHandler } from "../../src/serve/index.js";
import { amount } from "../exhaustive.js";
import { Models, swing, wave } from "./served.js";

let models: Models;
beforeAll(async () => {
  models = await Models.create();
});
afterAll(() => models[Symbol.asyncDispose]());

const forecaster = async () => Forecaster.load(await models.path("forecaster"), { engine: "cpu" });
/** A request for JSON. */
const json = (path: string, body: unknown, more: RequestInit = {}) =>
  new Request(`http://models.example${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...more,
  });
const get = (path: string, method = "GET") => new Request(`http://models.example${path}`, { method });

/** Servers that a handler goes into: what asks it, and where its paths begin. */
const hosts: Readonly<Record<string, (answer: ModelHandler) => Promise<[ask: (request: Request) => Promise<Response>, end: () => void]>>> =
  {
    "called by itself": async (answer) => [answer, () => {}],
    async "mounted in Hono"(answer) {
      const app = new Hono().mount("/flow", answer);
      const ask = async (request: Request) => app.fetch(new Request(request.url.replace(".example/", ".example/flow/"), request));
      return [ask, () => {}];
    },
    async "behind Node's http"(answer) {
      const server: Server = createServer(async (incoming, response) => {
        const { method = "GET", url } = incoming;
        const body = method === "GET" ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
        const headers = Object.entries(incoming.headers) as [string, string][];
        const init = { method, headers, body, duplex: "half" } as RequestInit;
        const answered = await answer(new Request(`http://${incoming.headers.host}${url}`, init));
        response.writeHead(answered.status, Object.fromEntries(answered.headers));
        if (answered.body) Readable.fromWeb(answered.body as import("node:stream/web").ReadableStream).pipe(response);
        else response.end();
      });
      await once(server.listen(0, "127.0.0.1", 4096), "listening");
      const { port } = server.address() as AddressInfo;
      const ask = async (request: Request) => {
        const { method, headers } = request;
        const body = method === "GET" ? undefined : await request.arrayBuffer();
        return fetch(request.url.replace("models.example", `127.0.0.1:${port}`), { method, headers, ...(body && { body }) });
      };
      return [ask, () => server.close().closeAllConnections()];
    },
  };

describe.each(Object.keys(hosts))("a handler that is %s", (name) => {
  const opened: (() => Promise<void> | void)[] = [];
  const open = async (options: HandlerOptions = {}) => {
    const model = await forecaster();
    const answer = handler(model, options);
    const [ask, end] = await hosts[name]!(answer);
    opened.push(
      end,
      () => answer.close(),
      () => model.dispose(),
    );
    return { ask, answer, model };
  };
  afterAll(async () => {
    for (const end of opened) await end();
  });

  const asked = amount(1000, 100);
  it(`answers ${asked} forecasts at once, each with the model's own numbers`, async () => {
    await using model = await forecaster();
    const { ask } = await open();
    const warmups = [wave(40), wave(60, 9)];
    const wanted = [];
    for (const warmup of warmups) wanted.push({ outputs: (await model.forecast(6, { warmup })).toArrays() });
    const all = await Promise.all(Array.from({ length: asked }, (_, k) => ask(json("/forecast", { steps: 6, warmup: warmups[k % 2] }))));
    for (const [k, response] of all.entries()) {
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
      expect(await response.json()).toEqual(wanted[k % 2]);
    }
    const metrics = await (await ask(get("/metrics"))).text();
    expect(metrics).toContain(`spillway_requests_total{path="/forecast",status="200"} ${asked}\n`);
  });

  it("streams the rows of a session", async () => {
    const { ask } = await open();
    const { session } = (await (await ask(json("/sessions", { warmup: wave(50) }))).json()) as { session: string };
    const stream = await ask(get(`/sessions/${session}/events`));
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const { outputs } = (await (await ask(json(`/sessions/${session}/rows`, { inputs: wave(3, 50) }))).json()) as { outputs: number[][] };
    await using model = await forecaster();
    expect(outputs).toEqual((await model.predict(wave(3, 50), { warmup: wave(50) })).toArrays());
    expect((await ask(new Request(`http://models.example/sessions/${session}`, { method: "DELETE" }))).status).toBe(204);
    const events = (await stream.text()).split("\n\n").filter((event) => event.includes("event: "));
    expect(events.slice(0, 3)).toEqual(outputs.map((output, row) => `id: ${row}\nevent: row\ndata: ${JSON.stringify({ row, output })}`));
    expect(events[3]).toContain("the session was closed");
  });

  it("has the limits of the server", async () => {
    const { ask } = await open({ maxBody: 2000, maxSessions: 1, timeout: 1e-3 });
    const outcome = async (request: Request) => {
      const response = await ask(request);
      return [response.status, ((await response.json()) as { error: { message: string } }).error.message];
    };
    expect(await outcome(json("/forecast", " ".repeat(2001)))).toEqual([413, "the body is longer than 1.95 KiB; send less in one request"]);
    expect(await outcome(json("/forecast", "{", {}))).toEqual([400, expect.stringMatching(/^the body is no JSON/)]);
    expect(await outcome(json("/forecast", "{}", { headers: { "content-type": "text/plain" } }))).toEqual([415, expect.any(String)]);
    expect(await outcome(json("/forcast", {}))).toEqual([404, 'there is no "/forcast"; did you mean /forecast?']);
    expect(await outcome(json("/forecast", { steps: 200_000 }))).toEqual([503, expect.stringContaining("more than 0.001 s")]);
    expect((await ask(json("/sessions", {}))).status).toBe(201);
    expect(await outcome(json("/sessions", {}))).toEqual([429, expect.stringContaining("1 sessions are open")]);
    expect((await ask(get("/forecast"))).headers.get("allow")).toBe("POST");
  });
});

describe("a handler", () => {
  it("serves a pipeline, a classifier and a reservoir", async () => {
    await using pipeline = await Pipeline.load(await models.path("pipeline"), { engine: "cpu" });
    const sequences = [swing(0.2, 0.3), swing(0.6, 0.4)];
    const answered = await handler(pipeline)(json("/classify", { sequences, shares: false }));
    expect(await answered.json()).toEqual({ classes: pipeline.classes, labels: await pipeline.predict(sequences) });
    const classifier = await handler(pipeline.classifier)(get("/model"));
    expect(await classifier.json()).toMatchObject({ kind: "classifier" });
    const loaded = await loadReservoir(await models.path("reservoir"), { engine: "cpu" });
    await using computer = loaded.computer;
    const wanted = (await computer.run([[0.1, 0.2]])).toArrays();
    computer.reset();
    await using answer = handler(loaded);
    expect(await (await answer(json("/predict", { inputs: [[0.1, 0.2]] }))).json()).toEqual({ outputs: wanted });
  });

  it("refuses what is no model, and a base that is no path", async () => {
    for (const model of [undefined, {}, "model.safetensors", () => {}])
      expect(() => handler(model as never)).toThrow(/^model is .*; it takes a trained forecaster, classifier or pipeline/);
    await using model = await forecaster();
    for (const base of ["flow", "/flow/", "//", "/flow?x"]) expect(() => handler(model, { base })).toThrow(/base is .*begins with \//);
  });

  it("answers below its base alone, and names it in its document", async () => {
    await using model = await forecaster();
    await using answer = handler(model, { base: "/api/flow" });
    expect((await answer(json("/api/flow/forecast?x=1", { steps: 1 }))).status).toBe(200);
    for (const path of ["/forecast", "/api/flows/forecast", "/"]) expect((await answer(json(path, { steps: 1 }))).status, path).toBe(404);
    expect(await (await answer(get("/api/flow/openapi.json"))).json()).toMatchObject({ servers: [{ url: "/api/flow" }] });
    expect(await (await answer(get("/api/flow/health", "HEAD"))).text()).toBe("");
  });

  it("breaks off work whose client is gone, waiting or under way", async () => {
    await using model = await forecaster();
    await using answer = handler(model);
    const stop = new AbortController();
    const asked = Array.from({ length: 3 }, () => answer(json("/forecast", { steps: 200_000 }, { signal: stop.signal })));
    const waiting = async () => /_waiting (\d+)/.exec(await (await answer(get("/metrics"))).text())![1];
    await expect.poll(waiting).toBe("3");
    stop.abort();
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([499, 499, 499]);
    expect(await waiting()).toBe("0");
  });

  it("holds large answers that nobody reads to 128 MiB, until they are read or given up", async () => {
    const loaded = await loadReservoir(await models.path("reservoir"), { engine: "cpu" });
    await using _ = loaded.computer;
    await using answer = handler(loaded);
    // Answers of 30 neurons at 5400 rows ask for 162,000 numbers of 25 bytes each: 33 fit.
    const inputs = wave(5400).map(([x]) => [x!, 0]);
    const asked = Array.from({ length: 35 }, () => answer(json("/predict", { inputs })));
    const held = await Promise.all(asked.slice(0, 33));
    let more = 0;
    for (const one of asked.slice(33)) void one.then(() => more++);
    expect((await answer(json("/predict", { inputs: [[1, 2]] }))).status).toBe(200);
    expect(more).toBe(0);
    await held[0]!.body!.cancel();
    await expect.poll(() => more, { timeout: 20_000 }).toBe(1);
    expect(((await held[1]!.json()) as { outputs: number[][] }).outputs).toHaveLength(5400);
    await expect.poll(() => more, { timeout: 20_000 }).toBe(2);
    for (const one of [...held.slice(2), ...(await Promise.all(asked.slice(33)))]) await one.body!.cancel();
  });

  it("lets a listener go that lags a MiB behind", async () => {
    await using model = await forecaster();
    await using answer = handler(model);
    const { session } = (await (await answer(json("/sessions", {}))).json()) as { session: string };
    const stream = await answer(get(`/sessions/${session}/events`));
    const rows = { inputs: wave(20_000) };
    for (let k = 0; k < 2; k++) expect((await answer(json(`/sessions/${session}/rows`, rows))).status).toBe(200);
    await expect(stream.text()).rejects.toThrow("lags behind");
  });

  it("refuses when it is closed, and leaves the model open", async () => {
    const model = await forecaster();
    const answer = handler(model);
    const { session } = (await (await answer(json("/sessions", {}))).json()) as { session: string };
    const stream = await answer(get(`/sessions/${session}/events`));
    const events = stream.text();
    const late = answer(json("/forecast", { steps: 2 ** 18 }));
    const closing = [answer.close(), answer.close()];
    expect((await answer(get("/health"))).status).toBe(503);
    await Promise.all(closing);
    expect(await events).toContain("the server is ending");
    expect([200, 503]).toContain((await late).status);
    expect((await model.forecast(2)).rows).toBe(2);
    await model.dispose();
  });
});
