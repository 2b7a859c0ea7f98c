// Runs the text of an experiment file by the command, in a folder of each test's own.
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach } from "vitest";
import { type RunCommandOptions, run } from "../../src/cli/commands/run.js";
import { silent } from "../../src/cli/progress.js";
import type { ExperimentResult } from "../../src/experiment/runs/result.js";

export const predict = `name: small
data: { task: narma, length: 700, options: { seed: 3 } }
transforms: []
reservoir: { size: 40, spectralRadius: 0.95, leakRate: 1, inputScaling: 0.1, bias: 0.2 }
readout: { type: ridge, lambda: 1.0e-8 }
task: predict
split: { train: 500, test: 200 }
seeds: [1, 2]
baselines: []
outputs: { report: false, refit: false }
`;
export const forecast = `name: small
data: { task: mackeyGlass }
reservoir: { size: 60, leakRate: 0.5 }
readout: { type: ridge, lambda: 1.0e-6 }
task: { type: forecast, horizon: 20, starts: 3, warmup: 100 }
split: { train: 600, test: 200 }
seed: 1
baselines: [persistence, mean]
outputs: { report: false, refit: false }
`;

/** What runs experiments in a folder that is new in each test of the file that calls this. */
export function runsInFolder() {
  let out = "";
  beforeEach(async () => {
    out = await mkdtemp(join(tmpdir(), "spillway-"));
  });
  return {
    /** The folder. */
    get out(): string {
      return out;
    },

    /** Runs the text of an experiment file; gives result.json and the command's text. */
    async runText(
      text: string,
      more: Partial<RunCommandOptions> = {},
    ): Promise<{ result: ExperimentResult; text: string; folder: string }> {
      const file = join(out, "small.yaml");
      await writeFile(file, text);
      const outcome = await run([file], { out, signal: new AbortController().signal, progress: silent, ...more });
      const folder = join(out, "small");
      return { result: JSON.parse(await readFile(join(folder, "result.json"), "utf8")) as ExperimentResult, text: outcome.text, folder };
    },
  };
}

export const scoresOf = (result: ExperimentResult) => result.seeds.map(({ scores }) => scores);
