// What a safetensors file holds, as data: https://github.com/huggingface/safetensors, "Format".
import type { NumberArray, NumberArrayConstructor } from "./typed-bytes.js";

/** The number formats of safetensors that are read and written. */
export type SafetensorsType = "BOOL" | "U8" | "I8" | "U16" | "I16" | "F16" | "BF16" | "U32" | "I32" | "F32" | "U64" | "I64" | "F64";

/**
 * One tensor, in C order. F16 and BF16 are bits in a Uint16Array; BOOL is a Uint8Array of 0 and 1.
 */
export interface SafetensorsTensor {
  readonly dtype: SafetensorsType;
  /** Lengths of the dimensions; empty for a single number. */
  readonly shape: readonly number[];
  readonly data: NumberArray;
}

/** A decoded file. */
export interface SafetensorsFile {
  /** By name; an object without a prototype. */
  readonly tensors: Readonly<Record<string, SafetensorsTensor>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The typed array of each format. */
export const safetensorsArrays: Readonly<Record<SafetensorsType, NumberArrayConstructor>> = {
  BOOL: Uint8Array,
  U8: Uint8Array,
  I8: Int8Array,
  U16: Uint16Array,
  I16: Int16Array,
  F16: Uint16Array,
  BF16: Uint16Array,
  U32: Uint32Array,
  I32: Int32Array,
  F32: Float32Array,
  U64: BigUint64Array,
  I64: BigInt64Array,
  F64: Float64Array,
};

/** The header entry that is no tensor. */
export const metadataKey = "__metadata__";
