// Runs every example and every experiment file, as many beside each other as there are cores, and
// fails with the first that fails. What an experiment writes goes to a temporary folder. If
// SPILLWAY_SAMPLE names a seed, half of them run, drawn by it, and experiments of several seeds
// with one.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sampled } from "../test/exhaustive.ts";
import { dataFolder, runnable } from "./recordings.mjs";

const out = mkdtempSync(join(tmpdir(), "spillway-examples-"));
const data = dataFolder();
const env = { ...process.env, ...(data ? { SPILLWAY_DATA: data } : {}) };

/** Names of what could run, and what Node is given. */
const all = ["examples", "examples/papers"].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .toSorted()
    .map((file) => [file, ["--import", "tsx", join(folder, file)]]),
);
const experiments = readdirSync("examples/experiments")
  .filter((name) => name.endsWith(".yaml"))
  .toSorted()
  .map((name) => join("examples/experiments", name));
const texts = Object.fromEntries(experiments.map((path) => [path, readFileSync(path, "utf8")]));
for (const path of runnable(texts, data)) {
  const oneSeed = process.env.SPILLWAY_SAMPLE && /^seeds: \d/m.test(texts[path]) ? ["--set", "seeds=1"] : [];
  all.push([path, ["dist/cli/main.js", "run", path, "--out", join(out, String(all.length)), "--quiet", ...oneSeed]]);
}
const waiting = sampled(all, 0.5, "examples");

async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [name, args] = next;
    const started = performance.now();
    const said = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 2 ** 26 }).catch((error) => error);
    console.log(`== ${name}\n${said.stdout}${said.stderr}   ${((performance.now() - started) / 1000).toFixed(1)} s`);
    if (!(said instanceof Error)) continue;
    console.error(`${name} ended with ${said.code ?? said.signal}`);
    process.exit(1);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
rmSync(out, { recursive: true, force: true });
