// The recipes of docs/in-the-browser.md, each followed as it stands, in Chromium.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { createServer as createVite } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Block, blocksOf } from "../docs-pages.js";
import goldenFile from "../golden/golden.json" with { type: "json" };
import { goldenSeries } from "../golden/series.js";
import { openChromium, openPage, untilText } from "./chromium.js";
import { softwareWebGpu } from "./software-webgpu.js";

const text = readFileSync("docs/in-the-browser.md", "utf8");
// Programs for Node are run by docs-run.test.ts.
const blocks = blocksOf("docs/in-the-browser.md").filter(({ language }) => language !== "ts");
const followed = new Set<Block>();

/** The first block of a kind below a heading of the page. */
function block(heading: string, kind: string): string {
  const found = blocks.find((each) => each.heading === heading && each.language === kind);
  if (!found) throw new Error(`docs/in-the-browser.md has no ${kind} below "${heading}"`);
  followed.add(found);
  return found.given + found.text;
}

const golden = goldenFile.cases.find(({ name }) => name === "sparse-31-leak-each-bias")!;

/** What a page adds to the program of the docs: the states of a golden case, hashed. */
const goldenProgram = `
import { Matrix } from "spillway";
const golden = await ReservoirComputer.create(${JSON.stringify(golden.config)});
const inputs = new Matrix(${golden.steps}, 1, Float32Array.of(${[...goldenSeries(1, golden.steps, 1, "float32").data].join()}));
const goldenDigest = new Uint8Array(await crypto.subtle.digest("SHA-256", (await golden.run(inputs)).data));
const line = document.createElement("p");
line.id = "golden";
line.textContent = Array.from(goldenDigest, (byte) => byte.toString(16).padStart(2, "0")).join("");
document.body.append(line);
for (const [id, refused] of [["threads", { threads: 2 }], ["cuda", { engine: "cuda" }]]) {
  const report = document.createElement("p");
  report.id = id;
  report.textContent = await ReservoirComputer.create({ size: 5 }, refused).then(() => "taken", (error) => error.name + ": " + error.message);
  document.body.append(report);
}
`;

