// What may be asked of sequences in place of their states, which an engine can then leave where they are: statistics of the states, or what a
// readout of classes makes of those.
import type { Matrix } from "../numerics/index.js";
import type { WorkOptions } from "./engine.js";
import type { LinearReadout } from "./features.js";

/** A readout whose outputs are scores of classes. */
export interface ClassScores {
  /** Linear in the features: its `stateSize` is their number. */
  readonly readout: LinearReadout;
  /** Layer norm of each row of features before the readout sees it. */
  readonly layerNorm: boolean;
  /** Scores to shares: exp(s) / sum, or what is above 0 divided by its sum (1 for the first largest score where nothing is). */
  readonly shares: "softmax" | "positive";
}

/** A row for each sequence: [the last state, the mean state, what is given], or with `classes` the shares of the classes. All in binary64. */
export interface SummaryWork extends WorkOptions {
  readonly last: boolean;
  readonly mean: boolean;
  /** Rows at the start of every sequence that the mean leaves out; fewer than any sequence has. */
  readonly washout: number;
  /** B x E, E from 0. */
  readonly given: Matrix<Float64Array>;
  readonly classes?: ClassScores | undefined;
}
