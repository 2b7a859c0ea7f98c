// Products of states with targets made of past inputs. Devices make them without copying the states
// to the host; others hand the states out, with the same bits.
import type { Matrix, PhiloxKey } from "@spillway/numerics";
import type { WorkOptions } from "../work.js";

/** Targets whose terms are those from `first[j]` to `first[j + 1]`, at least one each. */
export interface TargetTerms {
  readonly count: number;
  readonly first: Uint32Array;
  readonly termDegrees: Uint8Array;
  readonly termDelays: Uint32Array;
}

/**
 * z_j(t) is the product over the terms of target j of values[degree][t - delay], factors from left
 * to right.
 */
export interface TargetWork extends WorkOptions {
  /** T x 1 in the model's precision. */
  readonly inputs: Matrix;
  /** Rows before those that are multiplied. */
  readonly washout: number;
  /** By degree, T values each. */
  readonly values: readonly Float64Array[];
  readonly targets: TargetTerms;
  readonly surrogates?: SurrogateWork | undefined;
}

/**
 * Targets of inputs that the reservoir never heard. Input s at draw t is u[floor(U T)], U draw t of
 * row s of the stream; a row of states t has draw t + degrees - 1 as its newest input.
 */
export interface SurrogateWork {
  /** Inputs that are drawn. */
  readonly count: number;
  /** What they are drawn from, T values. */
  readonly u: Float64Array;
  readonly key: PhiloxKey;
  readonly stream: number;
  /** P_(n+1) = (a u + b) P_n - c P_(n-1) from P_0 = 1, one a degree. */
  readonly recurrences: readonly { readonly a: number; readonly b: number; readonly c: number }[];
  /** Of each input; delays are below the number of degrees. */
  readonly targets: TargetTerms;
}

/**
 * Sums over the rows after the washout, in the blocks of docs/numerics.md, rule 9. X has a column
 * of ones, and the states less those of the first row, L = N + 1 columns.
 */
export interface TargetProducts {
  /** X^T z of target j at j L, L values; behind the targets come those of each surrogate. */
  readonly products: Float64Array;
  /** z^T z. */
  readonly squares: Float64Array;
  /** The triangular factor of X by rule 11, L x L. */
  readonly triangle: Matrix<Float64Array>;
}
