// Eigenvalues of square matrices: the spectral radius of a reservoir, and whole spectra for plots.
export { circularLawOfRows } from "./circular-law.js";
export type { Eigenvalues } from "./dense.js";
export { eigenvalues } from "./eigenvalues.js";
export type { PowerFailure } from "./power-iteration.js";
export {
  matrixSpectralRadius,
  PowerIterationError,
  type SpectralRadius,
  SpectralRadiusError,
  type SpectralRadiusMethod,
  type SpectralRadiusOptions,
} from "./radius.js";
