// Watts-Strogatz small world: a ring lattice with some edges rewired.
import { ArgumentError } from "@spillway/core/errors.js";
import { number, optional, type TableOf, whole } from "@spillway/core/options.js";
import { drawnSparse } from "./random-rows.js";
import type { Topology, TopologyOptions } from "./topology.js";

/**
 * Each neuron listens to its `neighbours` nearest ones on a ring (half on each side; default the
 * even number nearest to connectionProbability * N, at least 2). Each of these is, with chance
 * `rewiring` (default 0.1), replaced by a neuron drawn uniformly from those it does not listen to
 * yet (Watts and Strogatz 1998, for directed edges). Draws of purpose 1: edge k of row r takes
 * index 2k for the chance; the new neuron takes purpose 2, row r, indices rising until one is free.
 */
export const smallWorld: Topology<TopologyOptions["smallWorld"]> = {
  name: "smallWorld",
  description: "A ring lattice, some of whose edges are rewired (Watts-Strogatz).",
  options: {
    neighbours: optional(
      whole({ atLeast: 2, accepts: (value) => value % 2 === 0, takes: "an even whole number of at least 2" }),
      "Nearest neighbours of the lattice.",
    ),
    rewiring: optional(number({ atLeast: 0, atMost: 1 }), "Chance that an edge is rewired."),
  } satisfies TableOf<TopologyOptions["smallWorld"]>,
  check({ neighbours = 0 }, size) {
    if (neighbours >= size) throw new ArgumentError("neighbours", neighbours, `an even whole number below the size, ${size}`);
  },
  expectedNonzeros: ({ neighbours }, { size, connectionProbability }) => (neighbours ?? connectionProbability * size) * size,
  build(options, context) {
    const { size, connectionProbability, distribution, values, positions, extra } = context;
    const even = 2 * Math.max(1, Math.floor((connectionProbability * size) / 2 + 0.5));
    const neighbours = Math.min(options.neighbours ?? even, size - 1);
    const rewiring = options.rewiring ?? 0.1;
    const columnsOf = (r: number) => {
      const offsets: number[] = [];
      for (let k = 1; offsets.length < neighbours; k++) {
        offsets.push(size - k);
        if (offsets.length < neighbours) offsets.push(k);
      }
      const listens = new Set(offsets.map((offset) => (r + offset) % size));
      const full = listens.size >= size - 1;
      let draws = 0;
      offsets.forEach((offset, k) => {
        if (full || !(positions.uniform(r, 2 * k) < rewiring)) return;
        let target = r;
        while (target === r || listens.has(target)) target = extra.integer(r, draws++, size);
        listens.delete((r + offset) % size);
        listens.add(target);
      });
      return [...listens].sort((a, b) => a - b);
    };
    return { matrix: drawnSparse(size, columnsOf, values, distribution) };
  },
};
