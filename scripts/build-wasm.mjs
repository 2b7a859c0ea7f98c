// Compiles assembly/ into the two WebAssembly modules of the CPU engine: one over ordinary memory, and the same source
// over shared memory for worker threads.
import { mkdirSync } from "node:fs";
import asc from "assemblyscript/asc";

const common = [
  "assembly/index.ts",
  "-O3",
  "--noAssert",
  "--converge",
  "--runtime",
  "stub",
  "--enable",
  "simd",
  "--enable",
  "bulk-memory",
  "--importMemory",
  "--use",
  "abort=",
];

/** @param {string[]} extra */
async function compile(extra) {
  const { error, stderr } = await asc.main([...common, ...extra]);
  if (error) {
    process.stderr.write(stderr.toString());
    throw error;
  }
}

mkdirSync("src/numerics/wasm", { recursive: true });
await compile(["--outFile", "src/numerics/wasm/spillway.wasm", "--disable", "threads"]);
await compile([
  "--outFile",
  "src/numerics/wasm/spillway-threads.wasm",
  "--enable",
  "threads",
  "--sharedMemory",
  "--maximumMemory",
  "65536",
]);
