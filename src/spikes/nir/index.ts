// NIR, the neuromorphic intermediate representation: networks of other simulators, and for them.
export { networkToNir } from "./export.js";
export { decodeNir, encodeNir, type NirGraph, type NirNode, readNir, writeNir } from "./graph.js";
export { networkFromNir } from "./import.js";
