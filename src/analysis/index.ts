/**
 * Measures of a reservoir itself, before any task: each file one measure, with its definition and
 * source.
 */

export type { LyapunovSpectrum } from "../reservoir/tangents.js";
export * from "./analyse/index.js";
export {
  type DegreeCapacity,
  type InformationCapacity,
  type InformationCapacityOptions,
  informationCapacity,
  type Polynomials,
  type TargetCapacity,
} from "./capacity/index.js";
export {
  type ComparedRun,
  type CompareOptions,
  type Comparison,
  compare,
  type FirstDifference,
  type TrajectoryDifference,
  type UlpBin,
} from "./compare/index.js";
export { type EchoStateIndex, type EchoStateIndexOptions, echoStateIndex } from "./echo-state-index.js";
export * from "./information/index.js";
export {
  type LyapunovExponentOptions,
  type LyapunovSpectrumOptions,
  lyapunovExponent,
  lyapunovSpectrum,
} from "./lyapunov-exponent.js";
export * from "./map/index.js";
export { type MemoryCapacity, type MemoryCapacityOptions, memoryCapacity } from "./memory-capacity.js";
export { type GeneralisationRankOptions, generalisationRank, kernelRank, type RankOptions, type RankResult } from "./ranks.js";
export { effectiveRank, numericalRank, singularValues } from "./singular-values.js";
export type { AnalysisOptions, AnyReservoirSource, ReservoirSource } from "./source.js";
export { type RadiusOptions, spectralRadius } from "./spectral-radius.js";
export { type MatrixSpectrum, type Spectrum, spectrum } from "./spectrum.js";
