// What a network carries from step to step.
import type { FloatArray } from "@spillway/numerics";

/** What a network carries from step to step. Row d of the pending input arrives d + 1 steps on. */
export interface NetworkRunState {
  /** Steps since the start: the counter of what is drawn. */
  readonly step: number;
  /** N values, from rest. */
  readonly potential: FloatArray;
  /** Rise of an adaptive threshold, or Izhikevich's recovery: N values, 0 for plain neurons. */
  readonly recovery: FloatArray;
  /** Currents of the receptors, R x N, and behind them as many rises if some are alpha-shaped. */
  readonly currents: FloatArray;
  /** Steps for which a potential is still held, N values. */
  readonly held: Int32Array;
  /** ringRows x (R N), whole units. */
  readonly pending: Int32Array;
  /** Filtered spikes, N values: 0 in populations that keep none. */
  readonly filtered: FloatArray;
  /**
   * How often each source fired, now and at each earlier time that plastic projections look back
   * to: rows of N + I values, newest first. Empty, as the two lists behind it, without such
   * projections.
   */
  readonly fired: Int32Array;
  /**
   * Of each projection with spike-timing-dependent plasticity: sizes of weights in units, then
   * traces of its sources, a row for each time of `fired`, then traces of its targets. If its delay
   * is dendritic, one row of sources and as many of targets.
   */
  readonly plastic: FloatArray;
  /** Of each projection with short-term plasticity: u, x and the last step of its sources. */
  readonly resources: Float64Array;
}
