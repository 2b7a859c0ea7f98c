// A scripted spike experiment: patterns of three types that come twice, jittered, thinned and in
// noise, told apart by a liquid. It runs on the first GPU, or on the simulated device if there is
// none, with the same scores.
import { tmpdir } from "node:os";
import { type ExperimentInput, runExperiment } from "spillway/experiment";
import { probe } from "spillway/gpu";

const experiment: ExperimentInput = {
  name: "scripted-spikes",
  data: {
    patterns: { types: ["synchronous", "rhythmic", "poisson"], count: 12, neuronCount: 20, durationMs: 100, seed: 1 },
    schedule: { startMs: 20, times: 2, gapMs: 30 },
    jitter: { standardDeviationMs: 2 },
    thin: { dropProbability: 0.1 },
    noise: { rateHz: 5 },
  },
  liquid: { size: 60, stateTimeConstant: 30 },
  task: { type: "classify" },
  split: { train: 0.7 },
};
const { result, folder } = await runExperiment(experiment, { engine: probe().available ? "cuda" : "sim", profile: true, out: tmpdir() });
for (const { metric, value } of result.scores) console.log(`${metric}: ${value.toPrecision(3)}`);
console.log(`kernels: ${Object.keys(result.profile?.device?.kernels ?? {}).join(", ")}\nreport: ${folder}/report.html`);
