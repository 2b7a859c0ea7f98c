// Which random streams spikes draw from. A reservoir's weights take streams 0 to 5 of a seed,
// networks 16 to 22 (network/plan.ts), tasks 32 and up, analyses 64 and up.
import { seed as anySeed } from "@spillway/core/options.js";
import { RandomStream, type Seed, seedKeys } from "@spillway/numerics";

const streams = {
  jitter: 96,
  thinning: 97,
  rateEncoder: 98,
  populationEncoder: 99,
  phaseEncoder: 100,
  generators: 101,
  oscillators: 102,
  populationSample: 103,
} as const;

/** Of what is drawn for a spiking reservoir. */
export const liquidStreams = { synapses: 8, inputs: 9, grid: 10, initialPotential: 11 } as const;

/** Purposes within a stream: sizes, positions, whether a position is kept, delays, signs. */
export const purposes = { values: 0, positions: 1, acceptance: 2, delays: 3, signs: 4 } as const;

/** The number of the stream of each use, as kernels get it. */
export const streamNumbers: Readonly<Record<keyof typeof streams, number>> = streams;

/** The seed of case `b` of several: encoders draw anew for each. */
export const caseSeed = (seed: Seed, b: number): Seed => `${seed}/${b}`;

/**
 * The stream of one use: draws are addressed by (row, index); `purpose` separates draws of one use.
 * @throws ArgumentError on a seed that is none: every value has a text, and a forgotten one would
 * draw as "undefined" does
 */
export function spikeStream(use: keyof typeof streams, seed: Seed, purpose = 0): RandomStream {
  return new RandomStream(seedKeys(anySeed.read(seed, "seed")).weights, streams[use], purpose);
}
