// The options of topologies, by name. A user's own package adds its topology to the interface.

/**
 * The options of each topology, by its name. To have the type of your own topology checked, add it:
 * @example
 * declare module "spillway/reservoir" {
 *   interface TopologyOptions {
 *     star: { readonly hub?: number };
 *   }
 * }
 */
export interface TopologyOptions {
  /** Every connection exists with the chance connectionProbability. */
  erdosRenyi: NoOptions;
  /** Every neuron has exactly `degree` inputs; default round(connectionProbability * N). */
  fixedInDegree: { readonly degree?: number | undefined };
  /** A ring 0 -> 1 -> ... -> N-1 -> 0 of equal weights (simple cycle reservoir). */
  ring: NoOptions;
  /**
   * A ring plus bidirectional jumps of length `jump` and weight `jumpWeight` (relative to the
   * ring's 1; default 0.5).
   */
  cycleWithJumps: { readonly jump: number; readonly jumpWeight?: number | undefined };
  /**
   * A line 0 -> 1 -> ... -> N-1 of equal weights (default 1); with `feedback`, also backward with
   * that weight.
   */
  delayLine: { readonly weight?: number | undefined; readonly feedback?: number | undefined };
  /**
   * Watts-Strogatz: a ring lattice of `neighbours` (even) nearest neighbours, each edge rewired
   * with chance `rewiring` (default 0.1).
   */
  smallWorld: { readonly neighbours?: number | undefined; readonly rewiring?: number | undefined };
  /** A random orthogonal matrix. */
  orthogonal: NoOptions;
  /** `blocks` Erdos-Renyi blocks of nearly equal size on the diagonal and nothing between them. */
  blockDiagonal: { readonly blocks: number };
  /** The matrices were given by the user. */
  custom: NoOptions;
}

/** A topology without options. */
export type NoOptions = Readonly<Record<never, never>>;
