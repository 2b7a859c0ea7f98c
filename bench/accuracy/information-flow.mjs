// informationFlow with its defaults: how often it reports a flow between series that have nothing
// to do with each other (at most 5 %), and how often it names who drives whom. A chain of series by
// each estimator, pairs alone and given the others. And the effective bits of a lag at which there
// is nothing to find, where the source is tied to the target's past.
import { informationFlow, transferEntropy, transferEntropyMatrix } from "spillway/analysis";
import { Matrix, RandomStream, seedKeys } from "spillway/numerics";

const transient = 500;

/** T x C series by x(t) = step(x(t-1), normals(t)), from zeros. */
function simulate(seed, rows, cols, step) {
  const draws = new RandomStream(seedKeys(seed).weights, 0);
  const out = Matrix.zeros(rows, cols);
  let state = new Float64Array(cols);
  for (let t = 0; t < transient + rows; t++) {
    state = step(
      state,
      state.map((_, c) => draws.normal(c, t)),
    );
    if (t >= transient) out.row(t - transient).set(state);
  }
  return out;
}
const autoregressive = (coefficients) => (x, e) => x.map((value, c) => coefficients[c] * value + e[c]);
const driven = (a, b, coupling) => (x, e) => Float64Array.of(a * x[0] + e[0], b * x[1] + coupling * x[0] + e[1]);
const flows = (series, options) => informationFlow(transferEntropyMatrix(series, options));
const percent = (count, of) => `${((100 * count) / of).toFixed(1)} %`;

let failed = false;
let reported = 0;
let pairs = 0;
console.log("independent AR(1) pairs, 200 a row and length: share reported (bar 5 % of all)");
for (const coefficients of [
  [0, 0],
  [0.3, 0.3],
  [0.6, 0.6],
  [0.9, 0.9],
  [0.98, 0.98],
  [0.3, 0.95],
]) {
  const shares = [200, 1000, 4000].map((rows) => {
    let found = 0;
    for (let i = 0; i < 200; i++) found += flows(simulate(`independent ${i}`, rows, 2, autoregressive(coefficients))).length > 0;
    reported += found;
    pairs += 200;
    return `T=${rows} ${percent(found, 200).padStart(6)}`;
  });
  console.log(`  ${coefficients.join(" and ").padEnd(13)} ${shares.join("   ")}`);
}
failed ||= reported > 0.05 * pairs;
console.log(`  all ${pairs}: ${percent(reported, pairs)}`);

let any = 0;
for (let i = 0; i < 100; i++) any += flows(simulate(`columns ${i}`, 1000, 5, autoregressive([0.3, 0.5, 0.7, 0.9, 0.95]))).length > 0;
failed ||= any > 10;
console.log(`five independent columns, T=1000: a flow in ${any} of 100 matrices (bar 5, within two standard errors)`);

console.log(
  "x(t) = a x(t-1) + e, y(t) = b y(t-1) + c x(t-1) + e: ten times 20 series, named rightly in each twenty (bar 19), the other way too in all",
);
for (const [a, b, c, rows] of [
  [0.3, 0.9, 0.3, 1000],
  [0.9, 0.9, 0.3, 1000],
  [0.95, 0.5, 0.2, 1000],
  [0.3, 0.9, 0.3, 4000],
  [0.3, 0.9, 0.3, 300],
]) {
  let wrong = 0;
  const right = Array.from({ length: 10 }, (_, group) => {
    let count = 0;
    for (let i = 0; i < 20; i++) {
      const found = flows(simulate(`driven ${group} ${i}`, rows, 2, driven(a, b, c)));
      if (found.some(({ from }) => from === 0)) count++;
      if (found.some(({ from }) => from === 1)) wrong++;
    }
    return count;
  });
  failed ||= rows === 1000 && Math.min(...right) < 19;
  console.log(`  a=${a} b=${b} c=${c} T=${rows}: ${right.join(" ")}; y->x ${wrong} of 200`);
}

console.log("a chain 0 -> 1 -> 2 (weights .4, own pasts .7 .6 .5) and a series beside it (.9), T=1000: share of sets that report");
const chain = (x, e) =>
  Float64Array.of(0.7 * x[0] + e[0], 0.6 * x[1] + 0.4 * x[0] + e[1], 0.5 * x[2] + 0.4 * x[1] + e[2], 0.9 * x[3] + e[3]);
for (const [name, sets, options] of [
  ["binned", 40, {}],
  ["Gaussian", 200, { estimator: "gaussian" }],
  ["Gaussian, given the others", 200, { estimator: "gaussian", given: "others" }],
  ["nearest neighbours", 10, { estimator: "nearestNeighbours" }],
  ["nearest neighbours, given the others", 10, { estimator: "nearestNeighbours", given: "others" }],
]) {
  const matrices = Array.from({ length: sets }, (_, i) => transferEntropyMatrix(simulate(`chain ${i}`, 1000, 4, chain), options));
  for (const correction of ["holm", "falseDiscovery"]) {
    const times = new Map();
    for (const matrix of matrices) {
      for (const { from, to } of informationFlow(matrix, { correction })) times.set(`${from}${to}`, (times.get(`${from}${to}`) ?? 0) + 1);
    }
    const share = (which) => percent(times.get(which) ?? 0, sets);
    const others = Math.max(0, ...[...times].filter(([which]) => !["01", "12", "02"].includes(which)).map(([, count]) => count));
    console.log(
      `  ${name}, ${correction}, ${sets} sets: 0->1 ${share("01")}, 1->2 ${share("12")}, 0->2 ${share("02")}, any other at most ${percent(others, sets)}`,
    );
  }
}

console.log(
  "y(t) = .5 y(t-1) + .6 x(t-2) + e asked at lag 3, where the truth is 0: effective bits of 50 series, mean and standard deviation",
);
for (const bins of [undefined, 4, 8, 16]) {
  const found = Array.from({ length: 50 }, (_, i) => {
    const draws = new RandomStream(seedKeys(`lag ${i}`).weights, 0);
    const x = Float64Array.from({ length: 1000 }, (_, t) => draws.normal(0, t));
    const y = new Float64Array(1000);
    for (let t = 1; t < 1000; t++) y[t] = 0.5 * y[t - 1] + 0.6 * (x[t - 2] ?? 0) + draws.normal(1, t);
    return transferEntropy(x, y, { lag: 3, bins, surrogates: 0 });
  });
  const statistics = (values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) };
  };
  const { mean, deviation } = statistics(found.map(({ effectiveBits }) => effectiveBits));
  const raw = statistics(found.map(({ bits }) => bits)).mean;
  failed ||= Math.abs(mean) > 0.02;
  console.log(`  bins ${bins ?? "by default"}: ${mean.toFixed(4)} +- ${deviation.toFixed(4)} (as counted ${raw.toFixed(4)})`);
}
if (failed) process.exitCode = 1;
