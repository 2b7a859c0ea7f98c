// A reservoir described as JSON. What the fields mean and take is in config-schema.ts.
import type { Resolved } from "@spillway/core/options.js";
import type { CellConfig } from "./cell.js";
import type { feedbackTable, reservoirTable } from "./config-schema.js";
import type { TopologyConfig } from "./topologies/index.js";

/** Where random weights come from: U(-1, 1), N(0, 1), or -1 and 1 with equal chance. */
export type WeightDistribution = "uniform" | "normal" | "bernoulli";

/** What the numbers of a step are, and what an engine may make of their sums. */
export type Arithmetic = "portable" | "fast" | "integer";

/** Output feedback W_fb (N x O). */
export interface FeedbackConfig extends Omit<Resolved<typeof feedbackTable>, "size"> {
  /** O: how many outputs are fed back; default 1. */
  readonly size: number;
}

/**
 * Leak rates between two, as many in each octave: `from` (`to` / `from`)^u, u uniform in [0, 1),
 * drawn from the seed. A reservoir then sees slow and fast changes at once.
 */
export interface LeakRange {
  readonly from: number;
  readonly to: number;
}

/** A random initial state: distribution times scaling, drawn from the seed. */
export interface RandomInitialState {
  readonly distribution: WeightDistribution;
  readonly scaling: number;
}

/**
 * A reservoir's description with every default filled in. It is JSON and determines every weight
 * bit.
 */
export interface ReservoirConfig extends Omit<Resolved<typeof reservoirTable>, "cell" | "feedback"> {
  /**
   * What a step keeps of the state and what it adds, if not (1 - a) x + a f(z). `leakRate` is then
   * left out. Default the leaky cell.
   */
  readonly cell?: CellConfig | undefined;
  /** Output feedback, or `null` for none. */
  readonly feedback: FeedbackConfig | null;
}

/** What a user writes: `size` and every field that differs from the defaults. */
export type ReservoirOptions = Pick<ReservoirConfig, "size"> & {
  readonly [Field in Exclude<keyof ReservoirConfig, "size" | "topology" | "feedback">]?: ReservoirConfig[Field] | undefined;
} & {
  /** A topology by name, or by name and settings. */
  readonly topology?: TopologyConfig | TopologyConfig["type"] | undefined;
  readonly feedback?: Partial<FeedbackConfig> | null | undefined;
  /** Other kinds of reservoir have one. */
  readonly kind?: undefined;
};
