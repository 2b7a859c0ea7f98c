// The capability of an engine that finds nearest neighbours faster than the host. What is estimated
// from them is not known here.
import type { WorkOptions } from "../work.js";

/** Rows as points of the columns of x, y and z, in the maximum norm; x is not part of it. */
export interface NeighbourSpace {
  /** At least one column of n finite numbers. */
  readonly y: readonly Float64Array[];
  /** Columns of the same length, or none. */
  readonly z: readonly Float64Array[];
  /** The neighbour whose distance is the radius of a row; each row has as many. */
  readonly k: number;
  /** Rows within so many steps of each other are no neighbours. */
  readonly window: number;
  /**
   * Whether x and y have radii of their own, up to and with the largest distance of the first k
   * neighbours in each alone. Without z.
   */
  readonly each: boolean;
}

/** How many rows are nearer to each row than its radius, in some columns alone. */
export interface NeighbourCounts {
  /** In z; n - 1 without z. */
  readonly inZ: Uint32Array;
  readonly inXZ: Uint32Array;
  readonly inYZ: Uint32Array;
}

/** Nearest neighbours. The counts are those of the host, and so are the bits of what they give. */
export interface CountsNeighbours {
  /**
   * The counts of one x after the other, in their order. It may take some xs ahead of what is asked
   * for, and gives its memory back when it ends or is left. @throws EngineCapacityError if one x
   * does not fit; WorkInterruptedError
   */
  neighbourCounts?(
    space: NeighbourSpace,
    xs: Iterable<readonly Float64Array[]>,
    options?: Pick<WorkOptions, "signal">,
  ): AsyncIterable<NeighbourCounts>;
}
