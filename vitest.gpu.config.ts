import { defineConfig } from "vitest/config";

/**
 * The tests that need an NVIDIA GPU, and those of the simulated device once more on a GPU; without one they fail. One file at a time: they
 * measure the device's memory. SPILLWAY_DEVICE names another GPU than the first.
 */
export default defineConfig({
  test: {
    include: ["test/gpu/hardware/**/*.test.ts", "test/**/device/**/*.test.ts"],
    env: { SPILLWAY_DEVICE: process.env["SPILLWAY_DEVICE"] || "0" },
    testTimeout: 300_000,
    fileParallelism: false,
    pool: "forks",
    execArgv: ["--expose-gc"],
  },
});
