/**
 * The domain: what a reservoir is, how it is described and run, and what an engine must do for it.
 */

export {
  type ArgumentCode,
  type ArgumentDetails,
  ArgumentError,
  DisposedError,
  type ErrorCode,
  type ErrorDetails,
  SpillwayError,
} from "@spillway/core/errors.js";
export type { MatrixLike, Precision, Seed, SparseMatrix } from "@spillway/numerics";
export { Matrix } from "@spillway/numerics";
export { checkFinite } from "@spillway/numerics/known-finite.js";
export type {
  BackgroundConfig,
  ConnectivityConfig,
  PairOptions,
  PairValues,
  SpikingInputConfig,
  SpikingReservoirConfig,
  SpikingReservoirOptions,
  SynapsesConfig,
  SynapticDistribution,
} from "../spikes/liquid/schema.js";
export type {
  AdaptiveIntegrateAndFireConfig,
  IzhikevichConfig,
  LeakyIntegrateAndFireConfig,
  NeuronConfig,
  NeuronOptions,
  NeuronType,
} from "../spikes/neurons/schema.js";
export { type ActivationFunction, activationOf, registerActivation } from "./activations.js";
export type { CellConfig } from "./cell-options.js";
export type * from "./composite/config.js";
export type { AnyModel, CompositeModel } from "./composite/model.js";
export { type AnyReservoirComputer, ReservoirComputer } from "./computer.js";
export type {
  ComputerBatchOptions,
  ComputerGenerateOptions,
  ComputerRunOptions,
  CreateOptions,
  EngineSelection,
  TrainOptions,
} from "./computer-options.js";
export type * from "./config.js";
export { DeviceMatrix, DeviceSequences, type DeviceShape, type RealValues } from "./device-matrix.js";
export * from "./engine.js";
export {
  chooseEngine,
  type EngineChoice,
  engineNames,
  engineOn,
  probeEngines,
  type RegistrationOptions,
  registerContextEngine,
  registerEngine,
} from "./engines.js";
export {
  type EnsembleCreateOptions,
  type EnsembleInputs,
  type EnsembleRunOptions,
  ReservoirEnsemble,
  type RunEnsembleOptions,
  runEnsemble,
} from "./ensemble.js";
export * from "./features.js";
export { checkWashout, type SequenceLike } from "./inputs.js";
export {
  type AnyReservoirOptions,
  isSpiking,
  modelOf,
  type PlainReservoirOptions,
  registerSpikingKind,
  type SpikingKind,
} from "./kinds.js";
export type * from "./model.js";
export type { OwnMatrices, ReservoirMatrices } from "./options.js";
export type * from "./profile.js";
export { addMeasurements, addProfiles, loopTime } from "./profile.js";
export type { KindKernel } from "./registered/kernel.js";
export {
  type KindDraw,
  type KindMatrix,
  type KindRunner,
  type KindSizes,
  type KindStep,
  type KindTangent,
  type ReservoirKind,
  registerReservoirKind,
} from "./registered/kind.js";
export type { RegisteredModel } from "./registered/model.js";
export type * from "./registered/options.js";
export type { KindMemory, KindWasm, KindWasmArgument } from "./registered/wasm.js";
export { type AnyShape, expectedShape, type ModelShape, type SpikingShape, shapeOf } from "./shape.js";
export type * from "./spiking-model.js";
export { quantumReservoir } from "./state-affine/quantum/reservoir.js";
export { reservoirStep } from "./step.js";
export { registerTopology } from "./topologies/index.js";
export type * from "./topologies/options.js";
export { sparseFromRows } from "./topologies/random-rows.js";
export type { Topology, TopologyConfig } from "./topologies/topology.js";
export type { DrawnMatrix, DrawnRounding, RowSums, WeightDraws } from "./weight-draws.js";
export type { WeightPrecision } from "./weight-rounding.js";
export { WorkInterruptedError, WorkPacer } from "./work.js";
