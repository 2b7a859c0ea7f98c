// Information processing capacity of echo state networks beside the published table: Kubota,
// Takahashi and Nakajima 2021, Physical Review Research 3, 043135, as printed by the notebook
// sample1_esn of github.com/kubota0130/ipc (T = 1,000,000). Same network and input: NumPy's
// RandomState(0).
//   npx tsx bench/accuracy/information-capacity.ts [--length 1000000] [--degrees 1,2,3,4,5]
//     [--radii 0.1,...,1.2] [--engine cuda] [--no-surrogates]
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Matrix } from "../../packages/numerics/src/index.js";
import { chiSquaredAbove } from "../../src/analysis/chi-squared.js";
import { type InformationCapacity, informationCapacity, spectralRadius } from "../../src/analysis/index.js";
import { ReservoirComputer } from "../../src/index.js";

const { values: flags } = parseArgs({
  options: {
    length: { type: "string", default: "1000000" },
    degrees: { type: "string", default: "1,2,3,4,5" },
    radii: { type: "string", default: "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2" },
    engine: { type: "string", default: "cpu" },
    "no-surrogates": { type: "boolean" },
  },
});
const length = Number(flags.length);
const degrees = flags.degrees.split(",").map(Number);
const longest: Readonly<Record<number, number>> = { 1: 2000, 2: 300, 3: 50, 4: 30, 5: 15 };
/** Rank, and capacity by degree. */
const published: Readonly<Record<string, readonly number[]>> = {
  0.1: [16, 7.029249, 0.002185, 8.978062, 0.020804, 0.014891],
  0.2: [25, 9.978906, 0.000857, 15.02515, 0.027629, 0.023799],
  0.3: [32, 12.297258, 0.000452, 19.712491, 0.035003, 0.049413],
  0.4: [41, 14.85415, 0.000273, 26.16252, 0.043861, 0.067138],
  0.5: [49, 16.790953, 0.00051, 32.231956, 0.050172, 0.076114],
  0.6: [50, 18.268079, 0.00053, 31.755847, 0.064705, 0.067324],
  0.7: [50, 20.663888, 0, 29.371167, 0.037234, 0.061404],
  0.8: [50, 24.003067, 0.000801, 26.052809, 0.010078, 0.048191],
  0.9: [50, 27.453469, 0.000515, 22.671977, 0.008146, 0.049351],
  1: [50, 26.742621, 0.000395, 5.339677, 0.00397, 0.010487],
  1.1: [50, 12.065161, 0.003945, 0.000418, 0.001003, 0.00011],
  1.2: [50, 8.743362, 0.035005, 0.000773, 0.001576, 0.001155],
};

/**
 * Of the published protocol, T = 1,000,000: thresholds by partition, from shuffled inputs; and by
 * degree what it counts of targets with an input that the state has not heard yet.
 */
const protocol: Readonly<Record<string, { readonly thresholds: Readonly<Record<string, number>>; readonly unheard?: readonly number[] }>> =
  JSON.parse(readFileSync(new URL("information-capacity-thresholds.json", import.meta.url), "utf8"));

/** NumPy's RandomState(seed).rand(): the Mersenne Twister (Matsumoto and Nishimura 1998), 53 bits. */
function randomState(seed: number): () => number {
  const state = new Uint32Array(624);
  state[0] = seed;
  for (let i = 1; i < 624; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  let at = 624;
  const word = () => {
    if (at === 624) {
      for (let i = 0; i < 624; i++) {
        const y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff);
        state[i] = state[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
      }
      at = 0;
    }
    let y = state[at++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  return () => ((word() >>> 5) * 67108864 + (word() >>> 6)) / 9007199254740992;
}

const size = 50;
const washout = 9999;
const weightDraws = randomState(0);
const many = (count: number) => Float64Array.from({ length: count }, () => weightDraws());
const masked = (count: number, share: number) => {
  const values = many(count);
  const chosen = many(count);
  return values.map((value, i) => (chosen[i]! < share ? 2 * value - 1 : 0));
};
const inputWeights = new Matrix(
  size,
  1,
  masked(size, 0.1).map((value) => 0.1 * value),
);
const weights = masked(size * size, 0.5);
const { radius } = await spectralRadius(new Matrix(size, size, weights), { method: "dense" });
const inputDraws = randomState(0);
const inputs = new Matrix(
  washout + length,
  1,
  Float64Array.from({ length: washout + length }, () => 2 * inputDraws() - 1),
);
// A delay there counts one more: the input of a moment reaches its state of the next.
const asked = degrees.map((degree) => [degree, longest[degree]! - 1] as const);

/** What counts above the threshold of a target, by degree. */
function counted(all: InformationCapacity, threshold: (parts: string, degree: number) => number, bias: number): number[] {
  const sums = new Map(degrees.map((degree) => [degree, 0]));
  for (const { terms, capacity } of all.capacities) {
    const parts = terms.map(([degree]) => degree).sort((a, b) => b - a);
    const degree = parts.reduce((sum, part) => sum + part, 0);
    if (capacity > threshold(parts.join(","), degree)) sums.set(degree, sums.get(degree)! + capacity - bias * (1 - capacity));
  }
  return degrees.map((degree) => sums.get(degree)!);
}

console.log(`T = ${length}; first inputs ${inputs.data.slice(0, 3).join(", ")}\n`);
console.log(`| radius | rank | | ${degrees.map((degree) => `degree ${degree}`).join(" | ")} | total | seconds |`);
console.log(`|${"---|".repeat(degrees.length + 5)}`);
for (const scale of flags.radii.split(",")) {
  const scaled = weights.map((value) => (Number(scale) * value) / radius);
  const matrices = { weights: new Matrix(size, size, scaled), inputWeights };
  const { engine } = flags;
  await using computer = await ReservoirComputer.create({ size, precision: "float64", leakRate: 1 }, { matrices, engine });
  const measured = async (threshold: number | "surrogate") => {
    const began = performance.now();
    const found = await informationCapacity(computer, { inputs, washout, amplitude: 1, degrees: asked, threshold });
    return { found, seconds: ((performance.now() - began) / 1000).toFixed(1) };
  };
  const { found: all, seconds } = await measured(0);
  const { rank } = all;
  const row = (name: string, values: readonly number[], took = "") => {
    const total = values.reduce((sum, value) => sum + value, 0);
    console.log(`| ${[scale, rank, name, ...values.map((value) => value.toFixed(6)), total.toFixed(6), took].join(" | ")} |`);
  };
  const [there, ...table] = published[scale] ?? [];
  if (there !== undefined && there !== rank) console.log(`the published rank is ${there}`);
  row(
    "published",
    degrees.map((degree) => table[degree - 1]!),
  );
  const theirs = protocol[scale];
  if (length === 1e6 && theirs) {
    const values = counted(all, (parts) => theirs.thresholds[parts]!, 0);
    row("by its thresholds", values, seconds);
    const { unheard } = theirs;
    if (unheard)
      row(
        "and unheard inputs",
        values.map((value, k) => value + unheard[degrees[k]! - 1]!),
      );
  }
  if (!flags["no-surrogates"]) {
    const { found, seconds: took } = await measured("surrogate");
    row(
      "surrogates",
      found.byDegree.map(({ capacity }) => capacity),
      took,
    );
  }
  const targets = new Map(all.byDegree.map((each) => [each.degree, each.targets]));
  const quantiles = new Map(degrees.map((degree) => [degree, chiSquaredAbove(0.01 / targets.get(degree)!, rank) / length]));
  row(
    "chi-squared",
    counted(all, (_, degree) => quantiles.get(degree)!, rank / length),
  );
}
