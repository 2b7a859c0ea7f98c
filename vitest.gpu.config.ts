import { defineConfig } from "vitest/config";

/** Under a memory checker (scripts/sanitize-gpu.mjs) the tests run in its own process, which ends as it likes, however slow. */
const checker = Boolean(process.env["SPILLWAY_CHECKER"]);

/**
 * The tests that need an NVIDIA GPU, and those of the simulated device once more on a GPU; without one they fail. One file at a time: they
 * measure the device's memory. SPILLWAY_DEVICE names another GPU than the first.
 */
export default defineConfig({
  test: {
    globalSetup: "test/build-first.ts",
    include: ["test/gpu/hardware/**/*.test.ts", "test/**/device/**/*.test.ts"],
    env: { SPILLWAY_DEVICE: process.env["SPILLWAY_DEVICE"] || "0", SPILLWAY_EXHAUSTIVE: "all" },
    testTimeout: checker ? 0 : 300_000,
    hookTimeout: checker ? 0 : 60_000,
    fileParallelism: false,
    pool: checker ? "threads" : "forks",
    execArgv: checker ? [] : ["--expose-gc"],
  },
});
