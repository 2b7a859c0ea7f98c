// Information processing capacity of echo state networks beside the published table: Kubota,
// Takahashi and Nakajima 2021, Physical Review Research 3, 043135, as printed by the notebook
// sample1_esn of github.com/kubota0130/ipc (T = 1,000,000). Same network and input: NumPy's
// RandomState(0). Needs a build.
//   node bench/accuracy/information-capacity.mjs [T] [degrees, 1 to 5] [radii] [engine]
import { ReservoirComputer } from "spillway";
import { informationCapacity, spectralRadius } from "spillway/analysis";
import { Matrix } from "spillway/numerics";

const length = Number(process.argv[2] ?? 100_000);
const degrees = (process.argv[3] ?? "1,3").split(",").map(Number);
const radii = (process.argv[4] ?? "0.1,0.9").split(",").map(Number);
const engine = process.argv[5] ?? "cpu";
const longest = { 1: 2000, 2: 300, 3: 50, 4: 30, 5: 15 };
const published = {
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
 * Of degree 1 at T = 1,000,000: 1.2 times the largest of the inputs shuffled by NumPy's seeds 0 to
 * 199, as published (computed once with NumPy). A noise target of .1 lies just above it.
 */
const publishedThreshold = { 0.1: 4.47e-5, 0.9: 9.63e-5 };

/** NumPy's RandomState(seed).rand(): the Mersenne Twister (Matsumoto and Nishimura 1998), 53 bits. */
function randomState(seed) {
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
const many = (count) => Float64Array.from({ length: count }, () => weightDraws());
const masked = (count, share) => {
  const values = many(count);
  const chosen = many(count);
  return values.map((value, i) => (chosen[i] < share ? 2 * value - 1 : 0));
};
const inputWeights = masked(size, 0.1).map((value) => 0.1 * value);
const weights = masked(size * size, 0.5);
const { radius } = await spectralRadius(new Matrix(size, size, weights), { method: "dense" });
const inputDraws = randomState(0);
const inputs = new Matrix(
  washout + length,
  1,
  Float64Array.from({ length: washout + length }, () => 2 * inputDraws() - 1),
);
console.log(`T = ${length}; first inputs ${inputs.data.slice(0, 3).join(", ")}`);
for (const scale of radii) {
  const matrices = {
    weights: new Matrix(
      size,
      size,
      weights.map((value) => (scale * value) / radius),
    ),
    inputWeights,
  };
  const computer = await ReservoirComputer.create({ size, precision: "float64", leakRate: 1 }, { matrices, engine });
  const there = published[scale];
  for (const degree of degrees) {
    for (const threshold of [(degree === 1 && length === 1e6 && publishedThreshold[scale]) || "surrogate", "chiSquared"]) {
      const began = performance.now();
      // A delay there counts one more: the input of a moment reaches its state of the next.
      const options = { inputs, washout, amplitude: 1, degrees: [[degree, longest[degree] - 1]], threshold };
      const { rank, byDegree } = await informationCapacity(computer, options);
      const [{ capacity, counted, targets, belowThreshold }] = byDegree;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.log(
        `radius ${scale}, rank ${rank} (published ${there?.[0]}), degree ${degree}, ${threshold}: ${capacity.toFixed(6)} ` +
          `(published ${there?.[degree]}), ${counted} of ${targets} targets, ${belowThreshold.toFixed(3)} below; ${seconds} s`,
      );
    }
  }
  await computer.dispose();
}
