// Measures of many reservoirs. Devices take them at once, others one reservoir after the other, with
// the same bits.
import type { Matrix } from "@spillway/numerics";
import type { TargetWork } from "./products.js";

/** Series that drive every reservoir from its initial state, in the models' precision. */
export interface RankStreams {
  /** T x I each, of one length; stream m has noise sequence m. There are N of them. */
  readonly streams: readonly Matrix[];
  /** Singular values above this share of the largest count. */
  readonly tolerance: number;
}

/** What is measured of each reservoir; what is left out is not. */
export interface MeasuresAsked {
  /** The largest conditional Lyapunov exponent. */
  readonly exponent?:
    | {
        /** T x I in the models' precision. */
        readonly inputs: Matrix;
        /** The difference at the start, N values, of length 1. */
        readonly tangent: Float64Array;
        /** Steps before those that count. */
        readonly washout: number;
      }
    | undefined;
  /** Squared correlations of held-out rows for every delay. */
  readonly memory?:
    | {
        /** T x 1 in the models' precision, and the same in binary64. */
        readonly inputs: Matrix;
        readonly values: Float64Array;
        /** Rows that neither train nor score, those that train, and those that score. */
        readonly washout: number;
        readonly length: number;
        readonly heldOut: number;
        readonly maxDelay: number;
        /** Ridge penalty, by reflections (docs/numerics.md, rule 11). */
        readonly lambda: number;
      }
    | undefined;
  readonly kernelRank?: RankStreams | undefined;
  readonly generalisationRank?: RankStreams | undefined;
  /** Mean distance of runs from other states. */
  readonly echo?:
    | {
        /** T x I in the models' precision. */
        readonly inputs: Matrix;
        /** Initial states, P x N in the models' precision. */
        readonly starts: Matrix;
        /** Steps before the distance counts. */
        readonly washout: number;
      }
    | undefined;
  /** Information processing capacity: the share of every target in the states. */
  readonly capacity?:
    | (Pick<TargetWork, "inputs" | "washout" | "values" | "targets"> & {
        /** Directions of the states below this share of the longest do not count. */
        readonly tolerance: number;
      })
    | undefined;
  /** What neurons store and connections transfer, by the Gaussian estimator with a history of 1. */
  readonly dynamics?:
    | {
        /** T x I in the models' precision. */
        readonly inputs: Matrix;
        /** Steps before those that are measured. */
        readonly washout: number;
      }
    | undefined;
}

/** What was found of a reservoir. A measure is undefined if a state was not finite. */
export interface MeasuresFound {
  readonly exponent?: number | undefined;
  /** maxDelay + 1 values. It may not be kept. */
  readonly curve?: Float64Array | undefined;
  readonly kernelRank?: number | undefined;
  readonly generalisationRank?: number | undefined;
  readonly echo?: number | undefined;
  /** Directions of the states, and the share of each target. `values` may not be kept. */
  readonly capacities?: { readonly rank: number; readonly values: Float64Array } | undefined;
  /** Means over neurons, and over connections of W. */
  readonly dynamics?: { readonly storage: number; readonly transfer: number } | undefined;
}
