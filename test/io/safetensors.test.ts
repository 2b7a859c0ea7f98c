import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bfloat16ToFloat32,
  decodeSafetensors,
  encodeSafetensors,
  FormatError,
  float16ToFloat32,
  readSafetensors,
  type SafetensorsTensor,
  writeSafetensors,
} from "../../packages/io/src/index.js";
import { failure, fixture, temporaryFolder } from "./help.js";

/** A file of any header and any data. */
function file(header: unknown, data: Uint8Array | number = 0): Uint8Array {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const body = typeof data === "number" ? new Uint8Array(data) : data;
  const bytes = new Uint8Array(8 + text.length + body.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(body, 8 + text.length);
  return bytes;
}
const f32 = (begin: number, end: number, shape = [(end - begin) / 4]) => ({ dtype: "F32", shape, data_offsets: [begin, end] });

const model: Record<string, SafetensorsTensor> = {
  b: { dtype: "F32", shape: [2], data: Float32Array.of(1, 2) },
  a: { dtype: "F64", shape: [1, 1], data: Float64Array.of(0.1) },
  m: { dtype: "BOOL", shape: [3], data: Uint8Array.of(1, 0, 1) },
};

describe("a safetensors file of the reference implementation", () => {
  // fixtures/make_fixtures.py, safetensors 0.8.
  it("is read", () => {
    const { tensors, metadata } = decodeSafetensors(fixture("reference.safetensors"));
    expect(metadata).toEqual({ format: "spillway", note: 'quotes " and \u00fcmlauts' });
    expect(tensors).toEqual({
      weights: { dtype: "F32", shape: [2, 3], data: Float32Array.of(0, 1, 2, 3, 4, 5) },
      readout: { dtype: "F64", shape: [1, 2], data: Float64Array.of(0.1, -0) },
      columns: { dtype: "U32", shape: [2], data: Uint32Array.of(0, 4294967295) },
      step: { dtype: "I64", shape: [], data: BigInt64Array.of(7n) },
      mask: { dtype: "BOOL", shape: [3], data: Uint8Array.of(1, 0, 1) },
      half: { dtype: "F16", shape: [2], data: Uint16Array.of(0x3c00, 0xc100) },
      nothing: { dtype: "F32", shape: [0, 4], data: new Float32Array(0) },
    });
    expect(float16ToFloat32(tensors["half"]!.data as Uint16Array)).toEqual(Float32Array.of(1, -2.5));
  });
});

describe("a safetensors file that is written", () => {
  it("has these bytes: length, sorted JSON padded with blanks to 8, the widest elements first", () => {
    const header =
      '{"__metadata__":{"k":"v","z":"y"},"a":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"m":{"dtype":"BOOL","shape":[3],"data_offsets":[16,19]}}';
    const bytes = encodeSafetensors(model, { z: "y", k: "v" });
    const length = Math.ceil(header.length / 8) * 8;
    expect(new DataView(bytes.buffer).getBigUint64(0, true)).toBe(BigInt(length));
    expect(new TextDecoder().decode(bytes.subarray(8, 8 + length))).toBe(header.padEnd(length));
    expect([...bytes.subarray(8 + length)]).toEqual([
      ...new Uint8Array(Float64Array.of(0.1).buffer),
      ...new Uint8Array(Float32Array.of(1, 2).buffer),
      1,
      0,
      1,
    ]);
  });

  it("does not depend on the order in which it was put together", () => {
    const turned = Object.fromEntries(Object.entries(model).reverse());
    expect(encodeSafetensors(turned, { k: "v", z: "y" })).toEqual(encodeSafetensors(model, { z: "y", k: "v" }));
  });

  const arrays = {
    BOOL: fc.array(fc.constantFrom(0, 1)).map((bits) => Uint8Array.from(bits)),
    U8: fc.uint8Array(),
    I8: fc.int8Array(),
    U16: fc.uint16Array(),
    I16: fc.int16Array(),
    F16: fc.uint16Array(),
    BF16: fc.uint16Array(),
    U32: fc.uint32Array(),
    I32: fc.int32Array(),
    F32: fc.float32Array(),
    F64: fc.float64Array(),
    I64: fc.bigInt64Array(),
    U64: fc.bigUint64Array(),
  } as const;
  const tensor = fc
    .constantFrom(...(Object.keys(arrays) as (keyof typeof arrays)[]))
    .chain((dtype) =>
      fc
        .tuple(arrays[dtype] as fc.Arbitrary<SafetensorsTensor["data"]>, fc.boolean())
        .map(([data, column]): SafetensorsTensor => ({ dtype, shape: column ? [data.length, 1] : [data.length], data })),
    );
  const key = fc.string({ unit: "binary", maxLength: 12 }).filter((text) => text !== "__metadata__");

  it("reads back as the same tensors and metadata, whatever their names, types and values", () => {
    fc.assert(
      fc.property(
        fc.dictionary(key, tensor, { maxKeys: 8 }),
        fc.dictionary(key, fc.string({ unit: "binary" }), { maxKeys: 5 }),
        (tensors, metadata) => {
          const bytes = encodeSafetensors(tensors, metadata);
          const back = decodeSafetensors(bytes);
          expect(Object.entries(back.tensors).sort()).toEqual(Object.entries(tensors).sort());
          expect(Object.entries(back.metadata).sort()).toEqual(Object.entries(metadata).sort());
          expect(encodeSafetensors(back.tensors, back.metadata)).toEqual(bytes);
        },
      ),
    );
  });

  it("aligns every tensor to its elements", () => {
    fc.assert(
      fc.property(fc.dictionary(key, tensor, { maxKeys: 8 }), (tensors) => {
        const bytes = encodeSafetensors(tensors);
        const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
        expect(length % 8).toBe(0);
        const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
        for (const [name, { data }] of Object.entries(tensors)) expect(header[name].data_offsets[0] % data.BYTES_PER_ELEMENT).toBe(0);
      }),
    );
  });

  it("may hold nothing", () => {
    expect(decodeSafetensors(encodeSafetensors({}))).toEqual({ tensors: {}, metadata: {} });
  });

  it("may hold metadata that look like a header themselves", () => {
    const metadata = { config: 'x":"y', twice: '{"a":1,"a":2}', end: "\\" };
    expect(decodeSafetensors(encodeSafetensors({}, metadata)).metadata).toEqual(metadata);
  });

  it("may hold metadata of many megabytes with many quotes", () => {
    const config = JSON.stringify(Array.from({ length: 1_000_000 }, (_, i) => `a"${i}`));
    expect(decodeSafetensors(encodeSafetensors({}, { config })).metadata["config"]).toBe(config);
  });

  it("has shapes, arrays and names that fit", () => {
    const data = Float32Array.of(1, 2);
    expect(() => encodeSafetensors({ w: { dtype: "F32", shape: [3], data } })).toThrow('tensor "w" has the shape [3] and 2 values');
    expect(() => encodeSafetensors({ w: { dtype: "F64", shape: [2], data } })).toThrow(
      'tensor "w" holds a Float32Array; F64 takes a Float64Array',
    );
    expect(() => encodeSafetensors({ w: { dtype: "F8" as never, shape: [2], data } })).toThrow(
      'tensor "w" has the dtype "F8"; it takes BOOL,',
    );
    expect(() => encodeSafetensors({ __metadata__: { dtype: "F32", shape: [2], data } })).toThrow(
      'a tensor cannot be named "__metadata__"',
    );
    expect(() => encodeSafetensors({ w: { dtype: "BOOL", shape: [1], data: Uint8Array.of(2) } })).toThrow('"w" has the BOOL 2 at 0');
    expect(() => encodeSafetensors({}, { version: 1 as never })).toThrow('metadata "version" is 1; it takes text');
  });

  it("goes through a file", async () => {
    const path = join(temporaryFolder(), "model.safetensors");
    await writeSafetensors(path, model, { kind: "forecaster" });
    expect(await readSafetensors(path)).toEqual({ tensors: model, metadata: { kind: "forecaster" } });
  });
});

describe("a safetensors file that is rejected", () => {
  const good = encodeSafetensors(model);
  it.each([
    ["empty", new Uint8Array(0), "it is truncated: it holds 0 bytes and begins with the length of its header, which takes 8"],
    ["truncated in its header", good.subarray(0, 50), "it is truncated: its header takes 176 bytes and the file holds 50"],
    [
      "truncated in its data",
      good.subarray(0, good.length - 1),
      'the tensor "m" ends at byte 19 and the data at 18: the file is truncated',
    ],
    ["longer than its tensors", Uint8Array.of(...good, 0), "its tensors take 19 bytes and it holds 20 of data"],
    ["of another kind", fixture("c-order.npy"), "this is no safetensors file"],
    ["without JSON", file("{'a': 1}"), "its header is not JSON"],
    ["not UTF-8", file("{}").map((byte) => (byte === 0x7b ? 0xff : byte)), "its header is not JSON"],
    ["a list", file([1]), "its header is no JSON object"],
    [
      "a name twice",
      file('{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'),
      'its header names "a" twice',
    ],
    ["a field twice", file('{"a" : {"dtype":"F32","dtype" :"F64","shape":[0],"data_offsets":[0,0]}}'), 'its header names "dtype" twice'],
    [
      "an overlap",
      file({ a: f32(0, 8), b: f32(4, 12) }, 12),
      'the tensor "b" begins at byte 4 and overlaps the one before it, which ends at 8',
    ],
    ["a gap", file({ a: f32(0, 4), b: f32(8, 12) }, 12), 'bytes 4 to 8, before the tensor "b", belong to no tensor'],
    ["a gap at the start", file({ a: f32(4, 8) }, 8), 'bytes 0 to 4, before the tensor "a", belong to no tensor'],
    ["out of range", file({ a: f32(0, 8) }, 4), 'the tensor "a" ends at byte 8 and the data at 4'],
    ["turned round", file({ a: f32(4, 0, [0]) }, 4), 'the tensor "a" ends at byte 0, before it begins (4)'],
    ["of a wrong length", file({ a: f32(0, 8, [3]) }, 8), 'the tensor "a" has the shape [3] of F32, which takes 12 bytes, and is given 8'],
    ["of an immense shape", file({ a: f32(0, 8, [2 ** 40, 2 ** 40]) }, 8), "which takes more than 2^53 bytes, and is given 8"],
    ["of an unknown dtype", file({ a: { ...f32(0, 4), dtype: "F8_E4M3" } }, 4), 'the tensor "a" has the dtype "F8_E4M3"; BOOL, U8,'],
    ["of a dtype that every object has", file({ a: { ...f32(0, 4), dtype: "constructor" } }, 4), "has the dtype"],
    ["without a dtype", file({ a: { shape: [1], data_offsets: [0, 4] } }, 4), 'the tensor "a" has the dtype missing'],
    ["of a negative shape", file({ a: f32(0, 4, [-1]) }, 4), "has the shape [-1]; it takes whole numbers of at least 0"],
    ["of a fractional shape", file({ a: f32(0, 4, [1.5]) }, 4), "has the shape [1.5]"],
    ["of offsets that are text", file({ a: { ...f32(0, 4), data_offsets: ["0", "4"] } }, 4), "it takes two whole numbers, begin and end"],
    ["of three offsets", file({ a: { ...f32(0, 4), data_offsets: [0, 4, 8] } }, 4), "it takes two whole numbers, begin and end"],
    ["of a field more", file({ a: { ...f32(0, 4), strides: [1] } }, 4), 'has a field "strides"; it takes dtype, shape and data_offsets'],
    ["of an entry that is no object", file({ a: 7 }), 'the tensor "a" is no JSON object'],
    ["of metadata that is no text", file({ __metadata__: { version: 1 } }), 'its metadata "version" is 1; it takes text'],
    ["of metadata that is no object", file({ __metadata__: [] }), "its __metadata__ is no JSON object"],
    [
      "of a bool that is none",
      file({ a: { dtype: "BOOL", shape: [1], data_offsets: [0, 1] } }, Uint8Array.of(2)),
      "has the BOOL 2 at 0; it takes 0 or 1",
    ],
    [
      "nested without end",
      file(`{"a":{"dtype":"F32","shape":${"[".repeat(100_000)}${"]".repeat(100_000)},"data_offsets":[0,0]}}`),
      "a value of many levels",
    ],
  ])("because it is %s, with that reason", async (_, bytes, reason) => {
    const error = await failure(() => decodeSafetensors(bytes, { source: "m.safetensors" }), FormatError);
    expect(error.message).toContain("m.safetensors: ");
    expect(error.message).toContain(reason);
  });

  it("because its header is longer than any, without allocating it", () => {
    const bytes = new Uint8Array(16).fill(255);
    expect(() => decodeSafetensors(bytes)).toThrow("its header is said to take 18446744073709551615 bytes; it takes up to 100000000");
  });

  it("cannot reach the prototype of anything", () => {
    const { tensors, metadata } = decodeSafetensors(
      file('{"__metadata__":{"__proto__":"x"},"__proto__":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4),
    );
    expect(Object.keys(tensors)).toEqual(["__proto__"]);
    expect(Object.keys(metadata)).toEqual(["__proto__"]);
    expect(({} as { dtype?: unknown }).dtype).toBeUndefined();
  });
});

describe("16-bit numbers", () => {
  it("of IEEE-754 widen exactly, all 65536 of them", () => {
    const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const wide = float16ToFloat32(bits);
    for (let i = 0; i < 65536; i++) {
      const sign = i & 0x8000 ? -1 : 1;
      const exponent = (i >> 10) & 31;
      const fraction = i & 1023;
      // IEEE 754-2008, 3.4: the value of a binary16.
      const value =
        exponent === 31
          ? fraction
            ? Number.NaN
            : Infinity
          : exponent === 0
            ? fraction * 2 ** -24
            : (1024 + fraction) * 2 ** (exponent - 25);
      if (!Object.is(wide[i], sign * value)) expect([i, wide[i]]).toEqual([i, sign * value]);
    }
  });

  it("of bfloat16 are the upper halves of binary32", () => {
    expect(bfloat16ToFloat32(Uint16Array.of(0x3f80, 0xc020, 0x7f80, 0x0001))).toEqual(Float32Array.of(1, -2.5, Infinity, 2 ** -133));
  });
});
