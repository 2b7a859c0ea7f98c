import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import "../../src/index.js";
import { defaultSettings, type Lab, openLab, stateHash } from "../../src/lab/index.js";
import { parseRequest, type ServerMessage } from "../../src/lab/messages.js";

describe("the lab's server", () => {
  let folder: string;
  let lab: Lab;
  let token: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-lab-"));
    await writeFile(join(folder, "index.html"), "<title>lab</title>");
    await writeFile(join(folder, "..", "outside.txt"), "not for you");
    lab = await openLab({ page: folder, engine: "cpu" });
    token = new URL(lab.url).searchParams.get("token")!;
  });
  afterAll(async () => {
    await lab.close();
    await rm(folder, { recursive: true });
    await rm(join(folder, "..", "outside.txt"));
  });

  /**
   * Opens a socket and gives its messages up to a result or an error, or the status it was refused
   * with.
   */
  function talk(options: { token?: string; origin?: string; message?: unknown }): Promise<ServerMessage[] | number> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${lab.port}/?token=${options.token ?? token}`, {
        origin: options.origin ?? `http://127.0.0.1:${lab.port}`,
      });
      const messages: ServerMessage[] = [];
      socket.on("unexpected-response", (_, response) => resolve(response.statusCode!));
      socket.on("error", reject);
      socket.on("open", () => socket.send(typeof options.message === "string" ? options.message : JSON.stringify(options.message)));
      socket.on("message", (data) => {
        const message = JSON.parse(String(data)) as ServerMessage;
        messages.push(message);
        if (message.type !== "result" && message.type !== "error") return;
        socket.close();
        resolve(messages);
      });
    });
  }

  it("gives the page, and nothing outside its folder", async () => {
    const page = await fetch(`http://127.0.0.1:${lab.port}/`);
    expect(await page.text()).toBe("<title>lab</title>");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    for (const path of ["/../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "/none"]) {
      expect((await fetch(`http://127.0.0.1:${lab.port}${path}`)).status, path).toBe(404);
    }
    expect((await fetch(`http://127.0.0.1:${lab.port}/`, { method: "POST" })).status).toBe(405);
  });

  it("runs what the page asks for, with progress, and gives the hash that this machine's own run has", async () => {
    const settings = { ...defaultSettings, size: 20 };
    const messages = await talk({ message: { type: "run", id: 7, settings, steps: 3000 } });
    expect((messages as ServerMessage[]).map(({ type }) => type)).toEqual(["hello", "progress", "result"]);
    expect((messages as ServerMessage[]).at(-1)).toMatchObject({ id: 7, engine: "cpu", hash: await stateHash(settings) });
  });

  it("refuses a wrong token and a foreign origin", async () => {
    expect(await talk({ token: "0".repeat(32), message: {} })).toBe(403);
    expect(await talk({ origin: "http://example.org", message: {} })).toBe(403);
  });

  it("answers what it does not take with a sentence", async () => {
    const answer = async (message: unknown) => ((await talk({ message })) as ServerMessage[]).at(-1);
    expect(await answer("{")).toEqual({ type: "error", id: -1, message: "the message is no JSON" });
    const settings = { ...defaultSettings, leakRate: 9 };
    expect(await answer({ type: "run", id: 1, settings, steps: 10 })).toMatchObject({
      type: "error",
      id: 1,
      message: expect.stringContaining("leakRate is 9"),
    });
  });

  it("says that a port is taken, and that a page was not built", async () => {
    await expect(openLab({ page: folder, port: lab.port })).rejects.toThrow(`port ${lab.port} is taken`);
    await expect(openLab({ page: join(folder, "none") })).rejects.toThrow("holds no page; build it with npm run build");
  });
});

describe("parseRequest", () => {
  it("bounds what a page may ask for", () => {
    const request = { type: "run", id: 1, settings: defaultSettings, steps: 10 };
    const refusal = (value: unknown) => parseRequest(JSON.stringify(value));
    expect(refusal(request)).toEqual(request);
    expect(refusal({ ...request, steps: 1e9 })).toEqual({
      type: "error",
      id: 1,
      message: "steps is 1000000000; it takes a whole number from 1 to 1000000",
    });
    expect(refusal({ ...request, settings: { ...defaultSettings, size: 1e6 } })).toMatchObject({
      message: "size is 1000000; it takes a whole number from 1 to 20000",
    });
    expect(refusal([])).toEqual({ type: "error", id: -1, message: "the message is no object" });
  });
});
