// Chooses the settings of NARMA-10 for each size among 72, the spectral radius being the
// literature's: for seeds 100 to 109, which draw series and network and are scored by nothing else,
// a ridge readout is fitted on rows 200 to 1699 and scored on rows 1700 to 2199. The smallest mean
// NRMSE wins; the winners stand in examples/experiments/narma10.yaml and series.mjs.
// Usage: node bench/accuracy/choose-narma.mjs [ENGINE]
import { narma, sweepReadouts } from "spillway";

const grid = { inputScaling: [0.02, 0.05, 0.1, 0.2, 0.3, 0.5], bias: [0, 0.1, 0.2, 0.4], lambda: [1e-6, 1e-8, 1e-10] };
const seeds = 10;

const settings = Object.entries(grid).reduce(
  (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
  [{}],
);
for (const size of [100, 200, 400]) {
  const sums = new Float64Array(settings.length);
  for (let seed = 100; seed < 100 + seeds; seed++) {
    const { inputs, targets } = narma(2200, { seed });
    const { scores } = await sweepReadouts({
      ...{ reservoir: { size, connectionProbability: 0.1, spectralRadius: 0.95, leakRate: 1 }, seeds: [seed], settings },
      ...{ inputs, targets, washout: 200, validation: 500, engine: process.argv[2] ?? "cpu" },
    });
    scores.data.forEach((score, i) => {
      sums[i] += Math.sqrt(score);
    });
  }
  const ranked = settings.map((setting, i) => ({ setting, score: sums[i] / seeds })).sort((a, b) => a.score - b.score);
  console.log(`N=${size}, ${settings.length} settings, mean NRMSE of ${seeds} seeds on rows 1700 to 2199:`);
  for (const { setting, score } of ranked.slice(0, 5)) console.log(`${score.toFixed(4)} ${JSON.stringify(setting)}`);
}
