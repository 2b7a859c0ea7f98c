// From a description to a model: draws every matrix from the seed, measures the radius and scales.
// docs/numerics.md, rule 7.
import { ArgumentError } from "@spillway/core/errors.js";
import { machineMemory } from "@spillway/core/machine-memory.js";
import { warnOnce } from "@spillway/core/warning.js";
import {
  allocate,
  asMatrix,
  checkSparse,
  describe,
  type FloatArray,
  type FullRows,
  firstNonFinite,
  fullMatrix,
  fullRowSums,
  inPrecision,
  isSparse,
  Matrix,
  type MatrixLike,
  matrixSpectralRadius,
  type Precision,
  portableExp,
  portableLog,
  RandomStream,
  type SeedKeys,
  type SparseMatrix,
  SpectralRadiusError,
  seedKeys,
  storedValues,
  toDense,
  toSparse,
} from "@spillway/numerics";
import { antisymmetric, cellWeights } from "./cell.js";
import { hasOrthogonal } from "./cell-options.js";
import type { ReservoirConfig, WeightDistribution } from "./config.js";
import type { DeviceAbilities } from "./engine/device.js";
import { EngineCapacityError, orFloat32 } from "./engine/errors.js";
import type { Engine } from "./engine.js";
import { inIntegers } from "./integer/weights.js";
import { type DrawnConfig, knownRadius, knownRadiusBy } from "./known-radii.js";
import type { RadiusMethod, ReservoirModel } from "./model.js";
import type { ReservoirMatrices } from "./options.js";
import { expectedShape, storageFor } from "./shape.js";
import { buildTopology, drawDense, expectedNonzeros } from "./topologies/index.js";
import { isDrawnInPlace, isDrawnLater, isWorthwhile, radiusOfRows, undrawnMatrix, undrawnSparse, unscaledDraws } from "./weight-draws.js";
import { isQuantized, quantizedTakes, roundedBytes, roundWeights } from "./weight-rounding.js";

/** Stream numbers of the matrices. */
const streams = { weights: 0, inputWeights: 1, bias: 2, feedbackWeights: 3, initialState: 4, leakRate: 5 } as const;

/**
 * Draws and scales the matrices of a checked description. The same description gives the same bits
 * everywhere.
 */
export function buildModel(
  config: ReservoirConfig,
  own: ReservoirMatrices = {},
  unscaled: DrawnWeights = drawWeights(config, own),
): ReservoirModel {
  const model = modelWith(config, recurrentWeights(config, unscaled, own), own);
  return config.arithmetic === "integer" ? inIntegers(model) : model;
}

/** A model with this W; the other matrices are the user's own, or are drawn. */
function modelWith(config: ReservoirConfig, { weights, measuredRadius, radiusMethod }: Recurrent, own: ReservoirMatrices): ReservoirModel {
  const { size, inputSize, precision } = config;
  const keys = seedKeys(config.seed);
  const fedBack = config.feedback?.size ?? 0;
  const outputSize = own.feedbackWeights ? columnsOf(own.feedbackWeights, fedBack) : fedBack;
  const feedbackWeights = own.feedbackWeights
    ? ownMatrix("feedbackWeights", own.feedbackWeights, size, outputSize, config)
    : config.feedback
      ? drawn(config, keys, "feedbackWeights", outputSize, config.feedback.density, config.feedback.distribution, config.feedback.scaling)
      : undefined;
  const storage = isSparse(weights) ? "sparse" : "dense";
  return {
    config: {
      ...config,
      storage,
      ...(own.weights ? { topology: { type: "custom" } } : {}),
      ...(feedbackWeights && !config.feedback ? { feedback: { size: outputSize, scaling: 1, density: 1, distribution: "uniform" } } : {}),
    },
    precision,
    size,
    inputSize,
    outputSize,
    weights,
    inputWeights: own.inputWeights
      ? ownMatrix("inputWeights", own.inputWeights, size, inputSize, config)
      : drawn(config, keys, "inputWeights", inputSize, config.inputConnectivity, config.inputDistribution, config.inputScaling),
    bias: own.bias
      ? ownMatrix("bias", own.bias, size, 1, config).data
      : drawn(config, keys, "bias", 1, config.bias === 0 ? 0 : config.biasDensity, config.biasDistribution, config.bias).data,
    ...(feedbackWeights ? { feedbackWeights } : {}),
    ...cellOf(config, own),
    initialState: initialState(config, keys, own),
    activation: config.activation,
    noiseLevel: precision === "float32" ? Math.fround(config.noiseLevel) : config.noiseLevel,
    noiseKey: keys.noise,
    measuredRadius,
    radiusMethod,
  };
}

