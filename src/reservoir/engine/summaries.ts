// Statistics of states, or class scores made from them. Devices give them without copying the states
// to the host.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import type { BatchOptions } from "../engine.js";
import type { LinearReadout } from "../features.js";
import type { WorkOptions } from "../work.js";

/** A readout whose outputs are scores of classes. */
export interface ClassScores {
  /** Linear in the features: its `stateSize` is their number. */
  readonly readout: LinearReadout;
  /** Layer norm of each row of features before the readout sees it. */
  readonly layerNorm: boolean;
  /**
   * Scores to shares: exp(s) / sum, or what is above 0 divided by its sum (1 for the first largest
   * score if nothing is).
   */
  readonly shares: "softmax" | "positive";
}

/**
 * A row for each sequence: [the last state, the mean state, what is given], or with `classes` the
 * shares of the classes. All in binary64.
 */
export interface SummaryWork extends WorkOptions, Pick<BatchOptions, "firstSequence" | "devices"> {
  readonly last: boolean;
  readonly mean: boolean;
  /** Rows at the start of every sequence that the mean leaves out; fewer than any sequence has. */
  readonly washout: number;
  /** B x E, E from 0. */
  readonly given: Matrix<Float64Array>;
  readonly classes?: ClassScores | undefined;
}

/**
 * @throws ArgumentError if what is asked for does not go with these sequences of a reservoir of
 * `size` neurons
 */
export function checkSummary(
  { last, mean, washout, given, classes }: SummaryWork,
  size: number,
  sequences: readonly { readonly rows: number }[],
): void {
  if (!last && !mean) throw ArgumentError.because("last and mean are false; a summary takes at least one of them");
  if (given.rows !== sequences.length)
    throw ArgumentError.shape(`given has ${given.rows} rows and there are ${sequences.length} sequences; they take the same number`, {
      field: "given",
    });
  sequences.forEach(({ rows }, b) => {
    if (!Number.isSafeInteger(washout) || washout < 0 || (mean && washout >= rows))
      throw ArgumentError.shape(
        `washout is ${washout} and sequences[${b}] has ${rows} rows; a mean takes a whole number from 0 to ${rows - 1}`,
        { field: "washout", value: washout },
      );
  });
  const features = size * (Number(last) + Number(mean)) + given.cols;
  if (classes && classes.readout.stateSize !== features)
    throw ArgumentError.shape(`the readout of classes takes ${classes.readout.stateSize} features; these sequences have ${features}`);
}
