// Spike trains that generators are made of: Poisson with any rate over time, and patterns put
// together from events.
import { type Resolved, resolve } from "@spillway/core/options.js";
import { portableLog, type RandomStream, type Seed } from "@spillway/numerics";
import { type Spike, SpikePattern } from "../pattern/pattern.js";
import { spikeStream } from "../streams.js";
import { type GeneratorOptions, generatorTable, type PatternMeasure, type PatternType } from "./measure.js";

/**
 * Independent Poisson neurons of one constant rate: the background from which every type must
 * differ.
 */
export function poissonPattern(options: GeneratorOptions): SpikePattern {
  const { seed, neuronCount, durationMs, rateHz } = resolve(generatorTable, options);
  return patternOf(poissonSpikes(seed, neuronCount, durationMs, rateHz), neuronCount, durationMs, "poisson");
}

/** Independent Poisson spikes of every neuron at `rateHz`. */
export function poissonSpikes(seed: Seed, neuronCount: number, durationMs: number, rateHz: number): Spike[] {
  return modulatedSpikes(seed, neuronCount, durationMs, rateHz, () => 1);
}

/**
 * Poisson spikes of every neuron at rate maxHz times share(neuron, timeMs), the share from 0 to
 * 1: those of the maximal rate, each kept with probability share (Lewis and Shedler 1979,
 * "Simulation of nonhomogeneous Poisson processes by thinning").
 */
export function modulatedSpikes(
  seed: Seed,
  neuronCount: number,
  durationMs: number,
  maxHz: number,
  share: (neuron: number, timeMs: number) => number,
): Spike[] {
  const spikes: Spike[] = [];
  if (maxHz === 0) return spikes;
  const intervals = generatorStream(seed, 0);
  const kept = generatorStream(seed, 1);
  for (let neuron = 0; neuron < neuronCount; neuron++) {
    let timeMs = 0;
    for (let k = 0; ; k++) {
      timeMs -= (portableLog(1 - intervals.uniform(neuron, k)) * 1000) / maxHz;
      if (timeMs > durationMs) break;
      if (kept.uniform(neuron, k) < share(neuron, timeMs)) spikes.push({ neuron, timeMs });
    }
  }
  return spikes;
}

/** Times of a Poisson process of `rateHz`, in ms. */
export function eventTimes(draws: RandomStream, row: number, durationMs: number, rateHz: number): number[] {
  const times: number[] = [];
  let timeMs = 0;
  for (let k = 0; rateHz > 0; k++) {
    timeMs -= (portableLog(1 - draws.uniform(row, k)) * 1000) / rateHz;
    if (timeMs > durationMs) break;
    times.push(timeMs);
  }
  return times;
}

/** The draws of a generator; stages of one seed are independent. */
export function generatorStream(seed: Seed, stage: number): RandomStream {
  return spikeStream("generators", seed, stage);
}

/** A type from its score, and from the spikes of an example. */
export function patternMeasure(
  type: PatternType,
  {
    spikes,
    ...measure
  }: Pick<PatternMeasure, "threshold" | "score"> & { spikes(options: Resolved<typeof generatorTable>): readonly Spike[] },
): PatternMeasure {
  const generate = (options: GeneratorOptions) => {
    const given = resolve(generatorTable, options);
    return patternOf(spikes(given), given.neuronCount, given.durationMs, type);
  };
  return { type, ...measure, generate };
}

/** The spikes that lie within the duration, as a pattern with its type as label. */
function patternOf(spikes: readonly Spike[], neuronCount: number, durationMs: number, label: string): SpikePattern {
  const inside = spikes.filter(({ timeMs }) => timeMs >= 0 && timeMs <= durationMs);
  return SpikePattern.from(inside, { durationMs, neuronCount, metadata: { label, source: "generator" } });
}
