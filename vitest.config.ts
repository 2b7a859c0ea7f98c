import { defineConfig } from "vitest/config";
import { importsReadOnce } from "./vitest.imports.js";
import { projects } from "./vitest.projects.js";

/** The tests that need nothing but Node. `npm run test:toolchain` runs those that need gcc, nvcc or Python. */
export default defineConfig({
  plugins: [importsReadOnce()],
  test: {
    globalSetup: "test/build-first.ts",
    // Vitest leaves a core free, which on a machine of two is half of it.
    maxWorkers: "100%",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    experimental: { fsModuleCache: true },
    projects: projects(),
  },
});
