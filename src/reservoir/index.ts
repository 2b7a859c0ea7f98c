// The domain: what a reservoir is, how it is described and run, and what an engine must do for it.
export type { MatrixLike, Precision, Seed, SparseMatrix } from "../numerics/index.js";
export { Matrix } from "../numerics/index.js";
export * from "./computer.js";
export type * from "./config.js";
export * from "./engine.js";
export { chooseEngine, type EngineChoice, engineNames, probeEngines, registerEngine } from "./engines.js";
export * from "./ensemble.js";
export * from "./features.js";
export { checkFinite, DataError } from "./inputs.js";
export { type AnyReservoirOptions, isSpiking, registerSpikingKind, type SpikingKind } from "./kinds.js";
export type * from "./model.js";
export type * from "./spiking-config.js";
export type * from "./spiking-model.js";
export { activationOf, reservoirStep } from "./step.js";
export type { TopologyConfig } from "./topologies/topology.js";
export { ConfigError, formatPath, nearest, parseOrThrow, UnknownFieldError } from "./validate.js";
export type { ReservoirMatrices } from "./weights.js";
export { WorkInterruptedError, WorkPacer } from "./work.js";