function cellOf(config: ReservoirConfig, { orthogonal }: ReservoirMatrices): Pick<ReservoirModel, "leakRate" | "cell"> {
  const { size, precision } = config;
  if (orthogonal && !hasOrthogonal(config))
    throw new ArgumentError("matrices.orthogonal", orthogonal, "nothing without a cell that has one");
  if (!config.cell) return { leakRate: allocate(precision, size).map(leakRateOf(config)) as FloatArray };
  return cellWeights(config, orthogonal && ownMatrix("orthogonal", orthogonal, size, size, config));
}

/** As `buildModel`, with what an engine does of it better than the host. */
export async function buildModelBy(config: ReservoirConfig, engine: Engine, own?: ReservoirMatrices): Promise<ReservoirModel> {
  const { device } = engine;
  if (!own && device && isDrawnInPlace(config, device)) {
    const make = () => buildDrawnModel(config, device);
    const model = isDrawnLater(config) ? await unlessLeftToHost(make, config.radiusMethod === "auto") : await make();
    if (model) return model;
  }
  return buildModel(config, own, await drawWeightsBy(config, engine, undefined, own));
}

/** As `buildModel`, with a W that is drawn on the device that runs it. */
export async function buildDrawnModel(
  config: ReservoirConfig,
  device: Pick<DeviceAbilities, "drawRowSums" | "spectralRadius">,
): Promise<ReservoirModel> {
  const { size, spectralRadius: wanted, radiusMethod: method } = config;
  const unscaled = unscaledDraws(config, seedKeys(config.seed));
  // A W that no host draws is large enough for the estimate.
  const byRows = method === "circularLaw" || (method === "auto" && !isDrawnLater(config));
  const rows = byRows || !unscaled.full ? await device.drawRowSums(unscaled) : undefined;
  const storage = config.storage === "auto" ? storageFor(size, unscaled.full ? size * size : rows!.nonzeros) : config.storage;
  if (storage === "sparse") refuseSparseSteps(config);
  const found =
    wanted === null
      ? { radius: 0, method: "unscaled" as const }
      : byRows
        ? { radius: radiusOfRows(rows!), method: "circularLaw" as const }
        : await knownRadiusBy(config, () => device.spectralRadius({ draws: unscaled, rounding: "none" }, { method }));
  const { radius } = found;
  const factor = radius > 0 ? wanted! / radius : 1;
  const later = isDrawnLater(config) ? () => scaledWeights({ ...config, storage }, drawWeights(config), factor) : undefined;
  const weights =
    storage === "dense"
      ? undrawnMatrix(size, later as (() => Matrix) | undefined)
      : undrawnSparse(size, later as (() => SparseMatrix) | undefined);
  return {
    ...modelWith(config, { weights, measuredRadius: radius, radiusMethod: found.method }, {}),
    draws: { ...unscaled, factor, ...(storage === "sparse" ? { nonzeros: rows?.nonzeros ?? size * size } : {}) },
  };
}

/**
 * As `drawWeights`, with the drawing and the iteration for the radius on an engine if W is large
 * and the engine has room; power iteration runs there whatever the size. A smaller W is what
 * `elsewhere` draws, if it is given and draws any. The bits are the same.
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
  const made = matrix ? fromMatrix(matrix, undefined, config, true) : drawWeights(config, own);
  if (!device || wanted === null || made.analyticRadius !== undefined) return made;
  const found = await unlessLeftToHost(() => device.spectralRadius(made.matrix, { method }));
  return found ? { ...made, measured: () => found } : made;
}

/**
 * What an engine gives, or undefined if its memory does not suffice, or if its iteration does not
 * converge and the host has a method beside it.
 */
async function unlessLeftToHost<T>(work: () => Promise<T>, unconverged = false): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineCapacityError || (unconverged && error instanceof SpectralRadiusError)) return undefined;
    throw error;
  }
}

/**
 * Bytes that the matrices of a description take where they are used, near enough to refuse what
 * cannot fit before anything is drawn.
 */
function expectedWeightBytes(config: ReservoirConfig, inPlace: boolean): number {
  const { size, inputSize, outputSize, storage, nonzeros, precision } = expectedShape(config);
  const elementBytes = precision === "float32" ? 4 : 8;
  const weightBytes = (inPlace && roundedBytes[config.weightPrecision]) || elementBytes;
  const recurrent = storage === "dense" ? size * size * weightBytes : nonzeros * (elementBytes + (size * elementBytes > 65536 ? 4 : 2));
  const orthogonal = hasOrthogonal(config) ? size * size * elementBytes : 0;
  return recurrent + orthogonal + size * (inputSize + outputSize) * elementBytes;
}

