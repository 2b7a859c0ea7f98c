// Reservoirs in integers on a GPU: equal SHA-256 of states, readouts and closed loops on the CPU and
// the GPU, and the time of a step beside binary32's. Usage:
//   npx tsx bench/gpu/integers.ts
import { createHash } from "node:crypto";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { ridge } from "../../src/readout/index.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { Engine } from "../../src/reservoir/engine.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";
import { mackeyGlass } from "../../src/tasks/index.js";

const cuda = cudaEngine();
const { device } = await cuda.probe();
console.log(`${device}; Node ${process.version}\n`);

const sha = (...parts: readonly { readonly data: ArrayBufferView }[]): string => {
  const hash = createHash("sha256");
  for (const { data } of parts) hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return hash.digest("hex").slice(0, 16);
};

const reservoirs = [
  ["200 neurons, sparse", { size: 200 }],
  ["200 neurons, dense, 8 bits", { size: 200, connectionProbability: 1, weightPrecision: "int8" }],
  ["1000 neurons, sparse", { size: 1000 }],
  ["1000 neurons, dense", { size: 1000, connectionProbability: 1 }],
  ["1000 neurons, dense, 8 bits", { size: 1000, connectionProbability: 1, weightPrecision: "int8" }],
  ["4000 neurons, sparse", { size: 4000, connectionProbability: 0.02 }],
  ["4000 neurons, dense", { size: 4000, connectionProbability: 1, radiusMethod: "circularLaw" }],
] as const satisfies readonly (readonly [string, ReservoirOptions])[];

const series = mackeyGlass(1700, { seed: 1 });
const rows = Matrix.from(series.subarray(0, 1600)) as Matrix;
const targets = Matrix.from(series.subarray(1, 1601)) as Matrix;

console.log("| reservoir | SHA-256 of 1600 states | readout | closed loop of 100 | the CPU's |");
console.log("|---|---|---|---|---|");
// A readout of 4000 neurons takes the host long.
for (const [name, options] of reservoirs.slice(0, 5)) {
  const hashes = [];
  for (const engine of [cuda, cpuEngine]) {
    const model = buildModel(resolveConfig({ ...options, seed: 1, arithmetic: "integer" }));
    await using computer = await ReservoirComputer.fromModel(model, { engine: engine.name });
    const states = await computer.run(rows);
    const readout = ridge({ lambda: 1e-6 }).fit(states, targets, { washout: 100 });
    const loop = await computer.generate(100, readout);
    hashes.push([sha(states), sha(readout.weights), sha(loop)]);
  }
  const same = hashes[0]!.join() === hashes[1]!.join();
  console.log(`| ${name} | ${hashes[0]!.join(" | ")} | ${same ? "equal" : `${hashes[1]!.join(" ")}: NOT EQUAL`} |`);
  if (!same) process.exitCode = 1;
}

/** Microseconds a step of a run of `steps`, its last state alone kept: the median of five. */
async function stepTime(engine: Engine, model: ReservoirModel, steps: number): Promise<readonly [string, number]> {
  const session = await engine.open(model);
  const inputs = new Matrix(
    steps,
    1,
    Float32Array.from({ length: steps }, (_, t) => Math.sin(0.3 * t)),
  );
  const times = [];
  for (let k = 0; k < 6; k++) {
    const begun = performance.now();
    await session.run({ inputs }, { into: Matrix.zeros(1, model.size, "float32") as Matrix, every: steps });
    times.push((1000 * (performance.now() - begun)) / steps);
  }
  await session.dispose();
  const { plan } = session.plan.details;
  return [String(plan), times.slice(1).toSorted((a, b) => a - b)[2]!];
}

console.log("\nMicroseconds a step, one sequence, states left on the device, median of 5 runs\n");
console.log("| reservoir | integers | plan | binary32 | plan |");
console.log("|---|---|---|---|---|");
for (const [name, options] of reservoirs) {
  const { weightPrecision: _, ...floats } = { weightPrecision: undefined, ...options };
  const steps = 20_000;
  const made = (given: ReservoirOptions): ReservoirModel => buildModel(resolveConfig({ ...given, seed: 1 }));
  const [plan, integers] = await stepTime(cuda, made({ ...options, arithmetic: "integer" }), steps);
  const [floatPlan, binary] = await stepTime(cuda, made(floats), steps);
  console.log(`| ${name} | ${integers.toPrecision(3)} | ${plan} | ${binary.toPrecision(3)} | ${floatPlan} |`);
}

/** Microseconds a step of `count` sequences of 1000 steps: the median of five. */
async function batchTime(model: ReservoirModel, count: number): Promise<number> {
  const session = await cuda.open(model);
  const sequences = Array.from({ length: count }, (_, k) => ({
    inputs: new Matrix(
      1000,
      1,
      Float32Array.from({ length: 1000 }, (_, t) => Math.sin(0.3 * t + k)),
    ),
  }));
  const times = [];
  for (let k = 0; k < 6; k++) {
    const begun = performance.now();
    await session.batch(sequences, { keep: "last" });
    times.push((1000 * (performance.now() - begun)) / 1000);
  }
  await session.dispose();
  return times.slice(1).toSorted((a, b) => a - b)[2]!;
}

console.log("\nMicroseconds a step of a batch of 264 sequences, last states to the host, median of 5 runs\n");
console.log("| reservoir | integers | binary32 |");
console.log("|---|---|---|");
for (const [name, options] of reservoirs.slice(0, 5)) {
  const { weightPrecision: _, ...floats } = { weightPrecision: undefined, ...options };
  const made = (given: ReservoirOptions): ReservoirModel => buildModel(resolveConfig({ ...given, seed: 1 }));
  const integers = await batchTime(made({ ...options, arithmetic: "integer" }), 264);
  const binary = await batchTime(made(floats), 264);
  console.log(`| ${name} | ${integers.toPrecision(3)} | ${binary.toPrecision(3)} |`);
}
cuda.close();
