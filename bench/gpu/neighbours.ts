// Transfer entropy by nearest neighbours with surrogates: a device beside the host's k-d trees, with
// whether all bits are equal, and PyTorch's brute force (neighbours_peers.py) on the same device.
// Usage: npx tsx bench/gpu/neighbours.ts [--no-host] [--no-peers]
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import "../../src/index.js";
import { openDevice } from "../../packages/gpu/src/index.js";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { informationDynamics, nearestNeighbourInformation, nearestNeighbourTransferEntropy } from "../../src/analysis/index.js";

const withHost = !process.argv.includes("--no-host");
const withPeers = !process.argv.includes("--no-peers");
const context = openDevice();
console.log(`${context.info.name}; k = 3, x drives y\n`);
context.dispose();

/** x(t) = .5 x(t-1) + a, y(t) = .5 y(t-1) + c x(t-1) + b. */
function driven(n: number, c: number): [Float64Array, Float64Array] {
  const draws = new RandomStream(seedKeys("neighbours").weights, 0);
  const [x, y] = [new Float64Array(n), new Float64Array(n)];
  for (let t = 1; t < n; t++) {
    x[t] = 0.5 * x[t - 1]! + draws.normal(t, 0);
    y[t] = 0.5 * y[t - 1]! + c * x[t - 1]! + draws.normal(t, 1);
  }
  return [x, y];
}

const measures = {
  "transfer entropy": nearestNeighbourTransferEntropy,
  "mutual information": nearestNeighbourInformation,
} as const;

async function timed<T>(work: () => T | Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const found = await work();
  return [found, (performance.now() - start) / 1000];
}

console.log("| measure | rows | surrogates | device s | host s | bits | p |");
console.log("|---|---|---|---|---|---|---|");
for (const [name, n, surrogates, hostSurrogates] of [
  ["transfer entropy", 10_000, 1000, 20],
  ["transfer entropy", 100_000, 100, 3],
  ["mutual information", 100_000, 100, 3],
] as const) {
  const [x, y] = driven(n, 0.3);
  const measure = measures[name];
  await measure(x, y, { engine: "cuda" });
  const [found, seconds] = await timed(() => measure(x, y, { surrogates, engine: "cuda" }));
  let host = "";
  let bits = "";
  if (withHost) {
    const [expected, hostSeconds] = await timed(() => measure(x, y, { surrogates: hostSurrogates }));
    const fewer = await measure(x, y, { surrogates: hostSurrogates, engine: "cuda" });
    const isEqual = JSON.stringify([fewer, [...fewer.local]]) === JSON.stringify([expected, [...expected.local]]);
    host = `${((hostSeconds / (1 + hostSurrogates)) * (1 + surrogates)).toFixed(1)} (from ${hostSurrogates})`;
    bits = isEqual && fewer.nats === found.nats ? "equal" : "DIFFERENT";
  }
  console.log(`| ${name} | ${n} | ${surrogates} | ${seconds.toFixed(2)} | ${host} | ${bits} | ${found.pValue} |`);
}
const reservoir = { size: 100, connectionProbability: 1, leakRate: 1, spectralRadius: 0.9, seed: 1 } as const;
const dynamics = (engine: string, size: number, length = 5000) =>
  informationDynamics({ ...reservoir, size }, { estimator: "nearestNeighbours", length, engine });
await dynamics("cuda", 10, 500);
const [, dynamicsSeconds] = await timed(() => dynamics("cuda", 100));
console.log("\n| information dynamics, dense, 5000 rows | connections | device s | host s | bits |\n|---|---|---|---|---|");
console.log(`| 100 neurons | 9900 | ${dynamicsSeconds.toFixed(2)} | | |`);
if (withHost) {
  const [[found, few], [expected, hostSeconds]] = [
    await timed(() => dynamics("cuda", 10, 2000)),
    await timed(() => dynamics("cpu", 10, 2000)),
  ];
  const bits = JSON.stringify(found) === JSON.stringify(expected) ? "equal" : "DIFFERENT";
  console.log(`| 10 neurons, 2000 rows | 90 | ${few.toFixed(2)} | ${hostSeconds.toFixed(2)} | ${bits} |`);
}
if (withPeers) console.log(execFileSync("python3", [join(import.meta.dirname, "neighbours_peers.py")], { encoding: "utf8" }));
