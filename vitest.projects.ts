import { readdirSync, readFileSync } from "node:fs";
import { inSample, sampled } from "./test/exhaustive.js";

const paths = (names: string): readonly string[] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `test/${name}.test.ts`);

/**
 * Files of shared folders that register engines, replace globals, set the simulated devices of their
 * process, measure its memory, start processes, which one with the memory of many simulated devices
 * may not, or lose the simulated device, which other files may hold. Each has a process of its own,
 * as those that replace modules, and the files of all other folders have.
 */
const alone = paths(`
  cli/ptx core/another-kind engine/cpu engine/ended-worker engine/kernel-source engine/memory-flat engine/minimal engine/pool-capacity engine/spin-limit
  experiment/forecast-path experiment/search-devices gpu/launch gpu/leak kernels/missing parts/own-package parts/own-wasm
  parts/wrong-wasm reservoir/distributed reservoir/engines search/heartbeat search/journal/faults search/journal/no-lock
  search/kill search/patience search/size series/transforms
`);

/**
 * Files that take long: more shapes, plans, faults and processes of what other files cover. `npm
 * run test:exhaustive` runs them, `npm test` does not.
 */
const long = paths(`
  analysis/information analysis/lyapunov-spectrum analysis/nearest-neighbours cli/analyse cli/bench
  cli/cluster cli/demo cli/killed cli/search cli/search-killed cli/signals docs-run engine/abort
  engine/compute-capability engine/cuda-faults engine/cuda-faults-together engine/device/batch
  engine/device/classifier engine/device/dense-radii engine/device/device-data
  engine/device/drawn-sessions engine/device/drawn-weights engine/device/integers
  engine/device/kernels-by-call engine/device/measures engine/device/neighbours
  engine/device/oscillators engine/device/plans engine/device/quantized engine/device/search
  engine/device/sharded engine/device/spectral-radius engine/device/streamed
  engine/device/sweep-forecasts engine/device/training engine/distributed-calls engine/ended-worker
  engine/memory-flat engine/persistent-faults engine/profile-faults engine/sharded-faults
  engine/spiking-cuda-faults engine/weights-faults experiment/combined experiment/forecast-choice
  experiment/network experiment/search-devices experiment/search-workers experiment/table-problems
  fuzz/found fuzz/framework fuzz/fuzz gpu/faults gpu/sanitize gpu/transfers io/corrupt io/npz
  lab/measures model/combined-export model/constant-column model/missing-order model/onnx
  model/sweep model/wasm-sound numerics/drawing numerics/linear-algebra-triangular
  numerics/spectrum-radius parts/own-encoder parts/own-metric parts/own-readout parts/own-task
  ptx/device/generated ptx/device/kinds ptx/float8 ptx/global-races ptx/kernels/attention
  ptx/kernels/gemm ptx/kernels/quantized ptx/kernels/rows reservoir/distributed sampling/ising
  scripts/bench-children search/devices-bench search/kill search/stopped series/conformal
  series/verdict sim/sweep spikes/device/chain spikes/device/detection spikes/device/experiments
  spikes/device/plastic-network spikes/device/where spikes/hdf5-thread spikes/network/threads
  spikes/network/weight-units spikes/silence tasks/lyapunov tasks/reference
`);

/**
 * Folders whose tests, but for those above, leave nothing behind in their modules. Those of
 * `programs`, and of test/ itself, start processes, which one with the memory of many simulated
 * devices does slowly: they share other workers.
 */
const shared =
  "analysis,core,engine,experiment,gpu,io,kernels,lab,metrics,model,numerics,oscillators,pipeline,plot,ptx,readout,reservoir,sampling,search,series,serve,sim,spikes,tasks";
const programs = ",cli,parts,scripts";

/** What needs gcc, nvcc, Python, Chromium or a GPU. */
const elsewhere = /^test\/(toolchain|browser|gpu\/hardware)\//;

const isNamed = process.argv.some((argument) => argument.startsWith("test/"));

/** The test files of a folder: two fifths of them if a sample is asked for and the command names no file. */
export function sampledFiles(folder: string): string[] {
  const all = readdirSync(folder)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `${folder}/${name}`);
  return isNamed ? all : sampled(all, 0.4, folder);
}

/** The test files that need nothing but Node. */
const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => `test/${name}`)
  .filter((path) => path.endsWith(".test.ts") && !elsewhere.test(path));

const replacesModules = (path: string): boolean => /vi\.(doMock|mock|resetModules)\(/.test(readFileSync(path, "utf8"));

const isLong = (path: string): boolean => long.includes(path);
/** A twelfth of the files runs if a sample is asked for: see test/exhaustive.ts. */
const isSampled = (path: string): boolean => isNamed || inSample(1 / 12, path);

/**
 * Of the simulated device's short-lived objects fewer are moved in a larger new space. In Node 20
 * functions run for longer before they are optimised.
 */
const execArgv = ["--max-semi-space-size=32"];
if (process.version.startsWith("v20.")) execArgv.push("--interrupt-budget=200000");

/**
 * Files of shared folders share workers, which spares each the time to start one and to import the
 * sources.
 */
function split(chosen: readonly string[], name: string, env: Record<string, string> = {}) {
  const isAlone = (path: string) => alone.includes(path) || replacesModules(path);
  const those = (folders: string) =>
    chosen.filter((path) => folders.split(",").includes(path.split("/").slice(1, -1)[0] ?? "") && !isAlone(path));
  const groups = [
    { name: `shared${name}`, include: those(shared), isolate: false },
    { name: `programs${name}`, include: those(programs), isolate: false },
  ];
  const others = chosen.filter((path) => !groups.some(({ include }) => include.includes(path)));
  return [...groups, { name: `alone${name}`, include: others, isolate: true }]
    .filter(({ include }) => include.length > 0)
    .map((test) => ({ extends: true as const, test: { ...test, env, execArgv, setupFiles: "test/same-numbers.ts" } }));
}

/** What `npm test` runs, and any file whose path the command names. */
export const projects = () => split(isNamed ? files : files.filter((path) => !isLong(path)), "");

/**
 * What `npm run test:exhaustive` runs: the long files, and of those that `takesPart` names the other
 * cases.
 */
export const exhaustiveProjects = (takesPart: (path: string) => boolean) => [
  ...split(
    files.filter((path) => !isLong(path) && isSampled(path) && takesPart(path)),
    "",
    { SPILLWAY_EXHAUSTIVE: "others" },
  ),
  ...split(
    files.filter((path) => isLong(path) && isSampled(path)),
    ", long",
    { SPILLWAY_EXHAUSTIVE: "long" },
  ),
];
