// The delay line reservoir: a chain of equal weights, with or without backward connections.
import { number, optional, type TableOf } from "@spillway/core/options.js";
import { portableCos } from "@spillway/numerics";
import { sparseFromRows } from "./random-rows.js";
import type { Topology, TopologyOptions } from "./topology.js";

/**
 * W[r, r - 1] = `weight` and, with feedback b, W[r, r + 1] = b (Rodan and Tino 2011, section III:
 * DLR and DLRB). Without feedback W is nilpotent: its radius is 0, no spectral radius can scale it,
 * and `weight` (default 1) is the strength of the chain. With feedback W is tridiagonal Toeplitz,
 * its radius is 2 sqrt(|weight b|) cos(pi / (N + 1)), and it is scaled like any other.
 */
export const delayLine: Topology<TopologyOptions["delayLine"]> = {
  name: "delayLine",
  description: "A chain of equal weights; with feedback, backward as well.",
  options: {
    weight: optional(number(), "Weight forward; left out, 1."),
    feedback: optional(number(), "Weight backward; left out, there is none."),
  } satisfies TableOf<TopologyOptions["delayLine"]>,
  expectedNonzeros: ({ feedback = 0 }, { size }) => (feedback === 0 ? 1 : 2) * (size - 1),
  build({ weight = 1, feedback = 0 }, { size }) {
    const columnsOf = (r: number) => [...(r > 0 ? [r - 1] : []), ...(feedback !== 0 && r + 1 < size ? [r + 1] : [])];
    const radius = size === 1 ? 0 : 2 * Math.sqrt(Math.abs(weight * feedback)) * portableCos(Math.PI / (size + 1));
    return { matrix: sparseFromRows(size, size, columnsOf, (r, _m, column) => (column < r ? weight : feedback)), radius };
  },
};
