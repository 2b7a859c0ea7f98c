// Builds the C mock of libcuda with gcc against NVIDIA's cuda.h, whose prototypes and layouts it
// must match to compile.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The folder with cuda.h: CUDA_HOME's, or the one beside nvcc. */
export function cudaIncludeFolder(): string {
  const home = process.env["CUDA_HOME"];
  const nvcc = execFileSync("sh", ["-c", "command -v nvcc || true"], { encoding: "utf8" }).trim();
  const beside = nvcc === "" ? [] : [join(dirname(realpathSync(nvcc)), "..", "include"), toolkitOfWrapper(nvcc)];
  const folders = [...(home ? [join(home, "include")] : []), ...beside, "/usr/local/cuda/include"];
  const found = folders.find((folder) => existsSync(join(folder, "cuda.h")));
  if (!found) throw new Error(`cuda.h is in none of ${folders.join(", ")}`);
  return found;
}

/**
 * The include folder of the toolkit that nvcc says it is in, if nvcc is a script that calls
 * another.
 */
function toolkitOfWrapper(nvcc: string): string {
  const said = execFileSync("sh", ["-c", `${nvcc} --dryrun -c x.cu 2>&1 || true`], { encoding: "utf8" });
  return join(/_HERE_=(\S+)/.exec(said)?.[1] ?? "/nowhere", "..", "include");
}

/**
 * Compiles the mock and gives its path. Each call builds a library of its own, whose counts begin
 * at zero.
 */
export function buildMock(): string {
  return compiled("libcuda.c", "libcuda.so.1", [`-I${cudaIncludeFolder()}`, "-lpthread"]);
}

/** The mock of NCCL, which works on the memory of that of libcuda. */
export function buildNcclMock(): string {
  return compiled("libnccl.c", "libnccl.so.2", ["-lrt"]);
}

/** The mock of cuBLAS and cuSOLVER, likewise. */
export function buildBlasMock(): string {
  return compiled("libraries.c", "libcublas.so", ["-lm"]);
}

function compiled(source: string, name: string, more: readonly string[]): string {
  const library = join(mkdtempSync(join(tmpdir(), "spillway-mock-")), name);
  const flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"];
  execFileSync("gcc", [...flags, "-o", library, join(import.meta.dirname, source), ...more]);
  return library;
}
