// Reservoirs in integers in a compute shader: Chromium's WebGPU, by SwiftShader.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { build } from "esbuild";
import type { Browser, Page as BrowserPage } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ReservoirOptions } from "../../src/reservoir/index.js";
import { openChromium, openPage } from "./chromium.js";
import { softwareWebGpu } from "./software-webgpu.js";
import type { Page } from "./webgpu-page.js";

const shapes: readonly (readonly [string, ReservoirOptions])[] = [
  ["sparse", { size: 90, bias: 0.3 }],
  ["sparse in 8 bits, feedback", { size: 61, weightPrecision: "int8", feedback: { size: 2 }, inputSize: 2 }],
  ["dense, an odd number, many inputs", { size: 71, connectionProbability: 1, inputSize: 40 }],
  [
    "dense in 8 bits, not a whole word a row",
    { size: 70, connectionProbability: 1, weightPrecision: "int8", leakRate: { from: 1e-4, to: 1 } },
  ],
  ["one neuron", { size: 1, connectionProbability: 1, selfConnections: true }],
  ["no inputs", { size: 33, inputSize: 0, bias: 2, initialState: { distribution: "normal", scaling: 9 } }],
];

declare const page: Page;

describe("the WebGPU engine", () => {
  let server: Server;
  let browser: Browser;
  let without: Browser;
  let here: BrowserPage;
  let bare: BrowserPage;
  const errors: string[][] = [];

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: ["test/browser/webgpu-page.ts"],
      bundle: true,
      write: false,
      format: "esm",
      target: "es2022",
      // The golden cases take the package's root, which bundlers for browsers find elsewhere.
      plugins: [
        {
          name: "browser",
          setup: ({ onResolve }) => onResolve({ filter: /^[./]+\/src\/index\.js$/ }, () => ({ path: resolve("src/browser.ts") })),
        },
      ],
      logLevel: "error",
    });
    const script = outputFiles[0]!.text;
    server = createServer(({ url = "" }, response) => {
      const file = /^\/(spillway[\w-]*\.wasm)$/.exec(url)?.[1];
      const [type, body] = file
        ? ["application/wasm", readFileSync(`packages/numerics/src/wasm/${file}`)]
        : url === "/page.js"
          ? ["text/javascript", script]
          : ["text/html", '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>'];
      response.writeHead(200, { "content-type": type as string });
      response.end(body);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    browser = await openChromium(softwareWebGpu);
    without = await openChromium(["--disable-gpu", "--disable-features=WebGPU"]);
    const open = async (from: Browser): Promise<BrowserPage> => {
      const opened = await openPage(from, { width: 300, height: 200 });
      errors.push(opened.errors);
      await opened.page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await opened.page.waitForFunction(() => document.title === "ready");
      return opened.page;
    };
    here = await open(browser);
    bare = await open(without);
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), without?.close()]);
    server?.close();
  });

  it.each(shapes)("has the CPU's states, batches and closed loops: %s", async (_, options) => {
    const sums = (engine: string) => here.evaluate(([given, name]) => page.sumsOf(given, name), [options, engine] as const);
    expect(await sums("webgpu")).toBe(await sums("cpu"));
  });

  it("has the C program's golden sums", async () => {
    const { sums, different } = await here.evaluate(() => page.bitsHere("webgpu"));
    expect([sums, different]).toEqual([12, []]);
  });

  it("forecasts with the CPU's bits", async () => {
    const [there, cpu] = await here.evaluate(async () => [await page.forecastOf("webgpu"), await page.forecastOf("cpu")]);
    expect(there).toBe(cpu);
  });

  it.each([
    ["floats", /it runs reservoirs with arithmetic "integer" alone; take that, or the engine "cpu"/],
    ["threads", /threads is 2.*takes 1/],
    ["step", /one step at once would wait for the device.*take run/],
  ] as const)("says what it does not do: %s", async (attempt, sentence) => {
    expect(await here.evaluate((what) => page.refusal(what), attempt)).toMatch(sentence);
  });

  it("says that a browser has no WebGPU, or no device for it", async () => {
    expect(await bare.evaluate(() => page.refusal("device"))).toMatch(
      /^EngineUnavailableError: the engine "webgpu" is not available: (there is no WebGPU here|this browser has WebGPU and finds no device)/,
    );
  });

  it("leaves no error on the page", () => {
    expect(errors.flat()).toEqual([]);
  });
});
