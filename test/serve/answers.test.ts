// What a served model answers is what the model itself gives.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Classifier, FieldForecaster, Forecaster, loadReservoir, NvarForecaster } from "../../src/model/index.js";
import { Pipeline } from "../../src/pipeline/index.js";
import { amount } from "../exhaustive.js";
import { ask, Models, post, ring, swing, wave } from "./served.js";

interface Rows {
  readonly outputs: number[][];
}

let models: Models;
beforeAll(async () => {
  models = await Models.create();
});
afterAll(() => models[Symbol.asyncDispose]());

describe("a served forecaster", () => {
  it("forecasts from where it was saved, and from a warm-up", async () => {
    await using server = await models.serve("forecaster");
    await using model = await Forecaster.load(await models.path("forecaster"), { engine: "cpu" });
    expect((await post<Rows>(server, "/forecast", { steps: 12 })).outputs).toEqual((await model.forecast(12)).toArrays());
    const warmup = wave(150, 7);
    const wanted = (await model.forecast(5, { warmup })).toArrays();
    expect((await post<Rows>(server, "/forecast", { steps: 5, warmup })).outputs).toEqual(wanted);
    expect((await post<Rows>(server, "/forecast", { steps: 12 })).outputs).toEqual((await model.forecast(12)).toArrays());
  });

  it("predicts each request from the saved state, whatever others did before", async () => {
    await using server = await models.serve("pair");
    await using model = await Forecaster.load(await models.path("pair"), { engine: "cpu" });
    const inputs = wave(20).map(([x]) => [x!, x! ** 2]);
    const wanted = (await model.predict(inputs)).toArrays();
    const all = await Promise.all(Array.from({ length: 5 }, () => post<Rows>(server, "/predict", { inputs })));
    expect(all.map(({ outputs }) => outputs)).toEqual(all.map(() => wanted));
  });

  it.each([
    ["calendar", Forecaster],
    ["knownNvar", NvarForecaster],
  ])("takes what is known of the steps to come: %s", async (name, kind) => {
    await using server = await models.serve(name);
    await using model = await kind.load(await models.path(name), { engine: "cpu" });
    const known = [[6], [0], [1]];
    expect((await post<Rows>(server, "/forecast", { steps: 3, known })).outputs).toEqual((await model.forecast(3, { known })).toArrays());
    const warmup = { series: wave(50), known: wave(50).map((_, t) => [t % 7]) };
    const wanted = (await model.forecast(3, { known, warmup })).toArrays();
    expect((await post<Rows>(server, "/forecast", { steps: 3, known, warmup })).outputs).toEqual(wanted);
    const { session } = await post<{ session: string }>(server, "/sessions", { warmup });
    expect((await post<Rows>(server, `/sessions/${session}/forecast`, { steps: 3, known })).outputs).toEqual(wanted);
    await model.warmUp(warmup);
    const rows = { inputs: wave(2, 50), known: [[1], [2]] };
    const predicted = (await model.predict(rows.inputs, { known: rows.known })).toArrays();
    expect((await post<Rows>(server, `/sessions/${session}/rows`, rows)).outputs).toEqual(predicted);
  });

  it("takes what is known of a field, which fills its mask in itself", async () => {
    await using server = await models.serve("knownField");
    await using model = await FieldForecaster.load(await models.path("knownField"), { engine: "cpu" });
    expect((await ask(server, "GET", "/model")).body).toMatchObject({ kind: "field", inputs: 7, outputs: 6, known: 1 });
    const known = [[6], [0], [1]];
    const warmup = { series: ring.slice(40, 60), known: ring.slice(40, 60).map((_, t) => [(t + 40) % 7]) };
    const wanted = (await model.forecast(3, { known, warmup })).toArrays();
    expect((await post<Rows>(server, "/forecast", { steps: 3, known, warmup })).outputs).toEqual(wanted);
    const asked = { intervals: [0.5], bandsFrom: "members" } as const;
    const { bands } = await model.forecast(3, { known, ...asked });
    const answer = await post<{ bands: { lower: number[][] }[] }>(server, "/forecast", { steps: 3, known, ...asked });
    expect(answer.bands[0]!.lower).toEqual(bands![0]!.lower.toArrays());
    const { session } = await post<{ session: string }>(server, "/sessions", { warmup });
    await model.warmUp(warmup);
    const rows = { inputs: ring.slice(60, 63), known };
    const predicted = (await model.predict(rows.inputs, { known })).toArrays();
    expect((await post<Rows>(server, `/sessions/${session}/rows`, rows)).outputs).toEqual(predicted);
  });

  it("with feedback runs steps of its own, or takes a teacher", async () => {
    await using server = await models.serve("generator");
    await using model = await Forecaster.load(await models.path("generator"), { engine: "cpu" });
    const forecast = (await model.forecast(8)).toArrays();
    expect((await post<Rows>(server, "/forecast", { steps: 8 })).outputs).toEqual(forecast);
    expect((await post<Rows>(server, "/predict", { steps: 8 })).outputs).toEqual(forecast);
    const teacher = wave(8, 300);
    const taught = (await model.predict({ steps: 8 }, { teacher })).toArrays();
    expect((await post<Rows>(server, "/predict", { teacher })).outputs).toEqual(taught);
  });
});

