// An experiment in a program: an object of the shape of an experiment file is run over three seeds,
// its scores are typed, and its folder is read again.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Forecaster } from "spillway";
import { type ExperimentInput, readRun, runExperiment } from "spillway/experiment";

const experiment: ExperimentInput = {
  name: "mackey-glass-84",
  data: { task: "mackeyGlass" },
  reservoir: { size: 150 },
  readout: { lambda: 1e-6 },
  task: { type: "forecast", horizon: 84, starts: 5 },
  split: { train: 1500, test: 500 },
  seeds: 3,
  outputs: { report: false },
};

const out = await mkdtemp(join(tmpdir(), "spillway-example-"));
const { result, folder } = await runExperiment(experiment, {
  out,
  signal: AbortSignal.timeout(60_000),
  onProgress: (done, total, label) => {
    if (done === total) console.log(`${label}: done`);
  },
});
for (const { metric, value, statistic, seeds, unit } of result.scores)
  console.log(`${metric}: ${value.toPrecision(3)} ${unit ?? ""} (${statistic} of ${seeds} seeds)`);

const read = await readRun(folder);
console.log(`read again: ${read.scores[0]!.metric} ${read.scores[0]!.value.toPrecision(3)}, files ${read.files.join(", ")}`);
await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
console.log(`the model of the first seed goes on: ${(await forecaster.forecast(1)).data[0]!.toFixed(4)}`);
await rm(out, { recursive: true });
