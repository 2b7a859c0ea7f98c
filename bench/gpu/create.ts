// Seconds that `create` takes on the device and on the host: W drawn, its radius measured, the loop
// opened. One call before those that are measured opens the device and loads the kernels. The host
// creates in a process of its own, since a process measures the radius of a description once; W of
// both is compared bit for bit. NumPy (`create_peers.py`) takes the radius of all eigenvalues.
// Usage: npx tsx bench/gpu/create.ts [--no-host]; python3 bench/gpu/create_peers.py
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { openDevice } from "../../packages/gpu/src/index.js";
import { isSparse } from "../../packages/numerics/src/index.js";
import { ReservoirComputer, type ReservoirOptions } from "../../src/index.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";

const { values: flags } = parseArgs({ options: { "no-host": { type: "boolean" }, host: { type: "string" } } });

interface Created {
  readonly seconds: number;
  /** Of the values of W; "" if they are not read. */
  readonly hash: string;
  readonly radius: number;
  readonly method: string;
  readonly plan: string;
}

async function create(options: ReservoirOptions, on: Parameters<typeof ReservoirComputer.create>[1], read = true): Promise<Created> {
  const begun = performance.now();
  await using computer = await ReservoirComputer.create(options, on);
  const seconds = (performance.now() - begun) / 1000;
  const { weights, measuredRadius: radius, radiusMethod: method } = computer.model as ReservoirModel;
  const { plan, drawn } = computer.engine.plan.details;
  return { seconds, hash: read ? hashOf(weights) : "", radius, method, plan: `${plan}${drawn ? ", drawn there" : ""}` };
}

/** This draws a W on the host that the device has drawn. */
function hashOf(weights: ReservoirModel["weights"]): string {
  const { buffer, byteOffset, byteLength } = isSparse(weights) ? weights.values : weights.data;
  return createHash("sha256")
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest("hex");
}

function onHost(options: ReservoirOptions): Created {
  const program = [...process.execArgv, process.argv[1]!, "--host", JSON.stringify(options)];
  return JSON.parse(execFileSync(process.execPath, program, { encoding: "utf8" })) as Created;
}

if (flags.host !== undefined) {
  console.log(JSON.stringify(await create(JSON.parse(flags.host) as ReservoirOptions, { engine: "cpu" })));
  process.exit();
}

const cases: readonly ReservoirOptions[] = [1000, 1500, 2000, 3000, 5000, 8192].flatMap((size) => [
  { size, connectionProbability: 1 },
  { size, connectionProbability: 1, radiusMethod: "circularLaw" },
  { size },
]);

const context = openDevice();
console.log(`${context.info.name}; uniform weights; the least of three calls on the device, one on the host\n`);
console.log("| N | p | radius | device s | host s | plan | bits |");
console.log("|---|---|---|---|---|---|---|");
await create({ size: 1000, seed: 9 }, { context }, false);
for (const options of cases) {
  const made: Created[] = [];
  for (const seed of [2, 3, 1]) made.push(await create({ ...options, seed }, { context }, seed === 1 && !flags["no-host"]));
  const there = made.at(-1)!;
  const here = flags["no-host"] ? undefined : onHost({ ...options, seed: 1 });
  const equal = here && here.hash === there.hash && here.radius === there.radius && here.method === there.method;
  if (equal === false) process.exitCode = 1;
  const seconds = Math.min(...made.map((each) => each.seconds)).toFixed(3);
  const bits = equal === undefined ? "" : equal ? "equal" : "DIFFERENT";
  const radius = `${there.radius.toFixed(6)}, ${there.method}`;
  console.log(
    `| ${options.size} | ${options.connectionProbability ?? 0.1} | ${radius} | ${seconds} | ${here?.seconds.toFixed(3) ?? ""} | ${there.plan} | ${bits} |`,
  );
}
context.dispose();
