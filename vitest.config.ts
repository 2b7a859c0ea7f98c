import { defineConfig } from "vitest/config";

/**
 * Rooms whose tests leave nothing behind in their modules. They share workers, which spares each
 * file the time to start one and to import the sources. Tests that register engines, replace
 * globals or end threads are in other rooms, each file in a process of its own.
 */
const shared = "analysis,core,io,kernels,metrics,numerics,pipeline,plot,ptx,readout,spikes,tasks"
  .split(",")
  .map((room) => `test/${room}/**/*.test.ts`);

/** The tests that need nothing but Node. `npm run test:toolchain` runs those that need gcc, nvcc or Python. */
export default defineConfig({
  test: {
    exclude: ["test/toolchain/**", "test/browser/**", "test/gpu/hardware/**"],
    globalSetup: "test/build-first.ts",
    // Vitest leaves a core free, which on a machine of two is half of it.
    maxWorkers: "100%",
    testTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "shared", include: shared, isolate: false } },
      { extends: true, test: { name: "alone", include: ["test/**/*.test.ts", ...shared.map((path) => `!${path}`)] } },
    ],
  },
});
