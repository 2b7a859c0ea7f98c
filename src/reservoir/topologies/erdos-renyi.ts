// Erdos-Renyi: every connection exists with the same chance, independently.
import { drawPositions, drawValue, sparseFromRows } from "./random-rows.js";
import type { Topology } from "./topology.js";

/** W[r, c] is nonzero with chance p, for c != r unless self-connections are asked for. */
export const erdosRenyi: Topology = {
  name: "erdosRenyi",
  description: "Every connection exists with the chance connectionProbability.",
  options: {},
  expectedNonzeros: (_options, { size, connectionProbability }) => connectionProbability * size * size,
  build(_options, context) {
    const { size, connectionProbability, distribution, selfConnections, values, positions } = context;
    const candidates = selfConnections ? size : size - 1;
    const columnsOf = (r: number) => {
      const taken = drawPositions(positions, r, connectionProbability, candidates);
      return selfConnections ? taken : taken.map((position) => (position >= r ? position + 1 : position));
    };
    return { matrix: sparseFromRows(size, size, columnsOf, (r, m) => drawValue(values, distribution, r, m)) };
  },
};
