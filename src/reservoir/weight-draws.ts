// A W that is too large for the host: described by what it is drawn from, and drawn where the reservoir runs. Nothing here draws.
import { circularLawOfRows, Matrix, type PhiloxKey, portableLog, type SeedKeys } from "../numerics/index.js";
import type { ReservoirConfig, WeightDistribution } from "./config.js";

/** What a random dense W is drawn from (docs/numerics.md, rule 7): the topology "erdosRenyi". */
export interface WeightDraws {
  /** N. */
  readonly size: number;
  readonly key: PhiloxKey;
  readonly distribution: WeightDistribution;
  readonly selfConnections: boolean;
  /** Whether every connection exists. */
  readonly full: boolean;
  /** log(1 - p), portable; 0 where every connection exists. */
  readonly logMiss: number;
  /** What each draw is multiplied by: spectral radius over measured radius. */
  readonly factor: number;
}

/** Sums of each row of unscaled draws and of their squares, in rising order from +0: N values each. */
export interface RowSums {
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

/** Above this many connections a W is scaled by the circular law (docs/numerics.md, rule 7), with room for chance. */
const leastConnections = 1.02e8;

/** Whether a description's W is to be drawn where it is used, if an engine can. */
export function isDrawnInPlace({ size, connectionProbability, topology, storage }: ReservoirConfig, resolvedStorage: string): boolean {
  const dense = storage === "dense" || resolvedStorage === "dense";
  return dense && topology.type === "erdosRenyi" && connectionProbability * size * (size - 1) > leastConnections;
}

/** Unscaled draws of a description. */
export function unscaledDraws(config: ReservoirConfig, keys: SeedKeys): WeightDraws {
  const { size, connectionProbability: p, weightDistribution: distribution, selfConnections } = config;
  const full = p >= 1;
  return { size, key: keys.weights, distribution, selfConnections, full, logMiss: full ? 0 : portableLog(1 - p), factor: 1 };
}

/** The radius that draws with these row sums have by the circular law. */
export const radiusOfRows = ({ sums, squares }: RowSums): number => circularLawOfRows(sums, squares);

/** A matrix of N x N whose values only the engine has. @throws Error where its data is read */
export function undrawnMatrix(size: number): Matrix {
  const matrix = Object.create(Matrix.prototype) as Matrix;
  return Object.defineProperties(matrix, {
    rows: { value: size, enumerable: true },
    cols: { value: size, enumerable: true },
    data: {
      get: () => {
        throw new Error(`W of ${size} neurons was drawn on the device that runs it; the host does not hold its values`);
      },
    },
  });
}
