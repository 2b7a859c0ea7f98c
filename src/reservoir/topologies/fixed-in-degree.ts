// Fixed in-degree: every neuron listens to the same number of others.
import { ArgumentError } from "@spillway/core/errors.js";
import { optional, type TableOf, whole } from "@spillway/core/options.js";
import { drawnSparse } from "./random-rows.js";
import type { Topology, TopologyOptions } from "./topology.js";

/**
 * Row r takes `degree` distinct columns by Floyd's sampling (Bentley and Floyd 1987): for j = n -
 * degree ... n - 1 a position t = floor(U * (j + 1)) with the draw (r, j - (n - degree)) of purpose
 * 1 is taken, or j if t is taken already. Columns are then sorted; n = N - 1 with the diagonal
 * skipped, or N with self-connections.
 */
export const fixedInDegree: Topology<TopologyOptions["fixedInDegree"]> = {
  name: "fixedInDegree",
  description: "Every neuron listens to the same number of others.",
  options: {
    degree: optional(whole(), "Inputs of each neuron; left out, round(connectionProbability * size)."),
  } satisfies TableOf<TopologyOptions["fixedInDegree"]>,
  check({ degree = 0 }, size) {
    if (degree >= size) throw new ArgumentError("degree", degree, `a whole number below the size, ${size}`);
  },
  expectedNonzeros: ({ degree }, { size, connectionProbability }) => (degree ?? connectionProbability * size) * size,
  build(options, context) {
    const { size, connectionProbability, distribution, selfConnections, values, positions } = context;
    const candidates = selfConnections ? size : size - 1;
    const degree = Math.min(candidates, options.degree ?? Math.floor(connectionProbability * size + 0.5));
    const columnsOf = (r: number) => {
      const taken = new Set<number>();
      const first = candidates - degree;
      for (let j = first; j < candidates; j++) {
        const t = positions.integer(r, j - first, j + 1);
        taken.add(taken.has(t) ? j : t);
      }
      const columns = [...taken].sort((a, b) => a - b);
      return selfConnections ? columns : columns.map((position) => (position >= r ? position + 1 : position));
    };
    return { matrix: drawnSparse(size, columnsOf, values, distribution) };
  },
};
