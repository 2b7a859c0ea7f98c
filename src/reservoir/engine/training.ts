// Training without keeping states: they go to a sink, or are summed on a device.
import type { Matrix } from "@spillway/numerics";
import type { FeatureSpec } from "../features.js";
import type { WorkOptions } from "../work.js";

/** Receives training rows in order; a Gram accumulator of `readout` is one. */
export interface TrainingSink {
  readonly features: FeatureSpec;
  /** `states` is T x N, `inputs` T x I, `targets` T x O. */
  add(states: Matrix, inputs: Matrix, targets: Matrix): void;
}

/** Rows that train: their targets, and what takes them. */
export interface AccumulateOptions extends WorkOptions {
  /** T x O. */
  readonly targets: Matrix;
  /** Rows left out at the start. */
  readonly washout: number;
  /** What takes the states. */
  readonly sink: TrainingSink;
}
