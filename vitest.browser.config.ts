import { defineConfig } from "vitest/config";
import { sampledFiles } from "./vitest.projects.js";

/** The tests of pages, which need a built package and a Chromium. */
export default defineConfig({
  test: {
    globalSetup: "test/build-first.ts",
    include: sampledFiles("test/browser"),
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // One after the other they leave a quarter of two cores idle.
    maxWorkers: 2,
  },
});
