// The element types of device memory: their widths and the typed arrays that hold them on the host.

import { ArgumentError } from "@spillway/core/errors.js";
/**
 * Element types and the typed array of each. Half precision and bfloat16 travel as their 16 bits,
 * booleans as bytes.
 */
export interface DtypeArrays {
  i8: Int8Array;
  u8: Uint8Array;
  i16: Int16Array;
  u16: Uint16Array;
  i32: Int32Array;
  u32: Uint32Array;
  i64: BigInt64Array;
  u64: BigUint64Array;
  f16: Uint16Array;
  bf16: Uint16Array;
  f32: Float32Array;
  f64: Float64Array;
  bool: Uint8Array;
}

/** The name of an element type. */
export type Dtype = keyof DtypeArrays;

/** The typed array that holds elements of a type. */
export type ArrayOf<T extends Dtype> = DtypeArrays[T];

/** A typed array that can travel to a device. */
export type HostArray = DtypeArrays[Dtype];

/** The default element type of a typed array: a Uint16Array is u16, and f16 only if named. */
export type DtypeOf<A extends HostArray> = A extends Float32Array
  ? "f32"
  : A extends Float64Array
    ? "f64"
    : A extends Int32Array
      ? "i32"
      : A extends Uint32Array
        ? "u32"
        : A extends BigInt64Array
          ? "i64"
          : A extends BigUint64Array
            ? "u64"
            : A extends Int16Array
              ? "i16"
              : A extends Uint16Array
                ? "u16"
                : A extends Int8Array
                  ? "i8"
                  : "u8";

type ArrayConstructor = { new (buffer: ArrayBuffer, offset: number, length: number): HostArray; readonly BYTES_PER_ELEMENT: number };

const arrays: { readonly [T in Dtype]: ArrayConstructor } = {
  ...{ i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array },
  ...{ i64: BigInt64Array, u64: BigUint64Array, f16: Uint16Array, bf16: Uint16Array, f32: Float32Array, f64: Float64Array },
  bool: Uint8Array,
};

/** Every element type. */
export const dtypes: readonly Dtype[] = Object.keys(arrays) as Dtype[];

export function isDtype(name: string): name is Dtype {
  return Object.hasOwn(arrays, name);
}

/** Bytes of an element. @throws ArgumentError if the type is unknown. */
export function bytesOf(dtype: Dtype): number {
  const array = Object.hasOwn(arrays, dtype) ? arrays[dtype] : undefined;
  if (!array)
    throw ArgumentError.because(`there is no element type ${JSON.stringify(dtype)}; there are ${dtypes.join(", ")}`, {
      field: "dtype",
      value: dtype,
      expected: dtypes.join(", "),
    });
  return array.BYTES_PER_ELEMENT;
}

/** A typed array of a type over host memory; over new memory, zeros, if none is given. */
export function arrayOf<T extends Dtype>(dtype: T, length: number, buffer?: ArrayBuffer, offset = 0): ArrayOf<T> {
  return new arrays[dtype](buffer ?? new ArrayBuffer(length * bytesOf(dtype)), offset, length) as ArrayOf<T>;
}

const byTag: Readonly<Record<string, Dtype>> = {
  ...{ Float32Array: "f32", Float64Array: "f64", Int32Array: "i32", Uint32Array: "u32", BigInt64Array: "i64" },
  ...{ BigUint64Array: "u64", Int16Array: "i16", Uint16Array: "u16", Int8Array: "i8", Uint8Array: "u8", Uint8ClampedArray: "u8" },
};

/** The element type of a typed array. @throws ArgumentError if the value is none. */
export function dtypeOf<A extends HostArray>(array: A): DtypeOf<A> {
  const dtype = byTag[Object.prototype.toString.call(array).slice(8, -1)];
  if (dtype === undefined)
    throw ArgumentError.because(`expected a typed array of numbers, got ${Object.prototype.toString.call(array)}`, {
      field: "array",
      expected: "a typed array of numbers",
    });
  return dtype as DtypeOf<A>;
}

/**
 * Whether a typed array may hold elements of a type: the right kind of array, whatever its bits
 * mean.
 */
export function holds(dtype: Dtype, array: HostArray): boolean {
  return array instanceof arrays[dtype];
}
