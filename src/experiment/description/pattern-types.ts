// The eight types of pattern in what a liquid's own neurons fire, counted over the cases of an
// experiment. Nothing is learnt here.
import type { Matrix } from "@spillway/numerics";
import { groupsOf } from "../../model/groups.js";
import type { DeviceMatrix, ReservoirComputer, SpikingModel } from "../../reservoir/index.js";
import {
  type DetectionResult,
  type DetectionStatistics,
  PatternDetector,
  type PatternType,
  patternTypes,
  reservoirSpikes,
} from "../../spikes/index.js";
import type { EncodedPart } from "../data/encode.js";

/** What was found, as result.json has it. */
export interface TypesFound {
  /** Cases in which no neuron fired: they have no type, and are none of the patterns. */
  readonly silent: number;
  readonly statistics: DetectionStatistics;
  /** By class: the cases in which each type was found. */
  readonly classes: Readonly<Record<string, Readonly<Record<PatternType, number>>>>;
}

/**
 * Runs each case from the initial state and looks for the types in the spikes. The computer's own
 * state is as before.
 */
export async function typesIn(
  computer: ReservoirComputer<SpikingModel>,
  { cases, labels }: EncodedPart,
  signal: AbortSignal,
): Promise<TypesFound> {
  const detector = new PatternDetector({ oscillators: false });
  using rows = await cases.rows(computer);
  const found = await detected(computer, detector, rows.sequences, signal);
  const classes = new Map<string, Record<PatternType, number>>();
  let silent = 0;
  for (const [b, result] of found.entries()) {
    const counts = classes.get(labels[b]!) ?? (Object.fromEntries(patternTypes.map((type) => [type, 0])) as Record<PatternType, number>);
    classes.set(labels[b]!, counts);
    if (!result) silent++;
    else for (const { type } of result.detections) counts[type]++;
  }
  return { silent, statistics: detector.statistics, classes: Object.fromEntries(classes) };
}

/**
 * The types in what each sequence makes the liquid fire, in memory of its device if it has one;
 * undefined for one that makes no neuron fire.
 */
async function detected(
  computer: ReservoirComputer<SpikingModel>,
  detector: PatternDetector,
  sequences: readonly (Matrix | DeviceMatrix)[],
  signal: AbortSignal,
): Promise<(DetectionResult | undefined)[]> {
  const { context, deviceStream: stream, model } = computer;
  const found: (DetectionResult | undefined)[] = [];
  if (!context || !stream) {
    for (const sequence of sequences) {
      const spikes = await reservoirSpikes(computer, sequence as Matrix, { signal });
      found.push(spikes.spikeCount > 0 ? detector.detect(spikes) : undefined);
    }
    return found;
  }
  const { DeviceDetector, DeviceSpikePatterns, firedThere } = await import("../../spikes/gpu/index.js");
  using finder = new DeviceDetector(context, detector, { stream });
  // Each sequence has the noise of the first.
  const most = model.noiseLevel === 0 ? { states: 2 ** 26, last: 2 ** 26 } : { states: 0, last: 0 };
  for (const { group } of groupsOf(sequences, model.size, most)) {
    using states = await computer.batch(group, { keep: "device", signal });
    using spikes = await firedThere(context, stream, states, model);
    const { columns, offsets, durationsMs, neuronCount } = spikes;
    const fired = group.flatMap((_, b) => (offsets[b + 1]! > offsets[b]! ? [b] : []));
    const patterns = new DeviceSpikePatterns(columns, {
      offsets: [0, ...fired.map((b) => offsets[b + 1]!)],
      durationsMs: fired.map((b) => durationsMs[b]!),
      neuronCount,
    });
    const results = await finder.detectAll(patterns);
    found.push(...group.map((_, b) => results[fired.indexOf(b)]));
  }
  return found;
}

/** For a report: "burst in 8, rhythmic in 2, 1 silent". */
export function describeTypes({ silent, statistics }: TypesFound): string {
  const counts = Object.fromEntries(patternTypes.map((type) => [type, statistics.types[type].count])) as Record<PatternType, number>;
  return `${countedTypes(counts)}${silent > 0 ? `, ${silent} silent` : ""}`;
}

/** "burst in 8, rhythmic in 2", or "none". */
export function countedTypes(counts: Readonly<Record<PatternType, number>>): string {
  const found = patternTypes.filter((type) => counts[type] > 0).map((type) => `${type} in ${counts[type]}`);
  return found.length > 0 ? found.join(", ") : "none";
}
