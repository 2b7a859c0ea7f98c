import { readdirSync } from "node:fs";
import { defineConfig } from "vitest/config";

/**
 * Files of rooms that register engines, replace modules or globals, set the simulated devices of
 * their process, or measure its memory. Each has a process of its own, as the files of all other
 * rooms have.
 */
const alone = [
  ...["cpu", "ended-worker", "kernel-source", "minimal", "pool-room", "spin-limit"].map((name) => `test/engine/${name}.test.ts`),
  "test/experiment/road.test.ts",
  "test/experiment/search-devices.test.ts",
  "test/gpu/launch.test.ts",
  "test/gpu/leak.test.ts",
  "test/reservoir/dealt.test.ts",
  "test/reservoir/engines.test.ts",
  "test/search/heartbeat.test.ts",
  "test/search/journal/faults.test.ts",
  "test/search/journal/no-lock.test.ts",
  "test/search/patience.test.ts",
  "test/series/transforms.test.ts",
];

/**
 * Files of rooms whose tests leave nothing behind in their modules. They share workers, which
 * spares each file the time to start one and to import the sources.
 */
const shared =
  "analysis,core,engine,experiment,gpu,io,kernels,lab,metrics,model,numerics,pipeline,plot,ptx,readout,reservoir,search,series,serve,sim,spikes,tasks"
    .split(",")
    .flatMap((room) => readdirSync(`test/${room}`, { recursive: true, encoding: "utf8" }).map((name) => `test/${room}/${name}`))
    .filter((path) => path.endsWith(".test.ts") && !alone.includes(path) && !path.startsWith("test/gpu/hardware/"));

/** What needs gcc, nvcc, Python, Chromium or a GPU. */
const elsewhere = ["test/toolchain/**", "test/browser/**", "test/gpu/hardware/**"];

/** The tests that need nothing but Node. `npm run test:toolchain` runs those that need gcc, nvcc or Python. */
export default defineConfig({
  test: {
    globalSetup: "test/build-first.ts",
    // Vitest leaves a core free, which on a machine of two is half of it.
    maxWorkers: "100%",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "shared", include: shared, isolate: false } },
      { extends: true, test: { name: "alone", include: ["test/**/*.test.ts"], exclude: [...elsewhere, ...shared] } },
    ],
  },
});
