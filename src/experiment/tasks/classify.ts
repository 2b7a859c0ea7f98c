// Task "classify": one seed trained on labelled sequences, then asked for the class of others.

import { join } from "node:path";
import { orDispose } from "@spillway/core/disposal.js";
import { NpyWriter, writeNpy } from "@spillway/io";
import { everyRow, type Matrix, RandomStream, type Seed, seedKeys, stackRows } from "@spillway/numerics";
import { type ConfusionMatrix, confusionMatrix, type Reliability, reliability } from "../../metrics/index.js";
import { largest } from "../../model/classifier/class-readout.js";
import { Classifier } from "../../model/index.js";
import { fitStandardisation, standardised } from "../../model/standardisation.js";
import { plotConfusion, plotStateHeatmap, plotTrajectories } from "../../plot/index.js";
import { selectionOf } from "../../reservoir/computer-options.js";
import { type AnyReservoirComputer, addProfiles, type WorkOptions } from "../../reservoir/index.js";
import type { EncodedCases } from "../../spikes/drive.js";
import { type EncodedPart, encoded } from "../data/encode.js";
import type { CaseData, Cases } from "../data/experiment-data.js";
import { standardises } from "../data/prepare.js";
import { splitRows } from "../data/split.js";
import type { ClassifyTask, Experiment } from "../description/description.js";
import type { RunFile } from "../runs/output-folder.js";
import type { Scores } from "../runs/result.js";
import { reliabilityFigure } from "./classes.js";
import { scoreClasses } from "./scores.js";
import { shownSteps } from "./states.js";
import { radiusOf, StagedProgress, Stopwatch, type Trial, type TrialOptions } from "./trial.js";

type ClassifyExperiment = Experiment & { readonly task: ClassifyTask };

export async function runClassification(experiment: ClassifyExperiment, data: CaseData, options: TrialOptions): Promise<Trial> {
  const { task, readout, washout, metrics } = experiment;
  const { seed, profile, signal } = options;
  const { watch, train, test, progress } = await encodedParts(experiment, data, options);
  const { type: _, ...settings } = task;
  const standardise = standardises(experiment);
  const reservoir = { ...experiment.reservoir, seed };
  const classifier = await watch.time("train", () =>
    Classifier.fit(train.cases, train.labels, {
      ...settings,
      reservoir,
      readout,
      washout,
      standardise,
      ...selectionOf(options),
      profile,
      signal,
      onProgress: ofCases(progress.stage(train.cases.count), train),
    }),
  );
  const run = async (): Promise<Trial> => {
    const onProgress = ofCases(progress.stage(test.cases.count), test);
    const { predicted, shares } = await watch.time("test", () => predictions(classifier, task.members > 1, test, { signal, onProgress }));
    const counted = confusionMatrix(test.labels, predicted, data.classes);
    const trusted = shares && reliability(test.labels, shares, classifier.classes.map(String));
    const computer = classifier.computers[0]!;
    const inputs = (sequences: readonly Matrix[]) => {
      const scale = standardise ? fitStandardisation(train.cases.matrices()) : undefined;
      return scale ? sequences.map((sequence) => standardised(scale, sequence)) : sequences;
    };
    return {
      engine: computer.engine,
      reservoir: computer.config,
      ...radiusOf(computer.model),
      readout: { ...classifier.readouts[0]!.training },
      scores: scoreClasses(test.labels, predicted, metrics, experiment.scoring),
      baselines: scoreBaselines(experiment, train.labels, test.labels),
      confusion: counted,
      reliability: trusted,
      timing: watch.seconds,
      profile: addProfiles(classifier.computers.flatMap((member) => member.profile ?? [])),
      summary: `classification of ${test.labels.length} sequences, trained on ${train.labels.length}; representation ${task.representation}${task.members > 1 ? `, vote of ${task.members} reservoirs` : ""}`,
      figures: options.withFigures ? await figures(computer, inputs(firstCases(test.cases)), counted, trusted) : [],
      unit: () => undefined,
      save: async (path) => {
        await classifier.save(path);
        return [];
      },
      saveStates: (folder, every, stop) => saveCaseStates(computer, inputs(test.cases.matrices()), folder, every, stop),
      dispose: () => classifier.dispose(),
    };
  };
  return orDispose(classifier, run);
}

/**
 * The cases that train and those that test, as spikes or series; with what times and reports the
 * work on them.
 */
export async function encodedParts(experiment: Experiment, data: CaseData, { seed, onProgress }: TrialOptions) {
  const watch = new Stopwatch();
  const parts = data.test ? { train: data.train, test: data.test } : stratifiedSplit(experiment, data.train, seed);
  const { train, test } = await watch.time("encode", async () => encoded(experiment, parts, data));
  return { watch, train, test, progress: new StagedProgress(onProgress, train.cases.count + test.cases.count) };
}

/**
 * What the baselines of cases score; `majority`, the most frequent class of the training cases, is
 * the only one there is.
 */
