// Arithmetic of the simulated device against exact fractions (exact-reference.ts) and BigInt:
// kernels from fixtures/compute.cu on hard values, and properties of the helpers on random ones.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bfloat16Bits, bfloat16Value, halfBits, halfValue } from "../../packages/core/src/half.js";
import { binary32, binary64, exactDiv, exactFma, exactSqrt } from "../../packages/ptx/src/interpreter/arithmetic/exact.js";
import { fma32, fma64 } from "../../packages/ptx/src/interpreter/arithmetic/float.js";
import { mulHigh, mulHighUnsigned } from "../../packages/ptx/src/interpreter/arithmetic/integer64.js";
import { Bench, fixture, input, output, words } from "./device.js";
import { divide, type Format, fma, fraction, type Mode, roundFraction, squareRoot } from "./exact-reference.js";

const bench = new Bench(fixture("compute"));
const grid = (n: number) => ({ grid: Math.ceil(n / 64), block: 64 });

/** PTX has one binary32 NaN; any NaN compares equal to it here. */
const single = (value: number): number => {
  if (Number.isNaN(value)) return 0x7fffffff;
  return new Int32Array(new Float32Array([value]).buffer)[0]!;
};
const double = (value: number): bigint =>
  Number.isNaN(value) ? 0xfff8000000000000n : new BigUint64Array(new Float64Array([value]).buffer)[0]!;

const random = words(17);
const hardSingles = [
  0,
  -0,
  1,
  -1,
  1.5,
  2 ** -149,
  -(2 ** -149),
  2 ** -126,
  1.1754942106924411e-38,
  3.4028234663852886e38,
  -3.4028234663852886e38,
  Infinity,
  -Infinity,
  NaN,
  0.1,
  16777217,
  1 + 2 ** -23,
];
const randomSingle = (): number => new Float32Array(new Int32Array([random()]).buffer)[0]!;
const nearOne = (): number => Math.fround(1 + random() / 2 ** 33);
const singles = [...hardSingles, ...Array.from({ length: 300 }, randomSingle), ...Array.from({ length: 200 }, nearOne)].map(Math.fround);
const pick = (array: readonly number[]): number => array[(random() >>> 0) % array.length]!;
const hardDoubles = [
  0,
  -0,
  1,
  -1,
  2 ** -1074,
  -(2 ** -1074),
  2 ** -1022,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Infinity,
  -Infinity,
  NaN,
  0.1,
  2 ** 53 + 2,
  1 + 2 ** -52,
  1e300,
  1e-300,
];
const randomDouble = (): number => new Float64Array(new Int32Array([random(), random()]).buffer)[0]!;
const doubles = [
  ...hardDoubles,
  ...Array.from({ length: 150 }, randomDouble),
  ...Array.from({ length: 150 }, () => 1 + random() / 2 ** 33 + random() / 2 ** 60),
];

