// Before any test: builds what is missing, for one test file in a fresh clone. `npm test` has built
// everything already.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const lock = "node_modules/.spillway-build";
/** What the build writes last. */
const built = "dist/cli/experiment.schema.json";
const modules = ["spillway.wasm", "spillway-fused.wasm", "spillway-threads.wasm"].map((name) => join("packages/numerics/src/wasm", name));
/** A build takes half a minute; a lock that is older was left by one that was killed. */
const longestBuildMs = 300_000;

const time = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The npm script that has to run, if any. */
function missing(): "build" | "build:wasm" | undefined {
  if (!existsSync(built)) return "build";
  const sources = readdirSync("assembly", { recursive: true, encoding: "utf8" }).map((name) => join("assembly", name));
  const newest = Math.max(...[...sources, "scripts/build-wasm.mjs"].map(time));
  return Math.min(...modules.map(time)) < newest ? "build:wasm" : undefined;
}

const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Waits until no other process builds, and keeps others waiting. */
function take(): void {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch {
      const begun = time(lock);
      if (begun > 0 && Date.now() - begun > longestBuildMs) rmSync(lock, { recursive: true, force: true });
      else pause(200);
    }
  }
}

export default function buildFirst(): void {
  if (missing() === undefined && !existsSync(lock)) return;
  take();
  try {
    const script = missing();
    if (script === undefined) return;
    console.log(`tests need what \`npm run ${script}\` makes, which is not there or older than its source: building it`);
    const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", script], {
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    if (status !== 0) throw new Error(`npm run ${script} failed:\n${stdout}${stderr}`);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
