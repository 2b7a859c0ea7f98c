/**
 * For authors of engines: the contract, how an engine is made known, and what engines share with
 * the reference, the step above all. It runs nothing by itself.
 */

export { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
export type { FloatArray, MatrixLike, Precision, Seed, SparseMatrix } from "@spillway/numerics";
export { Matrix } from "@spillway/numerics";
export { checkFinite } from "@spillway/numerics/known-finite.js";
export { activationOf } from "../reservoir/activations.js";
export { DeviceMatrix, DeviceSequences, type DeviceShape, type RealValues } from "../reservoir/device-matrix.js";
export { accumulate, addRows } from "../reservoir/engine/accumulate.js";
export { checkSummary } from "../reservoir/engine/summaries.js";
export * from "../reservoir/engine.js";
export {
  chooseEngine,
  type EngineChoice,
  engineNames,
  engineOn,
  probeEngines,
  type RegistrationOptions,
  registerContextEngine,
  registerEngine,
} from "../reservoir/engines.js";
export * from "../reservoir/features.js";
export { checkWashout } from "../reservoir/inputs.js";
export { type AnyReservoirOptions, isSpiking, modelOf, registerSpikingKind, type SpikingKind } from "../reservoir/kinds.js";
export type * from "../reservoir/model.js";
export * from "../reservoir/profile.js";
export { type AnyShape, expectedShape, type ModelShape, type SpikingShape, shapeOf } from "../reservoir/shape.js";
export type * from "../reservoir/spiking-model.js";
export { reservoirStep } from "../reservoir/step.js";
export type { DrawnMatrix, DrawnRounding, RowSums, WeightDraws } from "../reservoir/weight-draws.js";
export { WorkInterruptedError, WorkPacer } from "../reservoir/work.js";
