import { defineConfig } from "vitest/config";

/**
 * What `npm test` runs, under the coverage of V8, but for tests of the simulated device, which it
 * makes many times slower.
 */
export default defineConfig({
  test: {
    globalSetup: "test/build-first.ts",
    include: ["test/**/*.test.ts"],
    exclude: [
      ...["test/toolchain/**", "test/browser/**", "test/gpu/hardware/**"],
      ...["test/**/device/**", "test/sim/**", "test/engine/cuda-*", "test/ptx/kernels/**"],
    ],
    maxWorkers: "100%",
    testTimeout: 120_000,
    coverage: { enabled: true, provider: "v8", include: ["src/**", "packages/*/src/**"], reporter: ["text-summary", "json-summary"] },
  },
});