/**
 * Bytes that the host takes to draw them: W in binary64, unless an engine draws it, and the rest in
 * the precision it has.
 */
function expectedDrawingBytes(config: ReservoirConfig, inPlace: boolean): number {
  const { size, inputSize, outputSize, storage, nonzeros, precision } = expectedShape(config);
  // CSR rows are drawn into room for 8 entries each.
  const recurrent = storage === "dense" ? 8 * size * size : 12 * Math.max(nonzeros, 8 * size) + 4 * size;
  // O is drawn in binary64, as rows with columns and as a matrix.
  const orthogonal = hasOrthogonal(config) ? 28 * size * size : 0;
  return (inPlace ? 0 : recurrent) + orthogonal + size * (inputSize + outputSize + 3) * (precision === "float32" ? 4 : 8);
}

/**
 * @throws EngineCapacityError if a description's matrices cannot fit an engine, or the machine
 * that draws them, before any is drawn
 */
export function refuseOversized(config: ReservoirConfig, engine: Engine): void {
  const { size } = config;
  const advice = `take fewer neurons or inputs${orFloat32("a smaller connectionProbability", config.precision)}`;
  const bytes = engine.cost?.bytes?.(expectedShape(config)) ?? expectedWeightBytes(config, engine.device !== undefined);
  const limit = engine.cost?.limit ?? Number.POSITIVE_INFINITY;
  if (bytes > limit) throw new EngineCapacityError(`the weights of ${size} neurons for the ${engine.name} engine`, bytes, limit, advice);
  const drawing = expectedDrawingBytes(config, isDrawnInPlace(config, engine.device));
  const memory = machineMemory();
  if (drawing > memory)
    throw new EngineCapacityError(`drawing the weights of ${size} neurons in the memory of this machine`, drawing, memory, advice);
}

interface Recurrent {
  weights: Matrix | SparseMatrix;
  measuredRadius: number;
  radiusMethod: RadiusMethod;
}

/**
 * W as it was drawn, in binary64. Descriptions that differ in nothing but spectral radius,
 * scalings, bias, leak rates or noise share it.
 */
export interface DrawnWeights {
  readonly matrix: Matrix | SparseMatrix;
  /** The spectral radius if the topology has a formula for it. */
  readonly analyticRadius: number | undefined;
  /** The spectral radius, measured when it is first asked for. */
  measured(): { readonly radius: number; readonly method: RadiusMethod };
  /** The radius by the circular law, if the one that was measured is far below it, else 0. */
  typical(measured: number): number;
}

/** W as another thread drew it. */
export interface DrawnParts extends Pick<DrawnWeights, "analyticRadius"> {
  readonly matrix: Matrix | SparseMatrix;
  /** If it was asked for. */
  readonly radius: ReturnType<DrawnWeights["measured"]> | undefined;
}

function fromParts({ matrix, analyticRadius, radius }: DrawnParts, config: ReservoirConfig): DrawnWeights {
  // A matrix that came from a thread is an object of its fields.
  const whole = isSparse(matrix) ? matrix : new Matrix(matrix.rows, matrix.cols, matrix.data);
  const drawn = fromMatrix(whole, analyticRadius, config, true);
  if (!radius || radius.method === "analytic" || radius.method === "unscaled") return drawn;
  const { method } = radius;
  const found = knownRadius(config, () => ({ radius: radius.radius, method }));
  return { ...drawn, measured: () => found };
}

/** Draws W and scales nothing. */
export function drawWeights(config: DrawnConfig, own: ReservoirMatrices = {}): DrawnWeights {
  const keys = seedKeys(config.seed);
  const full = own.weights ? undefined : fullRows(config, keys);
  if (full) return new FullWeights(full, config);
  const { matrix, radius } = unscaledWeights(config, keys, own);
  return fromMatrix(matrix, radius, config, own.weights === undefined);
}

/** The rows of a W that has every connection and is not to be sparse. */
function fullRows(config: DrawnConfig, keys: SeedKeys): FullRows | undefined {
  const { size, topology, connectionProbability, weightDistribution: distribution, selfConnections, storage } = config;
  if (topology.type !== "erdosRenyi" || connectionProbability < 1 || storage === "sparse") return undefined;
  return { values: new RandomStream(keys.weights, streams.weights), distribution, size, withoutOwn: !selfConnections };
}

/**
 * A W that has every connection. It is drawn when its draws are first read; scaling it by the
 * circular law takes none of them: W is drawn for its sums, and again where it is stored.
 */
