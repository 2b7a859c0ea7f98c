// Work that is dealt to several GPUs beside one GPU alone: the members of an ensemble, the sequences
// of a batch, the candidates of a sweep, the sequences of a liquid; seconds of whole calls from
// JavaScript, and whether the results have the same bits.
// Usage: npx tsx bench/gpu/dealt.ts [--engine cuda:all] [--small] [TEXT...], for the cases whose names
// have one of these texts; --small is for simulated devices
import { parseArgs } from "node:util";
import { Matrix, narma, ReservoirComputer, ReservoirEnsemble, sweepReadouts } from "../../src/index.js";
import "../../src/sim/index.js";
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

const series = (steps: number, k: number) => new Matrix(steps, 1, filled(steps + k, 1).subarray(k));
const data = (matrices: readonly Matrix[]) => matrices.map((matrix) => matrix.data);

const ensemble =
  (steps: number): Work =>
  async (engine) => {
    const [count, size] = large([1056, 300], [6, 20]) as [number, number];
    const configs = Array.from({ length: count }, (_, seed) => ({ size, inputSize: 1, spectralRadius: null, seed }));
    const members = await ReservoirEnsemble.create(configs, { engine });
    const inputs = series(steps, 0);
    return { run: async () => data(await members.run(inputs, { keep: "last" })), end: () => members.dispose() };
  };

const batch =
  (config: object, [count, steps]: readonly [number, number]): Work =>
  async (engine) => {
    const computer = await ReservoirComputer.create({ inputSize: 1, seed: 1, ...config }, { engine });
    const sequences = Array.from({ length: count }, (_, k) => series(steps, k));
    return { run: async () => data((await computer.batch(sequences, { keep: "last" })) as Matrix[]), end: () => computer.dispose() };
  };

const sweep =
  (steps: number): Work =>
  async (engine) => {
    const [size, seedCount, settingCount] = large([300, 32, 66], [20, 2, 2]) as [number, number, number];
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

/** Each kind of work once more with more for the devices in a call. */
const cases: readonly (readonly [name: string, work: Work])[] = [
  ["ensemble, 1056 members of N=300, 10,000 steps", ensemble(large(10_000, 10))],
  ["ensemble, 1056 members of N=300, 100,000 steps", ensemble(large(100_000, 20))],
  ["batch, 2112 sequences of 2000 steps, N=500", batch(dense(500), large([2112, 2000], [6, 10]))],
  ["batch, 2112 sequences of 1000 steps, N=2000", batch(dense(2000), large([2112, 1000], [6, 5]))],
  ["sweep, 32 seeds by 66 settings, N=300, 4000 steps", sweep(large(4000, 60))],
  ["sweep, 32 seeds by 66 settings, N=300, 40,000 steps", sweep(large(40_000, 80))],
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
