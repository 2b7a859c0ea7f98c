// Cuts a network into parts, one for each thread: of every population a run of neurons, and of
// every source the synapses onto them. A part has memory of its own, so nothing is written by two
// threads.
import type { NetworkModel, NetworkTable, PlannedPopulation } from "../../spikes/network/plan.js";

/**
 * Neurons of a population that stay together: whole vectors, and a line of the cache in binary32.
 */
const together = 16;

/** Most steps between two exchanges of spikes: memory must hold all spikes of a call that long. */
const mostPeriod = 16;

/** The neurons of a population that a part has. */
export interface PartSlice {
  readonly population: PlannedPopulation;
  /** The first of them, counted within the part and within the network. */
  readonly first: number;
  readonly inNetwork: number;
  readonly size: number;
}

/** A part of a network: its neurons, population after population. */
export interface NetworkPart {
  readonly size: number;
  readonly slices: readonly PartSlice[];
}

/** Gives each part its share of every population, so that all have much the same to do. */
export function cutNeurons({ populations }: NetworkModel, count: number): NetworkPart[] {
  return Array.from({ length: count }, (_, p) => {
    let first = 0;
    const slices: PartSlice[] = [];
    for (const population of populations) {
      const blocks = Math.ceil(population.size / together);
      const cut = (part: number) => Math.min(population.size, together * Math.round((blocks * part) / count));
      const size = cut(p + 1) - cut(p);
      if (size > 0) slices.push({ population, first, inNetwork: population.first + cut(p), size });
      first += size;
    }
    return { size: first, slices };
  });
}

/**
 * Steps after which threads exchange spikes: as long as none of them arrives in between. A spike of
 * step t with delay d is first needed in step t + 1 + d.
 */
export function periodOf({ size, synapses: { offsets, packed, cellBits } }: NetworkModel): number {
  let period = mostPeriod;
  // Synapses of a source are in order of delay.
  for (let j = 0; j < size; j++) if (offsets[j]! < offsets[j + 1]!) period = Math.min(period, 1 + (packed[offsets[j]!]! >>> cellBits));
  return period;
}

/** The synapses of a network by the part that their targets are in. */
export class CutTable {
  /** For each part, where the synapses of each source begin: N + I + 1 values. */
  readonly offsets: readonly Uint32Array[];
  readonly #table: NetworkTable;
  readonly #cells: Uint32Array;
  readonly #partOf: Uint8Array;

  constructor({ synapses, receptors, size, inputs }: NetworkModel, parts: readonly NetworkPart[]) {
    this.#table = synapses;
    this.#cells = new Uint32Array(receptors * size);
    this.#partOf = new Uint8Array(receptors * size);
    parts.forEach((part, p) => {
      for (const { first, inNetwork, size: count } of part.slices)
        for (let k = 0; k < receptors; k++)
          for (let r = 0; r < count; r++) {
            this.#cells[k * size + inNetwork + r] = k * part.size + first + r;
            this.#partOf[k * size + inNetwork + r] = p;
          }
    });
    if (parts.length === 1) {
      this.offsets = [synapses.offsets];
      return;
    }
    const { offsets, packed, cellBits } = synapses;
    const mask = 2 ** cellBits - 1;
    const counts = parts.map(() => new Uint32Array(size + inputs + 1));
    const ofSource = new Uint32Array(parts.length);
    for (let j = 0; j < size + inputs; j++) {
      ofSource.fill(0);
      for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
        const p = this.#partOf[packed[s]! & mask]!;
        ofSource[p] = ofSource[p]! + 1;
      }
      for (const [p, count] of ofSource.entries()) counts[p]![j + 1] = counts[p]![j]! + count;
    }
    this.offsets = counts;
  }

  /** Synapses of a part. */
  count(part: number): number {
    return this.offsets[part]!.at(-1)!;
  }

  /**
   * Writes packed synapses, with cells of the part, and units of each part's synapses, in order of source
   * and delay as they are.
   */
  write(packed: readonly Uint32Array[], units: readonly (Uint16Array | Int32Array)[]): void {
    const { packed: from, units: drawn, offsets, cellBits } = this.#table;
    if (packed.length === 1) {
      packed[0]!.set(from);
      units[0]!.set(drawn);
      return;
    }
    const mask = 2 ** cellBits - 1;
    const next = new Uint32Array(packed.length);
    for (let s = 0; s < offsets.at(-1)!; s++) {
      const word = from[s]!;
      const p = this.#partOf[word & mask]!;
      const to = next[p]!;
      next[p] = to + 1;
      packed[p]![to] = ((word & ~mask) | this.#cells[word & mask]!) >>> 0;
      units[p]![to] = drawn[s]!;
    }
  }
}
