import { defineConfig } from "vitest/config";

/** The tests that need an NVIDIA GPU; without one they fail. One file at a time: they measure the device's memory. */
export default defineConfig({
  test: {
    include: ["test/gpu/hardware/**/*.test.ts"],
    testTimeout: 300_000,
    fileParallelism: false,
    pool: "forks",
    execArgv: ["--expose-gc"],
  },
});
