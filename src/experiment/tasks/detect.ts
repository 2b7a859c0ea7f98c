// Task "detect": one seed whose templates are the mean states of labelled sequences, and what other
// sequences are most like. Nothing is trained but the means.

import { dirname, join } from "node:path";
import { orDispose } from "@spillway/core/disposal.js";
import { Matrix, stackRows } from "@spillway/numerics";
import { confusionMatrix } from "../../metrics/index.js";
import { noLabel } from "../../metrics/metric.js";
import { saveReservoir } from "../../model/index.js";
import { plotConfusion, plotStateHeatmap } from "../../plot/index.js";
import { selectionOf } from "../../reservoir/computer-options.js";
import { type AnyReservoirComputer, DeviceMatrix, ReservoirComputer, type SpikingModel } from "../../reservoir/index.js";
import type { EncodedCases } from "../../spikes/drive.js";
import { PatternTemplates } from "../../spikes/index.js";
import type { EncodedPart } from "../data/encode.js";
import type { CaseData } from "../data/experiment-data.js";
import type { DetectTask, Experiment } from "../description/description.js";
import { describeTypes, typesIn } from "../description/pattern-types.js";
import { encodedParts, firstCases, saveCaseStates, scoreBaselines } from "./classify.js";
import { scoreClasses } from "./scores.js";
import { radiusOf, type Trial, type TrialOptions } from "./trial.js";

export async function runDetection(
  experiment: Experiment & { readonly task: DetectTask },
  data: CaseData,
  options: TrialOptions,
): Promise<Trial> {
  const { task, metrics } = experiment;
  const { seed, profile, signal } = options;
  const { watch, train, test, progress } = await encodedParts(experiment, data, options);
  const described = { ...experiment.reservoir, inputSize: train.cases.columns, seed } as typeof experiment.reservoir;
  const computer = await ReservoirComputer.create(described, { ...selectionOf(options), profile });
  const run = async (): Promise<Trial> => {
    const states = ({ cases }: EncodedPart) => caseStates(computer, cases, task.state, signal, progress.stage(cases.count));
    const templates = await watch.time("train", async () => {
      using learnt = await states(train);
      return await learn(computer, learnt.vectors, train.labels, task.threshold);
    });
    const found = await watch.time("test", async () => {
      using tested = await states(test);
      return (await matches(computer, templates, tested.vectors)).map((label) => label ?? noLabel);
    });
    const types = task.types
      ? await watch.time("types", () => typesIn(computer as ReservoirComputer<SpikingModel>, test, signal))
      : undefined;
    const details = { threshold: task.threshold, templates: templates.labels.length, types };
    const scores = scoreClasses(test.labels, found, metrics, experiment.scoring);
    const shown = firstCases(test.cases);
    const classes = found.includes(noLabel) ? [...data.classes, noLabel] : [...data.classes];
    const counted = confusionMatrix(test.labels, found, classes);
    return {
      engine: computer.engine,
      reservoir: computer.config,
      ...radiusOf(computer.model),
      readout: { method: "templates", rows: train.labels.length, details },
      scores,
      baselines: scoreBaselines(experiment, train.labels, test.labels),
      confusion: counted,
      timing: watch.seconds,
      profile: computer.profile,
      summary: `detection of ${templates.labels.length} templates in ${test.labels.length} sequences, learned from ${train.labels.length}; ${task.state} state, threshold ${task.threshold}${types ? `; types in the spikes: ${describeTypes(types)}` : ""}`,
      figures: options.withFigures
        ? [
            plotConfusion(counted.counts, classes),
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
      saveStates: (folder, every, stop) => saveCaseStates(computer, test.cases.matrices(), folder, every, stop),
      dispose: () => computer.dispose(),
    };
  };
  return orDispose(computer, run);
}

/** A vector a case, B x N in binary32: on the device if its last states stay there. */
interface CaseStates extends Disposable {
  readonly vectors: Matrix<Float32Array> | DeviceMatrix;
}

/** The last or the mean state of each case, each case with the noise of the first. */
async function caseStates(
  computer: AnyReservoirComputer,
  cases: EncodedCases,
  which: DetectTask["state"],
  signal: AbortSignal,
  onCases: (done: number) => void,
): Promise<CaseStates> {
  const { size, noiseLevel } = computer.model;
  using rows = await cases.rows(computer);
  const { sequences } = rows;
  const there = thereOf(computer);
  if (there && noiseLevel === 0 && which === "last") {
    const kept = await computer.batch(sequences, { keep: "deviceLast", signal });
    onCases(cases.count);
    return {
      vectors: new DeviceMatrix(there.context, kept.values, { rows: cases.count, cols: size }),
      [Symbol.dispose]: () => kept.dispose(),
    };
  }
  const vectors = new Matrix(cases.count, size, new Float32Array(cases.count * size));
  const group = noiseLevel === 0 ? Math.max(1, cases.count) : 1;
  for (let b = 0; b < cases.count; ) {
    if (there && which === "mean") {
      const some = sequences.slice(b, b + group);
      const mean = { last: false, mean: true, washout: 0, given: Matrix.zeros(some.length, 0), signal };
      vectors.data.set((await computer.summarise(some, mean)!).data, b * size);
      b += some.length;
    } else {
      const [states] = await computer.batch([sequences[b]!], { keep: which === "last" ? "last" : "all", signal });
      vectors.row(b++).set(which === "last" ? states!.data : columnMeans(states!));
    }
    onCases(b);
  }
  return { vectors, [Symbol.dispose]: () => undefined };
}

/** The device on which templates are learnt and matched; undefined for the host. */
function thereOf({ context, deviceStream, canSummarise, model }: AnyReservoirComputer) {
  return context && deviceStream && canSummarise && model.precision === "float32" ? { context, stream: deviceStream } : undefined;
}

/** One template a label, the mean of its states, in the order in which labels first occur. */
async function learn(
  computer: AnyReservoirComputer,
  states: CaseStates["vectors"],
  labels: readonly string[],
  threshold: number,
): Promise<PatternTemplates> {
  const there = thereOf(computer);
  if (there && states instanceof DeviceMatrix)
    return (await import("../../spikes/gpu/index.js")).learnTemplatesThere(states, labels, { threshold, stream: there.stream });
  const vectors = states as Matrix<Float32Array>;
  const names = [...new Set(labels)];
  const rows = names.map((name) =>
    columnMeans(stackRows(labels.flatMap((label, b) => (label === name ? [vectors.subarray(b, b + 1)] : [])))),
  );
  return new PatternTemplates(names, rows, { bins: 1, channels: vectors.cols, threshold });
}

/** The label of each vector; undefined for one that is like no template. */
async function matches(computer: AnyReservoirComputer, templates: PatternTemplates, states: CaseStates["vectors"]) {
  const there = thereOf(computer);
  if (!there) {
    const vectors = states as Matrix<Float32Array>;
    return Array.from({ length: vectors.rows }, (_, b) => templates.matchVector(vectors.row(b)).label);
  }
  const { DeviceTemplates } = await import("../../spikes/gpu/index.js");
  using finder = new DeviceTemplates(there.context, templates, { stream: there.stream });
  return (await finder.matchVectors(states)).map(({ label }) => label);
}

/** The mean of each column, each value divided before it is added. */
function columnMeans({ rows, cols, data }: Matrix): Float64Array {
  const means = new Float64Array(cols);
  for (let i = 0; i < data.length; i++) means[i % cols] = means[i % cols]! + data[i]! / rows;
  return means;
}
