import { readdirSync } from "node:fs";

/**
 * Files of rooms that register engines, replace modules or globals, set the simulated devices of
 * their process, measure its memory, or start processes, which one with the memory of many
 * simulated devices may not. Each has a process of its own, as the files of all other rooms have.
 */
const alone = [
  ...["cpu", "ended-worker", "kernel-source", "memory-flat", "minimal", "pool-room", "spin-limit"].map(
    (name) => `test/engine/${name}.test.ts`,
  ),
  "test/experiment/road.test.ts",
  "test/experiment/search-devices.test.ts",
  "test/gpu/launch.test.ts",
  "test/gpu/leak.test.ts",
  "test/kernels/missing.test.ts",
  "test/reservoir/distributed.test.ts",
  "test/reservoir/engines.test.ts",
  "test/search/heartbeat.test.ts",
  "test/search/journal/faults.test.ts",
  "test/search/journal/no-lock.test.ts",
  "test/search/kill.test.ts",
  "test/search/patience.test.ts",
  "test/search/size.test.ts",
  "test/series/transforms.test.ts",
];

/** Rooms whose tests, but for those above, leave nothing behind in their modules. */
const rooms =
  "analysis,core,engine,experiment,gpu,io,kernels,lab,metrics,model,numerics,pipeline,plot,ptx,readout,reservoir,search,series,serve,sim,spikes,tasks";

/** What needs gcc, nvcc, Python, Chromium or a GPU. */
const elsewhere = /^test\/(toolchain|browser|gpu\/hardware)\//;

/**
 * The tests that need nothing but Node, those of them that `takes` says. Files of `rooms` share
 * workers, which spares each the time to start one and to import the sources.
 */
export function projects(takes: (path: string) => boolean = () => true) {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name}`)
    .filter((path) => path.endsWith(".test.ts") && !elsewhere.test(path) && takes(path));
  const isShared = (path: string) => rooms.split(",").includes(path.split("/")[1]!) && !alone.includes(path);
  return [
    { extends: true as const, test: { name: "shared", include: files.filter(isShared), isolate: false } },
    { extends: true as const, test: { name: "alone", include: files.filter((path) => !isShared(path)) } },
  ];
}
