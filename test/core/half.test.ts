// Binary16 and bfloat16 by their bits (IEEE 754-2008, 3.4), and that every module has them from one
// file.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bfloat16Bits, bfloat16Value, halfBits, halfValue } from "../../packages/core/src/half.js";
import * as gpu from "../../packages/gpu/src/index.js";
import * as ptx from "../../packages/ptx/src/builder/index.js";

const all = Array.from({ length: 65536 }, (_, bits) => bits);

describe("binary16", () => {
  // 1 + 10 bits of significand, exponents -14 to 15; ties to even. NaN is the one that CUDA's
  // instructions give.
  it.each([
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519.99, 0x7bff],
    [65520, 0x7c00],
    [-70000, 0xfc00],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [1.5 * 2 ** -25, 0x0001],
    [3 * 2 ** -26, 0x0001],
    [2 ** -14, 0x0400],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [2049, 0x6800],
    [Number.POSITIVE_INFINITY, 0x7c00],
    [Number.MAX_VALUE, 0x7c00],
    [Number.NaN, 0x7fff],
    [5e-324, 0x0000],
  ])("of %d has the bits %d", (value, bits) => {
    expect(halfBits(value)).toBe(bits);
  });

  it("takes every one of its numbers to its own bits", () => {
    expect(all.filter((bits) => !Number.isNaN(halfValue(bits)) && halfBits(halfValue(bits)) !== bits)).toEqual([]);
    expect(all.filter((bits) => Number.isNaN(halfValue(bits))).length).toBe(2 * 1023);
  });

  it("is the nearest of all", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 65504, noNaN: true }), (value) => {
        const bits = halfBits(value);
        const error = Math.abs(halfValue(bits) - value);
        for (const neighbour of [bits - 1, bits + 1]) {
          if (neighbour < 0 || neighbour > 0x7bff) continue;
          const other = Math.abs(halfValue(neighbour) - value);
          expect(error < other || (error === other && bits % 2 === 0)).toBe(true);
        }
      }),
    );
  });
});

describe("bfloat16", () => {
  it("is the upper half of the nearest binary32 of 8 bits", () => {
    const values = [1, -2, Math.PI, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 2 ** -133, Number.NEGATIVE_INFINITY, Number.MAX_VALUE, Number.NaN];
    expect(values.map(bfloat16Bits)).toEqual([0x3f80, 0xc000, 0x4049, 0x3f80, 0x3f82, 0x0001, 0xff80, 0x7f80, 0x7fff]);
    expect(all.filter((bits) => !Number.isNaN(bfloat16Value(bits)) && bfloat16Bits(bfloat16Value(bits)) !== bits)).toEqual([]);
  });
});

it("is the same in spillway/gpu and spillway/ptx", () => {
  expect([gpu.halfBits, gpu.bfloat16Bits]).toEqual([halfBits, bfloat16Bits]);
  expect([ptx.halfBits, ptx.bfloat16Bits, ptx.halfValue]).toEqual([halfBits, bfloat16Bits, halfValue]);
});
