// The simple cycle reservoir: one ring of equal weights.
import { sparseFromRows } from "./random-rows.js";
import type { Topology } from "./topology.js";

/**
 * W[r, r - 1 mod N] = 1, so the radius is 1 (Rodan and Tino 2011, section III). A ring of one
 * neuron is a self-connection.
 */
export const ring: Topology = {
  name: "ring",
  description: "A ring of equal weights (simple cycle reservoir).",
  options: {},
  expectedNonzeros: (_options, { size }) => size,
  build(_options, { size }) {
    const columnsOf = (r: number) => [(r + size - 1) % size];
    return { matrix: sparseFromRows(size, size, columnsOf, () => 1), radius: 1 };
  },
};
