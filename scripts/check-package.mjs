// Checks what npm would publish: its contents, its manifest, its types as other tools resolve them, and that an older TypeScript can read them.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = process.cwd();

function run(command, args, options = {}) {
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });
  if (status !== 0) {
    process.stdout.write(stdout ?? "");
    console.error(`${command} ${args.join(" ")} failed`);
    process.exit(1);
  }
  return stdout;
}

const work = mkdtempSync(join(tmpdir(), "spillway-package-"));
try {
  const [pack] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", work]));
  const tarball = join(work, pack.filename);
  const paths = pack.files.map(({ path }) => path);
  const strangers = paths.filter((path) => !/^(dist\/|README\.md$|CHANGELOG\.md$|LICENSE$|package\.json$)/.test(path));
  if (strangers.length > 0) throw new Error(`the package holds what no user needs: ${strangers.join(", ")}`);
  for (const needed of [
    "dist/index.js",
    "dist/index.d.ts",
    "dist/cli/main.js",
    "dist/spillway.wasm",
    "dist/spillway-threads.wasm",
    "dist/worker.mjs",
    "dist/kernels/ptx/executor.ptx",
    "dist/lab-page/index.html",
    "README.md",
    "LICENSE",
  ]) {
    if (!paths.includes(needed)) throw new Error(`the package lacks ${needed}`);
  }
  console.log(`${paths.length} files, ${(pack.size / 1024).toFixed(0)} KiB packed, ${(pack.unpackedSize / 1024).toFixed(0)} KiB unpacked`);
  run(process.execPath, ["node_modules/publint/src/cli.js", "--strict", "."]);
  console.log("publint: clean");
  run(process.execPath, ["node_modules/@arethetypeswrong/cli/dist/index.js", tarball, "--profile", "esm-only"]);
  console.log("attw: clean");

  // A consumer with an old compiler: the packed package and TypeScript 5.4, strict, checking the declarations themselves.
  const consumer = join(work, "consumer");
  mkdirSync(join(consumer, "node_modules", "spillway"), { recursive: true });
  run("tar", ["-xzf", tarball, "-C", join(consumer, "node_modules", "spillway"), "--strip-components=1"]);
  symlinkSync(resolve(root, "node_modules/@types"), join(consumer, "node_modules", "@types"));
  for (const name of ["zod", "undici-types"]) symlinkSync(resolve(root, "node_modules", name), join(consumer, "node_modules", name));
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(
    join(consumer, "use.ts"),
    `import { Matrix, mackeyGlass, nrmse, ReservoirComputer, ridge } from "spillway";
const series = mackeyGlass(400, { tau: 17 });
const computer = await ReservoirComputer.create({ size: 50, topology: "ring" });
const states: Matrix = await computer.run(series.slice(0, 300));
const readout = ridge({ lambda: 1e-6 }).fit(states, series.slice(1, 301), { washout: 100 });
const score: number = nrmse(series.slice(301, 311), await computer.generate(10, readout));
export { score };
`,
  );
  const compiler = join(work, "compiler");
  mkdirSync(compiler);
  writeFileSync(join(compiler, "package.json"), "{}");
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "typescript@5.4"], { cwd: compiler });
  const flags =
    "--strict --noEmit --target es2022 --module nodenext --moduleResolution nodenext --lib es2023,esnext.disposable --types node".split(
      " ",
    );
  run(process.execPath, [join(compiler, "node_modules/typescript/bin/tsc"), ...flags, "use.ts"], { cwd: consumer });
  console.log("TypeScript 5.4 reads the declarations");

  // The package itself must run from where npm puts it: assets beside the code, from its index and from a part of it alone, with threads.
  for (const name of Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies)) {
    const link = join(consumer, "node_modules", name);
    if (!existsSync(link)) symlinkSync(resolve(root, "node_modules", name), link);
  }
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
    `import { ridge } from "spillway/readout";
console.log(ridge({ lambda: 1 }).fit([[1], [2], [3]], [2, 4, 6]).weights.rows);`,
  );
  const parts = Object.entries(JSON.parse(readFileSync("package.json", "utf8")).exports)
    .filter(([, to]) => to.default?.endsWith(".js"))
    .map(([part]) => `spillway${part.slice(1)}`);
  writeFileSync(
    join(consumer, "names.mjs"),
    `for (const part of ${JSON.stringify(parts)})
  for (const [name, value] of Object.entries(await import(part)))
    if (/^class\\b/.test(String(value)) && value.name !== name) throw new Error(name + " of " + part + " calls itself " + value.name);`,
  );
  run(process.execPath, ["names.mjs"], { cwd: consumer });
  console.log("every class bears its own name");
  const printed = ["use.mjs", "part.mjs"].map((file) => run(process.execPath, [file], { cwd: consumer }).trim());
  if (printed.join() !== "3\n3,1") throw new Error(`the packed package printed ${JSON.stringify(printed)}`);
  run(process.execPath, [join(consumer, "node_modules/spillway/dist/cli/main.js"), "info"], { cwd: consumer });
  console.log("the packed package runs");
  if (readdirSync(root).some((name) => name.endsWith(".tgz"))) throw new Error("a packed file was left in the project");
} finally {
  rmSync(work, { recursive: true, force: true });
}
