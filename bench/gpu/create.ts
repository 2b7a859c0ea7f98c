// Seconds that `create` takes on the device and on the host: W drawn, its radius measured, the loop
// opened. One call before those that are measured opens the device and loads the kernels. The W of
// the two is compared bit for bit. NumPy (`create_peers.py`) draws W and takes the radius of all of
// its eigenvalues.
// Usage: npx tsx bench/gpu/create.ts [--no-host]; python3 bench/gpu/create_peers.py
import { isSparse } from "../../packages/numerics/src/index.js";
import { openDevice, ReservoirComputer, type ReservoirOptions } from "../../src/index.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";

const withHost = !process.argv.includes("--no-host");
const context = openDevice();

const cases: readonly ReservoirOptions[] = [1000, 1500, 2000, 3000, 5000, 8192].flatMap((size) => [
  { size, connectionProbability: 1 },
  { size, connectionProbability: 1, radiusMethod: "circularLaw" },
  { size },
]);

interface Created {
  readonly seconds: number;
  readonly weights: ReservoirModel["weights"];
  readonly radius: string;
  readonly plan: string;
}

async function create(options: ReservoirOptions, on: Parameters<typeof ReservoirComputer.create>[1], read: boolean): Promise<Created> {
  const begun = performance.now();
  await using computer = await ReservoirComputer.create(options, on);
  const seconds = (performance.now() - begun) / 1000;
  const { weights, measuredRadius, radiusMethod } = computer.model as ReservoirModel;
  // A W that the device drew is drawn again on the host by this.
  if (read) valuesOf(weights);
  const { plan, drawn } = computer.plan.details;
  return { seconds, weights, radius: `${measuredRadius.toFixed(6)}, ${radiusMethod}`, plan: `${plan}${drawn ? ", drawn there" : ""}` };
}

const valuesOf = (weights: ReservoirModel["weights"]) => (isSparse(weights) ? weights.values : weights.data);

const equal = (a: Created, b: Created): boolean => {
  const [left, right] = [valuesOf(a.weights), valuesOf(b.weights)];
  return a.radius === b.radius && left.length === right.length && left.every((value, i) => Object.is(value, right[i]));
};

console.log(`${context.info.name}; uniform weights, seed 1; the least of three calls, by seeds 2, 3 and 1\n`);
console.log("| N | connections | radius | device s | host s | plan | bits |");
console.log("|---|---|---|---|---|---|---|");
await create({ size: 1000, seed: 9 }, { context }, false);
for (const options of cases) {
  const there: Created[] = [];
  for (const seed of [2, 3, 1]) there.push(await create({ ...options, seed }, { context }, seed === 1 && withHost));
  const last = there.at(-1)!;
  const here = withHost ? await create({ ...options, seed: 1 }, { engine: "cpu" }, true) : undefined;
  const same = here === undefined ? "" : equal(last, here) ? "equal" : "DIFFERENT";
  if (same === "DIFFERENT") process.exitCode = 1;
  const seconds = Math.min(...there.map((each) => each.seconds)).toFixed(3);
  const p = options.connectionProbability ?? 0.1;
  console.log(`| ${options.size} | p = ${p} | ${last.radius} | ${seconds} | ${here?.seconds.toFixed(3) ?? ""} | ${last.plan} | ${same} |`);
}
context.dispose();
