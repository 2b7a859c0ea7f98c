// What a bundler for browsers makes of the package: no module of Node, nothing native, one of each
// class.
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { type BuildResult, build, type Plugin } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { browserParts } from "./browser-parts.js";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const needNode = new Set([...builtinModules, ...Object.keys({ ...dependencies, ...peerDependencies })]);
const needsNode = (path: string) => path.startsWith("node:") || needNode.has(path) || needNode.has(path.split("/")[0]!);

describe("the package in a bundle for browsers", () => {
  /** What is still imported, static or late, by the file that imports it. */
  const outside: string[] = [];
  let result: BuildResult<{ write: false }>;
  const texts = () => result.outputFiles.map(({ text }) => text).join("\n");

  const collect: Plugin = {
    name: "outside",
    setup: ({ onResolve }) =>
      onResolve({ filter: /./ }, ({ path, importer }) => {
        if (!needsNode(path)) return undefined;
        outside.push(`${importer} imports ${path}`);
        return { path, external: true };
      }),
  };

  beforeAll(async () => {
    result = await build({
      entryPoints: browserParts.map((part, i) => ({ in: part, out: `part${i}` })),
      bundle: true,
      write: false,
      outdir: "nowhere",
      format: "esm",
      platform: "browser",
      splitting: true,
      logLevel: "silent",
      plugins: [collect],
    });
  });

  it("is there in every part that docs/in-the-browser.md names", () => {
    expect(browserParts.length).toBeGreaterThan(7);
    expect(result.outputFiles.length).toBeGreaterThan(browserParts.length);
  });

  it("imports nothing of Node and nothing native", () => {
    expect(outside).toEqual([]);
    expect(texts()).not.toContain("cuLaunchKernel");
  });

  it("names no file of a thread of Node, which a bundler would take along, and that of a page's", () => {
    const named = Array.from(texts().matchAll(/new URL\("([^"]*)", import\.meta\.url\)/g), ([, file]) => file!);
    expect([...new Set(named)].sort()).toEqual([
      "./spillway-fused.wasm",
      "./spillway-threads.wasm",
      "./spillway-worker.js",
      "./spillway.wasm",
    ]);
  });

  it("has one of each class, whichever part it comes from", () => {
    for (const name of ["Matrix", "ReservoirComputer", "SpillwayError"])
      expect(texts().match(new RegExp(`\\bclass ${name}\\b|\\b${name} = class\\b`, "g")), name).toHaveLength(1);
  });
});
