// What a server has to survive: bodies that do not end, that lie about their length, that are no
// JSON, or that the model does not take; foreign names; clients that break off.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelServer } from "../../src/serve/index.js";
import { ask, Models, post, swing, wave } from "./served.js";

let models: Models;
let forecaster: ModelServer;
let classifier: ModelServer;
beforeAll(async () => {
  models = await Models.create();
  forecaster = await models.serve("forecaster", { maxBody: 100_000 });
  classifier = await models.serve("classifier");
});
afterAll(async () => {
  await Promise.all([forecaster.close(), classifier.close()]);
  await models[Symbol.asyncDispose]();
});

/** A connection that bytes are written to by hand. */
async function open(): Promise<Socket> {
  const socket = connect(forecaster.port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  await once(socket, "connect");
  return socket;
}

const head = (headers: string, target = "POST /forecast") =>
  `${target} HTTP/1.1\r\nHost: 127.0.0.1:${forecaster.port}\r\nContent-Type: application/json\r\n${headers}\r\n`;

/** Everything that the server says until it closes, or until it is enough. */
async function answerTo(socket: Socket, bytes: string, enough = /\}\n$/): Promise<string> {
  socket.write(bytes);
  let text = "";
  for await (const part of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += String(part);
    if (enough.test(text)) break;
  }
  return text;
}

const serves = async () => expect(await post(forecaster, "/forecast", { steps: 1 })).toEqual({ outputs: [[expect.any(Number)]] });

describe("a body", () => {
  it("that says it has a GiB is refused before a byte of it comes", async () => {
    const socket = await open();
    const answer = await answerTo(socket, head(`Content-Length: ${2 ** 30}\r\n`));
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*"the body is longer than 97\.7 KiB; send less in one request"/);
    socket.destroy();
    await serves();
  });

  it("that is asked for permission is refused without it", async () => {
    const socket = await open();
    expect(await answerTo(socket, head(`Content-Length: ${2 ** 30}\r\nExpect: 100-continue\r\n`))).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    const other = await open();
    const body = '{"steps": 1}';
    expect(await answerTo(other, head(`Content-Length: ${body.length}\r\nExpect: 100-continue\r\n`), /\r\n\r\n/)).toMatch(
      /^HTTP\/1\.1 100 /,
    );
    expect(await answerTo(other, body)).toMatch(/^HTTP\/1\.1 200 /);
    other.destroy();
  });

  it("in chunks without an end is refused once it is too long, and cut off", async () => {
    const socket = await open();
    socket.write(head("Transfer-Encoding: chunked\r\n"));
    const closed = new Promise((done) => socket.once("close", done));
    const chunk = `4000\r\n${" ".repeat(0x4000)}\r\n`;
    let answer = "";
    socket.on("data", (part) => {
      answer += String(part);
    });
    const writing = setInterval(() => socket.write(chunk), 1);
    await closed;
    clearInterval(writing);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    await serves();
  });

  it("whose sender breaks off holds nothing up", async () => {
    for (let k = 0; k < 20; k++) {
      const socket = await open();
      socket.write(`${head("Content-Length: 1000\r\n")}{"steps`);
      socket.resetAndDestroy();
    }
    await serves();
  });

  it.each([
    ["no JSON", "[[1],", 400, "format", /^the body is no JSON: /],
    ["NaN, which JSON lacks", '{"steps": NaN}', 400, "format", /^the body is no JSON: /],
    ["no UTF-8", '{"\xff": 1}', 400, "format", /./],
    ["a hundred thousand brackets", "[".repeat(50_000) + "]".repeat(50_000), 400, "value", /^the body is an array of 1; it takes/],
    ["brackets in a field", `{"warmup": ${"[".repeat(40_000)}${"]".repeat(40_000)}, "steps": 1}`, 400, "value", /^warmup: row 0/],
    ["a text", '"steps"', 400, "value", /^the body is "steps"; it takes a JSON object with steps, warmup/],
    ["null", "null", 400, "value", /^the body is null/],
    ["nothing", "", 400, "format", /^the body is no JSON/],
    ["a misspelt field", '{"step": 3}', 400, "unknown-field", /did you mean "steps"\?/],
    ["a prototype", '{"__proto__": {"steps": 3}}', 400, "unknown-field", /unknown field "__proto__"/],
    ["no steps", "{}", 400, "value", /^steps is missing; it takes a whole number from 1 to 262144/],
    ["half a step", '{"steps": 1.5}', 400, "value", /^steps is 1.5; it takes/],
    ["too many steps", '{"steps": 1e9}', 400, "value", /^steps is 1000000000; it takes/],
    [
      "another number of channels",
      '{"steps": 1, "warmup": [[1, 2]]}',
      400,
      "shape",
      /^warmup.inputs has 2 columns; this forecaster takes 1/,
    ],
    ["a value beyond numbers", '{"steps": 1, "warmup": [[1e999]]}', 400, "value", /^warmup is Infinity at row 0, column 0/],
    ["a text for a number", '{"steps": 1, "warmup": [["1"]]}', 400, "value", /^warmup: row 0, column 0 is "1"/],
    ["ragged rows", '{"steps": 1, "warmup": [[1], [1, 2]]}', 400, "shape", /^warmup: row 1 holds 2 values and row 0 holds 1/],
    ["no rows", '{"steps": 1, "warmup": []}', 400, "shape", /^warmup is empty/],
    ["inputs from outside of a model that has none", '{"steps": 1, "inputs": [[1]]}', 400, "unknown-field", /unknown field "inputs"/],
  ])("with %s is refused with a sentence and a code", async (_, body, status, code, sentence) => {
    const sent = body.includes("\xff") ? Buffer.from(body, "latin1") : body;
    const socket = await open();
    socket.write(head(`Content-Length: ${Buffer.byteLength(sent)}\r\n`));
    socket.write(sent);
    const answer = await answerTo(socket, "");
    socket.destroy();
    const [, got, json] = /^HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n([\s\S]*)$/.exec(answer)!;
    const { error } = JSON.parse(json!) as { error: { code: string; message: string } };
    expect([Number(got), error.code]).toEqual([status, code]);
    expect(error.message).toMatch(sentence);
    await serves();
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "application/jsonx", ""])(
    "of the type %s is refused: any site can send a form",
    async (type) => {
      const answer = await ask(forecaster, "POST", "/forecast", '{"steps": 1}', { "content-type": type });
      expect(answer).toMatchObject({ status: 415, body: { error: { code: "format" } } });
    },
  );

  it("without an end of a request that takes none is cut off behind the answer", async () => {
    const socket = await open();
    const closed = new Promise((done) => socket.once("close", done));
    const answer = answerTo(socket, head("Transfer-Encoding: chunked\r\n", "GET /health"));
    const writing = setInterval(() => socket.write("5\r\n12345\r\n"), 20);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close/);
    socket.resume();
    await closed;
    clearInterval(writing);
    await serves();
  });

  it("that is compressed is refused", async () => {
    expect((await ask(forecaster, "POST", "/forecast", "{}", { "content-encoding": "gzip" })).status).toBe(415);
  });

  it("with sequences that a classifier does not take is refused by the number of the sequence", async () => {
    const sequences = [swing(0.2), [[1], [Number.MAX_VALUE * 2]]];
    expect((await ask(classifier, "POST", "/classify", JSON.stringify({ sequences }))).body).toEqual({
      error: { code: "value", message: expect.stringMatching(/^sequences\[1\]: row 1, column 0 is null/), field: expect.any(String) },
    });
    const many = Array.from({ length: 4097 }, () => [0]);
    expect(await ask(classifier, "POST", "/classify", { sequences: many })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^sequences is an array of 4097; it takes a list of 1 to 4096 sequences/) } },
    });
  });
});

