// Cycle reservoir with jumps: a ring plus bidirectional shortcuts of one length.
import { sparseFromRows } from "./random-rows.js";
import type { Topology, TopologyConfig } from "./topology.js";

/**
 * Ring weights of 1 and, between neurons 0, l, 2l, ... (l = `jump`), weights of `jumpWeight` both
 * ways; the last jump closes the circle only if l divides N (Rodan and Tino 2012, section 3).
 * `jumpWeight` defaults to 0.5.
 */
export const cycleWithJumps: Topology<Extract<TopologyConfig, { type: "cycleWithJumps" }>> = (config, { size }) => {
  const { jump, jumpWeight = 0.5 } = config;
  const rows = Array.from({ length: size }, (_, r) => new Map([[(r + size - 1) % size, 1]]));
  const connect = (to: number, from: number) => rows[to]!.set(from, (rows[to]!.get(from) ?? 0) + jumpWeight);
  for (let from = 0; from + jump <= size; from += jump) {
    const to = (from + jump) % size;
    connect(to, from);
    connect(from, to);
  }
  const columnsOf = (r: number) => [...rows[r]!.keys()].sort((a, b) => a - b);
  return { matrix: sparseFromRows(size, size, columnsOf, (r, _m, column) => rows[r]!.get(column)!) };
};
