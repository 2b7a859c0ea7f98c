// Where a reservoir's eigenvalues lie: of W, and of the matrix that a small state really follows.
import { eigenvalues, isSparse, Matrix, matrixSpectralRadius, toDense } from "@spillway/numerics";
import { ReservoirComputer, type ReservoirModel, type ReservoirOptions } from "../reservoir/index.js";
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
  const model = await modelOf(source);
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

async function modelOf(source: ReservoirSource): Promise<ReservoirModel> {
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
