// The recipes of docs/in-the-browser.md, each followed as it stands, in Chromium.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { createServer as createVite } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Block, blocksOf } from "../docs-pages.js";
import goldenFile from "../golden/golden.json" with { type: "json" };
import { goldenSeries } from "../golden/series.js";
import { openChromium, openPage, untilText } from "./chromium.js";
import { serveFolder } from "./folder-server.js";
import { softwareWebGpu } from "./software-webgpu.js";

const text = readFileSync("docs/in-the-browser.md", "utf8");
// Programs for Node are run by docs-run.test.ts.
const blocks = blocksOf("docs/in-the-browser.md").filter(({ language }) => language !== "ts");
const followed = new Set<Block>();

/** A block of a kind below a heading of the page, counted from 0. */
function block(heading: string, kind: string, index = 0): string {
  const found = blocks.filter((each) => each.heading === heading && each.language === kind)[index];
  if (!found) throw new Error(`docs/in-the-browser.md has no ${kind} below "${heading}"`);
  followed.add(found);
  return found.given + found.text;
}

/** The page with the import map before its script. */
const plainPage = () => block("A page", "html").replace("<script", `${block("A plain page", "html")}<script`);

/** The headers of a page that is cross-origin isolated. */
const isolation = Object.fromEntries(Array.from(text.matchAll(/`(Cross-Origin-[\w-]+): ([\w-]+)`/g), ([, name, value]) => [name!, value!]));

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
const report = document.createElement("p");
report.id = "cuda";
report.textContent = await ReservoirComputer.create({ size: 5 }, { engine: "cuda" }).then(() => "taken", (error) => error.name + ": " + error.message);
document.body.append(report);
`;

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
    expect(await untilText(page, "#cuda", /./)).toMatch(/^EngineUnavailableError: .*Node/);
    expect(errors).toEqual([]);
    const isolated = await page.evaluate(() => crossOriginIsolated);
    await page.close();
    return isolated;
  }

  it("a site that Vite builds computes what Node computes", async () => {
    follow("Vite");
    const server = await serveFolder(join(desk, "dist"));
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
    const server = await serveFolder(join(desk, "site"));
    await looksRight(server.url).finally(() => server.close());
  });

  it("so does a plain page, on a cross-origin isolated one too", async () => {
    writeFileSync(join(desk, "index.html"), plainPage());
    for (const each of [{}, isolation]) {
      const server = await serveFolder(desk, each);
      expect(await looksRight(server.url).finally(() => server.close())).toBe(each === isolation);
    }
  });

  describe("threads", () => {
    let hall: string;
    let expected: string;
    beforeAll(() => {
      hall = mkdtempSync(join(tmpdir(), "spillway-recipes-"));
      folders.push(hall);
      cpSync(join(desk, "node_modules"), join(hall, "node_modules"), { recursive: true, verbatimSymlinks: true });
      writeFileSync(join(hall, "package.json"), JSON.stringify({ type: "module" }));
      writeFileSync(join(hall, "index.html"), block("A page", "html").replace("main.js", "page.js"));
      writeFileSync(join(hall, "page.js"), block("Threads", "js"));
      const program = block("Threads", "js", 1);
      writeFileSync(join(hall, "worker.js"), program);
      writeFileSync(join(hall, "node.mjs"), `globalThis.postMessage = console.log;\n${program}`);
      const [config] = /export default \{ worker:[^`]*/.exec(text)!;
      writeFileSync(join(hall, "vite.config.js"), config);
      expected = execFileSync(process.execPath, ["node.mjs"], { cwd: hall, encoding: "utf8" }).trim();
      expect(expected).toMatch(/^threads: 2 \(as asked for\), states [0-9a-f]{64}$/);
    });

    const runsThreads = async (url: string) => {
      const { page, errors } = await openPage(browser, { width: 600, height: 400 });
      await page.goto(url);
      expect(await untilText(page, "#result", /states/)).toBe(expected);
      expect(errors).toEqual([]);
      await page.close();
    };
    const fromFolder = async (folder: string) => {
      const server = await serveFolder(folder, isolation);
      await runsThreads(server.url).finally(() => server.close());
    };

    it("run in a site that Vite builds", async () => {
      execFileSync("bash", ["-ec", block("Vite", "sh").replace(/^npm install .*$/gm, "")], { cwd: hall, stdio: "pipe" });
      await fromFolder(join(hall, "dist"));
    });

    it("run in the development server of Vite", async () => {
      const server = await createVite({ root: hall, logLevel: "error", server: { host: "127.0.0.1", port: 0, headers: isolation } });
      await server.listen();
      const { port } = server.httpServer!.address() as AddressInfo;
      await runsThreads(`http://127.0.0.1:${port}/`).finally(() => server.close());
    });

    it("run in a site that esbuild bundles", async () => {
      mkdirSync(join(hall, "site"));
      execFileSync("bash", ["-ec", block("Threads", "sh")], { cwd: hall, stdio: "pipe" });
      await fromFolder(join(hall, "site"));
    });

    it("run in a plain page", async () => {
      const address = /`"(\.\/node_modules[^"]*browser.js)"`/.exec(text)![1]!;
      writeFileSync(join(hall, "worker.js"), block("Threads", "js", 1).replace('"spillway"', JSON.stringify(address)));
      await fromFolder(hall);
    });
  });

  /** What a program prints as its last line on a plain page, and in Node. */
  async function printed(program: string, inPage: Browser, forNode = program): Promise<{ here: string; there: string }> {
    writeFileSync(join(desk, "index.html"), plainPage());
    writeFileSync(join(desk, "main.js"), program);
    writeFileSync(join(desk, "node.mjs"), forNode);
    const server = await serveFolder(desk);
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
    const server = await serveFolder(folder);
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