describe("integers", () => {
  const n = 256;
  const hard = [0n, 1n, -1n, 2n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 32n, -(2n ** 32n), 0xffffffffn, 0x80000000n, 3n];
  const long = (): bigint => (BigInt(random()) << 32n) | BigInt(random() >>> 0);
  const a = BigInt64Array.from({ length: n }, (_, k) => (k < 121 ? hard[k % 11]! : long() >> BigInt(k % 64)));
  const b = BigInt64Array.from({ length: n }, (_, k) => (k < 121 ? hard[Math.floor(k / 11)]! : long() >> BigInt((k * 7) % 64)));

  it("64 bits: add, subtract, multiply low and high, divide, shift, compare, count", () => {
    const out = new BigInt64Array(16 * n);
    bench.run("wide_integers", grid(n), [input(a), input(b), output(out), n]);
    const u = (value: bigint): bigint => BigInt.asUintN(64, value);
    const popcount = (value: bigint): number => [...u(value).toString(2)].filter((bit) => bit === "1").length;
    const reversed = (value: bigint): bigint => BigInt(`0b${[...u(value).toString(2).padStart(64, "0")].reverse().join("")}`);
    for (let k = 0; k < n; k++) {
      const [x, y] = [a[k]!, b[k]!];
      const shift = u(y) & 63n;
      const leading = x < 0n ? 0 : x === 0n ? 64 : 64 - x.toString(2).length;
      const first = x === 0n ? 0 : u(x & -x).toString(2).length;
      const expected = [
        x + y,
        x - y,
        x * y,
        (x * y) >> 64n,
        (u(x) * u(y)) >> 64n,
        y ? x / y : 0n,
        y ? x % y : 0n,
        y ? u(x) / u(y) : 0n,
        y ? u(x) % u(y) : 0n,
        x << shift,
        x >> shift,
        u(x) >> shift,
        BigInt(Number(x < y) | (Number(u(x) < u(y)) << 1) | (Number(x <= y) << 2) | (Number(x === y) << 3)),
        x < y ? x : y,
        BigInt(popcount(x) | (leading << 8) | (first << 16)),
        reversed(x),
      ].map((value) => BigInt.asIntN(64, value));
      expect([...out.slice(16 * k, 16 * k + 16)], `${x} and ${y}`).toEqual(expected);
    }
  });

  it("32 bits: products, quotients, permutations, funnel shifts, dot products, narrow types", () => {
    const x32 = Int32Array.from(a, (value) => Number(BigInt.asIntN(32, value ^ (value >> 17n))));
    const y32 = Int32Array.from(b, (value) => Number(BigInt.asIntN(32, value ^ (value >> 11n))));
    const out = new Int32Array(16 * n);
    bench.run("narrow_integers", grid(n), [input(x32), input(y32), output(out), n]);
    const byte = (v: number, k: number): number => (v << (24 - 8 * k)) >> 24;
    for (let k = 0; k < n; k++) {
      const [x, y] = [x32[k]!, y32[k]!];
      const pool = (BigInt(y >>> 0) << 32n) | BigInt(x >>> 0);
      // __byte_perm looks at three bits of each selector.
      const chosen = [1, 3, 0xa, 6].map((selector) => (pool >> BigInt(8 * (selector & 7))) & 255n);
      const expected = [
        Math.imul(x, y),
        Number((BigInt(x) * BigInt(y)) >> 32n),
        Number((BigInt(x >>> 0) * BigInt(y >>> 0)) >> 32n),
        y ? Math.trunc(x / y) : 0,
        y ? (x >>> 0) % (y >>> 0) : 0,
        Number(chosen.reduce((all, value, j) => all | (value << BigInt(8 * j)), 0n)),
        Number(((pool << BigInt(y & 31)) >> 32n) & 0xffffffffn),
        Number((pool >> BigInt(y & 31)) & 0xffffffffn),
        x + [0, 1, 2, 3].reduce((sum, j) => sum + byte(x, j) * byte(y, j), 0),
        (x & y) | ((~x & 0x0f0f0f0f) ^ y),
        Math.imul((x << 16) >> 16, (y << 16) >> 16),
        byte(x, 0) + (y & 255),
        Math.abs(x - y) + 7,
        Number(`0b${[...(x >>> 0).toString(2).padStart(32, "0")].reverse().join("")}`),
        (x >> 5) & 0x7f,
        Math.floor(((x >>> 3) & 0xffff) / ((y | 1) & 0xffff)),
      ].map((value) => value | 0);
      expect([...out.slice(16 * k, 16 * k + 16)], `${x} and ${y}`).toEqual(expected);
    }
  });

  it("gives the high half of every 32-bit product", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (x, y) => {
        expect(mulHigh(x, y)).toBe(Number((BigInt(x) * BigInt(y)) >> 32n));
        expect(mulHighUnsigned(x, y) >>> 0).toBe(Number((BigInt(x >>> 0) * BigInt(y >>> 0)) >> 32n));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("floats in kernels", () => {
  it("binary32: every rounding of add, multiply, fused multiply-add, divide and square root", () => {
    const n = singles.length;
    const [a, b, c] = [0, 1, 2].map((k) => Float32Array.from(singles, (value) => (k === 0 ? value : pick(singles)))) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    const out = new Float32Array(24 * n);
    bench.run("float_operations", grid(n), [input(a), input(b), input(c), output(out), n]);
    const got = new Int32Array(out.buffer);
    for (let k = 0; k < n; k++) {
      const [x, y, z] = [a[k]!, b[k]!, c[k]!];
      const sum = (mode: Mode): number => fma(x, 1, y, "f32", mode);
      const product = (mode: Mode): number =>
        Number.isFinite(x) && Number.isFinite(y) && x !== 0 && y !== 0 ? fma(x, y, 0, "f32", mode) : x * y;
      const smaller = Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.min(x, y);
      const larger = Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.max(x, y);
      const expected = [
        sum("rn"),
        product("rn"),
        fma(x, y, z, "f32", "rn"),
        divide(x, y, "f32", "rn"),
        squareRoot(x, "f32", "rn"),
        divide(1, x, "f32", "rn"),
        sum("rz"),
        sum("rm"),
        sum("rp"),
        product("rz"),
        product("rm"),
        product("rp"),
        fma(x, y, z, "f32", "rz"),
        fma(x, y, z, "f32", "rm"),
        fma(x, y, z, "f32", "rp"),
        divide(x, y, "f32", "rz"),
        divide(x, y, "f32", "rm"),
        divide(x, y, "f32", "rp"),
        squareRoot(x, "f32", "rz"),
        squareRoot(x, "f32", "rp"),
        smaller,
        larger,
        x > 0 ? Math.min(x, 1) : 0,
      ].map(single);
      expect([...got.slice(24 * k, 24 * k + 23)], `${x}, ${y}, ${z}`).toEqual(expected);
      const [bitsX, bitsY] = [new Int32Array(a.buffer)[k]!, new Int32Array(b.buffer)[k]!];
      expect(got[24 * k + 23]).toBe((bitsX & 0x7fffffff) | (bitsY & (1 << 31)));
    }
  });

  it("binary64: the same, and rounding to whole numbers", () => {
    const n = doubles.length;
    const [a, b, c] = [0, 1, 2].map((k) => Float64Array.from(doubles, (value) => (k === 0 ? value : pick(doubles)))) as [
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const out = new Float64Array(16 * n);
    bench.run("double_operations", grid(n), [input(a), input(b), input(c), output(out), n]);
    const got = new BigUint64Array(out.buffer);
    for (let k = 0; k < n; k++) {
      const [x, y, z] = [a[k]!, b[k]!, c[k]!];
      const even = (value: number): number => {
        if (!(Math.abs(value) < 2 ** 52)) return value;
        const magnitude = Math.abs(value) + 2 ** 52 - 2 ** 52;
        return value < 0 || Object.is(value, -0) ? -magnitude : magnitude;
      };
      const product = (mode: Mode): number =>
        Number.isFinite(x) && Number.isFinite(y) && x !== 0 && y !== 0 ? fma(x, y, 0, "f64", mode) : x * y;
      const expected = [
        x + y,
        product("rn"),
        fma(x, y, z, "f64", "rn"),
        x / y,
        squareRoot(x, "f64", "rn"),
        fma(x, 1, y, "f64", "rm"),
        product("rp"),
        fma(x, y, z, "f64", "rz"),
        divide(x, y, "f64", "rm"),
        squareRoot(x, "f64", "rp"),
        Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.min(x, y),
        even(x),
        Math.trunc(x),
        Math.floor(x),
        Math.ceil(x),
        divide(1, x, "f64", "rn"),
      ].map(double);
      expect([...got.slice(16 * k, 16 * k + 16)], `${x}, ${y}, ${z}`).toEqual(expected);
    }
  });

  it("binary16: add, multiply, fused multiply-add, subtract, compare, alone and in pairs", () => {
    const values = [
      0,
      0x8000,
      1,
      0x8001,
      0x3ff,
      0x400,
      0x3c00,
      0xbc00,
      0x7bff,
      0xfbff,
      0x7c00,
      0xfc00,
      0x7e00,
      0x3555,
      ...Array.from({ length: 200 }, () => random() & 0xffff),
    ];
    const n = values.length;
    const [a, b, c] = [0, 1, 2].map((k) => Uint16Array.from(values, (value) => (k === 0 ? value : pick(values)))) as [
      Uint16Array,
      Uint16Array,
      Uint16Array,
    ];
    const out = new Uint16Array(8 * n);
    bench.run("half_operations", grid(n), [input(a), input(b), input(c), output(out), n]);
    const bits = (value: number): number => (Number.isNaN(value) ? 0x7fff : halfBits(value));
    for (let k = 0; k < n; k++) {
      const [x, y, z] = [halfValue(a[k]!), halfValue(b[k]!), halfValue(c[k]!)];
      const product = Number.isFinite(x) && Number.isFinite(y) && x !== 0 && y !== 0 ? fma(x, y, 0, "f16", "rn") : x * y;
      const expected = [
        bits(fma(x, 1, y, "f16", "rn")),
        bits(product),
        bits(fma(x, y, z, "f16", "rn")),
        bits(fma(x, 1, -y, "f16", "rn")),
        Number.isNaN(x) ? 0x7fff : a[k]! ^ 0x8000,
        Number.isNaN(x) ? 0x7fff : a[k]! & 0x7fff,
        Number(x < y) | (Number(x === y) << 1) | (Number(!(x <= y)) << 2),
        bits(fma(y, z, x, "f16", "rn")),
      ];
      expect([...out.slice(8 * k, 8 * k + 8)], `${x}, ${y}, ${z}`).toEqual(expected);
    }
  });

  it("conversions between integers and floats, clamped and rounded every way", () => {
    const numbers = [
      ...singles.slice(0, 60),
      2147483520,
      2147483648,
      -2147483648,
      4294967040,
      9.2e18,
      -9.3e18,
      0.5,
      1.5,
      2.5,
      -0.5,
      -1.5,
      65504,
      65519,
      65520,
      5.9e-8,
      2.9e-8,
    ].map(Math.fround);
    const n = numbers.length;
    const x = Float32Array.from(numbers);
    const y = Float64Array.from(numbers, (value, k) => value * (1 + k * 2 ** -50) + (k % 3) * 0.25);
    const z = BigInt64Array.from(numbers, (_, k) =>
      k < 4 ? [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)][k]! : ((BigInt(random()) << 32n) | BigInt(random() >>> 0)) >> BigInt(k % 50),
    );
    const out = new BigInt64Array(32 * n);
    bench.run("conversions", grid(n), [input(x), input(y), input(z), output(out), n]);
    const even = (value: number): number => (Math.abs(value) >= 2 ** 52 ? value : Math.sign(value) * (Math.abs(value) + 2 ** 52 - 2 ** 52));
    const clamp = (value: number, least: bigint, most: bigint, nan: bigint): bigint => {
      if (Number.isNaN(value)) return nan;
      if (value >= Number(most)) return most;
      return value <= Number(least) ? least : BigInt(value);
    };
    const s32 = (value: number, nan = 0n): bigint => clamp(value, -(2n ** 31n), 2n ** 31n - 1n, nan);
    const u32 = (value: number, nan = 0n): bigint => clamp(value, 0n, 2n ** 32n - 1n, nan);
    const s64 = (value: number): bigint => clamp(value, -(2n ** 63n), 2n ** 63n - 1n, -(2n ** 63n));
    const u64 = (value: number): bigint => clamp(value, 0n, 2n ** 64n - 1n, 2n ** 63n);
    const to = (value: number, format: Format, mode: Mode): number =>
      value === 0 || !Number.isFinite(value) ? value : roundFraction(fraction(value), format, mode);
    const integer = (value: bigint, format: Format, mode: Mode): number =>
      value === 0n ? 0 : roundFraction({ numerator: value, denominator: 1n }, format, mode);
    const word = (value: number): bigint => BigInt(single(value) >>> 0);
    const half = (value: number): bigint => BigInt(Number.isNaN(value) ? 0x7fff : halfBits(value));
    for (let k = 0; k < n; k++) {
      const [f, d, l] = [x[k]!, y[k]!, z[k]!];
      const ul = BigInt.asUintN(64, l);
      const expected = [
        s32(even(f)),
        s32(Math.trunc(f)),
        s32(Math.floor(f)),
        s32(Math.ceil(f)),
        u32(even(f)),
        u32(Math.trunc(f)),
        s64(even(f)),
        u64(Math.trunc(f)),
        s32(even(d), -(2n ** 31n)),
        u32(Math.trunc(d), 2n ** 31n),
        s64(Math.floor(d)),
        u64(Math.ceil(d)),
        ...(["rn", "rz", "rm", "rp"] as const).map((mode) => word(to(d, "f32", mode))),
        word(integer(l, "f32", "rn")),
        word(integer(l, "f32", "rz")),
        word(integer(ul, "f32", "rn")),
        word(integer(ul, "f32", "rp")),
        double(integer(l, "f64", "rn")),
        double(integer(ul, "f64", "rn")),
        double(integer(l, "f64", "rm")),
        ...(["rn", "rz", "rm", "rp"] as const).map((mode) => half(to(f, "f16", mode))),
        BigInt(Number.isNaN(f) ? 0x7fff : bfloat16Bits(to(f, "bf16", "rn"))),
        word(halfValue(Number(l & 0xffffn))),
        word(integer(BigInt.asIntN(32, l), "f32", "rn")),
        word(integer(BigInt.asUintN(32, l), "f32", "rz")),
        word(Number.isNaN(f) ? NaN : Object.is(f, -0) || (f < 0 && f >= -0.5) ? -0 : even(f)),
      ].map((value) => BigInt.asIntN(64, value));
      expect([...out.slice(32 * k, 32 * k + 32)], `${f}, ${d}, ${l}`).toEqual(expected);
    }
  });
});

describe("rounding, by property", () => {
  const anySingle = fc.float({ noNaN: true });
  const anyDouble = fc.double({ noNaN: true });
  const modes: Mode[] = ["rn", "rz", "rm", "rp"];

  it("fma32 rounds once, also half-way and at the ends of the range", () => {
    fc.assert(
      fc.property(anySingle, anySingle, anySingle, (a, b, c) => {
        expect(fma32(a, b, c)).toBe(fma(a, b, c, "f32", "rn"));
      }),
      { numRuns: 3000 },
    );
    // The double sum of these is half-way between two binary32 values and itself rounded; plain
    // double arithmetic takes the wrong one.
    const c = Math.fround(2 ** -60);
    expect(fma32(1 + 2 ** -12, 1 + 2 ** -12, c)).toBe(fma(1 + 2 ** -12, 1 + 2 ** -12, c, "f32", "rn"));
    expect(fma32(1 + 2 ** -12, 1 + 2 ** -12, c)).not.toBe(Math.fround((1 + 2 ** -12) * (1 + 2 ** -12) + c));
  });

  it("fma64 rounds once", () => {
    fc.assert(
      fc.property(anyDouble, anyDouble, anyDouble, (a, b, c) => {
        expect(fma64(a, b, c)).toBe(fma(a, b, c, "f64", "rn"));
      }),
      { numRuns: 1500 },
    );
    const near = fc.double({ min: 0.5, max: 2, noNaN: true });
    fc.assert(
      fc.property(near, near, near, (a, b, c) => {
        expect(fma64(a, b, -c)).toBe(fma(a, b, -c, "f64", "rn"));
      }),
      { numRuns: 3000 },
    );
  });

  it("exact fma, division and square root agree with fractions in every mode", () => {
    fc.assert(
      fc.property(anySingle, anySingle, anySingle, fc.constantFrom(...modes), (a, b, c, mode) => {
        expect(exactFma(a, b, c, binary32, mode)).toBe(fma(a, b, c, "f32", mode));
        expect(exactDiv(a, b, binary32, mode)).toBe(divide(a, b, "f32", mode));
        expect(exactSqrt(Math.abs(a), binary64, mode)).toBe(squareRoot(Math.abs(a), "f64", mode));
      }),
      { numRuns: 1500 },
    );
  });

  it("division and square root of binary32 through doubles round once", () => {
    fc.assert(
      fc.property(anySingle, anySingle, (a, b) => {
        expect(Math.fround(a / b)).toBe(divide(a, b, "f32", "rn"));
        expect(Math.fround(Math.sqrt(Math.abs(a)))).toBe(squareRoot(Math.abs(a), "f32", "rn"));
      }),
      { numRuns: 3000 },
    );
  });

  it("every binary16 and bfloat16 survives the way to a number and back", () => {
    const changed: number[] = [];
    for (let bits = 0; bits < 65536; bits++) {
      if ((bits & 0x7fff) <= 0x7c00 && halfBits(halfValue(bits)) !== bits) changed.push(bits);
      if ((bits & 0x7fff) <= 0x7f80 && bfloat16Bits(bfloat16Value(bits)) !== bits) changed.push(bits);
    }
    expect(changed).toEqual([]);
  });

  it("numbers go to the nearest binary16 and bfloat16", () => {
    fc.assert(
      fc.property(anySingle, (value) => {
        if (value === 0 || !Number.isFinite(value)) return;
        expect(halfValue(halfBits(value))).toBe(roundFraction(fraction(value), "f16", "rn"));
        expect(bfloat16Value(bfloat16Bits(value))).toBe(roundFraction(fraction(value), "bf16", "rn"));
      }),
      { numRuns: 3000 },
    );
  });
});
