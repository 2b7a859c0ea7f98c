import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { importsReadOnce } from "./vitest.imports.js";
import { projects } from "./vitest.rooms.js";

/**
 * Files of which `npm test` runs a part: they take their cases through test/exhaustive.ts, or by
 * suites that do.
 */
const takesPart = (path: string) => /exhaustive\.js"|gives-back\.js"/.test(readFileSync(path, "utf8"));

/** The cases that `npm test` leaves out, in the files of which it runs representatives. */
export default defineConfig({
  plugins: [importsReadOnce()],
  test: {
    globalSetup: "test/build-first.ts",
    env: { SPILLWAY_EXHAUSTIVE: "others" },
    maxWorkers: "100%",
    testTimeout: 300_000,
    projects: projects(takesPart),
  },
});
