// Numbers of 106 bits against whole numbers of unlimited length.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type DoubleDouble,
  ddAdd,
  ddDivide,
  ddDot,
  ddMultiply,
  ddNegate,
  ddSqrt,
  ddSubtract,
  ddSum,
  doubleDouble,
} from "../../packages/numerics/src/index.js";

/** A number times 2^600 as a whole number: exact for all that the tests draw. */
function exact(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const word = view.getBigUint64(0);
  const exponent = Number(word >> 52n);
  const mantissa = exponent === 0 ? 0n : (word & 0xfffffffffffffn) | 0x10000000000000n;
  const shift = exponent - 1075 + 600;
  const scaled = shift >= 0 ? mantissa << BigInt(shift) : mantissa >> BigInt(-shift);
  return value < 0 ? -scaled : scaled;
}
const whole = ({ high, low }: DoubleDouble) => exact(high) + exact(low);
const absolute = (x: bigint) => (x < 0n ? -x : x);
/** Whether |got - true| <= 2^-100 |true|, both times the same scale. */
const near = (got: bigint, truth: bigint) => absolute(got - truth) << 100n <= absolute(truth);

const single = fc.tuple(fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -60, max: 60 }), fc.boolean());
const number = single.map(([m, e, minus]) => (minus ? -m : m) * 2 ** e);
const pair = fc
  .tuple(number, fc.double({ min: -0.5, max: 0.5, noNaN: true }))
  .map(([high, share]) => doubleDouble(high, high * share * 2 ** -53));

describe("double-double numbers", () => {
  it("sum 1e16 + 1 - 1e16 to 1", () => {
    expect(ddSum([1e16, 1, -1e16])).toEqual({ high: 1, low: 0 });
  });

  it("add without losing more than 2^-100 of the sum", () => {
    fc.assert(fc.property(pair, pair, (a, b) => near(whole(ddAdd(a, b)), whole(a) + whole(b))));
    fc.assert(fc.property(pair, pair, (a, b) => near(whole(ddSubtract(a, b)), whole(a) - whole(b))));
  });

  it("add what nearly cancels, down to the low parts", () => {
    const low = fc
      .tuple(fc.double({ min: -2, max: -1, noNaN: true }), fc.integer({ min: -75, max: -55 }), fc.boolean())
      .map(([m, e, plus]) => (plus ? -m : m) * 2 ** e);
    fc.assert(
      fc.property(fc.double({ min: 1, max: 2, noNaN: true }), low, low, (high, a, b) => {
        const [x, y] = [doubleDouble(high, a), doubleDouble(-high - 2 ** -52, b)];
        return near(whole(ddAdd(x, y)), whole(x) + whole(y));
      }),
    );
  });

  it("multiply and divide to 2^-100", () => {
    const scale = 600n;
    fc.assert(fc.property(pair, pair, (a, b) => near(whole(ddMultiply(a, b)) << scale, whole(a) * whole(b))));
    fc.assert(fc.property(pair, pair, (a, b) => near(whole(ddDivide(a, b)) * whole(b), whole(a) << scale)));
  });

  it("take square roots to 2^-100: r^2 is right to twice that", () => {
    fc.assert(
      fc.property(pair, (a) => {
        const size = { high: Math.abs(a.high), low: a.high < 0 ? -a.low : a.low };
        const root = whole(ddSqrt(size));
        return absolute(root * root - (whole(size) << 600n)) << 99n <= whole(size) << 600n;
      }),
    );
    expect(ddSqrt({ high: 0, low: 0 })).toEqual({ high: 0, low: 0 });
    expect(ddSqrt({ high: -1, low: 0 }).high).toBeNaN();
  });

  it("take dot products with exact products", () => {
    // (1 + 2^-30)^2 - 1 - 2^-29 = 2^-60, which binary64 rounds away.
    const x = 1 + 2 ** -30;
    expect(ddDot([x, -1, -1], [x, 1, 2 ** -29])).toEqual({ high: 2 ** -60, low: 0 });
    expect(() => ddDot([1], [])).toThrow("the vectors have 1 and 0 values; a dot product takes as many of both");
  });

  it("divide by 0 as binary64 does", () => {
    expect(ddDivide({ high: 1, low: 0 }, { high: 0, low: 0 }).high).toBe(Infinity);
    expect(ddDivide({ high: 0, low: 0 }, { high: 0, low: 0 }).high).toBeNaN();
  });

  it("take and give infinities as binary64 does", () => {
    const [infinity, one, large] = [Infinity, 1, 1e300].map((high) => ({ high, low: 0 })) as [DoubleDouble, DoubleDouble, DoubleDouble];
    const none = { high: Infinity, low: 0 };
    expect(ddSqrt(infinity)).toEqual(none);
    expect([doubleDouble(Infinity, 1), ddAdd(infinity, one), ddAdd(one, infinity), ddSum([1, Infinity])]).toEqual(Array(4).fill(none));
    expect([ddMultiply(infinity, one), ddMultiply(large, large), ddDivide(infinity, one), ddDot([1e300], [1e300])]).toEqual(
      Array(4).fill(none),
    );
    expect(ddDivide(one, infinity)).toEqual({ high: 0, low: 0 });
    expect(ddAdd(infinity, ddNegate(infinity)).high).toBeNaN();
    expect(ddMultiply(large, one)).toEqual(large);
  });
});
