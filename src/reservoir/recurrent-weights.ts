// W: drawn from the seed, its radius measured, scaled, rounded and stored. docs/numerics.md, rule 7.
import { ArgumentError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { warnOnce } from "@spillway/core/warning.js";
import {
  allocate,
  describe,
  type FloatArray,
  type FullRows,
  firstNonFinite,
  fullMatrix,
  fullRowSums,
  isSparse,
  Matrix,
  matrixSpectralRadius,
  type Precision,
  RandomStream,
  type SeedKeys,
  type SparseMatrix,
  type SpectralRadius,
  SpectralRadiusError,
  seedKeys,
  storedValues,
  toDense,
  toSparse,
} from "@spillway/numerics";
import type { RadiusPart } from "@spillway/numerics/spectrum/radius.js";
import { antisymmetric } from "./cell.js";
import type { ReservoirConfig } from "./config.js";
import { EngineCapacityError } from "./engine/errors.js";
import type { Engine } from "./engine.js";
import { type DrawnConfig, knownRadius } from "./known-radii.js";
import type { RadiusMethod } from "./model.js";
import type { ReservoirMatrices } from "./options.js";
import { checkedOwn } from "./own-matrices.js";
import { storageFor } from "./shape.js";
import { buildTopology, expectedNonzeros, takesProbability } from "./topologies/index.js";
import type { TopologyMatrix } from "./topologies/topology.js";
import { isWorthwhile, radiusOfRows, unscaledDraws } from "./weight-draws.js";
import { isQuantized, quantizedTakes, roundWeights } from "./weight-rounding.js";

/** Stream numbers of the matrices. */
export const streams = { weights: 0, inputWeights: 1, bias: 2, feedbackWeights: 3, initialState: 4, leakRate: 5 } as const;

/**
 * As `drawWeights`, with the drawing and the iteration for the radius on an engine if W is large
 * and fits there. Power iteration runs there at any size. `elsewhere`, if given, may draw a smaller
 * W. The bits are the same.
 * @throws SpectralRadiusError
 */
export async function drawWeightsBy(
  config: ReservoirConfig,
  engine: Engine,
  elsewhere?: (config: ReservoirConfig) => Promise<DrawnParts | undefined>,
  own: ReservoirMatrices = {},
): Promise<DrawnWeights> {
  const { device } = engine;
  const { spectralRadius: wanted, radiusMethod: method } = config;
  const isLarge = !own.weights && isWorthwhile(expectedNonzeros(config));
  const isPower = device !== undefined && method === "power" && (!own.weights || own.rescale === true);
  if (!isLarge && !isPower) {
    const parts = await elsewhere?.(config);
    return parts ? fromParts(parts, config) : drawWeights(config, own);
  }
  const drawn = isLarge && device && config.topology.type === "erdosRenyi" && unscaledDraws(config, seedKeys(config.seed));
  const matrix = drawn && (await unlessLeftToHost(() => device.drawSparse(drawn)));
  const made = matrix ? new DrawnWeights(config, { matrix, isDrawn: true }) : drawWeights(config, own);
  if (!device || wanted === null || made.analyticRadius !== undefined) return made;
  const found = await unlessLeftToHost(() => device.spectralRadius(made.matrix, { method }));
  return found ? made.with(found) : made;
}

/**
 * What an engine gives, or undefined if its memory does not suffice, or if its iteration does not
 * converge and the host has a method beside it.
 */
export async function unlessLeftToHost<T>(work: () => Promise<T>, unconverged = false): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineCapacityError || (unconverged && error instanceof SpectralRadiusError)) return undefined;
    throw error;
  }
}

export interface Recurrent {
  weights: Matrix | SparseMatrix;
  measuredRadius: number;
  radiusMethod: RadiusMethod;
}

type Measured = { readonly radius: number; readonly method: RadiusMethod };

/** What W is made of: a matrix, or every connection's draw. */
interface DrawnSource {
  readonly matrix?: Matrix | SparseMatrix;
  readonly full?: FullRows | undefined;
  /** The spectral radius if the topology has a formula for it. */
  readonly radius?: number | undefined;
  /** Whether it is the description's, and not the user's own. */
  readonly isDrawn: boolean;
}

