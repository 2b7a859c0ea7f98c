/**
 * Measures of a reservoir itself, before any task: each file one measure, with its definition and
 * source.
 */

export * from "./analyse/index.js";
export { type InformationCapacity, informationCapacity } from "./capacity/index.js";
export { type ComparedRun, type Comparison, compare } from "./compare/index.js";
export { echoStateIndex } from "./echo-state-index.js";
export * from "./information/index.js";
export { lyapunovExponent, lyapunovSpectrum } from "./lyapunov-exponent.js";
export * from "./map/index.js";
export { memoryCapacity } from "./memory-capacity.js";
export { generalisationRank, kernelRank } from "./ranks.js";
export { effectiveRank, numericalRank, singularValues } from "./singular-values.js";
export { type Spectrum, spectralRadius, spectrum } from "./spectrum.js";