describe("a request", () => {
  it("to another name, or from a page of another site, is refused", async () => {
    const own = `127.0.0.1:${forecaster.port}`;
    for (const host of ["example.org", "127.0.0.1", "127.0.0.1:1", "localhost.example.org"])
      expect((await ask(forecaster, "GET", "/health", undefined, { host })).status, host).toBe(403);
    for (const origin of ["http://example.org", "null", `https://${own}`, "", `http://${own}.example.org`])
      expect((await ask(forecaster, "GET", "/health", undefined, { origin })).status, origin).toBe(403);
    for (const origin of [`http://${own}`, `http://localhost:${forecaster.port}`])
      expect((await ask(forecaster, "GET", "/health", undefined, { origin })).status, origin).toBe(200);
  });

  it("to a name that was allowed is answered, with any port if none was said", async () => {
    await using server = await models.serve("forecaster", { names: ["models.example.org", "other.example.org:8443"] });
    const status = async (headers: Readonly<Record<string, string>>) => (await ask(server, "GET", "/health", undefined, headers)).status;
    expect(await status({ host: "models.example.org:99" })).toBe(200);
    expect(await status({ host: "Models.Example.org", origin: "https://models.example.org" })).toBe(200);
    expect(await status({ host: "other.example.org:8443" })).toBe(200);
    expect(await status({ host: "other.example.org" })).toBe(403);
  });

  it("for what is not there is told what there is", async () => {
    expect(await ask(forecaster, "POST", "/forcast", { steps: 1 })).toMatchObject({
      status: 404,
      body: { error: { message: 'there is no "/forcast"; did you mean /forecast?' } },
    });
    expect(await ask(forecaster, "GET", "/forecast")).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect((await ask(forecaster, "POST", "/classify", {})).status).toBe(404);
    expect((await ask(classifier, "POST", "/sessions", {})).status).toBe(404);
    expect((await ask(forecaster, "GET", "/sessions/none/events")).status).toBe(404);
  });

  it("with a flood of headers, or no HTTP, is answered in JSON", async () => {
    const flood = Array.from({ length: 1000 }, (_, k) => `X-${k}: ${"x".repeat(100)}\r\n`).join("");
    expect(await answerTo(await open(), head(flood))).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"limit"/);
    expect(await answerTo(await open(), "\x16\x03\x01\x02\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 [\s\S]*"this is no HTTP request"/);
    await serves();
  });

  it("for more numbers than one answer holds is refused", async () => {
    await using server = await models.serve("reservoir");
    const inputs = Array.from({ length: 2 ** 18 / 30 + 1 }, () => [0, 0]);
    expect(await ask(server, "POST", "/predict", { inputs })).toMatchObject({ status: 422, body: { error: { code: "limit" } } });
  });

  it("for classes of more rows than its reservoir can hold the states of is refused", async () => {
    const sequences = [Array.from({ length: Math.floor(2 ** 26 / 30) + 1 }, () => 0)];
    const message = expect.stringMatching(/^the sequences have 2236963 rows; one request takes 2236962 for 30 neurons/);
    expect(await ask(classifier, "POST", "/classify", { sequences })).toMatchObject({
      status: 422,
      body: { error: { code: "limit", message } },
    });
  });

  it("whose client went away frees its place", async () => {
    const leaving = await Promise.all(Array.from({ length: 10 }, open));
    const body = JSON.stringify({ steps: 200_000 });
    for (const socket of leaving) socket.write(head(`Content-Length: ${body.length}\r\n`) + body);
    const waiting = async () => String((await ask(forecaster, "GET", "/metrics")).body).match(/_waiting (\d+)/)![1];
    await expect.poll(waiting).toBe("10");
    for (const socket of leaving) socket.resetAndDestroy();
    await expect.poll(waiting).toBe("0");
  });
});

describe("requests that are sent at once on one connection", () => {
  const forecast = (steps: number) => {
    const body = JSON.stringify({ steps });
    return `${head(`Content-Length: ${body.length}\r\n`)}${body}`;
  };
  const metric = async (pattern: RegExp) => Number(pattern.exec(String((await ask(forecaster, "GET", "/metrics")).body))?.[1] ?? 0);
  const waiting = () => metric(/_waiting (\d+)/);

  it("are answered in their order, also if a refusal is ready before an answer", async () => {
    const socket = await open();
    const targets = [forecast(3000), forecast(-1), forecast(2), head("", "GET /health")];
    const last = head("Connection: close\r\n", "GET /none");
    const answer = await answerTo(socket, targets.join("") + last, /there is no/);
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "400", "200", "200", "404"]);
  });

  it("are let go together if they are more than eight", async () => {
    const socket = await open();
    const closed = new Promise((done) => socket.once("close", done));
    socket.resume().write(forecast(200_000).repeat(9));
    await closed;
    await expect.poll(waiting).toBe(0);
    await serves();
  });

  it.each([
    ["small bodies", () => forecast(200_000).repeat(8)],
    ["bodies that do not come to their end", () => `${forecast(200_000)}${head("Content-Length: 90000\r\n")}${" ".repeat(80_000)}`],
  ])("and reset block nothing and keep no memory, with %s", async (_, bytes) => {
    const gone = () => metric(/path="\/forecast",status="499"\} (\d+)/);
    const before = await gone();
    const count = [...bytes().matchAll(/POST \/forecast/g)].length;
    const leaving = await Promise.all(Array.from({ length: 12 }, open));
    for (const socket of leaving) socket.write(bytes());
    await expect.poll(waiting).toBe(12);
    for (const socket of leaving) socket.resetAndDestroy();
    await expect.poll(waiting).toBe(0);
    // None of those behind the first was worked on: that of each connection was under way at most.
    expect((await gone()) - before).toBeGreaterThanOrEqual(12 * count - 1);
    // The memory that they asked for is several times what there is; this answer takes some too.
    expect((await post<{ outputs: number[][] }>(forecaster, "/forecast", { steps: 3000 })).outputs).toHaveLength(3000);
  });

  it("do not keep the server from ending", async () => {
    const server = await models.serve("forecaster");
    const sockets = Array.from({ length: 4 }, () => connect(server.port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets)
      socket.on("error", () => {}).write(forecast(200_000).replaceAll(`${forecaster.port}`, `${server.port}`).repeat(8));
    const count = async () => /_waiting (\d+)/.exec(String((await ask(server, "GET", "/metrics")).body))![1];
    await expect.poll(count).toBe("4");
    for (const socket of sockets) socket.resetAndDestroy();
    await expect.poll(count).toBe("0");
    expect(await server.close()).toBeUndefined();
  });
});

describe("an event stream", () => {
  it("is one of eight of its session", async () => {
    const { session } = await post<{ session: string }>(forecaster, "/sessions", { warmup: wave(5) });
    const open = Array.from({ length: 8 }, () => fetch(`${forecaster.url}/sessions/${session}/events`));
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual(open.map(() => 200));
    expect((await ask(forecaster, "GET", `/sessions/${session}/events`)).status).toBe(429);
    await ask(forecaster, "DELETE", `/sessions/${session}`);
    for (const stream of await Promise.all(open)) expect(await stream.text()).toContain("event: end");
  });
});
