import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArgumentError } from "../../packages/core/src/errors.js";
import type { NumberArray } from "../../packages/io/src/index.js";
import { decodeNpy, encodeNpy, FormatError, npyToMatrix, readNpy, writeNpy } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { failure, fixture, temporaryFolder } from "./help.js";

/** What fixtures/make_fixtures.py saves of each type: limits from NumPy's finfo and iinfo. */
const saved: Record<string, [string, NumberArray]> = {
  f2: ["float16", Float32Array.of(0, -0, 1, -2.5, 0.0999755859375, 65504, 2 ** -14, 2 ** -24, Infinity, -Infinity, Number.NaN)],
  f4: ["float32", Float32Array.of(0, -0, 1, -2.5, 0.1, 3.4028234663852886e38, 2 ** -126, 2 ** -149, Infinity, -Infinity, Number.NaN)],
  f8: ["float64", Float64Array.of(0, -0, 1, -2.5, 0.1, Number.MAX_VALUE, 2 ** -1022, 5e-324, Infinity, -Infinity, Number.NaN)],
  i1: ["int8", Int8Array.of(0, 1, 100, -128, 127)],
  i2: ["int16", Int16Array.of(0, 1, 100, -32768, 32767)],
  i4: ["int32", Int32Array.of(0, 1, 100, -2147483648, 2147483647)],
  i8: ["int64", BigInt64Array.of(0n, 1n, 100n, -(2n ** 63n), 2n ** 63n - 1n)],
  u1: ["uint8", Uint8Array.of(0, 1, 100, 0, 255)],
  u2: ["uint16", Uint16Array.of(0, 1, 100, 0, 65535)],
  u4: ["uint32", Uint32Array.of(0, 1, 100, 0, 4294967295)],
  u8: ["uint64", BigUint64Array.of(0n, 1n, 100n, 0n, 2n ** 64n - 1n)],
};

describe("an array that NumPy saved", () => {
  it.each(Object.entries(saved))("of %s is read, in either byte order", (code, [dtype, values]) => {
    const expected = { dtype, shape: [values.length], data: values };
    expect(decodeNpy(fixture(`little-${code}.npy`))).toEqual(expected);
    expect(decodeNpy(fixture(`big-${code}.npy`))).toEqual(expected);
  });

  it("of bool is a Uint8Array of 0 and 1", () => {
    expect(decodeNpy(fixture("bool.npy"))).toEqual({ dtype: "bool", shape: [2, 2], data: Uint8Array.of(1, 0, 0, 1) });
  });

  it.each([1, 2, 3])("in version %i.0 is read", (version) => {
    expect(decodeNpy(fixture(`version-${version}.npy`)).data).toEqual(Float32Array.of(0, 1, 2, 3));
  });

  it("in Fortran order is turned into C order", () => {
    const { shape, data } = decodeNpy(fixture("fortran-order.npy"));
    expect(shape).toEqual([2, 3, 4]);
    expect(data).toEqual(Int32Array.from({ length: 24 }, (_, i) => i));
  });

  it("of no dimension, and of no row, is read", () => {
    expect(decodeNpy(fixture("scalar.npy"))).toEqual({ dtype: "float64", shape: [], data: Float64Array.of(42.5) });
    expect(decodeNpy(fixture("empty.npy"))).toEqual({ dtype: "float64", shape: [0, 3], data: new Float64Array(0) });
  });

  it("has the bytes that are written here for the same array", () => {
    const matrix = new Matrix(2, 3, Float64Array.of(0, 1, 2, 3, 4, 5));
    expect(encodeNpy(matrix).subarray(128)).toEqual(fixture("c-order.npy").subarray(128));
    expect(new TextDecoder("latin1").decode(fixture("c-order.npy").subarray(8, 70))).toBe(
      new TextDecoder("latin1").decode(encodeNpy(matrix).subarray(8, 70)),
    );
  });
});

