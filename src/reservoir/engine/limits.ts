// The capability of an engine that knows how much it can hold.
import type { ModelShape } from "../shape.js";

/** What an engine can hold at most. Without it the machine's memory alone is a limit. */
export interface KnowsLimits {
  /** The most bytes of weights, known before any are drawn. */
  readonly weightLimit?: number;
  /**
   * The least bytes that a rate reservoir of these sizes takes of that limit. Left out: those of
   * its matrices.
   */
  expectedBytes?(shape: ModelShape): number;
}