describe("a session", () => {
  it.each(["forecaster", "lagged", "nvar", "field"])(
    "of a %s goes on row by row as one prediction of all rows does, beside another",
    async (name) => {
      await using server = await models.serve(name);
      const kinds = { nvar: NvarForecaster, field: FieldForecaster } as const;
      await using model = await (kinds[name as keyof typeof kinds] ?? Forecaster).load(await models.path(name), { engine: "cpu" });
      const rows = name === "field" ? ring.slice(40, 49) : wave(9, 300);
      const wanted = (await model.predict(rows)).toArrays();
      const open = () => post<{ session: string }>(server, "/sessions", {});
      const [a, b] = [await open(), await open()];
      const got: number[][][] = [[], []];
      for (const [t, row] of rows.entries())
        for (const [k, { session }] of [a, b].entries()) {
          const { row: number, outputs } = await post<Rows & { row: number }>(server, `/sessions/${session}/rows`, { inputs: [row] });
          expect(number).toBe(t);
          got[k]!.push(...outputs);
        }
      expect(got).toEqual([wanted, wanted]);
      const ahead = (await model.forecast(4)).toArrays();
      expect((await post<Rows>(server, `/sessions/${a.session}/forecast`, { steps: 4 })).outputs).toEqual(ahead);
      expect((await ask(server, "DELETE", `/sessions/${a.session}`)).status).toBe(204);
      expect((await ask(server, "DELETE", `/sessions/${a.session}`)).status).toBe(404);
    },
  );

  it("begins with a warm-up, and is as it was after rows that it does not take", async () => {
    await using server = await models.serve("forecaster");
    await using model = await Forecaster.load(await models.path("forecaster"), { engine: "cpu" });
    const { session } = await post<{ session: string }>(server, "/sessions", { warmup: wave(60) });
    expect((await ask(server, "POST", `/sessions/${session}/rows`, { inputs: [[1, 2]] })).status).toBe(400);
    const wanted = (await model.predict(wave(3, 60), { warmup: wave(60) })).toArrays();
    expect((await post<Rows>(server, `/sessions/${session}/rows`, { inputs: wave(3, 60) })).outputs).toEqual(wanted);
  });

  it("sends what comes out to those who listen, and says when it ends", async () => {
    await using server = await models.serve("forecaster");
    const { session } = await post<{ session: string }>(server, "/sessions", {});
    const listening = request({ port: server.port, host: "127.0.0.1", path: `/sessions/${session}/events`, agent: false }).end();
    const [stream] = (await once(listening, "response")) as [IncomingMessage];
    expect(stream.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    let text = "";
    stream.on("data", (part) => {
      text += String(part);
    });
    const { outputs } = await post<Rows>(server, `/sessions/${session}/rows`, { inputs: wave(2) });
    const ended = once(stream, "end");
    await ask(server, "DELETE", `/sessions/${session}`);
    await ended;
    const events = text.split("\n\n").filter((event) => event.includes("event:"));
    expect(events).toEqual([
      ...outputs.map((output, row) => `id: ${row}\nevent: row\ndata: ${JSON.stringify({ row, output })}`),
      'event: end\ndata: {"reason":"the session was closed"}',
    ]);
  });

  it("is refused when as many are open as may be, and closed when it was idle for too long", async () => {
    await using server = await models.serve("forecaster", { maxSessions: 1, idle: 0.1 });
    expect((await ask(server, "POST", "/sessions", {})).status).toBe(201);
    expect(await ask(server, "POST", "/sessions", {})).toMatchObject({ status: 429, body: { error: { code: "limit" } } });
    await expect.poll(async () => (await ask(server, "POST", "/sessions", {})).status).toBe(201);
  });
});

describe("a served reservoir", () => {
  it("answers its states, since it has no readout, and takes rows one by one", async () => {
    await using server = await models.serve("reservoir");
    const { computer } = await loadReservoir(await models.path("reservoir"), { engine: "cpu" });
    const inputs = wave(4).map(([x]) => [x!, 1]);
    const states = (await computer.run(inputs)).toArrays();
    await computer.dispose();
    expect((await post<Rows>(server, "/predict", { inputs })).outputs).toEqual(states);
    expect((await ask(server, "POST", "/forecast", { steps: 2 })).status).toBe(404);
    const { session } = await post<{ session: string }>(server, "/sessions", { warmup: inputs.slice(0, 3) });
    expect((await post<Rows>(server, `/sessions/${session}/rows`, { inputs: inputs.slice(3) })).outputs).toEqual(states.slice(3));
  });
});

describe("a served classifier", () => {
  interface Classes {
    readonly labels: string[];
    readonly shares?: number[][];
  }

  it.each([
    ["classifier", (path: string) => Classifier.load(path, { engine: "cpu" })],
    ["pipeline", (path: string) => Pipeline.load(path, { engine: "cpu" })],
  ] as const)("of the kind %s answers the model's own labels and shares", async (kind, load) => {
    await using server = await models.serve(kind);
    await using model = await load(await models.path(kind));
    const sequences = [swing(0.2, 0.3), swing(0.6, 0.4).slice(0, 20)];
    expect(await post<Classes>(server, "/classify", { sequences })).toEqual({
      classes: model.classes,
      labels: await model.predict(sequences),
      shares: (await model.predictProba(sequences)).toArrays(),
    });
    expect(await post<Classes>(server, "/classify", { sequences, shares: false })).not.toHaveProperty("shares");
  });

  const asked = amount(1000, 100);
  it(`answers ${asked} requests that come at once, each with its own classes`, async () => {
    await using server = await models.serve("classifier");
    const wanted = await Promise.all([0.2, 0.6].map((rate) => post<Classes>(server, "/classify", { sequences: [swing(rate)] })));
    const all = await Promise.all(
      Array.from({ length: asked }, (_, k) => post<Classes>(server, "/classify", { sequences: [swing(k % 2 ? 0.6 : 0.2)] })),
    );
    expect(all.filter((answer, k) => JSON.stringify(answer) !== JSON.stringify(wanted[k % 2]))).toEqual([]);
    const metrics = String((await ask(server, "GET", "/metrics")).body);
    expect(metrics).toContain(`spillway_requests_total{path="/classify",status="200"} ${asked + 2}`);
    expect(metrics).toContain("spillway_requests_waiting 0\n");
  });

  it("refuses the one of many requests whose sequence it does not take", async () => {
    await using server = await models.serve("classifier");
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, k) => ask(server, "POST", "/classify", { sequences: [k === 7 ? [[1, 2]] : swing(0.2)] })),
    );
    expect(all.map(({ status }) => status)).toEqual(all.map((_, k) => (k === 7 ? 400 : 200)));
    expect(all[7]!.body).toEqual({ error: { code: "shape", message: expect.stringContaining("2 channels"), field: expect.any(String) } });
  });
});