class FullWeights implements DrawnWeights {
  readonly analyticRadius = undefined;
  readonly #full: FullRows;
  readonly #config: DrawnConfig;
  #matrix: Matrix | undefined;
  #found: ReturnType<DrawnWeights["measured"]> | undefined;
  #typical: number | undefined;

  constructor(full: FullRows, config: DrawnConfig) {
    this.#full = full;
    this.#config = config;
  }

  get matrix(): Matrix {
    this.#matrix ??= fullMatrix(this.#full, 1, "float64")!;
    return this.#matrix;
  }

  measured(): ReturnType<DrawnWeights["measured"]> {
    const { radiusMethod: method } = this.#config;
    this.#found ??= knownRadius(this.#config, () =>
      method === "circularLaw" ? { radius: radiusOfRows(fullRowSums(this.#full)), method } : matrixSpectralRadius(this.matrix, { method }),
    );
    return this.#found;
  }

  typical(measured: number): number {
    this.#typical ??= this.#config.radiusMethod === "circularLaw" ? 0 : farAbove(this.matrix, measured);
    return this.#typical;
  }

  /** W times a factor, if its draws were not read, and none of it is too large. */
  scaled(factor: number, precision: Precision): Matrix | undefined {
    return this.#matrix ? undefined : fullMatrix(this.#full, factor, precision);
  }
}

function fromMatrix(matrix: Matrix | SparseMatrix, radius: number | undefined, config: DrawnConfig, isDrawn: boolean): DrawnWeights {
  let found: ReturnType<DrawnWeights["measured"]> | undefined = radius === undefined ? undefined : { radius, method: "analytic" };
  let typical: number | undefined;
  return {
    matrix,
    analyticRadius: radius,
    measured: () => {
      const measure = () => matrixSpectralRadius(matrix, { method: config.radiusMethod });
      found ??= isDrawn ? knownRadius(config, measure) : measure();
      return found;
    },
    typical: (measured) => {
      typical ??= farAbove(matrix, measured);
      return typical;
    },
  };
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
        `close no cycle: its spectral radius is 0, not ${wanted}, and W is left as it was drawn`,
        ', or the topology "ring"; spectralRadius: null says that this is meant',
      );
    return 1;
  }
  const typical = wanted > 0 && drawn.analyticRadius === undefined ? drawn.typical(radius) : 0;
  if (typical > 0)
    warnOfRadius(
      config,
      `close only cycles that cancel or are weak: its spectral radius is ${radius.toExponential(2)}, where such weights have about ${typical.toPrecision(2)}, ` +
        `so W is multiplied by ${(wanted / radius).toExponential(2)} for the radius ${wanted}, and states may overflow`,
      ', or weightDistribution "uniform"; spectralRadius: null leaves W as it was drawn',
    );
  return wanted / radius;
}

function warnOfRadius({ size, connectionProbability, seed }: ReservoirConfig, what: string, orElse: string): void {
  warnOnce(
    "SpillwayRadiusWarning",
    `the connections of this reservoir (size ${size}, connectionProbability ${connectionProbability}, seed ${describe(seed)}) ${what}. ` +
      `Take a connectionProbability of ${Math.min(1, Math.ceil(300 / size) / 100)} or more, another seed${orElse}`,
  );
}

