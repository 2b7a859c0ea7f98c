// The serving example, asked by several at once and by those it should not answer.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, post, startPost } from "./served.js";

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
const cases = (rate: number) => ({ sequences: [swing(rate)] });

describe("the serving example", () => {
  it("answers requests that come at once, each with the class of its own case", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, k) => post<{ labels: string[] }>({ port }, "/classify", cases(k % 2 ? 0.3 : 0.5))),
    );
    expect(answers.map(({ labels }) => labels)).toEqual(answers.map((_, k) => [k % 2 ? "slow" : "quick"]));
  });

  it("refuses a body that is larger than it said, and goes on", async () => {
    expect((await ask({ port }, "POST", "/classify", "x".repeat(2 ** 20 + 1))).status).toBe(413);
    expect((await ask({ port }, "POST", "/classify", cases(0.3))).status).toBe(200);
  });

  it("answers what it has taken when it is told to end, and ends", async () => {
    const body = JSON.stringify(cases(0.3));
    const sent = startPost({ port }, "/classify");
    sent.write(body.slice(0, 10));
    await once(sent, "socket").then(([socket]) => socket.connecting && once(socket, "connect"));
    await ask({ port }, "GET", "/health");
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    sent.end(body.slice(10));
    const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    expect(await ended).toEqual([0, null]);
  });
});
