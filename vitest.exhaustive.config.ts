import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/**
 * Files of which `npm test` runs a part: they take their cases through test/exhaustive.ts, or by
 * suites that do.
 */
const parts = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => join("test", name))
  .filter((path) => path.endsWith(".test.ts") && /exhaustive\.js"|gives-back\.js"/.test(readFileSync(path, "utf8")));

/** The cases that `npm test` leaves out, in the files of which it runs representatives. */
export default defineConfig({
  test: {
    globalSetup: "test/build-first.ts",
    include: parts,
    env: { SPILLWAY_EXHAUSTIVE: "others" },
    maxWorkers: "100%",
    testTimeout: 300_000,
  },
});
