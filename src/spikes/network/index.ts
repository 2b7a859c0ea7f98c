// Networks as data: populations and projections, drawn from a seed.
export type {
  DistributionOptions,
  NetworkConfig,
  NetworkOptions,
  PopulationOptions,
  ProjectionOptions,
  ProjectionPlasticityOptions,
} from "./config.js";
export { drawNetwork } from "./draw.js";
export { loadNetwork, saveNetwork } from "./files.js";
export { type HpcBenchmarkOptions, hpcBenchmark } from "./hpc-benchmark.js";
export { type MicrocircuitOptions, microcircuit, microcircuitRates } from "./microcircuit.js";
export type { NetworkModel, NetworkPlan, PlasticTable } from "./plan.js";
export { planNetwork } from "./planning.js";
export type { NetworkCurrent, NetworkRecord } from "./recording.js";
export { ReferenceNetwork } from "./reference.js";
export type { StepSpikes } from "./session.js";
export { spikeHash } from "./spike-hash.js";
export { SpikingNetwork } from "./spiking-network.js";
export { tableSum } from "./table-sum.js";