describe("every server", () => {
  it("says that it is well, what it serves, and what it takes", async () => {
    await using server = await models.serve("pair");
    expect((await ask(server, "GET", "/health")).body).toEqual({ status: "ok", kind: "forecaster", engine: "cpu" });
    expect((await ask(server, "GET", "/model")).body).toEqual({ kind: "forecaster", inputs: 2, outputs: 1, known: 0, feedback: false });
    expect((await ask(server, "HEAD", "/health")).status).toBe(200);
    await using lagged = await models.serve("lagged");
    expect((await ask(lagged, "GET", "/model")).body).toMatchObject({ warmup: 4 });
  });

  it("answers what it has taken when it is closed, breaks nothing off, and takes no more", async () => {
    const server = await models.serve("forecaster");
    const asked = Array.from({ length: 20 }, () => post<Rows>(server, "/forecast", { steps: 50 }));
    await asked[0];
    await Promise.all([server.close(), server.close()]);
    const ends = await Promise.allSettled(asked);
    for (const end of ends) if (end.status === "rejected") expect(String(end.reason)).toMatch(/is ending|ECONNREFUSED|ECONNRESET|hang up/);
    await expect(ask(server, "GET", "/health")).rejects.toThrow("ECONNREFUSED");
  });

  it("tells the work that runs and what waits behind it that it ends", async () => {
    const server = await models.serve("forecaster");
    const asked = Array.from({ length: 5 }, () => ask(server, "POST", "/forecast", { steps: 2 ** 18 }));
    await expect.poll(async () => String((await ask(server, "GET", "/metrics")).body)).toContain("_waiting 5");
    await server.close();
    const ends = (await Promise.all(asked)).filter(({ status }) => status !== 200);
    expect(ends.length).toBeGreaterThan(0);
    for (const end of ends)
      expect(end).toMatchObject({ status: 503, body: { error: { code: "aborted", message: expect.stringContaining("is ending") } } });
  });

  it("breaks off work that takes too long", async () => {
    await using server = await models.serve("forecaster", { timeout: 0.001 });
    const late = await ask(server, "POST", "/forecast", { steps: 200_000 });
    expect(late).toMatchObject({
      status: 503,
      body: { error: { code: "aborted", message: expect.stringContaining("more than 0.001 s") } },
    });
    expect((await ask(server, "GET", "/health")).status).toBe(200);
  });
});