export function scoreBaselines(
  { baselines, metrics, scoring }: Pick<Experiment, "baselines" | "metrics" | "scoring">,
  training: readonly string[],
  labels: readonly string[],
): Record<string, Scores> {
  const said = labels.map(() => majority(training));
  return Object.fromEntries(baselines.map((baseline) => [String(baseline), scoreClasses(labels, said, metrics, scoring)]));
}

function majority(labels: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].reduce((most, next) => (next[1] > most[1] ? next : most))[0];
}

/** The stream that orders cases; those of weights are 0 to 4 and those of generators from 32 on. */
const splitStream = 48;

/**
 * Takes the share of every class that trains, in an order drawn from the seed: files of cases are
 * often sorted by class.
 */
export function stratifiedSplit({ split }: Pick<Experiment, "split">, cases: Cases, seed: Seed): { train: Cases; test: Cases } {
  const stream = new RandomStream(seedKeys(seed).weights, splitStream);
  const order = cases.labels.map((_, b) => b).sort((a, b) => stream.uniform(0, a) - stream.uniform(0, b));
  const { train, test } = splitRows(split, order.length, false);
  const [training, testing] = [new Set<number>(), new Set<number>()];
  for (const label of new Set(cases.labels)) {
    const own = order.filter((b) => cases.labels[b] === label);
    const toTrain = Math.round((own.length * train) / order.length);
    const toTest = train + test === order.length ? own.length : Math.round((own.length * test) / order.length);
    for (const b of own.slice(0, toTrain)) training.add(b);
    for (const b of own.slice(toTrain, toTrain + toTest)) testing.add(b);
  }
  const part = (wanted: ReadonlySet<number>): Cases => {
    const chosen = cases.labels.map((_, b) => b).filter((b) => wanted.has(b));
    return { sequences: chosen.map((b) => cases.sequences[b]!), labels: chosen.map((b) => cases.labels[b]!) };
  };
  return { train: part(training), test: part(testing) };
}

/** The first cases, as many as fit into a figure of states. */
export function firstCases(cases: EncodedCases): Matrix[] {
  const shown: Matrix[] = [];
  let rows = 0;
  for (let b = 0; b < cases.count; b++) {
    const sequence = cases.row(b);
    if (shown.length > 0 && rows + sequence.rows > shownSteps) break;
    shown.push(sequence);
    rows += sequence.rows;
  }
  return shown;
}

/**
 * The class of each test case, and the shares of all classes. Members that vote by majority may
 * decide otherwise than their mean shares, which are then not computed.
 */
async function predictions(
  classifier: Classifier,
  votes: boolean,
  { cases }: EncodedPart,
  work: WorkOptions,
): Promise<{ readonly predicted: readonly string[]; readonly shares: Matrix | undefined }> {
  if (votes && classifier.settings.vote !== "mean")
    return { predicted: (await classifier.predict(cases, work)).map(String), shares: undefined };
  const shares = await classifier.predictProba(cases, work);
  return { predicted: Array.from({ length: shares.rows }, (_, b) => String(classifier.classes[largest(shares.row(b))])), shares };
}

async function figures(
  computer: AnyReservoirComputer,
  inputs: readonly Matrix[],
  { labels, counts }: ConfusionMatrix,
  trusted: Reliability | undefined,
) {
  const states = stackRows(await computer.batch(inputs));
  const which = inputs.length === 1 ? "the first test sequence" : `the first ${inputs.length} test sequences, one after the other`;
  return [
    plotConfusion(counts, labels),
    ...(trusted ? [reliabilityFigure(trusted)] : []),
    plotStateHeatmap(states, { title: `States over ${which}`, centred: true }),
    plotTrajectories(states, { title: `A few neurons over ${which}` }),
  ];
}

/** Sequences that are run at a time. */
const group = 32;

/**
 * states.npy holds the states of all test sequences, one sequence after the other; lengths.npy says
 * how many rows each has.
 */
export async function saveCaseStates(
  computer: AnyReservoirComputer,
  inputs: readonly Matrix[],
  folder: string,
  every: number,
  signal: AbortSignal,
): Promise<readonly RunFile[]> {
  await using writer = await NpyWriter.create(join(folder, "states.npy"), { cols: computer.model.size, dtype: computer.model.precision });
  const lengths: number[] = [];
  for (let b = 0; b < inputs.length; b += group) {
    for (const states of await computer.batch(inputs.slice(b, b + group), { signal })) {
      const kept = everyRow(states, every);
      lengths.push(kept.rows);
      if (kept.rows > 0) await writer.append(kept);
    }
  }
  await writer.close();
  await writeNpy(join(folder, "lengths.npy"), Int32Array.from(lengths));
  return ["states.npy", "lengths.npy"];
}

/** Progress of any unit as progress in cases. */
function ofCases(report: (cases: number) => void, { cases }: EncodedPart): (done: number, total: number) => void {
  return (done, total) => report((done / Math.max(1, total)) * cases.count);
}
