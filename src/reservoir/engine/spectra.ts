// The capability of an engine that iterates a matrix faster than the host.
import type { Matrix, SparseMatrix, SpectralRadius, SpectralRadiusOptions } from "../../numerics/index.js";
import type { DrawnMatrix } from "../weight-draws.js";
import type { WorkOptions } from "../work.js";

/** Spectral radii. The bits are those of numerics' `matrixSpectralRadius`. */
export interface FindsRadii {
  /**
   * max |lambda|, with the iteration (Krylov or power) on the engine. @throws EngineCapacityError
   * if the iteration does not fit; SpectralRadiusError if it does not converge
   */
  spectralRadius?(matrix: Matrix | SparseMatrix | DrawnMatrix, options?: SpectralRadiusOptions & WorkOptions): Promise<SpectralRadius>;
}
