// Models of a size with weights that take little time to make, for benches of steps.
import { Matrix, type SparseMatrix } from "../../packages/numerics/src/index.js";
import type { ReservoirConfig } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";

/**
 * Small numbers from a linear congruential generator, a block of them over and over: weights need
 * no quality here.
 */
export function filled(length: number, scale: number): Float32Array<ArrayBuffer> {
  const data = new Float32Array(length);
  const block = Math.min(length, 2 ** 22 + 1);
  let state = 1;
  for (let i = 0; i < block; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    data[i] = scale * (state / 2 ** 31 - 1);
  }
  for (let at = block; at < length; at += block) data.copyWithin(at, 0, Math.min(block, length - at));
  return data;
}

/** A model with these weights and little else drawn. */
export function modelWith(size: number, weights: Matrix | SparseMatrix, fields: Partial<ReservoirConfig> = {}): ReservoirModel {
  const model = buildModel(resolveConfig({ size, connectionProbability: 0, spectralRadius: null, storage: "sparse" }));
  return { ...model, config: { ...model.config, ...fields }, weights };
}

/** A W whose radius is about 1.7, so that states neither die out nor agree. */
export const dense = (size: number): ReservoirModel => modelWith(size, new Matrix(size, size, filled(size * size, 3 / Math.sqrt(size))));

/** The same in eight significant bits. */
export function rounded(size: number): ReservoirModel {
  const data = filled(size * size, 3 / Math.sqrt(size));
  const words = new Uint32Array(data.buffer);
  for (let i = 0; i < words.length; i++) words[i] = (words[i]! & 0xffff0000) >>> 0;
  return modelWith(size, new Matrix(size, size, data), { weightPrecision: "bfloat16" });
}
