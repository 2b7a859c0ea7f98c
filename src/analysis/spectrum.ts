// Eigenvalues of reservoirs: all of them, and the largest modulus alone.

import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, optional, resolve, text } from "@spillway/core/options.js";
import {
  eigenvalues,
  isSparse,
  Matrix,
  matrixSpectralRadius,
  type SparseMatrix,
  type SpectralRadius,
  type SpectralRadiusOptions,
  toDense,
} from "@spillway/numerics";
import {
  chooseEngine,
  modelOf,
  ReservoirComputer,
  type ReservoirModel,
  type ReservoirOptions,
  type WorkOptions,
} from "../reservoir/index.js";
import { drawnMatrix, isDeviceOnly } from "../reservoir/weight-draws.js";
import { isQuantized } from "../reservoir/weight-rounding.js";
import { workTable } from "../reservoir/work.js";
import { checkSource, type ReservoirSource } from "./source.js";

/** Eigenvalues re[i] + i im[i], by falling modulus. */
export interface MatrixSpectrum {
  readonly re: Float64Array;
  readonly im: Float64Array;
  /** The largest modulus: the spectral radius. */
  readonly radius: number;
}

/** Eigenvalues of the weights, and of the linearised step. */
export interface Spectrum {
  /** Of W. */
  readonly weights: MatrixSpectrum;
  /**
   * Of (1 - a) I + a W, rows scaled by each neuron's leak, or of k O + a W for a cell: the Jacobian
   * of the step at the origin for tanh, identity and no bias.
   */
  readonly effective: MatrixSpectrum;
}

/**
 * All eigenvalues of W and of the effective matrix diag(1 - a) + diag(a) W, in binary64 from the
 * weights as they are stored. N up to about 1000. The effective radius bounds how fast a leaky
 * reservoir forgets (H. Jaeger et al. 2007, "Optimization and applications of echo state networks
 * with leaky-integrator neurons", Neural Networks 20); it is what to look at if leakRate is not
 * 1.
 */
export async function spectrum(source: ReservoirSource): Promise<Spectrum> {
  const model = await hostModelOf(source);
  const { size, leakRate, cell } = model;
  const dense = isSparse(model.weights) ? toDense(model.weights) : model.weights;
  const weights = new Matrix(size, size, Float64Array.from(dense.data));
  const effective = Matrix.zeros(size, size);
  for (let r = 0; r < size; r++) {
    const a = leakRate[r]!;
    const keep = cell?.keep[r] ?? 1 - a;
    for (let c = 0, p = r * size; c < size; c++, p++) {
      const kept = cell?.orthogonal ? keep * cell.orthogonal.data[p]! : r === c ? keep : 0;
      effective.data[p] = a * weights.data[p]! + kept;
    }
  }
  return { weights: withRadius(weights), effective: withRadius(effective) };
}

async function hostModelOf(source: ReservoirSource): Promise<ReservoirModel> {
  checkSource(source);
  if (source instanceof ReservoirComputer) return source.model;
  if ("measuredRadius" in source) return source;
  const [{ resolveConfig }, { buildModel }] = await Promise.all([
    import("../reservoir/config-schema.js"),
    import("../reservoir/weights.js"),
  ]);
  return buildModel(resolveConfig(source as ReservoirOptions));
}

function withRadius(matrix: Matrix): MatrixSpectrum {
  return { ...eigenvalues(matrix), radius: matrixSpectralRadius(matrix).radius };
}

export const radiusTable = {
  method: optional(choice("auto", "dense", "krylov", "power", "circularLaw"), "How it is found; left out, auto."),
  /**
   * "cpu" (default), "cuda", "cuda:1" (a device by number) or "sim": where the iteration runs. The
   * result has the same bits.
   */
  engine: optional(
    text("the name of an engine"),
    '"cpu" (default), "cuda", "cuda:1" (a device by number) or "sim": where the iteration runs.',
  ),
  signal: workTable.signal,
};

/** How a spectral radius is found, and where. */
export interface RadiusOptions extends SpectralRadiusOptions, Pick<WorkOptions, "signal">, InputOf<typeof radiusTable> {}

/**
 * max |lambda_i| over the eigenvalues of a square matrix, or of the N x N weights of a reservoir as
 * they are stored: numerics' `matrixSpectralRadius`, with its Krylov iteration (Stewart 2001, "A
 * Krylov-Schur algorithm for large eigenproblems"; real arithmetic in binary64, complex pairs
 * included, residual at most 1e-10 of the radius) on the engine that is named. A device is some
 * dozens of times faster if W has 1e7 elements, and takes 12 bytes for each nonzero (8 for each
 * element if more than half are nonzero) and 976 N bytes; the engine's answer is the host's to
 * the last bit.
 *
 * A random W of more than 1.02e8 connections is held by the device alone. It takes that device's
 * engine and the method "krylov" or "power"; any other choice gives the circular law.
 *
 * @throws ArgumentError on a matrix that is not square or holds a NaN or an infinity;
 * SpectralRadiusError if the iteration does not converge; EngineCapacityError if it does not
 * fit the device; ArgumentError if only the device holds W and its weights are steps;
 * EngineUnavailableError; WorkInterruptedError
 */
export async function spectralRadius(
  source: ReservoirSource | Matrix | SparseMatrix,
  options: RadiusOptions = {},
): Promise<SpectralRadius> {
  if (Array.isArray(source)) throw new ArgumentError("source", source, "a reservoir or a Matrix, such as Matrix.from(rows) makes of lists");
  checkSource(source);
  const { engine: name = "cpu", ...rest } = resolve(radiusTable, options);
  const onlyMethod = { method: rest.method };
  const { engine } = await chooseEngine(name);
  if ("rows" in source) return engine.device?.spectralRadius(source, rest) ?? matrixSpectralRadius(source, onlyMethod);
  const model =
    source instanceof ReservoirComputer
      ? (source.model as ReservoirModel)
      : "measuredRadius" in source
        ? source
        : ((await modelOf(source, engine)) as ReservoirModel);
  const { weights, draws, config } = model;
  const { method } = rest;
  const there = isDeviceOnly(model) || ((method === "krylov" || method === "circularLaw") && !isQuantized(config.weightPrecision));
  if (draws && there && engine.device) return engine.device.spectralRadius(drawnMatrix({ draws, config }), rest);
  return engine.device?.spectralRadius(weights, rest) ?? matrixSpectralRadius(weights, onlyMethod);
}
