// NIR, the neuromorphic intermediate representation: networks of other simulators, and for them.
export { type NirExport, type NirExportOptions, networkToNir } from "./export.js";
export { decodeNir, encodeNir, type NirArray, type NirGraph, type NirNode, type NirReadOptions, readNir, writeNir } from "./graph.js";
export { type NirImportOptions, type NirNetwork, networkFromNir } from "./import.js";
