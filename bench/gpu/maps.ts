// A map of 256 x 256 reservoirs (spectral radius by input scaling, N = 100, dense, float32) on a
// GPU: Lyapunov exponent, memory capacity, kernel and generalisation rank, beside PyTorch's batched
// operations on the same GPU in the same run, scaled from as many points as it says. And maps of 64
// x 64 of information processing capacity and of storage and transfer, beside the same measures one
// reservoir after the other on the host, scaled from 16 points. Usage: npx tsx bench/gpu/maps.ts
// [--side 256] [--no-peers] [--long-alone] [--long-side 64]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { type MapMeasure, qualityMap } from "../../src/analysis/index.js";
import { usualAxes } from "../../src/analysis/map/options.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { registerEngine } from "../../src/reservoir/index.js";
import "../../src/index.js";

const { values: flags } = parseArgs({
  options: {
    side: { type: "string", default: "256" },
    "no-peers": { type: "boolean" },
    "long-alone": { type: "boolean" },
    "long-side": { type: "string", default: "64" },
  },
});
const side = Number(flags.side);
const engine = cudaEngine(0);
registerEngine("bench", async () => engine, { automatic: false });
const reservoir = { size: 100, connectionProbability: 1, leakRate: 1, seed: 1 } as const;
const measures = ["lyapunovExponent", "memoryCapacity", "kernelRank", "generalisationRank"] as const;

async function timed<T>(work: () => Promise<T>): Promise<{ readonly seconds: number; readonly result: T }> {
  const begun = performance.now();
  const result = await work();
  return { seconds: (performance.now() - begun) / 1000, result };
}

const map = (count: number, of: readonly MapMeasure[], on = "bench") =>
  timed(() => qualityMap(reservoir, { ...usualAxes(count), measures: of, engine: on }));

/** Information processing capacity, storage and transfer. */
async function longMaps(): Promise<void> {
  const [large, few] = [Number(flags["long-side"]), 4];
  console.log(`\n${large} x ${large} reservoirs of N = ${reservoir.size}, dense, float32\n`);
  console.log("| measure | together, s | again | on the host, from 16 points, s | bits of these |\n|---|---|---|---|---|");
  for (const of of [["informationCapacity"], ["storage", "transfer"]] as const) {
    await map(few, of);
    const [once, again] = [await map(large, of), await map(large, of)];
    const [ours, theirs] = [await map(few, of), await map(few, of, "cpu")];
    const same = of.every((measure) => {
      const [a, b] = [ours, theirs].map(({ result }) => Buffer.from(result.values[measure]!.data.buffer));
      return a!.equals(b!);
    });
    const host = (theirs.seconds * large * large) / (few * few);
    const cells = [of.join(", "), once.seconds.toFixed(2), again.seconds.toFixed(2), host.toFixed(0), same ? "equal" : "DIFFERENT"];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

async function usualMaps(): Promise<void> {
  console.log(`${engine.context().info.name}: ${side} x ${side} reservoirs of N = ${reservoir.size}, dense, float32\n`);
  const first = await map(16, measures);
  console.log(`16 x 16, kernels loaded first: ${first.seconds.toFixed(2)} s\n`);
  console.log("| measure | seconds |\n|---|---|");
  const whole = await map(side, measures);
  console.log(`| all four | ${whole.seconds.toFixed(2)} |`);
  console.log(`| all four, again | ${(await map(side, measures)).seconds.toFixed(2)} |`);

  const few = 4;
  const [ours, theirs] = [await map(few, measures), await map(few, measures, "cpu")];
  const same = measures.every((measure) => {
    const [a, b] = [ours, theirs].map(({ result }) => Buffer.from(result.values[measure]!.data.buffer));
    return a!.equals(b!);
  });
  console.log(`\n${few} x ${few} points beside the CPU engine: ${same ? "the same bits" : "DIFFERENT BITS"}`);

  const { values, x, y } = whole.result;
  const at = (measure: MapMeasure, radius: number, scale: number): string => {
    const near = (list: readonly number[], value: number) =>
      list.reduce((best, each, k) => (Math.abs(each - value) < Math.abs(list[best]! - value) ? k : best), 0);
    return values[measure]!.at(near(y.values, scale), near(x.values, radius)).toFixed(measure === "lyapunovExponent" ? 3 : 1);
  };
  console.log(
    "\n| radius | exponent at .1 | 1 | 3 | memory at .1 | 1 | 3 | kernel rank at 1 | generalisation rank at 1 |\n|---|---|---|---|---|---|---|---|---|",
  );
  for (const radius of [0.1, 0.7, 0.9, 1, 1.2, 1.4, 1.7, 2, 2.5]) {
    const cells = [
      ...[0.1, 1, 3].map((scale) => at("lyapunovExponent", radius, scale)),
      ...[0.1, 1, 3].map((scale) => at("memoryCapacity", radius, scale)),
      at("kernelRank", radius, 1),
      at("generalisationRank", radius, 1),
    ];
    console.log(`| ${[radius, ...cells].join(" | ")} |`);
  }

  if (!flags["no-peers"]) {
    const { status } = spawnSync("python3", [new URL("maps_peers.py", import.meta.url).pathname], { stdio: "inherit" });
    if (status !== 0) console.log("no peers");
  }

  console.log("\n| measure by itself | seconds |\n|---|---|");
  for (const measure of measures) console.log(`| ${measure} | ${(await map(side, [measure])).seconds.toFixed(2)} |`);
}

if (!flags["long-alone"]) await usualMaps();
await longMaps();
engine.close();
