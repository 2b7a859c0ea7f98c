// NumPy's .npy arrays, to and from bytes (NEP 1, versions 1.0 to 3.0). Objects, records and texts
// are refused; nothing is ever executed.

import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import { writeFileAtomic } from "./atomic.js";
import { checkBytes, failing, type SourceOptions } from "./errors.js";
import { readBytes } from "./files.js";
import { float16ToFloat32 } from "./half.js";
import { formatNpyHeader, parseNpyHeader } from "./npy-header.js";
import {
  elementCount,
  fromBytes,
  isLengths,
  type NumberArray,
  type NumberArrayConstructor,
  oddBool,
  toLittleEndian,
} from "./typed-bytes.js";

/** The number formats that are read. */
export type NpyType =
  | "bool"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "float16"
  | "float32"
  | "float64";

/** An array of any number of dimensions in C order: the last index runs fastest. */
export interface NpyArray {
  /**
   * The format in the file. float16 is widened to a Float32Array; bool is a Uint8Array of 0 and 1.
   */
  readonly dtype: NpyType;
  /** Lengths of the dimensions; empty for a single number. */
  readonly shape: readonly number[];
  readonly data: NumberArray;
}

/**
 * What is written: an array with its shape, a matrix (two dimensions), or a typed array (one
 * dimension). The typed array decides the format; `dtype` makes bools of a Uint8Array, and
 * otherwise has to agree (float16, which a Float32Array holds, is written as float32).
 */
export type NpySource =
  | { readonly dtype?: NpyType | undefined; readonly shape: readonly number[]; readonly data: NumberArray }
  | Matrix
  | NumberArray;

const types: Readonly<Record<string, { readonly dtype: NpyType; readonly Type: NumberArrayConstructor }>> = {
  b1: { dtype: "bool", Type: Uint8Array },
  i1: { dtype: "int8", Type: Int8Array },
  i2: { dtype: "int16", Type: Int16Array },
  i4: { dtype: "int32", Type: Int32Array },
  i8: { dtype: "int64", Type: BigInt64Array },
  u1: { dtype: "uint8", Type: Uint8Array },
  u2: { dtype: "uint16", Type: Uint16Array },
  u4: { dtype: "uint32", Type: Uint32Array },
  u8: { dtype: "uint64", Type: BigUint64Array },
  f2: { dtype: "float16", Type: Uint16Array },
  f4: { dtype: "float32", Type: Float32Array },
  f8: { dtype: "float64", Type: Float64Array },
};

/** Reads a .npy file. @throws FileError if it cannot be read. */
export async function readNpy(path: string): Promise<NpyArray> {
  return decodeNpy(await readBytes(path), { source: path });
}

/**
 * Decodes a .npy file of either byte order, in C or Fortran order.
 * @throws FormatError with the bytes that were expected and found if it is truncated or goes on,
 * and on formats that are not plain numbers.
 */
export function decodeNpy(bytes: Uint8Array, { source = "NPY data" }: SourceOptions = {}): NpyArray {
  checkBytes(bytes, source);
  const fail = failing("NPY", source);
  const { descr, fortranOrder, shape, dataOffset } = parseNpyHeader(bytes, source);
  const known = /^[<>|=]/.test(descr) && Object.hasOwn(types, descr.slice(1)) ? types[descr.slice(1)] : undefined;
  if (!known) {
    const why = descr.endsWith("O") ? "pickled Python objects, which are never loaded" : `the type ${quoted(descr)}`;
    const read = Object.values(types).map(({ dtype }) => dtype);
    throw fail(`it holds ${why}; ${read.join(", ")} are read`);
  }
  const { dtype, Type } = known;
  const count = elementCount(shape);
  const expected = count === undefined ? Number.POSITIVE_INFINITY : dataOffset + count * Type.BYTES_PER_ELEMENT;
  if (count === undefined || expected !== bytes.length) {
    const verdict = expected > bytes.length ? "it is truncated" : "it goes on after its array";
    const takes = `an array of shape (${shape.join(", ")}) of ${dtype} takes ${count === undefined ? "more than 2^53" : expected} bytes`;
    throw fail(`${verdict}: ${takes} with its header and the file holds ${bytes.length}`);
  }
  const raw = fromBytes(Type, bytes, dataOffset, count, !descr.startsWith(">"));
  const values = dtype === "float16" ? float16ToFloat32(raw as Uint16Array) : raw;
  const odd = dtype === "bool" ? oddBool(values as Uint8Array) : -1;
  if (odd >= 0) throw fail(`bool ${odd} is ${values[odd]}; it takes 0 or 1`);
  return { dtype, shape, data: fortranOrder && shape.length > 1 ? toCOrder(values, shape) : values };
}