/**
 * W as it was drawn, in binary64. Descriptions that differ in nothing but spectral radius,
 * scalings, bias, leak rates or noise share it. A W that has every connection is drawn when its
 * draws are first read; scaling it by the circular law takes none of them: W is drawn for its sums,
 * and again where it is stored.
 */
export class DrawnWeights {
  /** The spectral radius if the topology has a formula for it. */
  readonly analyticRadius: number | undefined;
  readonly #config: DrawnConfig;
  readonly isDrawn: boolean;
  #full: FullRows | undefined;
  #matrix: Matrix | SparseMatrix | undefined;
  #found: Measured | undefined;
  #typical: number | undefined;

  constructor(config: DrawnConfig, { matrix, full, radius, isDrawn }: DrawnSource) {
    this.#config = config;
    this.#matrix = matrix;
    this.#full = full;
    this.isDrawn = isDrawn;
    this.analyticRadius = radius;
    if (radius !== undefined) this.#found = { radius, method: "analytic" };
  }

  get matrix(): Matrix | SparseMatrix {
    this.#matrix ??= fullMatrix(this.#full!, 1, "float64")!;
    return this.#matrix;
  }

  /** The spectral radius, measured when it is first asked for. */
  measured(): Measured {
    this.#found ??= this.isDrawn ? knownRadius(this.#config, () => this.#measure()) : this.#measure();
    return this.#found;
  }

  /** The same weights with a radius that was measured elsewhere. */
  with(found: Measured): this {
    this.#found = found;
    return this;
  }

  /** The radius by the circular law, if the one that was measured is far below it, else 0. */
  typical(measured: number): number {
    this.#typical ??= this.#config.radiusMethod === "circularLaw" ? 0 : farAbove(this.matrix, measured);
    return this.#typical;
  }

