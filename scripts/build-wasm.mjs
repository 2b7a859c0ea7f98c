// Compiles assembly/ into the WebAssembly modules: one over ordinary memory, the same source over
// shared memory for worker threads, and the few kernels that fuse if the runtime has relaxed SIMD.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import asc from "assemblyscript/asc";

const common = ["-O3", "--noAssert", "--converge", "--runtime", "stub", "--enable", "simd", "--enable", "bulk-memory", "--use", "abort="];

/** @param {string[]} extra */
async function compile(extra) {
  const { error, stderr } = await asc.main([...common, ...extra]);
  if (error) {
    process.stderr.write(stderr.toString());
    throw error;
  }
}

const modules = {
  "spillway.wasm": ["assembly/index.ts", "--importMemory", "--disable", "threads"],
  "spillway-fused.wasm": ["assembly/fused.ts", "--importMemory", "--disable", "threads", "--enable", "relaxed-simd"],
  "spillway-threads.wasm": ["assembly/index.ts", "--importMemory", "--enable", "threads", "--sharedMemory", "--maximumMemory", "65536"],
};
// Renamed when they are whole: tests that run meanwhile load the one or the other.
const folder = "packages/numerics/src/wasm";
mkdirSync(folder, { recursive: true });
const work = mkdtempSync(join(folder, ".build-"));
try {
  for (const [name, options] of Object.entries(modules)) await compile(["--outFile", join(work, name), ...options]);
  for (const name of Object.keys(modules)) renameSync(join(work, name), join(folder, name));
} finally {
  rmSync(work, { recursive: true, force: true });
}
