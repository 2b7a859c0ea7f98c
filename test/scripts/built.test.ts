// When the build may be left out: dist/ is what it made of the sources as they are.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { casesOf } from "../exhaustive.js";

const script = pathToFileURL("scripts/built.mjs").href;
let project: string;

const run = (code: string): string =>
  execFileSync(
    process.execPath,
    ["--input-type=module", "-e", `import { isBuilt, noteBuilt, sourcesNow } from ${JSON.stringify(script)}; ${code}`],
    { cwd: project, encoding: "utf8" },
  ).trim();
const isBuilt = () => run("console.log(isBuilt(sourcesNow()))");

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "spillway-built-"));
  for (const folder of [
    "assembly",
    "dist/cli",
    "examples/experiments",
    "kernels",
    "lab",
    "node_modules",
    "scripts",
    "src",
    "packages/numerics/src/wasm",
  ])
    mkdirSync(join(project, folder), { recursive: true });
  for (const file of [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "src/index.ts",
    "packages/numerics/src/wasm/spillway.wasm",
    "dist/cli/main.js",
  ])
    writeFileSync(join(project, file), "before");
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

it("is so after a build, and not before", () => {
  expect(isBuilt()).toBe("false");
  run("noteBuilt(sourcesNow())");
  expect(isBuilt()).toBe("true");
});

it.each(
  casesOf(
    ["src/index.ts", "package-lock.json", "kernels/new.cu", "packages/numerics/src/wasm/spillway.wasm", "dist/cli/main.js", "dist/new.js"],
    (file) => file.startsWith("src") || file.startsWith("dist/cli"),
  ),
)("is not so when %s has changed since", (file) => {
  run("noteBuilt(sourcesNow())");
  appendFileSync(join(project, file), "after");
  expect(isBuilt()).toBe("false");
});

it.each(casesOf(["dist", "packages/numerics/src/wasm/spillway.wasm", "node_modules/.spillway-built"], (name) => name === "dist"))(
  "is not so when %s is gone",
  (name) => {
    run("noteBuilt(sourcesNow())");
    rmSync(join(project, name), { recursive: true });
    expect(isBuilt()).toBe("false");
  },
);

it("is not so when a source changed while the build ran", () => {
  run("const sources = sourcesNow(); (await import('node:fs')).appendFileSync('src/index.ts', 'after'); noteBuilt(sources)");
  expect(isBuilt()).toBe("false");
});
