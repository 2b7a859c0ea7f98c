// One step of a state-affine system: docs/numerics.md, rule 17.
import { type FloatArray, Matrix, rowDot } from "@spillway/numerics";
import type { KindStep, KindTangent } from "../registered/kind.js";
import type { StateAffineModel } from "./complete.js";
import type { InputFunction } from "./options.js";

/** Writes the product of a matrix and x into `out`, in the order of docs/numerics.md, rule 1. */
type DenseProduct = (x: FloatArray, out: FloatArray) => void;

/** The product of a matrix with vectors of its precision. */
export function denseProduct(matrix: Matrix): DenseProduct {
  const { rows, data } = matrix;
  if (data instanceof Float64Array) return product64(matrix, data);
  return (x, out) => {
    for (let r = 0; r < rows; r++) out[r] = rowDot(matrix, r, x, Math.fround);
  };
}

function product64({ rows, cols }: Matrix, data: Float64Array): DenseProduct {
  const sums = new Float64Array(32);
  const whole = cols - (cols % 32);
  return (x, out) => {
    for (let r = 0; r < rows; r++) {
      const row = r * cols;
      // Four of the 32 partial sums at a time; each goes over its columns in rising order.
      for (let l = 0; l < 32; l += 4) {
        let s0 = 0;
        let s1 = 0;
        let s2 = 0;
        let s3 = 0;
        for (let k = l; k < whole; k += 32) {
          s0 += data[row + k]! * x[k]!;
          s1 += data[row + k + 1]! * x[k + 1]!;
          s2 += data[row + k + 2]! * x[k + 2]!;
          s3 += data[row + k + 3]! * x[k + 3]!;
        }
        sums[l] = s0;
        sums[l + 1] = s1;
        sums[l + 2] = s2;
        sums[l + 3] = s3;
      }
      for (let k = whole; k < cols; k++) sums[k - whole] = sums[k - whole]! + data[row + k]! * x[k]!;
      for (let half = 16; half >= 1; half /= 2) for (let l = 0; l < half; l++) sums[l] = sums[l]! + sums[l + half]!;
      out[r] = sums[0]!;
    }
  };
}

type Round = (value: number) => number;

const inBinary64: Round = (value) => value;

const functionOf: Readonly<Record<InputFunction, (s: number, round: Round) => number>> = {
  u: (s) => s,
  "u^2": (s, round) => round(s * s),
  "sqrt(u(1-u))": (s, round) => round(Math.sqrt(round(s * round(1 - s)))),
};

/**
 * The functions of the inputs, K values: all those of input 0 in the order of the list, then of
 * input 1.
 */
type Gains = (input: FloatArray) => Float64Array;

function gainsOf({ config, precision }: StateAffineModel): Gains {
  const round = precision === "float32" ? Math.fround : inBinary64;
  const { range, functions, inputSize } = config;
  const low = round(range[0]);
  const width = round(round(range[1]) - low);
  const parts = functions.map((name) => functionOf[name]);
  const gains = new Float64Array(inputSize * parts.length);
  return (input) => {
    let k = 0;
    for (const u of input) {
      const s = Math.min(1, Math.max(0, round(round(u - low) / width)));
      for (const part of parts) gains[k++] = part(s, round);
    }
    return gains;
  };
}

/** Writes (M_0 + sum of g_k M_k) x + o_0 + sum of g_k o_k into `out`. */
type AffineMap = (x: FloatArray, gains: Float64Array, out: FloatArray) => void;

/**
 * The map of blocks of rows M_0, M_1, ... and columns o_0, o_1, ...: every block's affine part
 * first, then the sum over rising k.
 */
function affineMap(blocks: Matrix, offsets: Matrix): AffineMap {
  const round = blocks.data instanceof Float32Array ? Math.fround : inBinary64;
  const { rows, cols: terms, data } = offsets;
  const product = denseProduct(blocks);
  const products = blocks.data instanceof Float32Array ? new Float32Array(blocks.rows) : new Float64Array(blocks.rows);
  return (x, gains, out) => {
    product(x, products);
    for (let i = 0; i < rows; i++) {
      let sum = round(products[i]! + data[i * terms]!);
      for (let k = 1; k < terms; k++) {
        const part = round(products[k * rows + i]! + data[i * terms + k]!);
        sum = round(sum + round(gains[k - 1]! * part));
      }
      out[i] = sum;
    }
  };
}

/**
 * The step of a model: x' of x and the input; if the system has an output, the states are that
 * of x and the input, and x itself is hidden behind them.
 */
export function stateAffineStep(model: StateAffineModel): KindStep {
  const { matrices, size, below } = model;
  const gainsAt = gainsOf(model);
  const advance = affineMap(matrices.transition, matrices.transitionOffset);
  if (below === 0) return (x, input, next) => advance(x, gainsAt(input), next);
  const observe = affineMap(matrices.output!, matrices.outputOffset!);
  return (x, input, next) => {
    const gains = gainsAt(input);
    const hidden = x.subarray(size);
    observe(hidden, gains, next);
    advance(hidden, gains, next.subarray(size));
  };
}

/** Small changes of x follow the same matrices without what is added, in binary64. */
export function stateAffineTangent(model: StateAffineModel): KindTangent {
  const { rows, cols, data } = model.matrices.transition;
  const gainsAt = gainsOf(model);
  const advance = affineMap(new Matrix(rows, cols, Float64Array.from(data)), Matrix.zeros(cols, rows / cols));
  const next = new Float64Array(cols);
  return {
    directions: cols,
    follow(_x, input, _step, _sequence, vectors) {
      const gains = gainsAt(input);
      for (const vector of vectors) {
        advance(vector, gains, next);
        vector.set(next);
      }
    },
  };
}
