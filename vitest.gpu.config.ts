import { defineConfig } from "vitest/config";

/** Under a memory checker (scripts/sanitize-gpu.mjs) the tests run in its own process, which ends as it likes, however slow. */
const checker = Boolean(process.env["SPILLWAY_CHECKER"]);

/** Files that measure the device's memory or speed. Each runs while nothing else uses the device. */
const measuring = [
  "test/gpu/device/memory.test.ts",
  "test/gpu/hardware/{executor,nccl,processes}.test.ts",
  "test/engine/device/planned-memory.test.ts",
];

/** Processes that share the device: most time of the tests is that of the references on the host. */
const parallel = checker ? { fileParallelism: false } : { maxWorkers: 4 };

/**
 * The tests that need an NVIDIA GPU, and those of the simulated device once more on a GPU; without one
 * they fail. SPILLWAY_DEVICE names another GPU than the first.
 */
export default defineConfig({
  test: {
    globalSetup: "test/build-first.ts",
    setupFiles: "test/same-numbers.ts",
    env: { SPILLWAY_DEVICE: process.env["SPILLWAY_DEVICE"] || "0", SPILLWAY_EXHAUSTIVE: "all" },
    testTimeout: checker ? 0 : 300_000,
    hookTimeout: checker ? 0 : 60_000,
    pool: checker ? "threads" : "forks",
    execArgv: checker ? [] : ["--expose-gc"],
    projects: [
      {
        extends: true,
        test: {
          name: "gpu",
          include: ["test/gpu/hardware/**/*.test.ts", "test/**/device/**/*.test.ts"],
          exclude: measuring,
          ...parallel,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: "gpu, alone", include: measuring, fileParallelism: false, sequence: { groupOrder: 0 } } },
    ],
  },
});
