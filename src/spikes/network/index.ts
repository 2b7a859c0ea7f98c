// Networks as data: populations and projections, drawn from a seed.
export type {
  AdaptiveExponentialConfig,
  BoundsOptions,
  ConnectConfig,
  ConnectOptions,
  DistributionConfig,
  DistributionOptions,
  NetworkBackground,
  NetworkConfig,
  NetworkNeuronConfig,
  NetworkNeuronOptions,
  NetworkOptions,
  PopulationConfig,
  PopulationOptions,
  ProjectionConfig,
  ProjectionOptions,
  ProjectionPlasticityConfig,
  ProjectionPlasticityOptions,
  ReceptorConfig,
  ReceptorOptions,
  ShortTermPlasticityConfig,
  SpikeTimingConfig,
  Values,
} from "./config.js";
export { drawNetwork } from "./draw.js";
export { loadNetwork, saveNetwork } from "./files.js";
export { type HpcBenchmarkOptions, hpcBenchmark } from "./hpc-benchmark.js";
export { type MicrocircuitOptions, microcircuit, microcircuitRates } from "./microcircuit.js";
export type {
  NetworkModel,
  NetworkPlan,
  NetworkTable,
  NeuronRange,
  PlannedInput,
  PlannedNeuron,
  PlannedPlasticity,
  PlannedPopulation,
  PlannedProjection,
  PlannedReceptor,
  PlannedRise,
  PlannedRule,
  PlannedShortTerm,
  PlannedSpikeTiming,
  PlannedUpswing,
  PlasticTable,
  WordSampler,
  WordSteps,
} from "./plan.js";
export { planNetwork } from "./planning.js";
export type { NetworkCurrent, NetworkRecord, NetworkRunOptions, NetworkWeights, NetworkWeightsOptions } from "./recording.js";
export { ReferenceNetwork } from "./reference.js";
export type { NetworkInputOptions, NetworkReservoirConfig, NetworkReservoirOptions } from "./reservoir.js";
export type { NetworkEngineOptions, NetworkRunState, NetworkSession, StepSpikes } from "./session.js";
export { spikeHash } from "./spike-hash.js";
export { SpikingNetwork, type SpikingNetworkOptions } from "./spiking-network.js";
export { tableSum } from "./table-sum.js";
