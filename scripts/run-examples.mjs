// Runs every example and every experiment file, each in a temporary folder, and fails with the
// first that fails.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataFolder, runnable } from "./recordings.mjs";

const out = mkdtempSync(join(tmpdir(), "spillway-examples-"));
const data = dataFolder();
const env = { ...process.env, ...(data ? { SPILLWAY_DATA: data } : {}) };

function run(name, args) {
  console.log(`== ${name}`);
  const started = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit", env });
  if (status !== 0) {
    console.error(`${name} ended with ${status}`);
    process.exit(1);
  }
  console.log(`   ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

for (const folder of ["examples", "examples/papers"]) {
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .toSorted()) {
    run(file, ["--import", "tsx", join(folder, file)]);
  }
}
const experiments = readdirSync("examples/experiments")
  .filter((name) => name.endsWith(".yaml"))
  .toSorted()
  .map((name) => join("examples/experiments", name));
for (const path of runnable(Object.fromEntries(experiments.map((path) => [path, readFileSync(path, "utf8")])), data)) {
  run(path, ["dist/cli/main.js", "run", path, "--out", out, "--quiet"]);
}
rmSync(out, { recursive: true, force: true });