function recurrentWeights(config: ReservoirConfig, drawn: DrawnWeights, own: ReservoirMatrices): Recurrent {
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
function scaledWeights(config: ReservoirConfig, drawn: DrawnWeights, factor: number): Matrix | SparseMatrix {
  const { cell, weightPrecision, precision } = config;
  if (cell?.type === "euler") return stored(antisymmetric(drawn.matrix, factor, cell.damping), 1, config);
  const direct = drawn instanceof FullWeights && weightPrecision === "full" ? drawn.scaled(factor, precision) : undefined;
  return direct ?? stored(drawn.matrix, factor, config);
}

function unscaledWeights(config: DrawnConfig, keys: SeedKeys, own: ReservoirMatrices): { matrix: Matrix | SparseMatrix; radius?: number } {
  const { size, topology } = config;
  if (own.weights) return { matrix: checkedOwn("weights", own.weights, size, size) };
  return buildTopology(topology, {
    size,
    connectionProbability: config.connectionProbability,
    distribution: config.weightDistribution,
    selfConnections: config.selfConnections,
    values: new RandomStream(keys.weights, streams.weights, 0),
    positions: new RandomStream(keys.weights, streams.weights, 1),
    extra: new RandomStream(keys.weights, streams.weights, 2),
  });
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
function refuseSparseSteps(config: ReservoirConfig): void {
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

/** a of a neuron, by its number, in binary64. */
export function leakRateOf({ leakRate, seed }: Pick<ReservoirConfig, "leakRate" | "seed">): (_: unknown, neuron: number) => number {
  if (typeof leakRate === "number") return () => leakRate;
  if (!("from" in leakRate)) return (_, neuron) => leakRate[neuron]!;
  const { from, to } = leakRate;
  const octaves = portableLog(to / from);
  const draws = new RandomStream(seedKeys(seed).weights, streams.leakRate);
  const [least, most] = [Math.min(from, to), Math.max(from, to)];
  return (_, neuron) => Math.min(Math.max(from * portableExp(draws.uniform(neuron, 0) * octaves), least), most);
}

/** W_in and b before they are scaled, in binary64. */
export function drawInputs(config: ReservoirConfig): { readonly inputDraws: Matrix<Float64Array>; readonly biasDraws: Float64Array } {
  const keys = seedKeys(config.seed);
  const { inputSize, inputConnectivity, inputDistribution, biasDensity, biasDistribution } = config;
  const draws = (which: "inputWeights" | "bias", cols: number, density: number, distribution: WeightDistribution) =>
    drawn({ ...config, precision: "float64" }, keys, which, cols, density, distribution, 1) as Matrix<Float64Array>;
  return {
    inputDraws: draws("inputWeights", inputSize, inputConnectivity, inputDistribution),
    biasDraws: draws("bias", 1, biasDensity, biasDistribution).data,
  };
}

function drawn(
  config: ReservoirConfig,
  keys: SeedKeys,
  which: "inputWeights" | "bias" | "feedbackWeights",
  cols: number,
  density: number,
  distribution: WeightDistribution,
  scaling: number | readonly number[],
): Matrix {
  const out = Matrix.zeros(config.size, cols, config.precision);
  const values = new RandomStream(keys.weights, streams[which], 0);
  const positions = new RandomStream(keys.weights, streams[which], 1);
  drawDense(
    config.size,
    cols,
    density,
    distribution,
    values,
    positions,
    (c) => (typeof scaling === "number" ? scaling : scaling[c]!),
    out.data,
  );
  return out;
}

function initialState(config: ReservoirConfig, keys: SeedKeys, own: ReservoirMatrices): FloatArray {
  if (own.initialState) return ownMatrix("initialState", own.initialState, config.size, 1, config).data;
  const out = allocate(config.precision, config.size);
  const state = config.initialState;
  if (state === "zeros") return out;
  if (!("distribution" in state)) {
    out.set(state);
    return out;
  }
  const values = new RandomStream(keys.weights, streams.initialState, 0);
  const positions = new RandomStream(keys.weights, streams.initialState, 1);
  drawDense(config.size, 1, 1, state.distribution, values, positions, () => state.scaling, out);
  return out;
}

function ownMatrix(name: string, source: MatrixLike | SparseMatrix, rows: number, cols: number, config: ReservoirConfig): Matrix {
  const matrix = checkedOwn(name, source, rows, cols);
  return inPrecision(isSparse(matrix) ? toDense(matrix) : matrix, config.precision);
}

function checkedOwn(name: string, source: MatrixLike | SparseMatrix, rows: number, cols: number): Matrix | SparseMatrix {
  const matrix = isCsr(source) ? source : asMatrix(source, name);
  if (matrix.rows !== rows || matrix.cols !== cols) {
    throw new ArgumentError(`matrices.${name}`, `${matrix.rows} x ${matrix.cols}`, `a ${rows} x ${cols} matrix`);
  }
  if (isSparse(matrix)) checkSparse(matrix, `matrices.${name}`);
  const values = isSparse(matrix) ? matrix.values : matrix.data;
  const bad = firstNonFinite(values);
  if (bad >= 0)
    throw new ArgumentError(
      `matrices.${name}[${isSparse(matrix) ? `value ${bad}` : `${Math.floor(bad / cols)}, ${bad % cols}`}]`,
      values[bad],
      "finite numbers",
    );
  return matrix;
}

function columnsOf(source: MatrixLike | SparseMatrix, outputSize: number): number {
  return outputSize || (isCsr(source) ? source.cols : asMatrix(source, "feedbackWeights").cols);
}

function isCsr(source: MatrixLike | SparseMatrix): source is SparseMatrix {
  return typeof source === "object" && "rowOffsets" in source;
}

function countNonzeros(values: FloatArray): number {
  let count = 0;
  for (const value of values) if (value !== 0) count++;
  return count;
}
