// What a topology is: an object with its options, its expected connections and the rule that turns
// them and random streams into the unscaled matrix W.
import type { Part } from "@spillway/core/registry.js";
import type { RandomStream, SparseMatrix } from "@spillway/numerics";
import type { TopologyOptions } from "./options.js";
import type { WeightDistribution } from "./random-rows.js";

export type * from "./options.js";

/** A topology's name, as `type`, with its options. */
export type TopologyConfig = {
  [Name in keyof TopologyOptions]: { readonly type: Name } & Readonly<TopologyOptions[Name]>;
}[keyof TopologyOptions];

/** What the number of connections may depend on. */
export interface TopologySize {
  /** N. */
  readonly size: number;
  readonly connectionProbability: number;
}

/** What a topology may look at when it makes W. */
export interface TopologyContext extends TopologySize {
  readonly distribution: WeightDistribution;
  readonly selfConnections: boolean;
  /** Stream 0 with purpose 0, 1 or 2 (docs/numerics.md, rule 7). */
  readonly values: RandomStream;
  readonly positions: RandomStream;
  readonly extra: RandomStream;
}

/** The unscaled matrix, in binary64, and its spectral radius if a formula gives it. */
export interface TopologyMatrix {
  /** N x N; the columns of each row rise. */
  readonly matrix: SparseMatrix<Float64Array>;
  /** Left out, the radius is measured. */
  readonly radius?: number;
}

/**
 * One topology. `options` is a table of `spillway/reservoir`; what it reads is handed to the
 * functions.
 */
// biome-ignore lint/suspicious/noExplicitAny: a list of topologies has options of any type.
export interface Topology<Options = any> extends Part {
  /** Refuses options that do not go with N. @throws ArgumentError that names the option */
  check?(options: Options, size: number): void;
  /** Connections of W, on average over seeds: memory is planned by it, and the storage chosen. */
  expectedNonzeros(options: Options, of: TopologySize): number;
  /** W before it is scaled: the same bits for the same options and context. */
  build(options: Options, context: TopologyContext): TopologyMatrix;
}
