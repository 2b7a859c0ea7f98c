// Tensors and notes in the making, for files of models.
import type { SafetensorsTensor } from "@spillway/io/safetensors-types.js";
import type { FloatArray } from "@spillway/numerics";

/** Content in the making. */
export interface MutableContent {
  readonly tensors: Record<string, SafetensorsTensor>;
  readonly metadata: Record<string, string>;
  /** The format version, if it is not the first. */
  formatVersion?: number;
}

export function emptyContent(): MutableContent {
  return { tensors: {}, metadata: {} };
}

/** A tensor of floats, in the given shape or as one dimension. */
export function floats(data: FloatArray, shape: readonly number[] = [data.length]): SafetensorsTensor {
  return { dtype: data instanceof Float32Array ? "F32" : "F64", shape, data };
}
