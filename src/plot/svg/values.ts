// The numbers and labels of a trace in any form: lists, typed arrays in base64, or a start and a
// step.
import { ArgumentError } from "@spillway/core/errors.js";
import { describe } from "@spillway/numerics";
import type { EncodedArray } from "../figure.js";

const types = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };

/** Values along an axis: numbers, or texts if the axis holds names or dates. */
export type AxisValues = ArrayLike<number> | readonly string[];

/** A list or an encoded array; undefined if there is none. */
export function valuesOf(source: unknown): AxisValues | undefined {
  if (source === undefined || source === null) return undefined;
  if (typeof source === "object" && "bdata" in source) return decode(source as EncodedArray);
  if (Array.isArray(source)) return source as readonly string[] | readonly number[];
  if (ArrayBuffer.isView(source) && "length" in source) return source as ArrayBufferView & ArrayLike<number>;
  throw notValues(source);
}

/** Only the numbers. */
export function numbersOf(source: unknown): ArrayLike<number> {
  const values = valuesOf(source) ?? [];
  return typeof values[0] === "string" ? Array.from(values as readonly string[], Number) : (values as ArrayLike<number>);
}

/** The least and the largest finite value; infinite the other way round if there is none. */
export function extremesOf(values: ArrayLike<number>): readonly [low: number, high: number] {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    low = Math.min(low, values[i]!);
    high = Math.max(high, values[i]!);
  }
  return [low, high];
}

/** A matrix in rows. */
export function matrixOf(source: unknown): { readonly data: ArrayLike<number>; readonly rows: number; readonly cols: number } {
  if (typeof source === "object" && source !== null && "shape" in source) {
    const [rows = 0, cols = 0] = String((source as EncodedArray).shape)
      .split(",")
      .map(Number);
    return { data: decode(source as EncodedArray), rows, cols };
  }
  if (!Array.isArray(source) || !source.every(Array.isArray)) throw notValues(source);
  const lists = source as readonly (readonly number[])[];
  return { data: lists.flat(), rows: lists.length, cols: lists[0]?.length ?? 0 };
}

function notValues(source: unknown): ArgumentError {
  return ArgumentError.shape(`a trace holds ${describe(source)} for its values; it takes a list or an encoded array`);
}

function decode(source: EncodedArray): ArrayLike<number> {
  const { dtype, bdata } = source;
  if (!Object.hasOwn(types, dtype) || typeof bdata !== "string") throw notValues(source);
  const bytes = Uint8Array.from(atob(bdata), (sign) => sign.charCodeAt(0));
  return new types[dtype](bytes.buffer);
}
