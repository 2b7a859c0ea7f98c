// Builds dist/: the WebAssembly modules, the kernels, the declarations by tsc, and the JavaScript
// in a few files by esbuild, since hundreds of small modules take longer to load than a small
// reservoir to run. Chunks lie in dist/ itself, where `import.meta.url` finds the assets beside
// them. What package.json has users install stays outside; every other package that the sources
// import is bundled, and its licence goes with it. No source maps: the bundles read as the sources
// do, and a debugger that follows a map looks for files that users do not have. Does nothing if
// dist/ is what it would make.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { normalize } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { build, transform } from "esbuild";
import { build as buildPage, createLogger } from "vite";
import { isBuilt, noteBuilt, sourcesNow } from "./built.mjs";
import { builtins } from "./builtins.mjs";
import { finishDeclarations } from "./declarations.mjs";
import { joinChunks } from "./join-chunks.mjs";
import { collectFiles, filesOfEsbuild, notices, packageFolders } from "./third-parties.mjs";

/**
 * Parts of the package that make reservoirs: importing just one of them needs the engines, which
 * the index registers.
 */
const computing = ["reservoir", "model", "analysis", "spikes", "experiment", "serve"];

/** Parts that need little of the rest, and keep files of their own. */
const light = ["gpu", "numerics", "plot", "ptx", "search", "series", "serve-browser"];

/** Parts that run in browsers, as docs/in-the-browser.md lists them. */
const inBrowsers = [
  ...computing.filter((part) => part !== "experiment" && part !== "serve"),
  "numerics",
  "plot",
  "serve-browser",
  "series",
];

const compress = promisify(brotliCompress);

/** Runs a Node script and returns what it printed; ends this build if it fails. */
function node(...args) {
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  if (status !== 0) {
    process.stdout.write(stdout);
    process.exit(status ?? 1);
  }
  return stdout;
}

/**
 * Vite's log without its notes on Node modules, which a browser never comes to, and on what is
 * loaded late elsewhere and at once by the page.
 */
function quietly() {
  const log = createLogger("warn");
  const { warn } = log;
  log.warn = (message, options) => {
    if (!/externalized for browser compatibility|INEFFECTIVE_DYNAMIC_IMPORT/.test(message)) warn(message, options);
  };
  return log;
}

/**
 * The bundler writes `var Matrix = class _Matrix` if a class speaks of itself, and then that is
 * the name that people see printed. Inside the class its own name may stand as well.
 */
function restoreClassNames(path) {
  const text = readFileSync(path, "utf8");
  const names = new Set(Array.from(text.matchAll(/\bvar (\w+) = class _\1\b/g), ([, name]) => name));
  if (names.size > 0)
    writeFileSync(
      path,
      text.replace(/(?<![\w$.])_(\w+)\b/g, (word, name) => (names.has(name) ? name : word)),
    );
}

/** Minifies a file that holds only packages of others, and keeps the lines that name them. */
async function shortenForeign(path) {
  const text = readFileSync(path, "utf8");
  const parts = text.match(/^\/\/ \S+\.(?:[cm]?js|ts)$/gm) ?? [];
  if (parts.length === 0 || parts.some((part) => !part.includes("node_modules/"))) return;
  const { code } = await transform(text, { minify: true, target: "node20.19", legalComments: "none" });
  const packages = new Map(parts.map((part) => [/^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(part)[0], part]));
  writeFileSync(path, `${[...packages.values()].join("\n")}\n${code}`);
}

/**
 * Writes each PTX file compressed: a ninth of the size, and a few milliseconds more to load. On
 * threads, beside the rest of the build.
 */
async function compressPtx(from, to) {
  mkdirSync(to, { recursive: true });
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  const write = async (name) => writeFileSync(`${to}/${name}.br`, await compress(readFileSync(`${from}/${name}`), { params }));
  const names = readdirSync(from).filter((name) => name.endsWith(".ptx"));
  await Promise.all(names.map(write));
}

const sources = sourcesNow();
if (isBuilt(sources)) process.exit();
rmSync("dist", { recursive: true, force: true });
const compressed = compressPtx("kernels/ptx", "dist/kernels/ptx");
await import("./build-wasm.mjs");
node("node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly", "--outDir", "dist/emitted");

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const { dependencies, exports, peerDependencies } = manifest;
const parts = Object.values(exports).filter((part) => part.types);
finishDeclarations(
  "dist/emitted",
  "dist",
  parts.map(({ types }) => normalize(types)),
);
const entries = parts
  .flatMap(({ browser, default: path }) => [path, ...(browser ? [browser] : [])])
  .map((path) => path.replace("./dist/", "src/").replace(/\.js$/, ".ts"));
const { metafile } = await build({
  entryPoints: [
    "src/cli/main.ts",
    "src/cli/command.ts",
    "src/experiment/search/trial-worker.ts",
    "src/reservoir/evaluate/draw-worker.ts",
    ...entries,
  ],
  outbase: "src",
  outdir: "dist",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: Object.keys({ ...dependencies, ...peerDependencies }),
  plugins: [builtins],
  // Its form for Node makes a `require`, which no browser has; what is used of it is in both.
  alias: { fflate: "fflate/browser" },
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
});

const part = (name) => `dist/api/${name}.js`;
await joinChunks(metafile, ["dist/index.js", "dist/browser.js", ...light.map(part)], ["dist/browser.js", ...inBrowsers.map(part)]);

for (const name of readdirSync("dist", { recursive: true })) {
  if (!name.endsWith(".js")) continue;
  restoreClassNames(`dist/${name}`);
  await shortenForeign(`dist/${name}`);
}
// By the package's own name, so that a bundler for browsers takes the index of browsers here too.
for (const path of [...computing.map((part) => `dist/api/${part}.js`), "dist/experiment/search/trial-worker.js"])
  writeFileSync(path, `import "spillway"; ${readFileSync(path, "utf8")}`);
for (const name of ["spillway.wasm", "spillway-fused.wasm", "spillway-threads.wasm"])
  cpSync(`packages/numerics/src/wasm/${name}`, `dist/${name}`);
cpSync("src/engine/cpu/spillway-worker.js", "dist/spillway-worker.js");
cpSync("src/spikes/pattern/hdf5-worker.mjs", "dist/hdf5-worker.mjs");
cpSync("src/cli/orphan-watch.mjs", "dist/orphan-watch.mjs");
const pageFiles = [];
const plugins = () => [collectFiles(pageFiles)];
await buildPage({ configFile: "lab/vite.config.mjs", customLogger: quietly(), plugins: plugins(), worker: { plugins } });
// The lab's server gives the page those beside the code.
for (const name of readdirSync("dist/lab-page/assets")) if (name.endsWith(".wasm")) rmSync(`dist/lab-page/assets/${name}`);
cpSync("kernels", "dist/kernels", { recursive: true, filter: (path) => !/\.(md|ptx)$/.test(path) });
await compressed;
for (const name of ["mackey-glass", "narma10", "co2"]) cpSync(`examples/experiments/${name}.yaml`, `dist/cli/demo/${name}.yaml`);
const folders = packageFolders([...filesOfEsbuild(metafile), ...pageFiles]);
writeFileSync("dist/THIRD-PARTY-NOTICES.txt", notices(folders, manifest));
// Nobody reads it but editors: without the spaces it is a third of the size.
writeFileSync("dist/cli/experiment.schema.json", `${JSON.stringify(JSON.parse(node("dist/cli/main.js", "schema")))}\n`);
chmodSync("dist/cli/main.js", 0o755);
noteBuilt(sources);
