// Block diagonal: several Erdos-Renyi reservoirs side by side that do not talk to each other.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, type TableOf, whole } from "@spillway/core/options.js";
import { type DrawnColumns, drawPositions } from "@spillway/numerics";
import { drawnSparse } from "./random-rows.js";
import type { Topology, TopologyOptions } from "./topology.js";

/**
 * `blocks` blocks of nearly equal size: block k holds the neurons from floor(k N / blocks) up to
 * the next block's first. Inside a block every connection exists with chance connectionProbability;
 * between blocks there is none.
 */
export const blockDiagonal: Topology<TopologyOptions["blockDiagonal"]> = {
  name: "blockDiagonal",
  description: "Erdos-Renyi blocks of nearly equal size on the diagonal, and nothing between them.",
  options: { blocks: given(whole({ atLeast: 1 }), "Blocks on the diagonal.") } satisfies TableOf<TopologyOptions["blockDiagonal"]>,
  check({ blocks }, size) {
    if (blocks > size) throw new ArgumentError("blocks", blocks, `at most the size, ${size}`);
  },
  expectedNonzeros: ({ blocks }, { size, connectionProbability }) => (connectionProbability * size * size) / blocks,
  build({ blocks }, context) {
    const { size, connectionProbability, distribution, selfConnections, values, positions } = context;
    const starts = Array.from({ length: blocks + 1 }, (_, k) => Math.floor((k * size) / blocks));
    const withoutOwn = !selfConnections;
    let [block, first] = [-1, 0];
    let drawn: DrawnColumns = { rowOffsets: new Uint32Array(1), columns: new Uint32Array(0) };
    const columnsOf = (r: number) => {
      while (r >= starts[block + 1]!) {
        first = starts[++block]!;
        const count = starts[block + 1]! - first;
        const candidates = count - (withoutOwn ? 1 : 0);
        drawn = drawPositions(positions, { first, count, density: connectionProbability, candidates, base: first, withoutOwn });
      }
      return drawn.columns.subarray(drawn.rowOffsets[r - first]!, drawn.rowOffsets[r - first + 1]!);
    };
    return { matrix: drawnSparse(size, columnsOf, values, distribution) };
  },
};