describe("an array that is not read", () => {
  it.each([
    ["objects.npy", "it holds pickled Python objects, which are never loaded"],
    ["records.npy", "it holds a structured array (records with named fields)"],
    ["texts.npy", 'it holds the type "<U3"; bool, int8,'],
    ["complex.npy", 'it holds the type "<c16"; bool, int8,'],
  ])("%s is an error that says what it holds", (name, reason) => {
    expect(() => decodeNpy(fixture(name))).toThrow(FormatError);
    expect(() => decodeNpy(fixture(name))).toThrow(reason);
  });

  it.each(["<constructor", "|toString", "<__proto__", "<\u001b[2J"])("whose type is named as what every object has, %j", (descr) => {
    const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (0,), }`.padEnd(118);
    const bytes = Uint8Array.from([0x93, ...Buffer.from("NUMPY"), 1, 0, 118, 0, ...Buffer.from(header)]);
    const error = (() => {
      try {
        return decodeNpy(bytes);
      } catch (thrown) {
        return thrown as Error;
      }
    })();
    expect(error).toBeInstanceOf(FormatError);
    expect((error as Error).message).toContain("bool, int8, int16");
    expect((error as Error).message).not.toContain("\u001b");
  });

  it("because it is truncated says how many bytes were expected and found", async () => {
    const path = join(temporaryFolder(), "short.npy");
    const bytes = fixture("c-order.npy");
    writeFileSync(path, bytes.subarray(0, 170));
    const error = await failure(() => readNpy(path), FormatError);
    expect(error.message).toBe(
      `${path}: it is truncated: an array of shape (2, 3) of float64 takes 176 bytes with its header and the file holds 170`,
    );
  });

  it("because it is truncated in its header says so", () => {
    const bytes = fixture("c-order.npy");
    expect(() => decodeNpy(bytes.subarray(0, 60))).toThrow("it is truncated: the header takes 128 bytes and the file holds 60");
    expect(() => decodeNpy(bytes.subarray(0, 5))).toThrow("it is truncated: it holds 5 bytes and a header takes at least 10");
  });

  it("because bytes follow it says so", () => {
    expect(() => decodeNpy(Uint8Array.of(...fixture("c-order.npy"), 0))).toThrow("it goes on after its array");
  });

  it("because it is another file says so", () => {
    expect(() => decodeNpy(fixture("pcm16.wav"))).toThrow("it does not begin with the NPY magic word; it is no .npy file");
  });

  const withHeader = (text: string): Uint8Array => {
    const bytes = new Uint8Array(10 + text.length);
    bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, text.length & 255, text.length >> 8]);
    bytes.set(new TextEncoder().encode(text), 10);
    return bytes;
  };

  it.each([
    "{'descr': '<f8', 'fortran_order': False}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': 3, }",
    "{'descr': '<f8', 'fortran_order': 0, 'shape': (0,), }",
    "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (0,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), } + __import__('os')",
    "__import__('os').system('true')",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0,)",
    "",
  ])("because its header is %s says so", (text) => {
    expect(() => decodeNpy(withHeader(text))).toThrow("its header is not the dictionary that NumPy writes");
  });

  it("because its shape is beyond any memory says so, and allocates nothing", () => {
    expect(() => decodeNpy(withHeader("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"))).toThrow(
      "of float64 takes 8000000000081 bytes with its header and the file holds 81",
    );
    expect(() => decodeNpy(withHeader("{'descr': '<f8', 'fortran_order': False, 'shape': (9007199254740991, 9), }"))).toThrow(
      "takes more than 2^53 bytes",
    );
  });

  it("is not refused for immense lengths beside one of 0, which hold nothing", () => {
    const { data } = decodeNpy(withHeader("{'descr': '<f8', 'fortran_order': True, 'shape': (9007199254740991, 9007199254740991, 0), }"));
    expect(data.length).toBe(0);
  });

  it("is not refused for the long integers of Python 2 or for double quotes", () => {
    expect(decodeNpy(withHeader('{"shape": (0L, 2L), "fortran_order": False, "descr": "|u1"}')).shape).toEqual([0, 2]);
  });
});

describe("an array that was written", () => {
  const Types = [
    Int8Array,
    Uint8Array,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    BigInt64Array,
    BigUint64Array,
    Float32Array,
    Float64Array,
  ] as const;

  it("reads back in every bit, whatever its type and shape", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Types),
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        (Type, shape, bits) => {
          const count = shape.reduce((product, length) => product * length, 1);
          const bytes = Uint8Array.from({ length: count * Type.BYTES_PER_ELEMENT }, (_, i) => bits[i % 64]!);
          const data = new Type(bytes.buffer);
          const back = decodeNpy(encodeNpy({ shape, data }));
          expect(back.shape).toEqual(shape);
          expect(back.data).toBeInstanceOf(Type);
          expect(new Uint8Array(back.data.buffer)).toEqual(bytes);
        },
      ),
    );
  });

  it("begins its data at a multiple of 64 bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.constant(1), { maxLength: 32 }), (shape) => {
        const bytes = encodeNpy({ shape, data: Uint8Array.of(7) });
        expect((bytes.length - 1) % 64).toBe(0);
        expect(bytes[bytes.length - 2]).toBe(0x0a);
      }),
    );
  });

  it("may be a typed array, a matrix or bools", () => {
    expect(decodeNpy(encodeNpy(Int32Array.of(1, 2)))).toEqual({ dtype: "int32", shape: [2], data: Int32Array.of(1, 2) });
    expect(decodeNpy(encodeNpy(Matrix.zeros(2, 3, "float32")))).toMatchObject({ dtype: "float32", shape: [2, 3] });
    expect(decodeNpy(encodeNpy({ dtype: "bool", shape: [2], data: Uint8Array.of(1, 0) })).dtype).toBe("bool");
  });

  it("has a shape that multiplies to its length", () => {
    expect(() => encodeNpy({ shape: [2, 2], data: Float32Array.of(1, 2, 3) })).toThrow("shape is (2, 2) and data holds 3 values");
    expect(() => encodeNpy({ shape: [-1, -3], data: Float32Array.of(1, 2, 3) })).toThrow(ArgumentError);
    expect(() => encodeNpy({ dtype: "bool", shape: [1], data: Uint8Array.of(2) })).toThrow("dtype bool takes a Uint8Array of 0 and 1");
  });

  it("has a dtype that its typed array holds", () => {
    expect(() => encodeNpy({ dtype: "int32", shape: [1], data: Float32Array.of(1) })).toThrow(
      "dtype is int32 and data is a Float32Array, which holds float32",
    );
    expect(decodeNpy(encodeNpy(decodeNpy(fixture("little-f2.npy")))).dtype).toBe("float32");
  });

  it("is a file of the same bytes", async () => {
    const path = join(temporaryFolder(), "a.npy");
    await writeNpy(path, Float64Array.of(1, 2));
    expect(new Uint8Array(readFileSync(path))).toEqual(encodeNpy(Float64Array.of(1, 2)));
  });
});

describe("an array as a matrix", () => {
  it("has one column where it has one dimension", () => {
    expect(npyToMatrix(decodeNpy(fixture("version-1.npy")))).toEqual(new Matrix(4, 1, Float32Array.of(0, 1, 2, 3)));
  });

  it("is of binary64 where it holds whole numbers", () => {
    expect(npyToMatrix({ dtype: "int64", shape: [1, 2], data: BigInt64Array.of(-3n, 4n) })).toEqual(
      new Matrix(1, 2, Float64Array.of(-3, 4)),
    );
  });

  it("does not take whole numbers that binary64 does not hold", () => {
    expect(() => npyToMatrix(decodeNpy(fixture("little-i8.npy")), { source: "a.npy" })).toThrow(
      "a.npy: value 3 is -9223372036854775808 of int64; a matrix takes whole numbers up to 2^53",
    );
  });

  it("takes one or two dimensions", () => {
    expect(() => npyToMatrix(decodeNpy(fixture("scalar.npy")))).toThrow("its shape is (); a matrix takes one or two dimensions");
    expect(() => npyToMatrix(decodeNpy(fixture("fortran-order.npy")))).toThrow("its shape is (2, 3, 4)");
  });
});
