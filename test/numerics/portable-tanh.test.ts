import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { portableTanh, portableTanh32 } from "../../packages/numerics/src/portable.js";
import { wasmInstance, wasmReserved } from "../../packages/numerics/src/wasm/index.js";
import { exhaustive } from "../exhaustive.js";

const capacity = 262144;
const { exports, memory } = wasmInstance(8 * (capacity + 8));

/**
 * Zeros, subnormals, sizes at which squares and cubes underflow, both changes of formula, both
 * clamps, infinity.
 */
const corners = [0, 5e-324, 1e-310, 1.401298464324817e-45, 1e-40, 2 ** -126, 2 ** -75, 2 ** -63, 2 ** -42, 2 ** -27, 2 ** -12, 0.1, 0.5]
  .concat([0.699999988079071, 0.7, 1, 2, 9.01, 9.02, 10, 11, 19.06, 20, 21, 88, 709, 1e30, 3.4028234663852886e38, 1e308, Infinity])
  .flatMap((x) => [x, -x]);

/**
 * Either precision: its two implementations, a place for values and their bit patterns, and numbers
 * that belong to it.
 */
const precisions = [
  {
    name: "binary32",
    scalar: portableTanh32,
    array: exports.tanhArray32,
    values: new Float32Array(memory.buffer, wasmReserved, capacity + 8),
    patterns: new Uint32Array(memory.buffer, wasmReserved, capacity + 8),
    /** Any of 2^18 patterns that lie evenly over 2^-12 to 20, with either sign. */
    pattern: (i: number) => (i & 1) * 0x80000000 + 0x39800000 + i * 0x209,
    threshold: 0x3f333333,
    /** tanh is within half a unit of 1 from here on: 13 ln 2. */
    saturation: 9.010913347279288,
    notNumbers: [0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff, 0xff800001, 0xffc00001, 0xffffffff],
  },
  {
    name: "binary64",
    scalar: portableTanh,
    array: exports.tanhArray64,
    values: new Float64Array(memory.buffer, wasmReserved, capacity + 8),
    patterns: new BigUint64Array(memory.buffer, wasmReserved, capacity + 8),
    /** Any of 2^18 patterns that lie evenly over 2^-27 to 20, with either sign. */
    pattern: (i: number) => (BigInt(i & 1) << 63n) + 0x3e40000000000000n + BigInt(i) * 0x7d01001357n,
    threshold: 0x3fe6666666666666n,
    /** 27.5 ln 2. */
    saturation: 19.061547465398494,
    notNumbers: [
      0x7ff0000000000001n,
      0x7ff7ffffffffffffn,
      0x7ff8000000000000n,
      0x7ff8000000000fffn,
      0xfff0000000000001n,
      0xffffffffffffffffn,
    ],
  },
];

describe.each(precisions)("tanh in $name", ({ scalar, array, values, patterns, pattern, threshold, saturation, notNumbers }) => {
  /**
   * Puts arguments in place, applies the array function, and returns the arguments that it was
   * given.
   */
  function applyTo(count: number, fill: () => void): Float32Array | Float64Array {
    fill();
    const given = values.slice(0, count);
    array(wasmReserved, wasmReserved, count);
    return given;
  }

  it("has the same bits in TypeScript and in WebAssembly, in the corners and across the range", () => {
    const given = applyTo(capacity, () => {
      for (let i = 0; i < capacity; i++) patterns[i] = pattern(i);
      values.set(corners);
    });
    const expected = given.map(scalar);
    for (let i = 0; i < capacity; i++) if (!Object.is(values[i], expected[i])) expect(values[i], `tanh(${given[i]})`).toBe(expected[i]);
  });

  it("has the same bits in TypeScript and in WebAssembly for any number whatever", () => {
    fc.assert(
      fc.property(fc.double(), (x) => {
        const [given] = applyTo(1, () => values.set([x]));
        expect(values[0]).toBe(scalar(given!));
      }),
    );
  });

  it("keeps a NaN of any sign and payload, beside numbers", () => {
    notNumbers.forEach((notNumber, i) => {
      values.set([0.5, 0.5, 0.5, 3], 4 * i);
      patterns[4 * i + (i & 3)] = notNumber;
    });
    array(wasmReserved, wasmReserved, 4 * notNumbers.length);
    notNumbers.forEach((_, i) => {
      expect(Array.from(values.subarray(4 * i, 4 * i + 4), Number.isNaN)).toEqual([0, 1, 2, 3].map((lane) => lane === (i & 3)));
    });
    expect(scalar(NaN)).toBe(NaN);
  });

  it("is odd to the bit and keeps the sign of zero", () => {
    for (let i = 0; i < 4096; i++) {
      patterns[0] = pattern(64 * i);
      const x = values[0]!;
      expect(scalar(-x)).toBe(-scalar(x));
    }
    expect(scalar(-0)).toBe(-0);
    expect(scalar(0)).toBe(0);
  });

  it("rises without a fall over thousands of neighbours around the change of formula", () => {
    applyTo(8192, () => {
      for (let i = 0; i < 8192; i++) patterns[i] = typeof threshold === "bigint" ? threshold + BigInt(i - 4096) : threshold + i - 4096;
    });
    for (let i = 1; i < 8192; i++) expect(values[i]!).toBeGreaterThanOrEqual(values[i - 1]!);
  });

  it("reaches 1 where the rest is less than half a unit in the last place, not before, and stays there", () => {
    applyTo(5, () => values.set([saturation * (1 - 1e-6), saturation * (1 + 1e-6), 25, 1e30, Infinity]));
    expect(values[0]).toBeLessThan(1);
    expect(Array.from(values.subarray(1, 5))).toEqual([1, 1, 1, 1]);
  });

  it("works on arrays of any length and writes nothing beyond them", () => {
    for (let count = 0; count <= 9; count++) {
      const given = applyTo(count, () => values.fill(0.25, 0, 16));
      expect(values.slice(0, count)).toEqual(given.map(scalar));
      expect(Array.from(values.subarray(count, 16))).toEqual(new Array(16 - count).fill(0.25));
    }
  });
});

