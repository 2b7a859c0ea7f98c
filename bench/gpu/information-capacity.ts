// Information processing capacity on a GPU, N = 50, T = 1,000,000, float64, beside CuPy on the same
// GPU in the same run, one target at a time and in batches. Ours is the whole call (states, products
// and triangular factor on the device, capacities on the host), and the products alone from states
// that are there, which is what CuPy is timed for.
// Usage: npx tsx bench/gpu/information-capacity.ts [--length 1000000] [--no-peers]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { evaluatePolynomials, recurrences } from "../../src/analysis/capacity/polynomials.js";
import { targetsOf } from "../../src/analysis/capacity/targets.js";
import { informationCapacity } from "../../src/analysis/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { realKernel } from "../../src/engine/cuda/kernels.js";
import { ReservoirComputer, registerEngine } from "../../src/reservoir/index.js";
import "../../src/index.js";

const { values: flags } = parseArgs({ options: { length: { type: "string", default: "1000000" }, "no-peers": { type: "boolean" } } });
const length = Number(flags.length);
const washout = 10_000;
const engine = cudaEngine(0);
registerEngine("bench", async () => engine, { automatic: false });
const reservoir = {
  ...{ size: 50, connectionProbability: 0.5, storage: "dense", spectralRadius: 0.9, inputScaling: 0.1 },
  ...{ leakRate: 1, precision: "float64", seed: 1 },
} as const;
const draws = new RandomStream(seedKeys(1).weights, 77);
const inputs = new Matrix(
  washout + length,
  1,
  Float64Array.from({ length: washout + length }, (_, t) => 2 * draws.uniform(0, t) - 1),
);
const degrees = [
  [1, 1999],
  [2, 299],
  [3, 49],
  [4, 29],
  [5, 14],
] as const;

const computer = await ReservoirComputer.create(reservoir, { engine: "bench" });
const measured = async (of: (readonly [number, number])[], rows = inputs) => {
  const begun = performance.now();
  const found = await informationCapacity(computer, { inputs: rows, washout, amplitude: 1, degrees: of });
  return { seconds: (performance.now() - begun) / 1000, found };
};
console.log(`${engine.context().info.name}: N = 50, T = ${length}, float64; seconds of a whole call from JavaScript\n`);
await measured([[1, 10]], inputs.subarray(0, washout + 20_000));
console.log("| degrees | targets | seconds | again | rank | capacity |\n|---|---|---|---|---|---|");
for (const [name, of] of [
  ["1, delays to 9: states and triangle", [[1, 9]]],
  ["1", [degrees[0]]],
  ["3", [degrees[2]]],
  ["1 to 5", [...degrees]],
] as const) {
  const [one, { seconds, found }] = [await measured([...of]), await measured([...of])];
  const targets = found.byDegree.reduce((sum, each) => sum + each.targets, 0);
  console.log(`| ${[name, targets, one.seconds.toFixed(2), seconds.toFixed(2), found.rank, found.total.toFixed(4)].join(" | ")} |`);
}
let begun = performance.now();
await computer.batch([inputs], { keep: "last" });
console.log(`\nstates alone, by the engine's plan: ${((performance.now() - begun) / 1000).toFixed(2)} s`);
const few = inputs.subarray(0, washout + 3000);
const small = { inputs: few, washout, amplitude: 1, degrees: [[1, 50] as const, [3, 5] as const] };
begun = performance.now();
const [ours, theirs] = [await informationCapacity(computer, small), await informationCapacity(reservoir, { ...small, engine: "cpu" })];
console.log(`3000 rows beside the CPU engine: ${JSON.stringify(ours) === JSON.stringify(theirs) ? "the same bits" : "DIFFERENT BITS"}`);
await computer.dispose();

/** Seconds of the products alone, by events, of states that are on the device. */
async function products(of: (typeof degrees)[number][]): Promise<number> {
  const context = engine.context();
  const targets = targetsOf(of);
  const [size, block, chunk] = [50, 1024, 8];
  const pitch = washout + length;
  const stream = context.stream();
  const kernel = realKernel(context, "information_capacity", "capacity_products", "float64", [
    ...(["const f64*", "i32", "i32", "const f64*", "i64", "i64"] as const),
    ...(["const u32*", "const u8*", "const u32*", "i32", "f64*", "f64*"] as const),
  ]);
  const folded = ["const f64*", "i32", "i64", "f64*"] as const;
  const fold = realKernel(context, "information_capacity", "capacity_fold", "float64", folded);
  const taken = (values: Float64Array<ArrayBuffer>) => {
    const buffer = context.alloc("f64", values.length);
    stream.upload(buffer, values);
    return buffer;
  };
  const states = taken(Float64Array.from({ length: length * 56 }, (_, i) => Math.fround(inputs.data[i % pitch]! / 3)));
  const polynomials = context.alloc("f64", 6 * pitch);
  evaluatePolynomials(recurrences("legendre", 5, inputs.data as Float64Array), inputs.data as Float64Array).forEach((row, d) => {
    stream.upload(polynomials.slice(d * pitch, (d + 1) * pitch), row as Float64Array<ArrayBuffer>);
  });
  const first = context.alloc("u32", targets.first.length);
  const degreesOf = context.alloc("u8", targets.termDegrees.length);
  const delays = context.alloc("u32", targets.termDelays.length);
  stream.upload(first, targets.first as Uint32Array<ArrayBuffer>);
  stream.upload(degreesOf, targets.termDegrees as Uint8Array<ArrayBuffer>);
  stream.upload(delays, targets.termDelays as Uint32Array<ArrayBuffer>);
  const values = targets.count * (size + 1);
  const [parts, squares, totals] = [chunk * values, chunk * targets.count, values].map((count) => context.alloc("f64", count)) as never[];
  const [start, end] = [context.event(), context.event()];
  let milliseconds = 0;
  for (let round = 0; round < 2; round++) {
    start.record(stream);
    for (let from = 0; from < length; from += chunk * block) {
      const rows = Math.min(chunk * block, length - from);
      const grid = [Math.ceil(targets.count / 128), Math.ceil(rows / block)] as const;
      const given = [states.slice(from * 56), rows, size + 1, polynomials, pitch, washout + from, first, degreesOf, delays];
      stream.launch(kernel, { grid, block: 128 }, ...([...given, targets.count, parts, squares] as never[]));
      stream.launch(
        fold,
        { grid: Math.min(65_535, Math.ceil(values / 256)), block: 256 },
        ...([parts, grid[1], values, totals] as never[]),
      );
    }
    end.record(stream);
    await stream.done();
    milliseconds = end.elapsedSince(start);
  }
  for (const owned of [states, polynomials, first, degreesOf, delays, parts, squares, totals, start, end, stream])
    (owned as { dispose(): void }).dispose();
  return milliseconds / 1000;
}
console.log("\n| products of degrees, states given | seconds | TFLOP/s |\n|---|---|---|");
for (const [name, of] of [
  ["3", [degrees[2]]],
  ["1 to 5", [...degrees]],
] as const) {
  const seconds = await products([...of]);
  const operations = 2 * 51 * length * targetsOf([...of]).count;
  console.log(`| ${name} | ${seconds.toFixed(3)} | ${(operations / seconds / 1e12).toFixed(1)} |`);
}
engine.close();

if (!flags["no-peers"]) {
  const script = new URL("information_capacity_peers.py", import.meta.url).pathname;
  if (spawnSync("python3", [script, String(length)], { stdio: "inherit" }).status !== 0) console.log("no peers");
}
