import { defineConfig } from "vitest/config";

/** The tests that need a compiler or Python beside Node; a missing tool fails them. */
export default defineConfig({
  test: { globalSetup: "test/build-first.ts", include: ["test/toolchain/**/*.test.ts"], maxWorkers: "100%", testTimeout: 600_000 },
});
