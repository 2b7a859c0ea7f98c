// Task "detect": one seed whose templates are the mean states of labelled sequences, and what other
// sequences are most like. Nothing is trained but the means.
import { dirname, join } from "node:path";
import { Matrix } from "@spillway/numerics";
import { confusionMatrix } from "../../metrics/index.js";
import { noLabel } from "../../metrics/metric.js";
import { saveReservoir } from "../../model/index.js";
import { plotConfusion, plotStateHeatmap } from "../../plot/index.js";
import { selectionOf } from "../../reservoir/computer-options.js";
import { type AnyReservoirComputer, ReservoirComputer, type SpikingModel } from "../../reservoir/index.js";
import { PatternTemplates } from "../../spikes/index.js";
import { encoded } from "../data/encode.js";
import type { CaseData, Cases } from "../data/experiment-data.js";
import { columnMeans, stackRows } from "../data/rows.js";
import type { DetectTask, Experiment } from "../description/description.js";
import { describeTypes, typesIn } from "../description/pattern-types.js";
import { firstCases, saveCaseStates, scoreBaselines, stratifiedSplit } from "./classify.js";
import { scoreClasses } from "./scores.js";
import { radiusOf, StagedProgress, Stopwatch, type Trial, type TrialOptions } from "./trial.js";

export async function runDetection(
  experiment: Experiment & { readonly task: DetectTask },
  data: CaseData,
  options: TrialOptions,
): Promise<Trial> {
  const { task, metrics } = experiment;
  const { seed, profile, signal } = options;
  const watch = new Stopwatch();
  const parts = data.test ? { train: data.train, test: data.test } : stratifiedSplit(experiment, data.train, seed);
  const { train, test } = await watch.time("encode", async () => encoded(experiment, parts, data));
  const progress = new StagedProgress(options.onProgress, train.sequences.length + test.sequences.length);
  const inputSize = train.sequences[0]!.cols;
  const computer = await ReservoirComputer.create({ ...experiment.reservoir, inputSize, seed } as typeof experiment.reservoir, {
    ...selectionOf(options),
    profile,
  });
  try {
    const states = (cases: Cases) => caseStates(computer, cases, task.state, signal, progress.stage(cases.sequences.length));
    const templates = await watch.time("train", async () => learn(await states(train), train.labels, task.threshold));
    const found = await watch.time("test", async () => (await states(test)).map((state) => templates.matchVector(state).label ?? noLabel));
    const types = task.types
      ? await watch.time("types", () => typesIn(computer as ReservoirComputer<SpikingModel>, test, signal))
      : undefined;
    const scores = scoreClasses(test.labels, found, metrics, experiment.scoring);
    const shown = firstCases(test.sequences);
    const classes = found.includes(noLabel) ? [...data.classes, noLabel] : [...data.classes];
    const counted = confusionMatrix(test.labels, found, classes);
    return {
      engine: computer.engine,
      reservoir: computer.config,
      ...radiusOf(computer.model),
      readout: {
        method: "templates",
        rows: train.labels.length,
        details: { threshold: task.threshold, templates: templates.labels.length, types },
      },
      scores,
      baselines: scoreBaselines(experiment, train.labels, test.labels),
      confusion: counted,
      timing: watch.seconds,
      profile: computer.profile,
      summary: `detection of ${templates.labels.length} templates in ${test.labels.length} sequences, learned from ${train.labels.length}; ${task.state} state, threshold ${task.threshold}${types ? `; types in the spikes: ${describeTypes(types)}` : ""}`,
      figures: options.withFigures
        ? [
            plotConfusion(
              counted.counts.map((row) => [...row]),
              classes,
            ),
            plotStateHeatmap(stackRows(await computer.batch(shown)), {
              title: "States over the first test sequences, one after the other",
              centred: true,
            }),
          ]
        : [],
      unit: () => undefined,
      async save(path) {
        await saveReservoir(path, computer);
        await templates.save(join(dirname(path), "templates.safetensors"));
        return ["templates.safetensors"];
      },
      saveStates: (folder, every, stop) => saveCaseStates(computer, test.sequences, folder, every, stop),
      dispose: () => computer.dispose(),
    };
  } catch (error) {
    await computer.dispose();
    throw error;
  }
}

/** The last or the mean state of each case, N values in binary32. */
async function caseStates(
  computer: AnyReservoirComputer,
  { sequences }: Cases,
  which: DetectTask["state"],
  signal: AbortSignal,
  onCases: (done: number) => void,
): Promise<Float32Array[]> {
  const found: Float32Array[] = [];
  for (const [b, sequence] of sequences.entries()) {
    const [states] = await computer.batch([sequence], { keep: which === "last" ? "last" : "all", signal });
    found.push(Float32Array.from(which === "last" ? states!.data : columnMeans(states!)));
    onCases(b + 1);
  }
  return found;
}

/** One template a label, the mean of its states, in the order in which labels first occur. */
function learn(states: readonly Float32Array[], labels: readonly string[], threshold: number): PatternTemplates {
  const names = [...new Set(labels)];
  const channels = states[0]!.length;
  const rows = names.map((name) => {
    const own = states.filter((_, b) => labels[b] === name);
    return columnMeans(new Matrix(own.length, channels, Float64Array.from(own.flatMap((state) => [...state]))));
  });
  return new PatternTemplates(names, rows, { bins: 1, channels, threshold });
}
