/**
 * Ising models: samples, energies in a transverse field, annealing. Not reservoir computing.
 */
export { type Annealed, type AnnealOptions, annealIsing } from "./anneal.js";
export { type IsingModel, isingEnergy } from "./ising.js";
export {
  type IsingSampleOptions,
  type IsingSamples,
  sampleIsing,
  sampleTransverseField,
  type TransverseFieldEstimate,
  type TransverseFieldOptions,
} from "./sample.js";