/**
 * Encodes an array as .npy: version 1.0, little-endian, C order. @throws ArgumentError if shape
 * and data do not fit.
 */
export function encodeNpy(source: NpySource): Uint8Array {
  const { descr, shape, data } = describeArray(source);
  const header = formatNpyHeader(descr, shape);
  const out = new Uint8Array(header.length + data.byteLength);
  out.set(header);
  out.set(toLittleEndian(data), header.length);
  return out;
}

/** Writes {@link encodeNpy} to a file, whole or not at all. @throws FileError. */
export async function writeNpy(path: string, source: NpySource): Promise<void> {
  await writeFileAtomic(path, encodeNpy(source));
}

/**
 * An array as a matrix: T values become T x 1; two dimensions stay. float16 and float32 give a
 * Float32Array, the others a Float64Array.
 * @throws FormatError on another number of dimensions, and on a whole number beyond 2^53.
 */
export function npyToMatrix(array: NpyArray, { source = "NPY data" }: SourceOptions = {}): Matrix {
  const { dtype, shape, data } = checkHas("array", array, "what decodeNpy gives", "dtype", "shape", "data");
  const fail = failing("NPY", source);
  if (shape.length < 1 || shape.length > 2) {
    throw fail(`its shape is (${shape.join(", ")}); a matrix takes one or two dimensions`);
  }
  const rows = shape[0]!;
  const cols = shape[1] ?? 1;
  if (data instanceof Float32Array || data instanceof Float64Array) return new Matrix(rows, cols, data);
  const out = new Float64Array(data.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = Number(data[i]!);
    if (!Number.isSafeInteger(out[i])) {
      throw fail(`value ${i} is ${data[i]} of ${dtype}; a matrix takes whole numbers up to 2^53`);
    }
  }
  return new Matrix(rows, cols, out);
}

/** The .npy type code of a typed array, little-endian. */
export function npyDescr(data: NumberArray): string {
  const code = Object.keys(types).find((key) => key !== "b1" && key !== "f2" && data instanceof types[key]!.Type);
  if (code === undefined)
    throw ArgumentError.because("data is no typed array of numbers; it takes one, such as a Float32Array", { field: "data" });
  return (data.BYTES_PER_ELEMENT === 1 ? "|" : "<") + code;
}

function describeArray(source: NpySource): { descr: string; shape: readonly number[]; data: NumberArray } {
  if (source instanceof Matrix) return { descr: npyDescr(source.data), shape: [source.rows, source.cols], data: source.data };
  if (ArrayBuffer.isView(source)) return { descr: npyDescr(source), shape: [source.length], data: source };
  if (!Array.isArray(source?.shape) || !ArrayBuffer.isView(source.data))
    throw new ArgumentError("the array", source, "a Matrix, a typed array, or { shape, data } with a typed array");
  const { dtype, shape, data } = source;
  if (!isLengths(shape) || elementCount(shape) !== data.length) {
    throw ArgumentError.shape(`shape is (${shape.join(", ")}) and data holds ${data.length} values; the lengths multiply to that number`, {
      field: "shape",
    });
  }
  if (dtype === "bool") {
    if (!(data instanceof Uint8Array && oddBool(data) < 0)) throw ArgumentError.because("dtype bool takes a Uint8Array of 0 and 1");
    return { descr: "|b1", shape, data };
  }
  const descr = npyDescr(data);
  const holds = types[descr.slice(1)]!.dtype;
  if (dtype !== undefined && holds !== (dtype === "float16" ? "float32" : dtype)) {
    throw ArgumentError.because(`dtype is ${dtype} and data is a ${data.constructor.name}, which holds ${holds}; the two take the same`, {
      field: "dtype",
    });
  }
  return { descr, shape, data };
}

/** Fortran order (first index fastest) to C order. */
function toCOrder(values: NumberArray, shape: readonly number[]): NumberArray {
  const out = values.slice();
  const strides: number[] = [];
  shape.reduce((stride, length, d) => {
    strides[d] = stride;
    return stride * length;
  }, 1);
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < out.length; to++) {
    out[to] = values[from]!;
    for (let d = shape.length - 1; d >= 0; d--) {
      from += strides[d]!;
      if (++index[d]! < shape[d]!) break;
      from -= strides[d]! * shape[d]!;
      index[d] = 0;
    }
  }
  return out;
}