describe("the bits of docs/numerics.md, rule 4", () => {
  it.runIf(exhaustive)("hash to 8f575d41 over all binary32 patterns from 0 to 20.002", () => {
    // In pieces, because only a new call gets the optimised code that the first ones caused to be
    // made.
    const end = 0x41a01000;
    let hash = 0x811c9dc5;
    for (let from = 0; from < end; from += 2 ** 20) hash = exports.tanhHash32(from, Math.min(from + 2 ** 20, end), hash);
    expect((hash >>> 0).toString(16)).toBe("8f575d41");
  });

  it("hash to fc253a4d over the fixed sample of binary64", () => {
    expect((exports.tanhHash64(0, 2 ** 24, 0x811c9dc5) >>> 0).toString(16)).toBe("fc253a4d");
  });

  it("hash alike in one piece and in pieces of any length", () => {
    const part = exports.tanhHash32(0x3f000000, 0x3f00000b, 7);
    expect(exports.tanhHash32(0x3f00000b, 0x3f000100, part)).toBe(exports.tanhHash32(0x3f000000, 0x3f000100, 7));
    expect(exports.tanhHash64(5, 100, exports.tanhHash64(0, 5, 7))).toBe(exports.tanhHash64(0, 100, 7));
  });

  it.runIf(exhaustive)(
    "are those of the TypeScript functions too, over every binary32 from 0.7 to 2 and a part of the binary64 sample",
    () => {
      const hashed = (hash: number, word: number) => Math.imul(hash ^ word, 0x01000193);
      const single = new Float32Array(1);
      const singleBits = new Int32Array(single.buffer);
      let hash32 = 1;
      for (let pattern = 0x3f333000; pattern < 0x40000000; pattern++) {
        singleBits[0] = pattern;
        single[0] = portableTanh32(single[0]!);
        hash32 = hashed(hash32, singleBits[0]!);
      }
      expect(hash32).toBe(exports.tanhHash32(0x3f333000, 0x40000000, 1));

      const double = new DataView(new ArrayBuffer(8));
      let hash64 = 1;
      for (let i = 15000000; i < 15200000; i++) {
        double.setBigUint64(0, 0x3e40000000000000n + BigInt(i) * 0x1f4041357n);
        double.setFloat64(0, portableTanh(double.getFloat64(0)));
        hash64 = hashed(hashed(hash64, double.getInt32(4)), double.getInt32(0));
      }
      expect(hash64).toBe(exports.tanhHash64(15000000, 15200000, 1));
    },
  );

  it("are those of the nearest binary32 where the argument is none", () => {
    for (let i = 1; i <= 1000; i++) expect(portableTanh32(i / 300)).toBe(portableTanh32(Math.fround(i / 300)));
    expect(portableTanh32(-1e-60)).toBe(-0);
  });
});
