// The capability of an engine that draws W itself. The bits are those of the host's drawing.
import type { SparseMatrix } from "../../numerics/index.js";
import type { RowSums, WeightDraws } from "../weight-draws.js";

/** Draws W by its counters. */
export interface DrawsWeights {
  /** Sums of each row of a W that is drawn where it is used, and never stored. */
  drawRowSums?(weights: WeightDraws): Promise<RowSums>;
  /** A sparse W for the host. @throws EngineCapacityError if it does not fit */
  drawSparse?(weights: WeightDraws): Promise<SparseMatrix<Float64Array>>;
}
