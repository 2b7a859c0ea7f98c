// Checks what npm would publish: its contents, its manifest, its types as other tools resolve them,
// and that an older TypeScript can read them.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";

const root = process.cwd();
const manifest = JSON.parse(readFileSync("package.json", "utf8"));

/** The most that the package may hold, in bytes. */
const { packageBytes: unpackedLimit } = JSON.parse(readFileSync("scripts/budget.json", "utf8"));

/**
 * The most that it may bring into a consumer's node_modules with every dependency and peer, in
 * bytes.
 */
const installedLimit = 40_000_000;

function run(command, args, options = {}) {
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });
  if (status !== 0) {
    process.stdout.write(stdout ?? "");
    console.error(`${command} ${args.join(" ")} failed`);
    process.exit(1);
  }
  return stdout;
}

/**
 * What the bundles themselves say of packages inside: none without its licence in the notices, none
 * that users install as well.
 */
function checkBundles(paths) {
  const notices = readFileSync("dist/THIRD-PARTY-NOTICES.txt", "utf8");
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const inside = new Set(
    paths.flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/^\/\/ .*\bnode_modules\/((?:@[^/]+\/)?[^/\n]+)\//gm)].map(([, name]) => name),
    ),
  );
  for (const name of inside) {
    if (installed.includes(name)) throw new Error(`${name} is inside the package, and users install it as well`);
    if (!new RegExp(`^${name} \\d.*\\n-+\\n\\n.`, "m").test(notices)) throw new Error(`${name} is inside the package without its licence`);
  }
  console.log(`${inside.size} packages are inside, with their licences`);
}

/** A page of the package links only to what the package holds. */
function checkLinks(paths) {
  const held = new Set(paths.flatMap((path) => path.split("/").map((_, i, parts) => parts.slice(0, i + 1).join("/"))));
  const dead = paths
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) =>
      [
        ...readFileSync(path, "utf8")
          .replace(/^```.*?^```/gms, "")
          .matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g),
      ]
        .map(([, target]) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !held.has(posix.join(posix.dirname(path), target).replace(/\/$/, "")))
        .map((target) => `${path} to ${target}`),
    );
  if (dead.length > 0) throw new Error(`links lead out of the package: ${dead.join(", ")}`);
}

/** Bytes of a folder's files. */
function folderBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/**
 * Bytes that packages and what they depend on take as npm installed them here; optional ones for
 * other platforms are not there.
 */
function installedBytes(names, counted = new Set()) {
  let bytes = 0;
  for (const name of names) {
    const folder = join("node_modules", name);
    if (counted.has(name) || !existsSync(folder)) continue;
    counted.add(name);
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    bytes += folderBytes(folder) + installedBytes(Object.keys({ ...dependencies, ...optionalDependencies }), counted);
  }
  return bytes;
}

/** A site of the packed package, as two bundlers make it: with its WebAssembly, and without a module of Node. */
async function bundle(folder) {
  writeFileSync(
    join(folder, "site.js"),
    `import { ReservoirComputer } from "spillway";
import { parseCsv } from "spillway/series";
const computer = await ReservoirComputer.create({ size: 50 });
document.title = String((await computer.run((await parseCsv("a\\n1\\n2\\n")).matrix)).rows);`,
  );
  writeFileSync(join(folder, "index.html"), '<script type="module" src="./site.js"></script>');
  const site = { outDir: "site", target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 2000 };
  await vite({ root: folder, configFile: false, logLevel: "error", build: site });
  const files = readdirSync(join(folder, "site/assets"));
  for (const name of ["spillway", "spillway-fused", "spillway-threads"])
    if (!files.some((file) => file.startsWith(`${name}-`) && file.endsWith(".wasm")))
      throw new Error(`Vite made a site without ${name}.wasm`);
  const { warnings } = await esbuild({
    absWorkingDir: folder,
    entryPoints: ["site.js"],
    bundle: true,
    format: "esm",
    platform: "browser",
    outdir: "bundled",
    logLevel: "silent",
  });
  if (warnings.length > 0) throw new Error(`esbuild warns: ${warnings.map(({ text }) => text).join(", ")}`);
}

