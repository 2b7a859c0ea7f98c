import { defineConfig } from "vitest/config";

/** The tests that need nothing but Node. `npm run test:toolchain` runs those that need gcc, nvcc or Python. */
export default defineConfig({
  test: {
    globalSetup: "test/build-first.ts",
    include: ["test/**/*.test.ts"],
    exclude: ["test/toolchain/**", "test/browser/**", "test/gpu/hardware/**"],
    // Vitest leaves a core free, which on a machine of two is half of it.
    maxWorkers: "100%",
    testTimeout: 120_000,
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary", "json-summary"] },
  },
});