  /** W times a factor, if its draws were not read, and none of it is too large. */
  scaled(factor: number, precision: Precision): Matrix | undefined {
    const full = this.#full;
    if (!full || this.#matrix) return undefined;
    this.#full = { ...full, drawn: undefined };
    return fullMatrix(full, factor, precision);
  }

  #measure(): SpectralRadius {
    const { radiusMethod: method } = this.#config;
    if (!this.#full || method !== "circularLaw") return matrixSpectralRadius(this.matrix, { method });
    const { drawn, ...sums } = fullRowSums(this.#full);
    this.#full = { ...this.#full, drawn };
    return { radius: radiusOfRows(sums), method };
  }
}

/** W as another thread drew it. */
export interface DrawnParts extends Pick<DrawnWeights, "analyticRadius"> {
  readonly matrix: Matrix | SparseMatrix;
  /** If it was asked for; in parts if it is to be had from a device. */
  readonly radius: Measured | readonly RadiusPart[] | undefined;
}

/** Whether a device computes some of a radius. */
export const isInParts = (radius: DrawnParts["radius"]): radius is readonly RadiusPart[] => Array.isArray(radius);

function fromParts({ matrix, analyticRadius, radius }: DrawnParts, config: ReservoirConfig): DrawnWeights {
  // A matrix that came from a thread is an object of its fields.
  const whole = isSparse(matrix) ? matrix : new Matrix(matrix.rows, matrix.cols, matrix.data);
  const drawn = new DrawnWeights(config, { matrix: whole, radius: analyticRadius, isDrawn: true });
  if (!radius || isInParts(radius) || radius.method === "analytic" || radius.method === "unscaled") return drawn;
  const { method } = radius;
  return drawn.with(knownRadius(config, () => ({ radius: radius.radius, method })));
}

/** Draws W and scales nothing. */
export function drawWeights(config: DrawnConfig, own: ReservoirMatrices = {}): DrawnWeights {
  const { size } = config;
  if (own.weights) return new DrawnWeights(config, { matrix: checkedOwn("weights", own.weights, size, size), isDrawn: false });
  const keys = seedKeys(config.seed);
  const full = fullRows(config, keys);
  return new DrawnWeights(config, { isDrawn: true, ...(full ? { full } : drawnTopology(config, keys)) });
}

/** The rows of a W that has every connection and is not to be sparse. */
function fullRows(config: DrawnConfig, keys: SeedKeys): FullRows | undefined {
  const { size, topology, connectionProbability, weightDistribution: distribution, selfConnections, storage } = config;
  if (topology.type !== "erdosRenyi" || connectionProbability < 1 || storage === "sparse") return undefined;
  return { values: new RandomStream(keys.weights, streams.weights), distribution, size, withoutOwn: !selfConnections };
}

function drawnTopology(config: DrawnConfig, keys: SeedKeys): TopologyMatrix {
  const { size, topology, connectionProbability, weightDistribution: distribution, selfConnections } = config;
  const draws = (purpose: number) => new RandomStream(keys.weights, streams.weights, purpose);
  const context = { size, connectionProbability, distribution, selfConnections };
  return buildTopology(topology, { ...context, values: draws(0), positions: draws(1), extra: draws(2) });
}

/**
 * Below this share of the radius that W would have by the circular law, its radius is rounding, or
 * as good as that.
 */
const leastShare = 1e-3;

/**
 * The radius by the circular law, if the measured one is far below it, else 0. It is at most N
 * times the largest weight.
 */
function farAbove(matrix: Matrix | SparseMatrix, measured: number): number {
  let largest = 0;
  const values = isSparse(matrix) ? matrix.values : matrix.data;
  for (let p = 0; p < values.length; p++) largest = Math.max(largest, Math.abs(values[p]!));
  if (measured >= leastShare * matrix.rows * largest) return 0;
  const { radius } = matrixSpectralRadius(matrix, { method: "circularLaw" });
  return measured < leastShare * radius ? radius : 0;
}

/**
 * The factor on W as it was drawn: 1 if it is to keep its radius, or has none. A W whose
 * connections close no cycle has radius 0 whatever its weights: a warning says so, but for a
 * topology that has none by its formula, and for no connections at all. Another says so if its
 * cycles cancel, as those of weights -1 and 1 may: what is measured then is rounding.
 */
export function weightFactor(config: ReservoirConfig, drawn: DrawnWeights, wanted = config.spectralRadius): number {
  const { connectionProbability } = config;
  if (wanted === null) return 1;
  const { radius } = drawn.measured();
  if (radius === 0) {
    if (drawn.analyticRadius !== 0 && connectionProbability > 0 && wanted > 0)
      warnOfRadius(
        config,
        drawn,
        `close no cycle: its spectral radius is 0, not ${wanted}, and W is left as it was drawn`,
        ', or the topology "ring"; spectralRadius: null says that this is meant',
      );
    return 1;
  }
  const typical = wanted > 0 && drawn.analyticRadius === undefined ? drawn.typical(radius) : 0;
  if (typical > 0)
    warnOfRadius(
      config,
      drawn,
      `close only cycles that cancel or are weak: its spectral radius is ${radius.toExponential(2)}, where such weights have about ${typical.toPrecision(2)}, ` +
        `so W is multiplied by ${(wanted / radius).toExponential(2)} for the radius ${wanted}, and states may overflow`,
      ', or weightDistribution "uniform"; spectralRadius: null leaves W as it was drawn',
    );
  return wanted / radius;
}

/** Advises only what changes the connections: W of the user's own has no probability and no seed. */
function warnOfRadius(config: ReservoirConfig, { isDrawn }: DrawnWeights, what: string, orElse: string): void {
  const { size, connectionProbability, seed, topology } = config;
  const least = Math.min(1, Math.ceil(300 / size) / 100);
  const [drawnBy, denser] = takesProbability(config)
    ? [`connectionProbability ${connectionProbability}`, `a connectionProbability of ${least} or more, `]
    : [`topology ${quoted(topology.type)}`, ""];
  const advice = isDrawn ? `Take ${denser}another seed${orElse}` : "matrices.rescale: false uses these weights as they are";
  const of = isDrawn ? `this reservoir (size ${size}, ${drawnBy}, seed ${describe(seed)})` : `matrices.weights (size ${size})`;
  warnOnce("SpillwayRadiusWarning", `the connections of ${of} ${what}. ${advice}`);
}

export function recurrentWeights(config: ReservoirConfig, drawn: DrawnWeights, own: ReservoirMatrices): Recurrent {
  const { analyticRadius } = drawn;
  if (config.spectralRadius === null || (own.weights && own.rescale !== true)) {
    const radiusMethod = analyticRadius === undefined ? "unscaled" : "analytic";
    return { weights: scaledWeights(config, drawn, 1), measuredRadius: analyticRadius ?? 0, radiusMethod };
  }
  const { radius, method } = drawn.measured();
  if (own.weights && radius === 0) throw new ArgumentError("matrices.rescale", true, "false for weights whose spectral radius is 0");
  return { weights: scaledWeights(config, drawn, weightFactor(config, drawn)), measuredRadius: radius, radiusMethod: method };
}

/** W as a model has it: times a factor, rounded and stored. */
export function scaledWeights(config: ReservoirConfig, drawn: DrawnWeights, factor: number): Matrix | SparseMatrix {
  const { cell, weightPrecision, precision } = config;
  if (cell?.type === "euler") return stored(antisymmetric(drawn.matrix, factor, cell.damping), 1, config);
  const direct = weightPrecision === "full" ? drawn.scaled(factor, precision) : undefined;
  return direct ?? stored(drawn.matrix, factor, config);
}

/**
 * Scales, rounds to the model's precision and puts into the storage that the description or the
 * density asks for.
 */
function stored(matrix: Matrix | SparseMatrix, factor: number, config: ReservoirConfig): Matrix | SparseMatrix {
  const source = isSparse(matrix) ? matrix.values : matrix.data;
  const values = allocate(config.precision, source.length);
  for (let i = 0; i < source.length; i++) values[i] = source[i]! * factor;
  if (!isQuantized(config.weightPrecision)) roundWeights(values, matrix.cols, config.weightPrecision);
  const beyond = firstNonFinite(values);
  if (beyond >= 0)
    throw new ArgumentError(
      "weights",
      source[beyond]! * factor,
      `values that ${config.precision} can hold; scale W, or take precision float64`,
    );
  const scaled = isSparse(matrix) ? { ...matrix, values } : new Matrix(matrix.rows, matrix.cols, values);
  const storage =
    config.storage === "auto" ? storageFor(config.size, isSparse(matrix) ? storedValues(matrix) : countNonzeros(source)) : config.storage;
  if (storage === "dense") return inSteps(isSparse(scaled) ? toDense(scaled) : scaled, config);
  refuseSparseSteps(config);
  return isSparse(scaled) ? scaled : toSparse(scaled);
}

/** Whether W is rounded to steps row by row, other than those of integer arithmetic. */
const inRows = ({ weightPrecision, arithmetic }: ReservoirConfig): boolean => arithmetic !== "integer" && isQuantized(weightPrecision);

/**
 * @throws ArgumentError for a description whose W turns out sparse, and whose weights are to be
 * steps
 */
export function refuseSparseSteps(config: ReservoirConfig): void {
  if (!inRows(config)) return;
  const { weightPrecision } = config;
  throw new ArgumentError("weightPrecision", weightPrecision, quantizedTakes('a W that is stored dense; set storage: "dense"'));
}

/** A dense W rounded by rows, if its weights are to be whole numbers of steps. */
function inSteps(weights: Matrix, config: ReservoirConfig): Matrix {
  if (!inRows(config)) return weights;
  const { weightPrecision, precision } = config;
  roundWeights(weights.data, weights.cols, weightPrecision);
  const beyond = firstNonFinite(weights.data);
  if (beyond >= 0) throw new ArgumentError("weights", weights.data[beyond], `values whose steps ${precision} can hold; scale W`);
  return weights;
}

function countNonzeros(values: FloatArray): number {
  let count = 0;
  for (const value of values) if (value !== 0) count++;
  return count;
}
