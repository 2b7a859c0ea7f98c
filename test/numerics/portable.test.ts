import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  portableCos,
  portableExp,
  portableLog,
  portablePow,
  portableSin,
  portableSinCos,
  portableTanh,
  type SineCosine,
} from "../../packages/numerics/src/portable.js";
import table from "./fixtures/portable-table.json" with { type: "json" };

const bits = new DataView(new ArrayBuffer(8));

function fromHex(pattern: string): number {
  bits.setBigUint64(0, BigInt(`0x${pattern}`));
  return bits.getFloat64(0);
}

/** The distance from a finite x to the next binary64 away from 0. */
function unitInTheLastPlace(x: number): number {
  bits.setFloat64(0, x);
  const exponent = Math.max((bits.getUint32(0) >>> 20) & 0x7ff, 1);
  return 2 ** (exponent - 1075);
}

/** The error of `value` in units in the last place of the exact value high + low. */
function errorOf(value: number, high: number, low: number): number {
  return Math.abs(value - high - low) / unitInTheLastPlace(high);
}

function largestError(rows: readonly (readonly string[])[], f: (...given: number[]) => number): number {
  let largest = 0;
  for (const row of rows) {
    const numbers = row.map(fromHex);
    const [high, low] = numbers.slice(-2) as [number, number];
    const error = errorOf(f(...numbers.slice(0, -2)), high, low);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

describe("against exact values (make-portable-table.py), in units in the last place", () => {
  it.each([
    ["exp", portableExp, 0.76],
    ["log", portableLog, 0.501],
    ["sin", portableSin, 0.8],
    ["cos", portableCos, 0.8],
    ["pow", portablePow, 0.91],
    ["tanh", portableTanh, 1.07],
  ] as const)("%s is within the bound its documentation states", (name, f, bound) => {
    const rows = table[name];
    expect(rows.length).toBeGreaterThan(100);
    expect(largestError(rows, f as (...given: number[]) => number)).toBeLessThanOrEqual(bound);
  });
});

describe("the bits of docs/numerics.md, rule 8", () => {
  /** The hash over the results for v and g of each of 100000 steps. */
  function hashOf(results: (v: number, g: number) => readonly number[]): string {
    let hash = 0x811c9dc5;
    for (let i = 0; i < 100000; i++) {
      bits.setBigUint64(0, 1n + BigInt(i) * 0x53d859c8c932n);
      for (const result of results((i - 50000) * 0.0149, bits.getFloat64(0))) {
        bits.setFloat64(0, result);
        hash = Math.imul(hash ^ bits.getInt32(4), 0x01000193);
        hash = Math.imul(hash ^ bits.getInt32(0), 0x01000193);
      }
    }
    return (hash >>> 0).toString(16);
  }

  it.each([
    ["exp", "64fb6bf6", (v: number) => [portableExp(v)]],
    ["log", "64e36885", (_: number, g: number) => [portableLog(g)]],
    ["sin", "d40e3e20", (v: number) => [portableSin(v), portableSin(v * 2 ** 26)]],
    ["cos", "5ba083df", (v: number) => [portableCos(v), portableCos(v * 2 ** 26)]],
    ["pow", "dd68d805", (v: number, g: number) => [portablePow(g, v / 1024)]],
  ] as const)("%s hashes to %s", (_name, expected, results) => {
    expect(hashOf(results)).toBe(expected);
  });
});

it("sine and cosine together are those of each function", () => {
  const out: SineCosine = { sine: 0, cosine: 0 };
  const arguments_ = [0, -0, 1e-9, -1e-9, 7.450580596923828e-9, 1e300, -(2 ** 31), NaN, Infinity];
  for (let i = -5000; i < 5000; i++) arguments_.push(i * 0.0149, i * 1e5);
  for (const x of arguments_) expect([portableSinCos(x, out).sine, out.cosine]).toEqual([portableSin(x), portableCos(x)]);
});

/** What each function gives for each argument, exactly. */
function expectExactly(f: (x: number) => number, cases: readonly (readonly [number, number])[]): void {
  for (const [x, y] of cases) expect(f(x), `of ${Object.is(x, -0) ? "-0" : x}`).toBe(y);
}

describe("exp", () => {
  it("is exact at the ends of the range and beyond", () => {
    expectExactly(portableExp, [
      [0, 1],
      [-0, 1],
      [Infinity, Infinity],
      [-Infinity, 0],
      [NaN, NaN],
      [709.782712893384, 1.7976931348622732e308],
      [709.7827128933841, Infinity],
      [1e308, Infinity],
      [-745.1332191019411, 5e-324],
      [-745.1332191019412, 0],
      [-1e308, 0],
      [5e-324, 1],
    ]);
  });

  it("never falls where its argument rises", () => {
    fc.assert(
      fc.property(fc.double({ min: -750, max: 710, noNaN: true }), fc.double({ min: 0, max: 1e-12, noNaN: true }), (x, step) => {
        expect(portableExp(x + step)).toBeGreaterThanOrEqual(portableExp(x));
      }),
    );
  });

  it("turns sums into products, within the rounding of three values", () => {
    fc.assert(
      fc.property(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -300, max: 300 }), (a, b) => {
        const product = portableExp(a) * portableExp(b);
        expect(Math.abs(portableExp(a + b) - product)).toBeLessThanOrEqual(4 * unitInTheLastPlace(product));
      }),
    );
  });
});