const work = mkdtempSync(join(tmpdir(), "spillway-package-"));
try {
  const [pack] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", work]));
  const tarball = join(work, pack.filename);
  const paths = pack.files.map(({ path }) => path);
  const strangers = paths.filter(
    (path) =>
      !/^(dist\/|docs\/.*\.(md|svg|png)$|examples\/|notebooks\/.*\.ipynb$|bench\/results\/.*\.md$|[A-Z]+\.md$|LICENSE$|package\.json$)/.test(
        path,
      ),
  );
  if (strangers.length > 0) throw new Error(`the package holds what no user needs: ${strangers.join(", ")}`);
  for (const needed of [
    "dist/index.js",
    "dist/index.d.ts",
    "dist/cli/main.js",
    "dist/cli/command.js",
    "dist/orphan-watch.mjs",
    "dist/spillway.wasm",
    "dist/spillway-fused.wasm",
    "dist/spillway-threads.wasm",
    "dist/spillway-worker.js",
    "dist/hdf5-worker.mjs",
    "dist/kernels/ptx/executor.ptx.br",
    "dist/lab-page/index.html",
    "dist/THIRD-PARTY-NOTICES.txt",
    "docs/README.md",
    "examples/01-first-reservoir.ts",
    "README.md",
    "LICENSE",
  ]) {
    if (!paths.includes(needed)) throw new Error(`the package lacks ${needed}`);
  }
  checkLinks(paths);
  const maps = paths.filter((path) => path.endsWith(".map"));
  if (maps.length > 0) throw new Error(`the package holds source maps: ${maps.join(", ")}`);
  console.log(`${paths.length} files, ${(pack.size / 1024).toFixed(0)} KiB packed, ${(pack.unpackedSize / 1024).toFixed(0)} KiB unpacked`);
  if (pack.unpackedSize > unpackedLimit)
    throw new Error(`the package takes ${pack.unpackedSize} bytes unpacked; it may take ${unpackedLimit}`);
  const installed = pack.unpackedSize + installedBytes(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  console.log(`${(installed / 1e6).toFixed(1)} MB in a consumer's node_modules, with every dependency and peer`);
  if (installed > installedLimit) throw new Error(`a consumer's node_modules takes ${installed} bytes; it may take ${installedLimit}`);
  run(process.execPath, ["node_modules/publint/src/cli.js", "--strict", "."]);
  console.log("publint: clean");
  run(process.execPath, ["node_modules/@arethetypeswrong/cli/dist/index.js", tarball, "--profile", "esm-only"]);
  console.log("attw: clean");

  checkBundles(paths.filter((path) => path.endsWith(".js")));

  // A consumer as npm makes it: the packed package and what it depends on, and nothing else.
  const consumer = join(work, "consumer");
  const modules = join(consumer, "node_modules");
  mkdirSync(join(modules, "spillway"), { recursive: true });
  run("tar", ["-xzf", tarball, "-C", join(modules, "spillway"), "--strip-components=1"]);
  const link = (name) => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(resolve(root, "node_modules", name), join(modules, name));
  };
  for (const name of Object.keys(manifest.dependencies)) link(name);
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ type: "module" }));
  const parts = Object.entries(manifest.exports)
    .filter(([, to]) => to.default?.endsWith(".js"))
    .map(([part]) => `spillway${part.slice(1)}`);
  const imports = parts.map((part, i) => `import * as part${i} from "${part}";`).join("\n");
  writeFileSync(
    join(consumer, "use.ts"),
    `${imports}
export const parts = [${parts.map((_, i) => `part${i}`).join(", ")}];
import type { ReservoirKindOptions } from "spillway/reservoir";
import { type Matrix, mackeyGlass, nrmse, ReservoirComputer, ridge } from "spillway";
const series = mackeyGlass(400, { tau: 17 });
const computer = await ReservoirComputer.create({ size: 50, topology: "ring" });
const states: Matrix = await computer.run(series.slice(0, 300));
const readout = ridge({ lambda: 1e-6 }).fit(states, series.slice(1, 301), { washout: 100 });
// What another module adds to the kinds of reservoir.
export const added: keyof ReservoirKindOptions = "network";
export const score: number = nrmse(series.slice(301, 311), await computer.generate(10, readout));
`,
  );
  const compile = (compiler, ...flags) =>
    run(process.execPath, [join(compiler, "node_modules/typescript/bin/tsc"), ...strict, ...flags, "use.ts"], { cwd: consumer });
  const strict = "--strict --exactOptionalPropertyTypes --noEmit --target es2022 --module nodenext --moduleResolution nodenext".split(" ");
  for (const lib of ["es2022", "es2022,esnext.disposable", "es2022,dom", "esnext"]) compile(root, "--lib", lib);
  console.log(
    `TypeScript ${JSON.parse(readFileSync("node_modules/typescript/package.json", "utf8")).version} reads the declarations, without types of others`,
  );

  // An old compiler, and with the types of Node.
  const compiler = join(work, "compiler");
  mkdirSync(compiler);
  writeFileSync(join(compiler, "package.json"), "{}");
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "typescript@5.4"], { cwd: compiler });
  for (const name of ["@types", "undici-types"]) link(name);
  for (const user of [root, compiler]) compile(user, "--lib", "es2023", "--types", "node");
  console.log("TypeScript 5.4 reads the declarations");

  // The package itself must run from where npm puts it: assets beside the code, from its index and
  // from one of its parts, with threads.
  writeFileSync(
    join(consumer, "use.mjs"),
    `import { ReservoirComputer } from "spillway";
for (const threads of [1, 2]) {
  const computer = await ReservoirComputer.create({ size: 50 }, { threads });
  console.log((await computer.run([1, 2, 3])).rows);
  await computer.dispose();
}`,
  );
  writeFileSync(
    join(consumer, "part.mjs"),
    `import { ridge } from "spillway/model";
console.log(ridge({ lambda: 1 }).fit([[1], [2], [3]], [2, 4, 6]).weights.rows);`,
  );
  writeFileSync(
    join(consumer, "names.mjs"),
    `for (const part of ${JSON.stringify(parts)}) {
  const exported = await import(part);
  // A second name of a class calls itself by the first.
  for (const [name, value] of Object.entries(exported))
    if (/^class\\b/.test(String(value)) && exported[value.name] !== value) throw new Error(name + " of " + part + " calls itself " + value.name);
}`,
  );
  writeFileSync(
    join(consumer, "hdf5.mjs"),
    `import { encodeSpikeHdf5, SpikeEventFile, SpikePattern } from "spillway/spikes";
try {
  const bytes = await encodeSpikeHdf5([new SpikePattern({ neurons: [3], times: [1] }, { neuronCount: 700, durationMs: 2 })]);
  console.log((await SpikeEventFile.decode(bytes)).count);
} catch (error) {
  console.log(error.message);
}`,
  );
  writeFileSync(
    join(consumer, "use.cjs"),
    `for (const part of ${JSON.stringify(parts)}) require(part);
const { ReservoirComputer } = require("spillway");
ReservoirComputer.create({ size: 50 }).then(async (computer) => console.log((await computer.run([1, 2, 3])).rows));`,
  );
  writeFileSync(
    join(consumer, "parquet.mjs"),
    `import { encodeParquet, readParquet } from "spillway/series";
const table = process.argv[2] && new Uint8Array((await import("node:fs")).readFileSync(process.argv[2]));
for (const use of [() => encodeParquet([[1]]), () => readParquet(table, { columns: ["half"], missing: "nan" })])
  await use().then(() => console.log("done"), ({ message }) => console.log(message));`,
  );
  run(process.execPath, ["names.mjs"], { cwd: consumer });
  console.log("every class bears its own name");
  const printed = ["use.mjs", "use.cjs", "part.mjs"].map((file) => run(process.execPath, [file], { cwd: consumer }).trim());
  if (printed.join() !== "3\n3,3,1") throw new Error(`the packed package printed ${JSON.stringify(printed)}`);
  run(process.execPath, [join(consumer, "node_modules/spillway/dist/cli/main.js"), "info"], { cwd: consumer });
  const peers = [1, 2].map((attempt) => {
    if (attempt === 2) link("h5wasm");
    return run(process.execPath, ["hdf5.mjs"], { cwd: consumer }).trim();
  });
  if (!/h5wasm, which is not installed: npm install h5wasm$/.test(peers[0]) || peers[1] !== "1")
    throw new Error(`without and with h5wasm the packed package printed ${JSON.stringify(peers)}`);
  const table = resolve(root, "test/io/fixtures/all-types.parquet");
  const parquet = [1, 2].map((attempt) => {
    if (attempt === 2) for (const name of ["hyparquet", "hyparquet-writer"]) link(name);
    return run(process.execPath, ["parquet.mjs", table], { cwd: consumer }).trim().split("\n");
  });
  const asked = ["hyparquet-writer", "hyparquet"].every((name, k) =>
    parquet[0][k].endsWith(`the package ${name}, which is not installed: npm install ${name}`),
  );
  if (!asked || parquet[1].join() !== "done,done")
    throw new Error(`without and with hyparquet the packed package printed ${JSON.stringify(parquet)}`);
  console.log("the packed package runs, as ES modules and by require");
  await bundle(consumer);
  console.log("Vite and esbuild bundle the packed package for browsers");
  if (readdirSync(root).some((name) => name.endsWith(".tgz"))) throw new Error("a packed file was left in the project");
} finally {
  rmSync(work, { recursive: true, force: true });
}
