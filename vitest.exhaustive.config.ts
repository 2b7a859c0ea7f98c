import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { importsReadOnce } from "./vitest.imports.js";
import { exhaustiveProjects } from "./vitest.projects.js";

/**
 * Files of which `npm test` runs a part: they take their cases through test/exhaustive.ts, or by
 * suites that do.
 */
const takesPart = (path: string) => /exhaustive\.js"|gives-back\.js"|engineContract\(/.test(readFileSync(path, "utf8"));

/**
 * What `npm test` leaves out: long files, and in files of which it runs representatives the other
 * cases.
 */
export default defineConfig({
  plugins: [importsReadOnce()],
  test: {
    globalSetup: "test/build-first.ts",
    maxWorkers: "100%",
    testTimeout: 300_000,
    experimental: { fsModuleCache: true },
    projects: exhaustiveProjects(takesPart),
  },
});
