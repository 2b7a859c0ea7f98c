import { defineConfig } from "vitest/config";
import { importsReadOnce } from "./vitest.imports.js";

/** The tests that need a compiler or Python beside Node; a missing tool fails them. */
export default defineConfig({
  plugins: [importsReadOnce()],
  test: { globalSetup: "test/build-first.ts", include: ["test/toolchain/**/*.test.ts"], maxWorkers: "100%", testTimeout: 600_000 },
});
