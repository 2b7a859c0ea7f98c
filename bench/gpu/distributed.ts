// Work that is distributed over several GPUs beside one GPU alone: the members of an ensemble, the sequences
// of a batch, the candidates of a sweep, the sequences of a liquid; seconds of whole calls from
// JavaScript, and whether the results have the same bits.
// Usage: npx tsx bench/gpu/distributed.ts [--engine cuda:all] [--small] [TEXT...], for the cases whose names
// have one of these texts; --small is for simulated devices. Of the build (npm run build), whose sweeps
// draw in threads
import { parseArgs } from "node:util";
import { Matrix, narma, ReservoirComputer, ReservoirEnsemble, sweepReadouts } from "spillway";
import "spillway/gpu";
import { filled } from "./filled-models.js";

const { values: flags, positionals: only } = parseArgs({
  allowPositionals: true,
  options: { engine: { type: "string", default: "cuda:all" }, small: { type: "boolean" } },
});
const several = flags.engine;
const alone = several.replace(/:.*/, ":0");
const large = <T>(hardware: T, simulated: T): T => (flags.small ? simulated : hardware);
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Opens the work on an engine; what it gives back does it once, and gives its results as numbers. */
type Work = (engine: string) => Promise<{ run: () => Promise<readonly ArrayLike<number>[]>; end: () => Promise<void> }>;

/** Series of so many steps, each a step further into the same numbers. */
function manySeries(count: number, steps: number): Matrix[] {
  const values = filled(steps + count, 1);
  return Array.from({ length: count }, (_, k) => new Matrix(steps, 1, values.subarray(k, k + steps)));
}
const data = (matrices: readonly Matrix[]) => matrices.map((matrix) => matrix.data);

const ensemble =
  ([count, steps]: readonly [number, number]): Work =>
  async (engine) => {
    const size = large(300, 20);
    const configs = Array.from({ length: count }, (_, seed) => ({ size, inputSize: 1, spectralRadius: null, seed }));
    const members = await ReservoirEnsemble.create(configs, { engine });
    const inputs = manySeries(1, steps)[0]!;
    return { run: async () => data(await members.run(inputs, { keep: "last" })), end: () => members.dispose() };
  };

const batch =
  (config: object, [count, steps]: readonly [number, number]): Work =>
  async (engine) => {
    const computer = await ReservoirComputer.create({ inputSize: 1, seed: 1, ...config }, { engine });
    const sequences = manySeries(count, steps);
    return { run: async () => data((await computer.batch(sequences, { keep: "last" })) as Matrix[]), end: () => computer.dispose() };
  };

const sweep =
  ([seedCount, steps]: readonly [number, number]): Work =>
  async (engine) => {
    const [size, settingCount] = large([300, 66], [20, 2]) as [number, number];
    const { inputs, targets } = narma(steps, { seed: 1 });
    const seeds = Array.from({ length: seedCount }, (_, s) => s);
    const settings = Array.from({ length: settingCount }, (_, i) => ({ spectralRadius: 0.3 + (0.9 * i) / settingCount }));
    const work = { reservoir: { size, radiusMethod: "circularLaw" as const }, seeds, settings, inputs, targets };
    const run = async () => {
      const { scores } = await sweepReadouts({ ...work, washout: steps / 10, validation: steps / 4, engine });
      return [scores.data];
    };
    return { run, end: async () => undefined };
  };

const dense = (size: number) => ({ size: large(size, 20), connectionProbability: 1, radiusMethod: "circularLaw" });

/**
 * Of each kind what takes a device a tenth of a second, and what keeps four busy: 16 members a
 * multiprocessor, and of a batch whole rounds of tiles of 64 sequences.
 */
const cases: readonly (readonly [name: string, work: Work])[] = [
  ["ensemble, 1056 members of N=300, 10,000 steps", ensemble(large([1056, 10_000], [6, 10]))],
  ["ensemble, 1056 members of N=300, 100,000 steps", ensemble(large([1056, 100_000], [6, 20]))],
  ["ensemble, 2112 members of N=300, 50,000 steps", ensemble(large([2112, 50_000], [8, 15]))],
  ["batch, 2112 sequences of 2000 steps, N=500", batch(dense(500), large([2112, 2000], [6, 10]))],
  ["batch, 4096 sequences of 4000 steps, N=500", batch(dense(500), large([4096, 4000], [8, 12]))],
  ["batch, 2112 sequences of 1000 steps, N=2000", batch(dense(2000), large([2112, 1000], [6, 5]))],
  ["batch, 4096 sequences of 1000 steps, N=2000", batch(dense(2000), large([4096, 1000], [8, 5]))],
  ["sweep, 32 seeds by 66 settings, N=300, 4000 steps", sweep(large([32, 4000], [2, 60]))],
  ["sweep, 32 seeds by 66 settings, N=300, 40,000 steps", sweep(large([32, 40_000], [2, 80]))],
  ["sweep, 96 seeds by 66 settings, N=300, 40,000 steps", sweep(large([96, 40_000], [3, 80]))],
  ["liquid, 1056 sequences of 1000 steps, 1000 neurons", batch({ kind: "spiking", size: large(1000, 20) }, large([1056, 1000], [4, 10]))],
];

async function measure(work: Work, engine: string) {
  const { run, end } = await work(engine);
  try {
    const times: number[] = [];
    let results: readonly ArrayLike<number>[] = [];
    for (let round = 0; round < 4; round++) {
      const begun = performance.now();
      results = await run();
      if (round > 0) times.push((performance.now() - begun) / 1000);
    }
    return { seconds: median(times), results };
  } finally {
    await end();
  }
}

const sameBits = (a: readonly ArrayLike<number>[], b: readonly ArrayLike<number>[]): boolean =>
  a.length === b.length && a.every((values, k) => Array.prototype.every.call(values, (value: number, i) => Object.is(value, b[k]![i])));

console.log(`${alone} and ${several}; seconds of a call, medians of 3\n`);
console.log("| work | one | all | times one's speed | bits |\n|---|---|---|---|---|");
for (const [name, work] of cases) {
  if (only.length > 0 && !only.some((text) => name.includes(text))) continue;
  try {
    const one = await measure(work, alone);
    const all = await measure(work, several);
    const equal = sameBits(one.results, all.results);
    if (!equal) process.exitCode = 1;
    const faster = (one.seconds / all.seconds).toFixed(2);
    console.log(`| ${name} | ${one.seconds.toFixed(3)} | ${all.seconds.toFixed(3)} | ${faster} | ${equal ? "equal" : "DIFFERENT"} |`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`| ${name} | ${(error as Error).message.slice(0, 300)} | | | |`);
  }
}
