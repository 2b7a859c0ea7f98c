// Erdos-Renyi: every connection exists with the same chance, independently.
import { drawPositions, drawRows } from "@spillway/numerics";
import type { Topology } from "./topology.js";

/** W[r, c] is nonzero with chance p, for c != r unless self-connections are asked for. */
export const erdosRenyi: Topology = {
  name: "erdosRenyi",
  description: "Every connection exists with the chance connectionProbability.",
  options: {},
  expectedNonzeros: (_options, { size, connectionProbability }) => connectionProbability * size * size,
  build(_options, context) {
    const { size, connectionProbability, distribution, selfConnections, values, positions } = context;
    const withoutOwn = !selfConnections;
    const rows = { first: 0, count: size, density: connectionProbability, candidates: size - (withoutOwn ? 1 : 0), withoutOwn };
    const { rowOffsets, columns } = drawPositions(positions, rows);
    return { matrix: { rows: size, cols: size, rowOffsets, columns, values: drawRows(values, distribution, rowOffsets) } };
  },
};
