// Runs every example and every experiment file, each in a temporary folder, and fails with the first that fails.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const out = mkdtempSync(join(tmpdir(), "spillway-examples-"));
const data = process.env.SPILLWAY_DATA ?? (existsSync("../shared/data") ? resolve("../shared/data") : undefined);
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
for (const file of readdirSync("examples/experiments")
  .filter((name) => name.endsWith(".yaml"))
  .toSorted()) {
  const path = join("examples/experiments", file);
  run(file, ["dist/cli/main.js", "run", path, "--out", out, "--quiet"]);
}
rmSync(out, { recursive: true, force: true });