const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** A server of the files of a folder. */
async function serve(folder: string, headers: Readonly<Record<string, string>> = {}): Promise<Server & { readonly url: string }> {
  const server = createServer((request, response) => {
    const path = normalize(join(folder, new URL(request.url!, "http://page").pathname.replace(/\/$/, "/index.html")));
    const isThere = path.startsWith(folder) && existsSync(path) && statSync(path).isFile();
    response.writeHead(isThere ? 200 : 404, { "content-type": types[extname(path)] ?? "application/octet-stream", ...headers });
    response.end(isThere ? readFileSync(path) : undefined);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}

describe("docs/in-the-browser.md", () => {
  let browser: Browser;
  let desk: string;
  let inNode: string;
  const folders: string[] = [];

  beforeAll(async () => {
    browser = await openChromium();
    desk = mkdtempSync(join(tmpdir(), "spillway-recipes-"));
    const modules = join(desk, "node_modules");
    mkdirSync(join(modules, "spillway"), { recursive: true });
    cpSync("package.json", join(modules, "spillway", "package.json"));
    cpSync("dist", join(modules, "spillway", "dist"), { recursive: true, filter: (path) => !/(kernels|lab-page)$/.test(path) });
    symlinkSync(resolve("node_modules/.bin"), join(modules, ".bin"));
    writeFileSync(join(desk, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(desk, "index.html"), block("A page", "html"));
    const program = block("A page", "js");
    writeFileSync(join(desk, "main.js"), program + goldenProgram);
    const page = "const element = {}; globalThis.document = { querySelector: () => element };";
    writeFileSync(join(desk, "node.mjs"), `${page}\n${program}\nconsole.log(element.textContent);`);
    inNode = execFileSync(process.execPath, ["node.mjs"], { cwd: desk, encoding: "utf8" }).trim();
  });
  afterAll(async () => {
    await browser.close();
    for (const folder of [...folders, desk]) rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the commands of a recipe, but what installs from a registry. */
  const follow = (heading: string) => {
    const commands = block(heading, "sh").replace(/^npm install .*$/gm, "");
    execFileSync("bash", ["-ec", `spillway() { node ${resolve("dist/cli/main.js")} "$@"; }\n${commands}`], { cwd: desk, stdio: "pipe" });
  };

  /** What holds of every page. */
  async function looksRight(url: string): Promise<boolean> {
    const { page, errors } = await openPage(browser, { width: 600, height: 400 });
    await page.goto(url);
    expect(await untilText(page, "#result", /NRMSE/)).toBe(inNode);
    expect(await untilText(page, "#golden", /^[0-9a-f]{64}$/)).toBe(golden.hashes.states);
    expect(await untilText(page, "#threads", /./)).toMatch(/^EngineUnavailableError: .*threads is 2; .* takes 1 here/);
    expect(await untilText(page, "#cuda", /./)).toMatch(/^EngineUnavailableError: .*Node/);
    expect(errors).toEqual([]);
    const isolated = await page.evaluate(() => crossOriginIsolated);
    await page.close();
    return isolated;
  }

  it("a site that Vite builds computes what Node computes", async () => {
    follow("Vite");
    const server = await serve(join(desk, "dist"));
    await looksRight(server.url).finally(() => server.close());
  });

  it("so does the development server of Vite", async () => {
    const server = await createVite({ root: desk, logLevel: "error", server: { host: "127.0.0.1", port: 0 } });
    await server.listen();
    const { port } = server.httpServer!.address() as AddressInfo;
    await looksRight(`http://127.0.0.1:${port}/`).finally(() => server.close());
  });

  it("so does a site that esbuild bundles", async () => {
    mkdirSync(join(desk, "site"), { recursive: true });
    follow("esbuild");
    const server = await serve(join(desk, "site"));
    await looksRight(server.url).finally(() => server.close());
  });

  it("so does a plain page, on a cross-origin isolated one too", async () => {
    writeFileSync(join(desk, "index.html"), block("A plain page", "html"));
    const headers = Object.fromEntries(
      Array.from(text.matchAll(/`(Cross-Origin-[\w-]+): ([\w-]+)`/g), ([, name, value]) => [name!, value!]),
    );
    expect(Object.keys(headers)).toHaveLength(2);
    for (const each of [{}, headers]) {
      const server = await serve(desk, each);
      expect(await looksRight(server.url).finally(() => server.close())).toBe(each === headers);
    }
  });

  /** What a program prints as its last line on a plain page, and in Node. */
  async function printed(program: string, inPage: Browser, forNode = program): Promise<{ here: string; there: string }> {
    writeFileSync(join(desk, "index.html"), block("A plain page", "html"));
    writeFileSync(join(desk, "main.js"), program);
    writeFileSync(join(desk, "node.mjs"), forNode);
    const server = await serve(desk);
    const { page, errors } = await openPage(inPage, { width: 600, height: 400 });
    try {
      const said = page.waitForEvent("console", { timeout: 110_000 });
      const failed = page.waitForEvent("pageerror", { timeout: 0 }).then((error) => Promise.reject(error));
      await page.goto(server.url);
      const values = await Promise.all(
        (await Promise.race([said, failed]))
          .args()
          .map((arg) => arg.evaluate((value) => JSON.stringify(Array.from(value as number[]).flat()))),
      );
      expect(errors).toEqual([]);
      return { there: values.join(), here: execFileSync(process.execPath, ["node.mjs"], { cwd: desk, encoding: "utf8" }).trim() };
    } finally {
      await page.close();
      server.close();
    }
  }
  const asJson = (program: string) => program.replace(/console\.log\((.*)\);/, "console.log(JSON.stringify(Array.from($1).flat()));");

  it("integers by WebGPU have the bits that the CPU has in Node", async () => {
    // Of a hundred neurons: the processor plays the GPU here, and takes minutes for a thousand.
    const program = block("WebGPU", "js").replace("size: 1000", "size: 100");
    expect(program).toContain("size: 100,");
    const withWebGpu = await openChromium(softwareWebGpu);
    const { here, there } = await printed(program, withWebGpu, asJson(program).replace('engine: "webgpu"', 'engine: "cpu"')).finally(() =>
      withWebGpu.close(),
    );
    expect(here).toMatch(/^\[[-\d.]+(,[-\d.]+){9}\]$/);
    expect(there).toBe(here);
  });

  it("an exported model forecasts by itself what it forecasts in Node", async () => {
    follow("A model without the package");
    const program = block("A model without the package", "js").replace(/^tide\.forecast\(24\);/m, "console.log(tide.forecast(24));");
    const { here, there } = await printed(program, browser, asJson(program));
    expect(JSON.parse(here)).toHaveLength(24);
    expect(there).toBe(here);
  });

  it("a page whose bundle has no module beside it is told where it was looked for", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spillway-recipes-"));
    folders.push(folder);
    cpSync(join(desk, "site"), folder, { recursive: true, filter: (path) => !path.endsWith(".wasm") });
    const server = await serve(folder);
    const { page, errors } = await openPage(browser, { width: 600, height: 400 });
    const told = page.waitForEvent("pageerror");
    await page.goto(server.url);
    expect((await told).message).toMatch(
      /http:\/\/127.0.0.1:\d+\/spillway(-fused)?\.wasm is no WebAssembly module: the server answers 404\. .* belong beside the bundle/,
    );
    expect(errors.length).toBeGreaterThan(0);
    await page.close();
    server.close();
  });

  it("has no other block", () => expect(blocks.filter((each) => !followed.has(each))).toEqual([]));
});
