// The list of topologies. A new one is one file, one line here, and its fields in config-schema.ts.
import { blockDiagonal } from "./block-diagonal.js";
import { cycleWithJumps } from "./cycle-with-jumps.js";
import { delayLine } from "./delay-line.js";
import { erdosRenyi } from "./erdos-renyi.js";
import { fixedInDegree } from "./fixed-in-degree.js";
import { orthogonal } from "./orthogonal.js";
import { ring } from "./ring.js";
import { smallWorld } from "./small-world.js";
import type { Topology, TopologyConfig, TopologyContext, TopologyMatrix } from "./topology.js";

export { drawDense } from "./random-rows.js";
export type { Topology, TopologyConfig, TopologyContext, TopologyMatrix } from "./topology.js";

type Generated = Exclude<TopologyConfig, { type: "custom" }>;

const topologies: { readonly [Type in Generated["type"]]: Topology<Extract<Generated, { type: Type }>> } = {
  erdosRenyi,
  fixedInDegree,
  ring,
  cycleWithJumps,
  delayLine,
  smallWorld,
  orthogonal,
  blockDiagonal,
};

/** Draws the unscaled matrix of a topology. */
export function buildTopology(config: Generated, context: TopologyContext): TopologyMatrix {
  return (topologies[config.type] as Topology<Generated>)(config, context);
}
