// The options of information processing capacity, and what it gives.
import { choice, either, type InputOf, list, number, option, optional, tuple, whole } from "@spillway/core/options.js";
import type { Precision } from "@spillway/numerics";
import { seriesOf } from "../../reservoir/options.js";
import { type WorkOptions, workTable } from "../../reservoir/work.js";
import { type AnalysisOptions, analysisTable, inputTable } from "../source.js";

export const informationCapacityTable = {
  ...analysisTable,
  /**
   * Inputs are uniform in [-amplitude, amplitude), or normal with this standard deviation if the
   * polynomials are Hermite's. Default 0.8.
   */
  amplitude: inputTable.amplitude,
  /**
   * Degrees, each with its longest delay. Default [[1, 200], [2, 50], [3, 20]]: 3298 targets.
   * Degree d to delay K has C(K + d, d) of them.
   */
  degrees: option(
    list(
      tuple<readonly [degree: number, longestDelay: number]>("a degree of 1 to 20 and its longest delay", [
        whole({ atLeast: 1, atMost: 20 }),
        whole({ atMost: 1_000_000 }),
      ]),
      "a list of pairs: a degree and its longest delay",
      1,
    ),
    [
      [1, 200],
      [2, 50],
      [3, 20],
    ],
    "Degrees, each with its longest delay.",
  ),
  /** T, rows that are measured. Default 30,000. What is found grows with it. */
  length: option(whole({ atLeast: 2 }), 30_000, "Rows that are measured."),
  /** Rows before those, at least the longest delay. Default that and 100. */
  washout: optional(whole(), "Rows before those, at least the longest delay; left out, that and 100."),
  /**
   * Drive the reservoir with this T x 1 series of independent values in place of random input; the
   * rows behind the washout are measured. With Legendre's polynomials they lie in [-amplitude,
   * amplitude].
   */
  inputs: optional(seriesOf("T x 1"), "Drives the reservoir in place of random input; the rows behind the washout are measured."),
  /**
   * "legendre" (default) for uniform inputs, "hermite" for normal ones, or "sample": those that are
   * orthogonal over the inputs as they are.
   */
  polynomials: option(
    choice("legendre", "hermite", "sample"),
    "legendre",
    "Of a uniform input, of a normal one, or of the input as it is.",
  ),
  /**
   * What a capacity must exceed to count: the chi-squared quantile (default), 1.2 times the largest
   * of 200 inputs that never drove the reservoir, or a number.
   */
  threshold: option(
    either("chiSquared, surrogate or a number from 0 to below 1", choice("chiSquared", "surrogate"), number({ atLeast: 0, below: 1 })),
    "chiSquared",
    "What a capacity must exceed to count.",
  ),
  /** Probability that any target of a degree counts by chance. Default 0.01. */
  alpha: option(number({ above: 0, below: 1 }), 0.01, "Probability that any target of a degree counts by chance."),
  /**
   * Directions of state with a singular value up to this share of the largest are left out. Default
   * sqrt(N 2^-52) (float64) or N 2^-23 (float32).
   */
  tolerance: optional(number({ above: 0, below: 1 }), "Singular values up to this share of the largest are left out."),
  onProgress: workTable.onProgress,
};

/** The targets, rows and inputs of the measure. */
export interface InformationCapacityOptions
  extends AnalysisOptions,
    Pick<WorkOptions, "onProgress">,
    InputOf<typeof informationCapacityTable> {}

/** What a reservoir can compute of its past input. */
export interface InformationCapacity {
  /** The sum of what counted; at most `rank`, but for chance. */
  readonly total: number;
  /** r, the independent directions of state: the most that all capacities can add up to. */
  readonly rank: number;
  /** In the order of the degrees that were asked for. */
  readonly byDegree: readonly DegreeCapacity[];
  /** The targets that counted, the largest capacity first. */
  readonly capacities: readonly TargetCapacity[];
  /** What the targets below the threshold hold together beyond chance. */
  readonly belowThreshold: number;
  /** Of the states: what float32 rounds away is no capacity. */
  readonly precision: Precision;
}

/** The capacity of one degree. */
export interface DegreeCapacity {
  readonly degree: number;
  readonly longestDelay: number;
  readonly targets: number;
  /** Targets above the threshold. */
  readonly counted: number;
  /** Their sum. */
  readonly capacity: number;
  readonly threshold: number;
  /** What the others hold together beyond chance: above 0 a longer series would find more. */
  readonly belowThreshold: number;
  /** `capacity` by the longest delay of its targets, longestDelay + 1 values. */
  readonly byDelay: Float64Array;
}

/** The capacity of one target, the product of P_degree(u(t - delay)) over its terms. */
export interface TargetCapacity {
  readonly terms: readonly (readonly [degree: number, delay: number])[];
  readonly capacity: number;
}
