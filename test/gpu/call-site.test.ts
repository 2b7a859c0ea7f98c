// The line of the user's program that errors and leak warnings name, however the program is run.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDevice } from "../../packages/gpu/src/index.js";
import { casesOf } from "../exhaustive.js";
import { FakeDriver } from "./fake-driver.js";

const bundled = { format: "esm", platform: "node", sourcemap: true } as const;
const source = (path: string) => resolve("packages", path);
let folder: string;

// The package as it is bundled, with source maps.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "spillway call site-"));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const entryPoints = ["gpu", "sim"].map((name) => source(`${name}/src/index.ts`));
  await build({
    ...bundled,
    entryPoints,
    outbase: source("."),
    outdir: join(folder, "dist"),
    bundle: true,
    external: ["koffi"],
    splitting: true,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program whose ninth line uses a buffer that its sixth made and gave back. */
const program = (gpu: string, sim: string) => `import { openDevice } from ${JSON.stringify(gpu)};
import ${JSON.stringify(sim)};
interface Held { readonly bytes: number }
const context = openDevice("sim");
function make(): Held & ReturnType<typeof context.alloc> {
  return Object.assign(context.alloc("f32", 4, { label: "spent" }), { bytes: 16 });
}
const buffer = make();
buffer.dispose();
try { context.read(buffer); } catch (error) { console.log((error as Error).message); }
`;

async function told(...args: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout;
}

it("under vitest", () => {
  const context = openDevice({ driver: new FakeDriver(), onLeak: () => undefined });
  const buffer = context.alloc("f32", 4);
  buffer.dispose();
  const line =
    readFileSync(import.meta.filename, "utf8")
      .split("\n")
      .findIndex((text) => text.includes('alloc("f32", 4);')) + 1;
  expect(() => context.read(buffer)).toThrow(`made at ${import.meta.filename}:${line}:26 was disposed`);
});

it("has a stack printed once for a line, not each time it comes by", () => {
  const context = openDevice({ driver: new FakeDriver(), onLeak: () => undefined });
  const { prepareStackTrace } = Error;
  let printed = 0;
  try {
    Error.prepareStackTrace = (error, sites) => {
      printed++;
      return [`${error}`, ...sites.map((site) => `    at ${site}`)].join("\n");
    };
    for (let k = 0; k < 3; k++) context.alloc("f32", 4).dispose();
    context.alloc("f32", 4).dispose();
  } finally {
    Error.prepareStackTrace = prepareStackTrace!;
  }
  expect(printed).toBe(2);
});

it.each(
  casesOf(
    [
      ["the sources", source("gpu/src/index.ts"), source("sim/src/index.ts")],
      ["the bundle", "./dist/gpu/src/index.js", "./dist/sim/src/index.js"],
    ] as const,
    (_, k) => k === 0,
  ),
)("under tsx, of %s", async (_, gpu, sim) => {
  const path = join(folder, "with tsx.ts");
  writeFileSync(path, program(gpu, sim));
  expect(await told("--import", "tsx", path)).toContain(`made at ${path}:6:32 was disposed`);
});

it.each([
  ["plain", [], "compiled.js:"],
  ["with source maps", ["--enable-source-maps"], "compiled.ts:6:32"],
])("under node, %s", async (_, flags, expected) => {
  const path = join(folder, "compiled.ts");
  writeFileSync(path, program("./dist/gpu/src/index.js", "./dist/sim/src/index.js"));
  await build({ ...bundled, entryPoints: [path], outfile: join(folder, "compiled.js") });
  expect(await told(...flags, join(folder, "compiled.js"))).toContain(`made at ${join(folder, expected)}`);
});
