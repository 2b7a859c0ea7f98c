// A reservoir as an engine sees it: plain arrays in the model's precision, nothing left to decide.
import type { FloatArray, Matrix, PhiloxKey, Precision, SparseMatrix } from "@spillway/numerics";
import type { Activation } from "./activations.js";
import type { CellWeights } from "./cell-options.js";
import type { ReservoirConfig } from "./config.js";
import type { WeightDraws } from "./weight-draws.js";

export type { Activation, ActivationNames } from "./activations.js";

/** How the spectral radius of the unscaled matrix was found. */
export type RadiusMethod = "analytic" | "structure" | "dense" | "krylov" | "power" | "circularLaw" | "unscaled";

/**
 * A reservoir of N neurons, I inputs and O fed-back outputs:
 * x(t+1) = (1 - a) x(t) + a f(W x(t) + W_in u(t+1) + b + W_fb y(t) + noise).
 */
export interface ReservoirModel {
  /** A rate reservoir says nothing of its kind; see spiking-model.ts for the other. */
  readonly kind?: undefined;
  /** The configuration with every default filled in. */
  readonly config: ReservoirConfig;
  readonly precision: Precision;
  /** N. */
  readonly size: number;
  /** I, which may be 0. */
  readonly inputSize: number;
  /** O, the width of the feedback; 0 if the model has none. */
  readonly outputSize: number;
  /** W, N x N. Its storage is part of the model: it decides the order of the sums. */
  readonly weights: Matrix | SparseMatrix;
  /**
   * What W is drawn from on the device that runs it, if the host does not hold its values;
   * reading `weights.data` throws then.
   */
  readonly draws?: WeightDraws | undefined;
  /** W_in, N x I. */
  readonly inputWeights: Matrix;
  /** b, N values. */
  readonly bias: FloatArray;
  /** W_fb, N x O, if the model has feedback. */
  readonly feedbackWeights?: Matrix;
  /** a, N values, rounded to the model's precision. */
  readonly leakRate: FloatArray;
  /**
   * Left out, the leaky cell: (1 - a) x is kept. Else k O x is, and a is the gain of f.
   */
  readonly cell?: CellWeights | undefined;
  /** x before the first step, N values. */
  readonly initialState: FloatArray;
  readonly activation: Activation;
  /** Uniform noise in [-level, level) added to the pre-activation; 0 means none. */
  readonly noiseLevel: number;
  readonly noiseKey: PhiloxKey;
  /** Spectral radius of the matrix before scaling, and how it was found. */
  readonly measuredRadius: number;
  readonly radiusMethod: RadiusMethod;
}
