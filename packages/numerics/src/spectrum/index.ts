// Eigenvalues of square matrices: the spectral radius of a reservoir, and whole spectra for plots.
export { circularLawOfRows } from "./circular-law.js";
export type { Eigenvalues } from "./dense.js";
export { eigenvalues } from "./eigenvalues.js";
export {
  matrixSpectralRadius,
  PowerIterationError,
  type SpectralRadius,
  SpectralRadiusError,
  type SpectralRadiusOptions,
} from "./radius.js";
