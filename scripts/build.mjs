// Builds dist/: the WebAssembly modules, the JavaScript and its declarations.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, rmSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
await import("./build-wasm.mjs");
const { status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
cpSync("src/numerics/wasm", "dist/numerics/wasm", { recursive: true, filter: (path) => !path.endsWith(".ts") });
for (const name of ["mackey-glass", "narma10", "co2"]) cpSync(`examples/experiments/${name}.yaml`, `dist/cli/demo/${name}.yaml`);
await import("./export-schema.mjs");
chmodSync("dist/cli/main.js", 0o755);
