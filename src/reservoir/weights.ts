// From a description to a model: W, and the other matrices drawn from the seed. docs/numerics.md,
// rule 7.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  allocate,
  drawPositions,
  drawRows,
  type FloatArray,
  isSparse,
  Matrix,
  portableExp,
  portableLog,
  RandomStream,
  type SeedKeys,
  type SparseMatrix,
  seedKeys,
} from "@spillway/numerics";
import { cellWeights } from "./cell.js";
import { hasOrthogonal } from "./cell-options.js";
import type { ReservoirConfig, WeightDistribution } from "./config.js";
import type { DeviceAbilities } from "./engine/device.js";
import type { Engine } from "./engine.js";
import { inIntegers } from "./integer/weights.js";
import { knownRadiusBy } from "./known-radii.js";
import type { ReservoirModel } from "./model.js";
import type { ReservoirMatrices } from "./options.js";
import { columnsOf, ownMatrix } from "./own-matrices.js";
import {
  type DrawnWeights,
  drawWeights,
  drawWeightsBy,
  type Recurrent,
  recurrentWeights,
  refuseSparseSteps,
  scaledWeights,
  streams,
  unlessLeftToHost,
} from "./recurrent-weights.js";
import { storageFor } from "./shape.js";
import { isDrawnInPlace, isDrawnLater, radiusOfRows, undrawnMatrix, undrawnSparse, unscaledDraws } from "./weight-draws.js";

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
      ? drawn(config, keys, "feedbackWeights", { ...config.feedback, cols: outputSize })
      : undefined;
  const storage = isSparse(weights) ? "sparse" : "dense";
  const rules = rulesOf(config);
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
      : drawn(config, keys, "inputWeights", rules.inputWeights),
    bias: own.bias ? ownMatrix("bias", own.bias, size, 1, config).data : drawn(config, keys, "bias", rules.bias).data,
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
  const unscaled = { ...config, precision: "float64", inputScaling: 1, bias: 1 } as const;
  const keys = seedKeys(config.seed);
  const draws = (which: "inputWeights" | "bias") => drawn(unscaled, keys, which, rulesOf(unscaled)[which]) as Matrix<Float64Array>;
  return { inputDraws: draws("inputWeights"), biasDraws: draws("bias").data };
}

/** How a matrix of N rows is drawn: whose columns are where, and times what. */
interface DrawRule {
  readonly cols: number;
  readonly density: number;
  readonly distribution: WeightDistribution;
  /** For all columns, or for each. */
  readonly scaling: number | readonly number[];
}

/** W_in and b of a description. */
function rulesOf(config: ReservoirConfig): Readonly<Record<"inputWeights" | "bias", DrawRule>> {
  const { inputSize, inputConnectivity, inputDistribution, inputScaling, bias, biasDensity, biasDistribution } = config;
  return {
    inputWeights: { cols: inputSize, density: inputConnectivity, distribution: inputDistribution, scaling: inputScaling },
    bias: { cols: 1, density: bias === 0 ? 0 : biasDensity, distribution: biasDistribution, scaling: bias },
  };
}

/** A dense matrix whose rows each take random positions. */
function drawn(
  { size, precision }: Pick<ReservoirConfig, "size" | "precision">,
  keys: SeedKeys,
  which: keyof typeof streams,
  { cols, density, distribution, scaling }: DrawRule,
): Matrix {
  const stream = (purpose: number) => new RandomStream(keys.weights, streams[which], purpose);
  const { rowOffsets, columns } = drawPositions(stream(1), { first: 0, count: size, density, candidates: cols });
  const values = drawRows(stream(0), distribution, rowOffsets);
  const out = Matrix.zeros(size, cols, precision);
  for (let r = 0; r < size; r++)
    for (let p = rowOffsets[r]!; p < rowOffsets[r + 1]!; p++) {
      const c = columns[p]!;
      out.data[r * cols + c] = values[p]! * (typeof scaling === "number" ? scaling : scaling[c]!);
    }
  return out;
}

function initialState(config: ReservoirConfig, keys: SeedKeys, own: ReservoirMatrices): FloatArray {
  const { size, precision, initialState: state } = config;
  if (own.initialState) return ownMatrix("initialState", own.initialState, size, 1, config).data;
  if (typeof state === "object" && "distribution" in state)
    return drawn(config, keys, "initialState", { cols: 1, density: 1, ...state }).data;
  const out = allocate(precision, size);
  if (state !== "zeros") out.set(state);
  return out;
}
