// Executes the notebooks from scratch with the TypeScript kernel; fails if one no longer runs.
// Usage:
//   node scripts/run-notebooks.mjs [--write] [notebook ...]      --write keeps the outputs in the notebooks
// It needs Jupyter with nbconvert, the packages of notebooks/ (npm ci there) and a built package.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { dataFolder, runnable } from "./recordings.mjs";

const write = process.argv.includes("--write");
const named = process.argv.slice(2).filter((word) => word !== "--write");
const folder = resolve("notebooks");
const notebooks =
  named.length > 0
    ? named.map((name) => resolve(name))
    : readdirSync(folder)
        .filter((name) => name.endsWith(".ipynb"))
        .sort()
        .map((name) => join(folder, name));
const kernel = join(folder, "node_modules", ".bin", "tslab");
if (!existsSync(kernel)) throw new Error(`${kernel} is not there: run npm ci in notebooks/`);
if (!existsSync("dist/index.js")) throw new Error("dist/ is not there: run npm run build");

const work = mkdtempSync(join(tmpdir(), "spillway-notebooks-"));
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    env: { ...process.env, JUPYTER_PATH: join(work, "share", "jupyter") },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed\n${stdout}${stderr}`);
}

/** A notebook without what differs from run to run: times, and the kernel's own folder. */
function settled(text) {
  const notebook = JSON.parse(text);
  for (const cell of notebook.cells) {
    delete cell.metadata.execution;
    delete cell.metadata.tags;
  }
  return `${JSON.stringify(notebook, undefined, 1)}\n`;
}

try {
  run(kernel, ["install", `--python=${python}`, `--prefix=${work}`, `--binary=${kernel}`]);
  for (const path of runnable(Object.fromEntries(notebooks.map((path) => [path, readFileSync(path, "utf8")])), dataFolder())) {
    const name = basename(path);
    const begin = performance.now();
    run("jupyter", [
      "nbconvert",
      "--to",
      "notebook",
      "--execute",
      "--allow-errors",
      path,
      "--output-dir",
      work,
      "--output",
      name,
      "--ExecutePreprocessor.timeout=180",
      "--ExecutePreprocessor.kernel_name=tslab",
    ]);
    const done = settled(readFileSync(join(work, name), "utf8"));
    const { cells } = JSON.parse(done);
    const before = JSON.parse(readFileSync(path, "utf8")).cells;
    for (const [k, { outputs = [], cell_type }] of cells.entries()) {
      const failed = outputs.find(({ output_type, name: stream }) => output_type === "error" || stream === "stderr");
      if (failed) throw new Error(`${name}, cell ${k + 1}: ${failed.evalue ?? failed.text}`);
      const kinds = (list) => list.map(({ data, output_type }) => (data ? Object.keys(data).sort().join() : output_type)).join(" ");
      if (!write && cell_type === "code" && kinds(outputs) !== kinds(before[k].outputs ?? []))
        throw new Error(
          `${name}, cell ${k + 1}: its stored outputs (${kinds(before[k].outputs ?? [])}) are not those of a run (${kinds(outputs)}); run it with --write`,
        );
    }
    if (write) writeFileSync(path, done);
    console.log(`${name}: ${cells.length} cells, ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
