// The handler of a model in a service worker: the page's own requests are answered without a
// server.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { Forecaster } from "../../src/model/index.js";
import { wave } from "../serve/served.js";
import { openDrivenChromium } from "./chromium.js";
import { openFirefox } from "./driven.js";
import { type FolderServer, serveFolder } from "./folder-server.js";

const worker = `
import { Forecaster } from "spillway";
import { handler } from "spillway/serve";
const ready = fetch("/tide.safetensors")
  .then((response) => response.arrayBuffer())
  .then((bytes) => Forecaster.fromBytes(new Uint8Array(bytes)))
  .then((model) => handler(model, { base: "/tide" }));
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  if (new URL(event.request.url).pathname.startsWith("/tide/")) event.respondWith(ready.then((answer) => answer(event.request)));
});`;

const program = `
await navigator.serviceWorker.register("/worker.js", { type: "module" });
while (!navigator.serviceWorker.controller) await new Promise((later) => setTimeout(later, 50));
const post = async (path, body) => {
  const response = await fetch("/tide" + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return [response.status, await response.json()];
};
const many = await Promise.all(Array.from({ length: 100 }, () => post("/forecast", { steps: 5 })));
const [, { session }] = await post("/sessions", {});
const events = await fetch("/tide/sessions/" + session + "/events");
const rows = await post("/sessions/" + session + "/rows", { inputs: [[0.5], [0.25]] });
await fetch("/tide/sessions/" + session, { method: "DELETE" });
return { many, rows, events: await events.text(), refused: await post("/forecast", { stepz: 1 }) };`;

describe("a model in a service worker", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-service-worker-"));
  let server: FolderServer;
  let forecast: number[][];
  let outputs: number[][];

  beforeAll(async () => {
    await using tide = await Forecaster.fit(wave(300), { reservoir: { size: 40 } });
    await tide.save(join(folder, "tide.safetensors"));
    await using again = await Forecaster.load(join(folder, "tide.safetensors"));
    forecast = (await again.forecast(5)).toArrays();
    outputs = (await again.predict([[0.5], [0.25]])).toArrays();
    const stdin = { contents: worker, resolveDir: process.cwd() };
    await build({ stdin, outfile: join(folder, "worker.js"), bundle: true, format: "esm", platform: "browser", logLevel: "error" });
    for (const name of ["spillway.wasm", "spillway-fused.wasm"])
      writeFileSync(join(folder, name), (await import("node:fs")).readFileSync(join("dist", name)));
    writeFileSync(join(folder, "index.html"), '<!doctype html><html lang="en"><title>tide</title></html>');
    server = await serveFolder(folder);
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["Chromium", openDrivenChromium],
    ["Firefox", openFirefox],
  ])("answers as Node does, streams and refuses in %s", async (_, open) => {
    const browser = await open();
    try {
      await browser.goto(server.url);
      const said = (await browser.evaluate(program)) as { many: unknown[]; events: string; rows: unknown; refused: unknown };
      expect(said.many).toEqual(Array.from({ length: 100 }, () => [200, { outputs: forecast }]));
      expect(said.rows).toEqual([200, { row: 0, outputs }]);
      for (const [row, output] of outputs.entries()) expect(said.events).toContain(`data: ${JSON.stringify({ row, output })}\n`);
      expect(said.events).toContain("the session was closed");
      expect(said.refused).toEqual([
        400,
        { error: expect.objectContaining({ message: expect.stringContaining('did you mean "steps"?') }) },
      ]);
    } finally {
      await browser.close();
    }
  });
});
