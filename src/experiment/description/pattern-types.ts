// The eight types of pattern in what a liquid's own neurons fire, counted over the cases of an
// experiment. Nothing is learnt here.
import type { Matrix } from "@spillway/numerics";
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
  const detect = await detectorOn(computer, detector, signal);
  const classes = new Map<string, Record<PatternType, number>>();
  let silent = 0;
  for (const [b, sequence] of rows.sequences.entries()) {
    const counts = classes.get(labels[b]!) ?? (Object.fromEntries(patternTypes.map((type) => [type, 0])) as Record<PatternType, number>);
    classes.set(labels[b]!, counts);
    const found = await detect(sequence);
    if (!found) silent++;
    else for (const { type } of found.detections) counts[type]++;
  }
  return { silent, statistics: detector.statistics, classes: Object.fromEntries(classes) };
}

/** Looks for types in what a sequence makes the liquid fire; finds nothing if no neuron fires. */
async function detectorOn(
  computer: ReservoirComputer<SpikingModel>,
  detector: PatternDetector,
  signal: AbortSignal,
): Promise<(sequence: Matrix | DeviceMatrix) => Promise<DetectionResult | undefined>> {
  const { context, deviceStream: stream, model } = computer;
  if (!context || !stream)
    return async (sequence) => {
      const spikes = await reservoirSpikes(computer, sequence as Matrix, { signal });
      return spikes.spikeCount > 0 ? detector.detect(spikes) : undefined;
    };
  const { DeviceDetector, firedThere } = await import("../../spikes/gpu/index.js");
  const finder = new DeviceDetector(context, detector, { stream });
  return async (sequence) => {
    using states = await computer.batch([sequence], { keep: "device", signal });
    using spikes = await firedThere(context, stream, states, model);
    return spikes.spikeCount > 0 ? (await finder.detectAll(spikes))[0] : undefined;
  };
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
