// The capability of an engine that takes measures of many reservoirs at once. Others take them one
// reservoir after the other, with the same bits.
import type { Matrix } from "../../numerics/index.js";
import type { EnginePlan } from "../engine.js";
import type { WorkOptions } from "../work.js";
import type { SweepBase, SweepMember } from "./sweeps.js";

/** Takes measures. */
export interface TakesMeasures {
  /** All members; undefined for work that is better done one reservoir after the other. */
  measure?(work: MeasureWork): Promise<EnginePlan> | undefined;
}

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
}

/** What was found of a reservoir. A measure is undefined if a state was not finite. */
export interface MeasuresFound {
  readonly exponent?: number | undefined;
  /** maxDelay + 1 values. It may not be kept. */
  readonly curve?: Float64Array | undefined;
  readonly kernelRank?: number | undefined;
  readonly generalisationRank?: number | undefined;
  readonly echo?: number | undefined;
}

/** Many reservoirs, and what is measured of each. */
export interface MeasureWork extends WorkOptions {
  readonly bases: readonly SweepBase[];
  /** Their lambda is not looked at. */
  readonly members: readonly SweepMember[];
  readonly asked: MeasuresAsked;
  /** Members that are measured together, at most; they come in order of waves. Default 4096. */
  readonly membersAtOnce?: number | undefined;
  /** Takes what was found of a member. */
  take(member: number, found: MeasuresFound): void;
}
