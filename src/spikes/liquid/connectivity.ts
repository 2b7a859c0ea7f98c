// Which neurons a neuron's synapses reach: at random, or by distance on the grid. Weights and
// delays are drawn in synapses.ts.
import { getOrMake } from "@spillway/core/maps.js";
import { drawPositions, type PhiloxKey, portableExp, portableLog, RandomStream } from "@spillway/numerics";
import { liquidStreams, purposes } from "../streams.js";
import { coordinates, gridPoints, gridSides } from "./grid.js";
import type { PairValues, SpikingReservoirConfig } from "./schema.js";

/** The targets of a source, rising. */
export type TargetsOf = (source: number) => ArrayLike<number>;

/** Chances of connection below this count as none. */
const leastChance = 1e-6;

/** The rule of a description; excitatory neurons are 0 to `excitatory` - 1. */
export function targetsOf({ size, connectivity }: SpikingReservoirConfig, excitatory: number, key: PhiloxKey): TargetsOf {
  const { probability } = connectivity;
  if (connectivity.type === "random") return randomTargets(size, excitatory, probability, key);
  return distanceTargets(size, excitatory, probability, connectivity.lambda, connectivity.grid ?? gridSides(size), key);
}

/**
 * Each pair of different neurons with the chance of its kind: excitatory targets by row 2 source,
 * inhibitory ones by row 2 source + 1 of the stream of positions, both by geometric skipping
 * (docs/numerics.md, rule 7) over the candidates without the source itself.
 */
function randomTargets(size: number, excitatory: number, probability: PairValues<number>, key: PhiloxKey): TargetsOf {
  const positions = new RandomStream(key, liquidStreams.synapses, purposes.positions);
  return (source) => {
    const from = source < excitatory ? "e" : "i";
    const part = (row: number, first: number, last: number, chance: number) => {
      const holdsSource = source >= first && source < last;
      const candidates = last - first - (holdsSource ? 1 : 0);
      return drawPositions(positions, { first: row, count: 1, density: chance, candidates }).columns.map((position) => {
        const target = first + position;
        return holdsSource && target >= source ? target + 1 : target;
      });
    };
    return [
      ...part(2 * source, 0, excitatory, probability[`${from}e`]),
      ...part(2 * source + 1, excitatory, size, probability[`${from}i`]),
    ];
  };
}

/** Grid offsets of one distance, in the order x fastest, then y, then z. */
interface Shell {
  readonly chance: number;
  /** ln(1 - chance), or 0 if the chance is 1. */
  readonly logMiss: number;
  readonly offsets: readonly (readonly [number, number, number])[];
}

/**
 * Chance C exp(-(D / lambda)^2) at distance D (Maass, Natschläger and Markram 2002, "Real-time
 * computing without stable states", Neural Computation 14). Shells of offsets of one distance are
 * visited from the nearest on; within a shell offsets are skipped geometrically with the larger C
 * of the source's two kinds of connection, over one row of draws for a source, and what is met is
 * kept with chance C / larger C, by the draw of the same number in the stream of acceptance.
 */
function distanceTargets(
  size: number,
  excitatory: number,
  probability: PairValues<number>,
  lambda: number,
  sides: readonly [number, number, number],
  key: PhiloxKey,
): TargetsOf {
  const positions = new RandomStream(key, liquidStreams.synapses, purposes.positions);
  const acceptance = new RandomStream(key, liquidStreams.synapses, purposes.acceptance);
  const points = gridPoints(size, key);
  const neuronAt = new Uint32Array(size);
  points.forEach((point, neuron) => {
    neuronAt[point] = neuron;
  });
  const shells = {
    e: shellsOf(sides, lambda, Math.max(probability.ee, probability.ei)),
    i: shellsOf(sides, lambda, Math.max(probability.ie, probability.ii)),
  };
  const [sideX, sideY, sideZ] = sides;
  return (source) => {
    const from = source < excitatory ? "e" : "i";
    const largest = Math.max(probability[`${from}e`], probability[`${from}i`]);
    const [x, y, z] = coordinates(points[source]!, sides);
    const targets: number[] = [];
    let draw = 0;
    for (const { chance, logMiss, offsets } of shells[from]) {
      for (let position = -1; ; ) {
        position += chance < 1 ? 1 + Math.floor(portableLog(1 - positions.uniform(source, draw)) / logMiss) : 1;
        if (position >= offsets.length) {
          draw++;
          break;
        }
        const [dx, dy, dz] = offsets[position]!;
        const accepted = acceptance.uniform(source, draw++);
        const [tx, ty, tz] = [x + dx, y + dy, z + dz];
        if (tx < 0 || tx >= sideX || ty < 0 || ty >= sideY || tz < 0 || tz >= sideZ) continue;
        const point = (tz * sideY + ty) * sideX + tx;
        if (point >= size) continue;
        const target = neuronAt[point]!;
        if (accepted * largest < probability[`${from}${target < excitatory ? "e" : "i"}`]) targets.push(target);
      }
    }
    return Uint32Array.from(targets).sort();
  };
}

/** Shells with rising distance, as far as there is a chance and a grid. */
function shellsOf(sides: readonly [number, number, number], lambda: number, largest: number): Shell[] {
  const byDistance = new Map<number, [number, number, number][]>();
  const chanceAt = (squared: number) => largest * portableExp(-squared / (lambda * lambda));
  let reach = 0;
  while (reach < Math.max(...sides) && chanceAt((reach + 1) * (reach + 1)) >= leastChance) reach++;
  const [x, y, z] = sides.map((side) => Math.min(side - 1, reach)) as [number, number, number];
  for (let dz = -z; dz <= z; dz++) {
    for (let dy = -y; dy <= y; dy++) {
      for (let dx = -x; dx <= x; dx++) {
        const squared = dx * dx + dy * dy + dz * dz;
        if (squared === 0 || chanceAt(squared) < leastChance) continue;
        getOrMake(byDistance, squared, () => []).push([dx, dy, dz]);
      }
    }
  }
  return [...byDistance]
    .sort(([a], [b]) => a - b)
    .map(([squared, offsets]) => {
      const chance = chanceAt(squared);
      return { chance, logMiss: chance < 1 ? portableLog(1 - chance) : 0, offsets };
    });
}
