// The capability of an engine that solves least squares of about 106 bits.
import type { DoubleDoubles } from "../../numerics/double-double-rows.js";
import type { WorkOptions } from "../work.js";

/** Least squares in double-double. The bits are those of numerics' `ddLeastSquares`. */
export interface SolvesLeastSquares {
  /**
   * W (F columns of O) that minimises |X W - Y|^2, from columns of T numbers, T >= F; undefined if
   * X has not full rank. Progress counts columns. @throws EngineCapacityError, WorkInterruptedError
   */
  leastSquares?(x: readonly DoubleDoubles[], y: readonly DoubleDoubles[], options?: WorkOptions): Promise<DoubleDoubles[] | undefined>;
}
