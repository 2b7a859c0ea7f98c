// A reservoir described as JSON. The fields and their values are in config-table.ts.
import type { Resolved } from "@spillway/core/options.js";
import type { CellConfig } from "./cell-options.js";
import type { feedbackTable, reservoirTable } from "./config-table.js";
import type { TopologyConfig } from "./topologies/index.js";
import type { WeightDistribution } from "./topologies/random-rows.js";

export type { LeakRange } from "./config-table.js";
export type { WeightDistribution } from "./topologies/random-rows.js";

/** What the numbers of a step are, and what an engine may make of their sums. */
export type Arithmetic = "portable" | "fast" | "integer";

/** Output feedback W_fb (N x O). */
export interface FeedbackConfig extends Omit<Resolved<typeof feedbackTable>, "size"> {
  /** O: how many outputs are fed back; default 1. */
  readonly size: number;
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
