// Cycle reservoir with jumps: a ring plus bidirectional shortcuts of one length.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, number, optional, type TableOf, whole } from "@spillway/core/options.js";
import { sparseFromRows } from "./random-rows.js";
import type { Topology, TopologyOptions } from "./topology.js";

/**
 * Ring weights of 1 and, between neurons 0, l, 2l, ... (l = `jump`), weights of `jumpWeight` both
 * ways; the last jump closes the circle only if l divides N (Rodan and Tino 2012, section 3).
 * `jumpWeight` defaults to 0.5.
 */
export const cycleWithJumps: Topology<TopologyOptions["cycleWithJumps"]> = {
  name: "cycleWithJumps",
  description: "A ring with bidirectional jumps of one length.",
  options: {
    jump: given(whole({ atLeast: 2 }), "Length of a jump."),
    jumpWeight: optional(number(), "Weight of a jump; the ring's is 1."),
  } satisfies TableOf<TopologyOptions["cycleWithJumps"]>,
  check({ jump }, size) {
    if (jump >= size) throw new ArgumentError("jump", jump, `a whole number below the size, ${size}`);
  },
  expectedNonzeros: ({ jump }, { size }) => size + 2 * Math.floor(size / jump),
  build({ jump, jumpWeight = 0.5 }, { size }) {
    const rows = Array.from({ length: size }, (_, r) => new Map([[(r + size - 1) % size, 1]]));
    const connect = (to: number, from: number) => rows[to]!.set(from, (rows[to]!.get(from) ?? 0) + jumpWeight);
    for (let from = 0; from + jump <= size; from += jump) {
      const to = (from + jump) % size;
      connect(to, from);
      connect(from, to);
    }
    const columnsOf = (r: number) => [...rows[r]!.keys()].sort((a, b) => a - b);
    return { matrix: sparseFromRows(size, size, columnsOf, (r, _m, column) => rows[r]!.get(column)!) };
  },
};
