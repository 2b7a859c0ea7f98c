// What kernels take of a model in integers: words of 32 bits, in arrays of binary32 that stand for
// memory and are never read as numbers.
import { type FloatArray, Matrix } from "@spillway/numerics";
import type { IntegerRows } from "../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { SlicedPattern } from "./ensemble/slices.js";

const asWords = (values: Int32Array<ArrayBuffer>): Float32Array<ArrayBuffer> => new Float32Array(values.buffer);

/** W_in, b and W_fb, as `integerRows` has them. */
export function inWords(
  { size, inputSize, outputSize, feedbackWeights }: ReservoirModel,
  rows: IntegerRows,
): Pick<ReservoirModel, "inputWeights" | "bias" | "feedbackWeights"> {
  return {
    inputWeights: new Matrix(size, inputSize, asWords(Int32Array.from(rows.inputWeights))),
    bias: asWords(rows.bias.slice()),
    ...(feedbackWeights && { feedbackWeights: new Matrix(size, outputSize, asWords(Int32Array.from(rows.feedbackWeights))) }),
  };
}

/** 16 a 2^15 + e of each neuron. */
export function ratesInWords({ leakRate, exponents }: IntegerRows): FloatArray {
  return asWords(Int32Array.from(leakRate, (a, r) => 16 * a + exponents[r]!));
}

/** A dense W: pairs of a row's columns spread over four lanes, [pair / 4][4 row + lane]. */
export function pairsInWords(weights: Int16Array, size: number): FloatArray {
  const turns = Math.ceil(size / 8);
  const out = new Int16Array(turns * 8 * size);
  for (let r = 0; r < size; r++)
    for (let k = 0; k < size; k++) {
      const pair = k >> 1;
      out[2 * ((pair >> 2) * 4 * size + 4 * r + (pair & 3)) + (k & 1)] = weights[r * size + k]!;
    }
  return new Float32Array(out.buffer);
}

/** Entries of a sparse W: column 2^16 + weight. */
export function entriesInWords({ positions, columns }: SlicedPattern, weights: Int16Array): FloatArray {
  return asWords(
    Int32Array.from(positions, (position, entry) => (columns[entry]! << 16) | (position < 0 ? 0 : weights[position]! & 0xffff)),
  );
}
