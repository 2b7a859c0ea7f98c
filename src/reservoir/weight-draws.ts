// A W that is too large for the host: described by what it is drawn from, and drawn where the
// reservoir runs. Nothing here draws.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { circularLawOfRows, Matrix, madeWhenRead, type PhiloxKey, portableLog, type SeedKeys, type SparseMatrix } from "@spillway/numerics";
import type { ReservoirConfig, WeightDistribution } from "./config.js";
import { isQuantized } from "./weight-rounding.js";

/** What a random W is drawn from (docs/numerics.md, rule 7): the topology "erdosRenyi". */
export interface WeightDraws {
  /** N. */
  readonly size: number;
  readonly key: PhiloxKey;
  readonly distribution: WeightDistribution;
  readonly selfConnections: boolean;
  /** Whether every connection exists. */
  readonly full: boolean;
  /** log(1 - p), portable; 0 if every connection exists. */
  readonly logMiss: number;
  /** What each draw is multiplied by: spectral radius over measured radius. */
  readonly factor: number;
  /** Connections that there are, of a sparse W whose engine has counted them. */
  readonly nonzeros?: number | undefined;
}

/**
 * How each weight is rounded when it has been scaled: "none" leaves binary64, "bfloat16" goes by
 * way of binary32.
 */
export type DrawnRounding = "none" | "float32" | "bfloat16";

/** A W whose values only the engine has. */
export interface DrawnMatrix {
  readonly draws: WeightDraws;
  readonly rounding: DrawnRounding;
}

/**
 * Sums of each row of unscaled draws and of their squares, in rising order from +0: N values each;
 * and how many draws there are in all.
 */
export interface RowSums {
  readonly sums: Float64Array;
  readonly squares: Float64Array;
  readonly nonzeros: number;
}

/**
 * Above this many connections no host draws a W: it is scaled by the circular law
 * (docs/numerics.md, rule 7), with a margin for chance.
 */
const leastConnections = 1.02e8;

/**
 * With this many connections a row on average W is irreducible, but for a chance of 2 N exp(-64).
 */
const leastPerRow = 64;

/** From this many connections on an engine that draws and iterates is worth its transfers. */
const worthwhileConnections = 2e6;

/**
 * Whether a description's W is to be drawn on the device that uses it, if it has one, and on the
 * host only if its values are read.
 */
export function isDrawnInPlace(config: ReservoirConfig, device: { readonly leastDrawn: number } | undefined): boolean {
  const { size, connectionProbability, topology, radiusMethod, arithmetic } = config;
  // Weights in integers are rounded by rows, on the host.
  if (!device || arithmetic === "integer") return false;
  const irreducible = topology.type === "erdosRenyi" && connectionProbability * (size - 1) >= leastPerRow;
  return irreducible && radiusMethod !== "dense" && (size >= device.leastDrawn || !isDrawnLater(config));
}

/** Whether a W drawn elsewhere fits on the host, if its values are read. */
export const isDrawnLater = ({ size, connectionProbability }: Pick<ReservoirConfig, "size" | "connectionProbability">): boolean =>
  connectionProbability * (size - 1) * size <= leastConnections;

/** Whether no host has the values of a model's W, which then goes by its draws alone. */
export const isDeviceOnly = ({ draws, config }: { readonly draws?: WeightDraws | undefined; readonly config: ReservoirConfig }): boolean =>
  draws !== undefined && !isDrawnLater(config);

/**
 * Whether a matrix with this many connections is to be drawn, and its radius measured, by an engine
 * that can.
 */
export const isWorthwhile = (connections: number): boolean => connections >= worthwhileConnections;

/**
 * The values of a model that was drawn in place. @throws ArgumentError if they are steps, which
 * engines find only to run them
 */
export function drawnMatrix({
  draws,
  config: { precision, weightPrecision },
}: {
  draws: WeightDraws;
  config: ReservoirConfig;
}): DrawnMatrix {
  if (isQuantized(weightPrecision))
    throw new ArgumentError(
      "weightPrecision",
      weightPrecision,
      '"full" or "bfloat16" where the radius of a W that only the device holds is asked for',
    );
  return { draws, rounding: weightPrecision === "bfloat16" ? "bfloat16" : precision === "float32" ? "float32" : "none" };
}

/** Unscaled draws of a description. */
export function unscaledDraws(config: ReservoirConfig, keys: SeedKeys): WeightDraws {
  const { size, connectionProbability: p, weightDistribution: distribution, selfConnections } = config;
  const full = p >= 1;
  return { size, key: keys.weights, distribution, selfConnections, full, logMiss: full ? 0 : portableLog(1 - p), factor: 1 };
}

/** The radius that draws with these row sums have by the circular law. */
export const radiusOfRows = ({ sums, squares }: Pick<RowSums, "sums" | "squares">): number => circularLawOfRows(sums, squares);

/**
 * A matrix of N x N whose values only the engine has, or `draw` gives when they are first read.
 * @throws Error if its data is read without
 */
export const undrawnMatrix = (size: number, draw: () => Matrix = () => notHeld(size)): Matrix =>
  madeWhenRead<Matrix, "data">(Object.create(Matrix.prototype), size, ["data"], draw);

/** The same in CSR form. */
export const undrawnSparse = (size: number, draw: () => SparseMatrix = () => notHeld(size)): SparseMatrix =>
  madeWhenRead<SparseMatrix, "rowOffsets" | "columns" | "values">({} as SparseMatrix, size, ["rowOffsets", "columns", "values"], draw);

function notHeld(size: number): never {
  throw new SpillwayError("unavailable", `W of ${size} neurons was drawn on the device that runs it; the host does not hold its values`);
}
