// Typed arrays to and from bytes of either byte order, on a machine of either. It knows no file
// format.

/** The typed arrays that NPY, NPZ and safetensors keep. */
export type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

export interface NumberArrayConstructor<Data extends NumberArray = NumberArray> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer): Data;
}

const hostIsLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * Copies `count` elements that begin at byte `offset` into an array of their own. The caller has
 * checked that they are there.
 */
export function fromBytes<Data extends NumberArray>(
  Type: NumberArrayConstructor<Data>,
  bytes: Uint8Array,
  offset: number,
  count: number,
  littleEndian = true,
): Data {
  const copy = new Uint8Array(count * Type.BYTES_PER_ELEMENT);
  copy.set(bytes.subarray(offset, offset + copy.length));
  if (littleEndian !== hostIsLittleEndian) swap(copy, Type.BYTES_PER_ELEMENT);
  return new Type(copy.buffer);
}

/**
 * The elements as little-endian bytes: the array's own memory if the machine is little-endian,
 * else a copy.
 */
export function toLittleEndian(data: NumberArray): Uint8Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (hostIsLittleEndian) return bytes;
  const copy = bytes.slice();
  swap(copy, data.BYTES_PER_ELEMENT);
  return copy;
}

function swap(bytes: Uint8Array, size: number): void {
  if (size > 1) for (let i = 0; i < bytes.length; i += size) bytes.subarray(i, i + size).reverse();
}

/** Whether a value is the lengths of a shape. */
export function isLengths(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

/** Index of the first value that is neither 0 nor 1, or -1. */
export function oddBool(values: Uint8Array): number {
  return values.findIndex((value) => value > 1);
}

/** The number of elements of a shape (1 for no dimensions), or undefined if it is beyond 2^53. */
export function elementCount(shape: readonly number[]): number | undefined {
  if (shape.includes(0)) return 0;
  let count = 1;
  for (const length of shape) {
    count *= length;
    if (!Number.isSafeInteger(count)) return undefined;
  }
  return count;
}
