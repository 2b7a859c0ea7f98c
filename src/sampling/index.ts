/**
 * Ising models: samples, energies in a transverse field, annealing. Not reservoir computing.
 */
export { annealIsing } from "./anneal.js";
export { type IsingModel, isingEnergy } from "./ising.js";
export { sampleIsing, sampleTransverseField } from "./sample.js";
