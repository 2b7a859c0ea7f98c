// The eight types of pattern in what a liquid's own neurons fire, counted over the cases of an
// experiment. Nothing is learnt here.
import type { ReservoirComputer, SpikingModel } from "../../reservoir/index.js";
import { type DetectionStatistics, PatternDetector, type PatternType, patternTypes, reservoirSpikes } from "../../spikes/index.js";
import type { Cases } from "../data/experiment-data.js";

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
  { sequences, labels }: Cases,
  signal: AbortSignal,
): Promise<TypesFound> {
  const detector = new PatternDetector({ oscillators: false });
  const classes = new Map<string, Record<PatternType, number>>();
  let silent = 0;
  for (const [b, sequence] of sequences.entries()) {
    const counts = classes.get(labels[b]!) ?? (Object.fromEntries(patternTypes.map((type) => [type, 0])) as Record<PatternType, number>);
    classes.set(labels[b]!, counts);
    const spikes = await reservoirSpikes(computer, sequence, { signal });
    if (spikes.spikeCount === 0) silent++;
    else for (const { type } of detector.detect(spikes).detections) counts[type]++;
  }
  return { silent, statistics: detector.statistics, classes: Object.fromEntries(classes) };
}

/** For a report: "burst in 8, rhythmic in 2, 1 silent". */
export function describeTypes({ silent, statistics }: TypesFound): string {
  const seen = patternTypes.filter((type) => statistics.types[type].count > 0).map((type) => `${type} in ${statistics.types[type].count}`);
  return [...(seen.length > 0 ? seen : ["none"]), ...(silent > 0 ? [`${silent} silent`] : [])].join(", ");
}
