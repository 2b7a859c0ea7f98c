// What `npm run test:gpu` says first if a driver is installed and shows no device.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const driver = `int cuInit(unsigned f) { return 100; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuGetErrorString(int e, const char **s) { *s = "no CUDA-capable device is detected"; return 0; }
int cuGetErrorName(int e, const char **s) { *s = "CUDA_ERROR_NO_DEVICE"; return 0; }`;

it("is one sentence, and ends with 1", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-no-device-"));
  try {
    const library = join(folder, "libcuda.so.1");
    execFileSync("gcc", ["-shared", "-fPIC", "-x", "c", "-o", library, "-"], { input: driver });
    const env = { ...process.env, SPILLWAY_CUDA_LIBRARY: library };
    const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", "scripts/need-gpu.ts"], { env, encoding: "utf8" });
    expect(stderr).toMatch(
      /^These tests need an NVIDIA GPU: CUDA_ERROR_NO_DEVICE \(100\) from cuInit: no CUDA-capable device is detected.*\.\n$/,
    );
    expect(status).toBe(1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
