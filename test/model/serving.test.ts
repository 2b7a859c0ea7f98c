// The serving example, asked by several at once and by those it should not answer.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const example = fileURLToPath(new URL("../../examples/10-serve-a-classifier.ts", import.meta.url));
let server: ChildProcess;
let port: number;

beforeAll(async () => {
  server = spawn(process.execPath, ["--import", "tsx", example, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(server.stdout!, "data")) as [Buffer];
  port = Number(/127\.0\.0\.1:(\d+)/.exec(line.toString())![1]);
});
afterAll(() => void server.kill("SIGKILL"));

const swing = (rate: number) => Array.from({ length: 40 }, (_, t) => [Math.sin(rate * t)]);
const json = { "content-type": "application/json" };

/** Posts a body in pieces: its length is not known before. */
async function post(body: string, headers: Readonly<Record<string, string>> = json, method = "POST"): Promise<[number, unknown]> {
  const sent = request({ port, host: "127.0.0.1", method, headers });
  sent.write(body.slice(0, 10));
  sent.end(body.slice(10));
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  let text = "";
  for await (const part of response) text += String(part);
  return [response.statusCode!, JSON.parse(text)];
}

describe("the serving example", () => {
  it("answers requests that come at once, each with the class of its own case", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, k) => post(JSON.stringify(swing(k % 2 ? 0.3 : 0.5)))));
    expect(answers.map(([status]) => status)).toEqual(answers.map(() => 200));
    expect(answers.map(([, answer]) => (answer as { label: string }).label)).toEqual(answers.map((_, k) => (k % 2 ? "slow" : "quick")));
  });

  it.each([
    ["a body that is too large", 413, "x".repeat(3 * 2 ** 20), json],
    ["what is no JSON", 400, "[[1],", json],
    ["a case with other channels", 400, "[[1, 2]]", json],
    ["a form, which any site can send", 415, "[[1]]", { "content-type": "text/plain" }],
    ["a page of another site", 403, "[[1]]", { ...json, origin: "https://example.org" }],
    ["another name for this machine", 403, "[[1]]", { ...json, host: "example.org" }],
  ])("refuses %s, and goes on", async (_, status, body, headers) => {
    expect(await post(body, headers)).toEqual([status, { error: expect.any(String) }]);
    expect((await post(JSON.stringify(swing(0.3))))[0]).toBe(200);
  });

  it("answers what it has taken when it is told to end, and ends", async () => {
    const sent = request({ port, host: "127.0.0.1", method: "POST", headers: json });
    const body = JSON.stringify(swing(0.3));
    sent.write(body.slice(0, 10));
    await once(sent, "socket").then(([socket]) => socket.connecting && once(socket, "connect"));
    await post(body);
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    sent.end(body.slice(10));
    const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    expect(await ended).toEqual([0, null]);
  });
});
