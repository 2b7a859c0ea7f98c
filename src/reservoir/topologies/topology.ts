// What a topology is: a rule that turns a configuration and a random stream into the unscaled
// matrix W.
import type { RandomStream, SparseMatrix } from "../../numerics/index.js";
import type { WeightDistribution } from "../config.js";

/** A topology with its settings; `type` names the file. */
export type TopologyConfig =
  | { readonly type: "erdosRenyi" }
  /** Every neuron has exactly `degree` inputs; default round(connectionProbability * N). */
  | { readonly type: "fixedInDegree"; readonly degree?: number | undefined }
  /** A ring 0 -> 1 -> ... -> N-1 -> 0 of equal weights (simple cycle reservoir). */
  | { readonly type: "ring" }
  /**
   * A ring plus bidirectional jumps of length `jump` and weight `jumpWeight` (relative to the
   * ring's 1).
   */
  | { readonly type: "cycleWithJumps"; readonly jump: number; readonly jumpWeight?: number | undefined }
  /**
   * A line 0 -> 1 -> ... -> N-1 of equal weights (default 1); with `feedback`, also backward with
   * that weight.
   */
  | { readonly type: "delayLine"; readonly weight?: number | undefined; readonly feedback?: number | undefined }
  /**
   * Watts-Strogatz: a ring lattice of `neighbours` (even) nearest neighbours, each edge rewired
   * with chance `rewiring`.
   */
  | { readonly type: "smallWorld"; readonly neighbours?: number | undefined; readonly rewiring?: number | undefined }
  /** A random orthogonal matrix. */
  | { readonly type: "orthogonal" }
  /** `blocks` equal Erdos-Renyi blocks on the diagonal and nothing between them. */
  | { readonly type: "blockDiagonal"; readonly blocks: number }
  /** The matrices were given by the user. */
  | { readonly type: "custom" };

/** What a topology may look at. */
export interface TopologyContext {
  readonly size: number;
  readonly connectionProbability: number;
  readonly distribution: WeightDistribution;
  readonly selfConnections: boolean;
  /** Stream 0 with purpose 0, 1 or 2 (docs/numerics.md, rule 7). */
  readonly values: RandomStream;
  readonly positions: RandomStream;
  readonly extra: RandomStream;
}

/** The unscaled matrix, in binary64, and its spectral radius if a formula gives it. */
export interface TopologyMatrix {
  readonly matrix: SparseMatrix<Float64Array>;
  readonly radius?: number;
}

/** One topology. */
export type Topology<Config extends TopologyConfig = TopologyConfig> = (config: Config, context: TopologyContext) => TopologyMatrix;
