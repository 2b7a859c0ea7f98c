// The topology of a reservoir whose W is the user's own.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Topology } from "./topology.js";

/** Says that W was given: `matrices.weights`. There is nothing to draw. */
export const custom: Topology = {
  name: "custom",
  description: "The user's own W, given as matrices.weights.",
  options: {},
  expectedNonzeros: () => 0,
  build() {
    throw new ArgumentError("topology", "custom", "matrices.weights beside it, or another topology");
  },
};
