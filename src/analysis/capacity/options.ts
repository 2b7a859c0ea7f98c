// The options of information processing capacity, and what it gives.
import { choice, either, list, number, option, optional, type TableOf, tuple, whole } from "@spillway/core/options.js";
import type { MatrixLike, Precision } from "@spillway/numerics";
import { seriesOf } from "../../reservoir/options.js";
import { type WorkOptions, workTable } from "../../reservoir/work.js";
import { type AnalysisOptions, analysisTable, inputTable } from "../source.js";
import type { Polynomials } from "./polynomials.js";

/** The targets, rows and inputs of the measure. */
export interface InformationCapacityOptions extends AnalysisOptions, Pick<WorkOptions, "onProgress"> {
  /**
   * Degrees, each with its longest delay. Default [[1, 200], [2, 50], [3, 20]]: 3298 targets.
   * Degree d to delay K has C(K + d, d) of them.
   */
  readonly degrees?: readonly (readonly [degree: number, longestDelay: number])[] | undefined;
  /** T, rows that are measured. Default 30,000. What is found grows with it. */
  readonly length?: number | undefined;
  /** Rows before those, at least the longest delay. Default that and 100. */
  readonly washout?: number | undefined;
  /**
   * Inputs are uniform in [-amplitude, amplitude), or normal with this standard deviation if the
   * polynomials are Hermite's. Default 0.8.
   */
  readonly amplitude?: number | undefined;
  /**
   * Drive the reservoir with this T x 1 series of independent values in place of random input; the
   * rows behind the washout are measured. With Legendre's polynomials they lie in [-amplitude,
   * amplitude].
   */
  readonly inputs?: MatrixLike | undefined;
  /**
   * "legendre" (default) for uniform inputs, "hermite" for normal ones, or "sample": those that are
   * orthogonal over the inputs as they are.
   */
  readonly polynomials?: Polynomials | undefined;
  /**
   * What a capacity must exceed to count: the chi-squared quantile (default), 1.2 times the largest
   * of 200 inputs that the reservoir never heard, or a number.
   */
  readonly threshold?: "chiSquared" | "surrogate" | number | undefined;
  /** Probability that any target of a degree counts by chance. Default 0.01. */
  readonly alpha?: number | undefined;
  /**
   * Directions of state with a singular value up to this share of the largest are left out. Default
   * sqrt(N 2^-52) (float64) or N 2^-23 (float32).
   */
  readonly tolerance?: number | undefined;
}

/** The options of `informationCapacity`. */
export const informationCapacityTable = {
  ...analysisTable,
  ...inputTable,
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
  length: option(whole({ atLeast: 2 }), 30_000, "Rows that are measured."),
  washout: optional(whole(), "Rows before those, at least the longest delay; left out, that and 100."),
  inputs: optional(seriesOf("T x 1"), "Drives the reservoir in place of random input; the rows behind the washout are measured."),
  polynomials: option(
    choice("legendre", "hermite", "sample"),
    "legendre",
    "Of a uniform input, of a normal one, or of the input as it is.",
  ),
  threshold: option(
    either("chiSquared, surrogate or a number from 0 to below 1", choice("chiSquared", "surrogate"), number({ atLeast: 0, below: 1 })),
    "chiSquared",
    "What a capacity must exceed to count.",
  ),
  alpha: option(number({ above: 0, below: 1 }), 0.01, "Probability that any target of a degree counts by chance."),
  tolerance: optional(number({ above: 0, below: 1 }), "Singular values up to this share of the largest are left out."),
  onProgress: workTable.onProgress,
} satisfies TableOf<InformationCapacityOptions>;

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
