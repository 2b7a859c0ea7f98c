// What `npm run test:gpu` says first if there is no GPU.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

it("without a driver it is one sentence, and ends with 1", () => {
  const env = { ...process.env, SPILLWAY_CUDA_LIBRARY: "/nowhere/libcuda.so.1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", "scripts/need-gpu.ts"], { env, encoding: "utf8" });
  expect(stderr).toBe(
    "These tests need an NVIDIA GPU: no NVIDIA driver was found; install it, or name its library by SPILLWAY_CUDA_LIBRARY.\n",
  );
  expect(stdout).toBe("");
  expect(status).toBe(1);
});
