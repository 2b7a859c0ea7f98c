// Training on a GPU, end to end from JavaScript: a million steps of one reservoir into a readout,
// and sweeps over 10,000 and 100,000 reservoirs with the drawing of their weights. Usage: npx tsx
// bench/gpu/training.ts [--mark] [--seeds 1000] [--engine cpu]
// `--mark`: the sweep over 100,000 alone; with another engine and fewer seeds also if there is
// no GPU. That sweep is of the built package (`npm run build`): run from the sources no threads draw
// its seeds.
import "../../src/index.js";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import * as built from "spillway";
import { LibraryError } from "../../packages/gpu/src/index.js";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { DeviceBlas } from "../../src/engine/cuda/training/device-blas.js";
import { sweepReadouts } from "../../src/model/index.js";
import { ridge } from "../../src/readout/index.js";
import { ReservoirComputer, registerEngine } from "../../src/reservoir/index.js";

const { values: flags } = parseArgs({
  options: { mark: { type: "boolean" }, seeds: { type: "string", default: "1000" }, engine: { type: "string", default: "bench" } },
});
const engine = cudaEngine(0);
registerEngine("bench", async () => engine, { automatic: false });

function series(rows: number): { inputs: Matrix<Float64Array>; targets: Matrix<Float64Array> } {
  const stream = new RandomStream(seedKeys("training bench").weights, 77);
  const inputs = Matrix.zeros(rows, 1);
  for (let t = 0; t < rows; t++) inputs.data[t] = stream.uniform(0, t) / 2;
  const targets = Matrix.zeros(rows, 1);
  for (let t = 1; t < rows; t++) targets.data[t] = 0.3 * targets.data[t - 1]! + 0.5 * inputs.data[t]! * inputs.data[t - 1]! + 0.1;
  return { inputs, targets };
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(2);

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

const swept = (seeds: number, settings: number) => {
  const { inputs, targets } = series(2000);
  return {
    ...{ reservoir: { size: 200, connectionProbability: 0.1 }, inputs, targets, washout: 100, validation: 500 },
    seeds: Array.from({ length: seeds }, (_, i) => i + 1),
    settings: Array.from({ length: settings }, (_, i) => ({
      spectralRadius: 0.4 + (i % 25) / 25,
      leakRate: 0.1 + (0.9 * (i % 20)) / 20,
      inputScaling: 0.1 + (i % 7) / 5,
      lambda: 10 ** -(1 + (i % 9)),
    })),
  };
};

const sweep = (seeds: number, settings: number, profile = false) =>
  sweepReadouts({ ...swept(seeds, settings), engine: flags.engine, profile });

/** 1000 seeds x 100 settings: the whole, its parts, and how much of them overlapped. */
async function manySeeds(): Promise<void> {
  const seeds = Number(flags.seeds);
  for (const round of ["in a fresh process", "again"]) {
    const begun = performance.now();
    const name = flags.engine === "bench" ? "cuda" : flags.engine;
    const { inputs, targets, ...rest } = swept(seeds, 100);
    const data = { inputs: inputs.data, targets: targets.data };
    const { profile, best, scores } = await built.sweepReadouts({ ...rest, ...data, engine: name, profile: true });
    const whole = performance.now() - begun;
    const took = (clock: string) => profile!.phases.filter((phase) => phase.clock === clock);
    const sum = (phases: ReturnType<typeof took>) => phases.reduce((total, { milliseconds }) => total + milliseconds, 0);
    const words = (phases: ReturnType<typeof took>) =>
      phases.map(({ phase, milliseconds }) => `${phase} ${(milliseconds / 1000).toFixed(2)} s`).join(", ");
    const [host, device] = [took("host"), [...took("device"), ...took("simulated")]];
    const drawing = host.find(({ phase }) => phase === "draw")!.milliseconds;
    const together = Math.max(0, drawing + sum(device) - whole);
    const valid = scores.data.filter((score) => !Number.isNaN(score)).length;
    console.log(
      `${seeds} seeds x 100 settings, N=200, p=0.1, T=2000, each trained and scored, ${round}: ${(whole / 1000).toFixed(2)} s\n` +
        `  host, radii summed over their threads (${availableParallelism()} cores): ${words(host)}\n` +
        `  device ${(sum(device) / 1000).toFixed(2)} s: ${words(device)}\n` +
        `  drawing and device beside each other: ${(together / 1000).toFixed(2)} s or more\n` +
        `  best NRMSE ${Math.sqrt(best.score).toExponential(3)} of ${valid} scores\n` +
        `  ${profile!.plan.summary}`,
    );
  }
}

if (flags.mark) {
  await manySeeds();
  engine.close();
  process.exit();
}

let start = performance.now();
const cold = await sweep(20, 500);
console.log(
  `10,000 reservoirs of N=200, p=0.1, T=2000, each trained and scored: ${seconds(start)} s with the device opened and kernels loaded`,
);
start = performance.now();
const { best, scores } = await sweep(20, 500);
const valid = scores.data.filter((score) => !Number.isNaN(score)).length;
console.log(`the same again: ${seconds(start)} s; best NRMSE ${Math.sqrt(best.score).toExponential(3)} of ${valid} scores`);
const same = Buffer.from(scores.data.buffer).equals(Buffer.from(cold.scores.data.buffer));
console.log(`both times the same bits: ${same}`);
const { profile } = await sweep(20, 500, true);
const phases = profile!.phases.map(({ phase, milliseconds, bytes }) => {
  const moved = bytes === undefined ? "" : ` (${(bytes / 2 ** 20).toFixed(0)} MiB)`;
  return `${phase} ${milliseconds.toFixed(1)} ms${moved}`;
});
console.log(`by events, of ${profile!.milliseconds.toFixed(0)} ms for the members: ${phases.join(", ")}; ${profile!.plan.summary}`);
const single = { size: 200, connectionProbability: 0.1 };
const { seed, setting } = best;
const check = { reservoir: single, seeds: [seed], settings: [setting], ...series(2000), washout: 100, validation: 500 };
const reference = await sweepReadouts({ ...check, engine: "cpu" });
console.log(`the best member has the CPU engine's score, bit for bit: ${Object.is(reference.best.score, best.score)}`);

await manySeeds();

const long = series(1_000_000);
// A device opened anew: its pool and its free memory tell only of this work.
engine.close();
for (const size of [1000]) {
  const free = engine.context().memoryInfo().free;
  start = performance.now();
  await using computer = await ReservoirComputer.create(
    { size, connectionProbability: 0.1, storage: "dense", seed: 1 },
    { engine: "bench" },
  );
  const made = seconds(start);
  const context = engine.context();
  start = performance.now();
  const trainer = ridge({ lambda: 1e-6 });
  const sink = trainer.accumulator({ stateSize: size, inputSize: 1, outputSize: 1 });
  let least = free;
  await computer.train(long.inputs, long.targets, sink, {
    washout: 1000,
    onProgress: () => {
      least = Math.min(least, context.memoryInfo().free);
    },
  });
  const trained = seconds(start);
  const readout = trainer.solve(sink);
  const { usedHigh, reservedHigh } = context.poolStatistics();
  console.log(
    `training N=${size}, T=1,000,000, one output: ${trained} s to the sums, ${seconds(start)} s to the readout (weights drawn before in ${made} s); ` +
      `plan "${computer.engine.plan.summary}"; device memory, as the driver counts it: ${mebibytes(usedHigh)} in use at most, ` +
      `${mebibytes(reservedHigh)} reserved by the pool, ${mebibytes(free - least)} less free on the device than before; ` +
      `first weight ${readout.weights.data[0]}`,
  );
  const blas = libraries();
  if (!blas) continue;
  computer.reset();
  start = performance.now();
  const other = ridge({ lambda: 1e-6, blas });
  const sums = other.accumulator({ stateSize: size, inputSize: 1, outputSize: 1 });
  await computer.train(long.inputs, long.targets, sums, { washout: 1000 });
  const summed = seconds(start);
  const near = other.solve(sums);
  const differences = near.weights.data.map((weight, i) => Math.abs(weight - readout.weights.data[i]!));
  console.log(
    `the same by ${blas.library}: ${summed} s to the sums, ${seconds(start)} s to the readout; weights differ by ${Math.max(...differences).toExponential(1)} at most, of ${Math.max(...readout.weights.data.map(Math.abs)).toPrecision(3)}`,
  );
  sums.dispose();
  blas.dispose();
}

/** cuBLAS and cuSOLVER, or undefined with a word if they are not installed. */
function libraries(): DeviceBlas | undefined {
  try {
    return new DeviceBlas(engine.context());
  } catch (error) {
    if (!(error instanceof LibraryError)) throw error;
    console.log(`not by libraries: ${error.message.split("\n")[0]}`);
    return undefined;
  }
}
engine.close();
