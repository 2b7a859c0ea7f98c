import { defineConfig } from "vitest/config";

/** The tests that need nothing but Node. `npm run test:toolchain` runs those that need gcc, nvcc or Python. */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/toolchain/**", "test/browser/**", "test/gpu/hardware/**"],
    testTimeout: 120_000,
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary", "json-summary"] },
  },
});