describe("log", () => {
  it("is exact at the ends of the range and outside of it", () => {
    expectExactly(portableLog, [
      [1, 0],
      [0, -Infinity],
      [-0, -Infinity],
      [-5e-324, NaN],
      [-1, NaN],
      [-Infinity, NaN],
      [NaN, NaN],
      [Infinity, Infinity],
      [Number.MAX_VALUE, 709.782712893384],
      [5e-324, -744.4400719213812],
    ]);
  });

  it("adds the logarithms of 2^k, subnormal numbers included", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1074, max: 1023 }), (k) => {
        const expected = k * 0.6931471805598903 + k * 5.497923018708371e-14;
        expect(Math.abs(portableLog(2 ** k) - expected)).toBeLessThanOrEqual(unitInTheLastPlace(expected));
      }),
    );
  });

  it("undoes exp within the error that exp's own rounding leaves", () => {
    fc.assert(
      fc.property(fc.double({ min: -700, max: 700, noNaN: true }), (x) => {
        expect(Math.abs(portableLog(portableExp(x)) - x)).toBeLessThanOrEqual(2 ** -52 + unitInTheLastPlace(x));
      }),
    );
  });
});

describe("sin and cos", () => {
  it("are exact at zero and not a number at infinity", () => {
    expectExactly(portableSin, [
      [0, 0],
      [-0, -0],
      [5e-324, 5e-324],
      [-1e-200, -1e-200],
      [Infinity, NaN],
      [-Infinity, NaN],
      [NaN, NaN],
    ]);
    expectExactly(portableCos, [
      [0, 1],
      [-0, 1],
      [1e-200, 1],
      [Infinity, NaN],
      [-Infinity, NaN],
      [NaN, NaN],
    ]);
  });

  it("lie on the unit circle for every finite angle", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        expect(Math.abs(portableSin(x) ** 2 + portableCos(x) ** 2 - 1)).toBeLessThanOrEqual(4 * 2 ** -53);
      }),
    );
  });

  it("are odd and even to the bit", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        expect(portableSin(-x)).toBe(-portableSin(x));
        expect(portableCos(-x)).toBe(portableCos(x));
      }),
    );
  });

  it("agree where the reduction changes its method, at 2^30", () => {
    // The slope of the sine between 2^30 and the number just below it is the cosine there, to
    // 2^-23.
    const below = 2 ** 30 - 2 ** -23;
    const step = portableSin(2 ** 30) - portableSin(below);
    expect(step / 2 ** -23).toBeCloseTo(portableCos(2 ** 30), 6);
  });
});

describe("pow", () => {
  const specials = [0, -0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, Infinity, -Infinity, NaN, 5e-324, -5e-324, 1e300, 9007199254740991];

  it("treats zeros, infinities, NaN and negative bases as ECMAScript's Number::exponentiate does", () => {
    for (const x of specials) {
      for (const y of specials) {
        const exact = x ** y;
        if (exact === 0 || Math.abs(exact) === 1 || !Number.isFinite(exact)) expect(portablePow(x, y), `${x} to the ${y}`).toBe(exact);
      }
    }
  });

  it("is exact for whole powers that a binary64 can hold", () => {
    fc.assert(
      fc.property(fc.integer({ min: -40, max: 40 }), fc.integer({ min: 0, max: 60 }), (base, exponent) => {
        const exact = BigInt(base) ** BigInt(exponent);
        fc.pre(BigInt(Number(exact)) === exact);
        expect(portablePow(base, exponent)).toBe(Number(exact));
      }),
    );
  });

  it("gives the correctly rounded powers of ten that parsing their literal gives, 10^-22 to 10^22", () => {
    for (let k = 0; k <= 22; k++) expect(portablePow(10, k)).toBe(Number(`1e${k}`));
  });

  it("with the exponent 1/2 is the square root within one unit in the last place", () => {
    fc.assert(
      fc.property(fc.double({ min: 5e-324, max: Number.MAX_VALUE, noNaN: true }), (x) => {
        const root = Math.sqrt(x);
        expect(Math.abs(portablePow(x, 0.5) - root)).toBeLessThanOrEqual(unitInTheLastPlace(root));
      }),
    );
  });
});
