import { defineConfig } from "vitest/config";

/** The tests of pages, which need a built package and a Chromium. */
export default defineConfig({
  test: { include: ["test/browser/**/*.test.ts"], testTimeout: 120_000, hookTimeout: 60_000, fileParallelism: false },
});
