// Plasticity of rates: a Hebbian rule with decay and homeostasis, and Oja's rule. Rules of spike
// times are in spike-timing.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import { asMatrix, firstNonFinite, type Matrix, type MatrixLike, matrixSpectralRadius } from "@spillway/numerics";
import { seriesOf } from "../../reservoir/options.js";
import { notNegativeNumber, positiveNumber } from "../options.js";
import { profileOption } from "./profiles.js";
import { PlasticityRule } from "./rule.js";
import { bounded, type LearnableWeights, Synapses } from "./synapses.js";

export const rateHebbianTable = {
  /** Default "balanced"; the two time constants mean nothing to this rule. */
  profile: profileOption,
  /** How fast mean activity away from its target changes weights; default 1e-4. */
  homeostaticRate: option(notNegativeNumber, 1e-4, "How fast mean activity away from its target changes weights."),
  /**
   * After `apply`, W is scaled down to this spectral radius if it is above. Default: it is not
   * looked at.
   */
  maxRadius: optional(positiveNumber, "The spectral radius that W is scaled down to after apply; left out, it is not looked at."),
};

/** Profile, homeostasis and the bound on the spectral radius. */
export interface RateHebbianOptions extends InputOf<typeof rateHebbianTable> {}

/**
 * Rate-Hebbian learning of recurrent weights, for every step t of the states x (T x N): dW_ij = eta
 * x_i(t) x_j(t-1) - decay W_ij - homeostaticRate (mean(x(t)) - target) W_ij (the last if the
 * profile is homeostatic), for the synapses that are there. A synapse keeps its sign, and |w| is
 * put into [minWeight, maxWeight]; if the profile is heterosynaptic, the sums of each
 * neuron's weights of either sign are then brought back to what they were at first. Hebb 1949 with
 * the decay of Gerstner and Kistler 2002.
 */
export class RateHebbianPlasticity extends PlasticityRule {
  readonly #homeostaticRate: number;
  readonly #maxRadius: number | undefined;
  readonly #totals: readonly [Float64Array, Float64Array];
  #before: Float64Array | undefined;

  /**
   * The weights, N x N, are copied. @throws ArgumentError on weights that are not square or finite.
   */
  constructor(weights: LearnableWeights, options: RateHebbianOptions = {}) {
    const { profile, homeostaticRate, maxRadius } = resolve(rateHebbianTable, options);
    if (weights.rows !== weights.cols)
      throw new ArgumentError("the shape of weights", weights, "as many rows as columns", { code: "shape" });
    super(weights, profile);
    this.#homeostaticRate = homeostaticRate;
    this.#maxRadius = maxRadius;
    this.#totals = [this.synapses.totals(1), this.synapses.totals(-1)];
  }

  /**
   * Learns from states, T x N, that go on where the last ones ended. @throws ArgumentError on
   * another width or a state that is not finite.
   */
  apply(states: MatrixLike): void {
    const rows = checkedRows("states", states, this.synapses.targets);
    for (let t = 0; t < rows.rows; t++) {
      const now = Float64Array.from(rows.row(t));
      if (this.#before) this.#learn(now, this.#before);
      this.#before = now;
    }
    if (this.#maxRadius === undefined) return;
    const { radius } = matrixSpectralRadius(this.synapses.toWeights());
    if (radius <= this.#maxRadius) return;
    const { sizes } = this.synapses;
    for (let p = 0; p < sizes.length; p++) sizes[p] = (sizes[p]! * this.#maxRadius) / radius;
  }

  #learn(now: Float64Array, before: Float64Array): void {
    const { learningRate, decay, homeostatic, heterosynaptic, targetActivity, minWeight, maxWeight } = this.profile;
    const { sizes, signs, rows, columns, targets } = this.synapses;
    const activity = now.reduce((sum, value) => sum + value, 0) / targets;
    const loss = decay + (homeostatic ? this.#homeostaticRate * (activity - targetActivity) : 0);
    for (let p = 0; p < sizes.length; p++) {
      const growth = signs[p]! * (learningRate * now[rows[p]!]! * before[columns[p]!]!);
      sizes[p] = bounded(sizes[p]! + growth - loss * sizes[p]!, minWeight, maxWeight);
    }
    if (heterosynaptic) {
      for (let r = 0; r < targets; r++) {
        this.synapses.normalise(r, 1, this.#totals[0][r]!, minWeight, maxWeight);
        this.synapses.normalise(r, -1, this.#totals[1][r]!, minWeight, maxWeight);
      }
    }
    this.updates += sizes.length;
    this.recordActivity(activity);
  }
}

export const ojaTable = {
  /** eta; default 0.01. */
  learningRate: option(positiveNumber, 0.01, "eta."),
  /** y, T x N; left out, y(t) = W x(t) with the weights of that moment. */
  targets: optional(seriesOf("T x N"), "y; left out, W x with the weights of that moment."),
};

/** Learning rate and outputs of Oja's rule. */
export interface OjaOptions extends InputOf<typeof ojaTable> {}

/**
 * Oja's rule over sources x, T x M: dW_ij = eta y_i (x_j - y_i W_ij) for the synapses that are
 * there, signs free. With y = W x each row turns into the first principal direction of x, at length
 * 1. For recurrent weights give states x(t-1) as sources and x(t) as targets. Source: Oja 1982,
 * "Simplified neuron model as a principal component analyzer".
 * @returns the new weights in the storage and precision of the old.
 * @throws ArgumentError on series of other widths, and if the weights leave the finite numbers:
 * the learning rate is too large.
 */
export function oja(weights: LearnableWeights, sources: MatrixLike, options: OjaOptions = {}): LearnableWeights {
  const { learningRate, targets } = resolve(ojaTable, options);
  const synapses = new Synapses(weights);
  const x = checkedRows("sources", sources, synapses.sources);
  const y = targets === undefined ? undefined : checkedRows("targets", targets, synapses.targets);
  if (y && y.rows !== x.rows) throw new ArgumentError("the number of target rows", y.rows, `${x.rows}, as the sources`, { code: "shape" });
  const { rowOffsets, columns, sizes, signs } = synapses;
  for (let p = 0; p < sizes.length; p++) sizes[p] = sizes[p]! * signs[p]!;
  signs.fill(1);
  for (let t = 0; t < x.rows; t++) {
    for (let r = 0; r < synapses.targets; r++) {
      let output = y ? y.data[t * y.cols + r]! : 0;
      if (!y) for (let p = rowOffsets[r]!; p < rowOffsets[r + 1]!; p++) output += sizes[p]! * x.data[t * x.cols + columns[p]!]!;
      for (let p = rowOffsets[r]!; p < rowOffsets[r + 1]!; p++) {
        sizes[p] = sizes[p]! + learningRate * output * (x.data[t * x.cols + columns[p]!]! - output * sizes[p]!);
      }
    }
  }
  if (firstNonFinite(sizes) >= 0) throw new ArgumentError("learningRate", learningRate, "a smaller number: the weights grew without bound");
  return synapses.toWeights();
}

function checkedRows(name: string, series: MatrixLike, cols: number): Matrix {
  const matrix = asMatrix(series, name);
  if (matrix.cols !== cols) throw new ArgumentError(`the number of columns of ${name}`, matrix.cols, `${cols}`, { code: "shape" });
  const bad = firstNonFinite(matrix.data);
  if (bad >= 0)
    throw new ArgumentError(`${name} at row ${Math.floor(bad / cols)}, column ${bad % cols}`, matrix.data[bad], "finite numbers");
  return matrix;
}
