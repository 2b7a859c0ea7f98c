import { defineConfig } from "vitest/config";
import { importsReadOnce } from "./vitest.imports.js";
import { sampledFiles } from "./vitest.projects.js";

/** The tests that need a compiler or Python beside Node; a missing tool fails them. */
export default defineConfig({
  plugins: [importsReadOnce()],
  test: { globalSetup: "test/build-first.ts", include: sampledFiles("test/toolchain"), maxWorkers: "100%", testTimeout: 600_000 },
});
