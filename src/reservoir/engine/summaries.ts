// Statistics of states, or class scores made from them. Devices give them without copying the states
// to the host.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import type { DeviceMatrix } from "../device-matrix.js";
import type { LinearReadout } from "../features.js";
import type { WorkOptions } from "../work.js";
import type { BatchOptions } from "./calls.js";

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
  /** Multiplies the scores first, if there is one. */
  readonly factor?: number | undefined;
}

/**
 * A row for each sequence: [the last state, the mean state, what is given], or with `levels` [all
 * statistics, what is given], or with `classes` the shares of the classes. All in binary64.
 */
export interface SummaryWork extends WorkOptions, Pick<BatchOptions, "firstSequence" | "devices"> {
  readonly last: boolean;
  readonly mean: boolean;
  /**
   * Q x N: all statistics of docs/numerics.md, rule 10, in place of last and mean, with counts by
   * these levels.
   */
  readonly levels?: Matrix<Float64Array> | undefined;
  /**
   * Rows at the start of every sequence that all but the last state leave out; fewer than any
   * sequence has.
   */
  readonly washout: number;
  /** B x E, E from 0. */
  readonly given: Matrix<Float64Array>;
  readonly classes?: ClassScores | undefined;
  /**
   * Where the features stay: in B x F binary64 in device memory, from a column on. Nothing comes
   * back, B x 0, or with `classes` the shares, which are made of whole rows.
   */
  readonly features?: { readonly rows: DeviceMatrix; readonly column: number } | undefined;
}

/** Which statistics of states. */
export type WhichStatistics = Pick<SummaryWork, "last" | "mean" | "levels" | "washout">;

/** How many numbers a neuron has. */
export function numbersPerNeuron({ last, mean, levels }: WhichStatistics): number {
  return levels ? 6 + 2 * levels.rows : Number(last) + Number(mean);
}

/**
 * @throws ArgumentError if what is asked for does not go with these sequences of a reservoir of
 * `size` neurons
 */
export function checkSummary(work: SummaryWork, size: number, sequences: readonly { readonly rows: number }[]): void {
  const { washout, given, classes, levels, features } = work;
  const each = numbersPerNeuron(work);
  if (each === 0) throw ArgumentError.because("last and mean are false; a summary takes at least one of them");
  if (levels && levels.cols !== size)
    throw ArgumentError.shape(`levels has ${levels.cols} columns and the reservoir ${size} neurons; it takes one a neuron`, {
      field: "levels",
    });
  if (given.rows !== sequences.length)
    throw ArgumentError.shape(`given has ${given.rows} rows and there are ${sequences.length} sequences; they take the same number`, {
      field: "given",
    });
  sequences.forEach(({ rows }, b) => {
    if (!Number.isSafeInteger(washout) || washout < 0 || ((work.mean || levels) && washout >= rows))
      throw ArgumentError.shape(
        `washout is ${washout} and sequences[${b}] has ${rows} rows; a mean takes a whole number from 0 to ${rows - 1}`,
        { field: "washout", value: washout },
      );
  });
  const width = size * each + given.cols;
  if (
    features &&
    (features.rows.precision !== "float64" || features.rows.rows !== sequences.length || features.rows.cols < features.column + width)
  ) {
    const { rows, cols, precision } = features.rows;
    throw ArgumentError.shape(
      `features is ${rows} x ${cols} in ${precision}; ${width} columns from ${features.column} on of ${sequences.length} sequences take float64`,
      { field: "features" },
    );
  }
  const count = features ? features.rows.cols : width;
  if (classes && classes.readout.stateSize !== count)
    throw ArgumentError.shape(`the readout of classes takes ${classes.readout.stateSize} features; these sequences have ${count}`);
}
