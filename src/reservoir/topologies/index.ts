// The list of topologies. A new one is one file and one line here.
export type { Topology, TopologyConfig, TopologyContext, TopologyMatrix } from "./topology.js";
