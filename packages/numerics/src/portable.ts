// Elementary functions from IEEE operations alone, so that weights, spikes, tasks and constants
// have the same bits in every JavaScript engine and on every device (docs/numerics.md, rules 4 and
// 8). They do not replace Math.* if only a person reads the result. The errors stated below are
// the largest that scripts/portable-accuracy.mjs found.
import { productError } from "./product-error.js";

/** Reading and writing the bits of a binary64, sign and exponent first. */
const bits = new DataView(new ArrayBuffer(8));

/** The two parts of a result that is carried to more than 53 bits: their sum, unrounded. */
interface Pair {
  high: number;
  low: number;
}

// biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard gives Math.LOG2E only approximately
const log2e = 1.4426950408889634; // 0x1.71547652b82fep+0
// 42 bits: its product with any exponent is exact.
const ln2High = 0.6931471805598903; // 0x1.62e42fefa3800p-1
const ln2Low = 5.497923018708371e-14; // 0x1.ef35793c76730p-45

/**
 * Adding 1.5 * 2^52 leaves no bits below the units: the sum less this constant is the nearest whole
 * number, ties to even.
 */
const roundingShift = 6755399441055744;

/** (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, within 2^-60 of e^r. */
const expTail = [
  0.5, // 0x1.0000000000000p-1
  0.16666666666666666, // 0x1.5555555555555p-3
  0.041666666666666706, // 0x1.555555555555bp-5
  0.008333333333333269, // 0x1.11111111110ecp-7
  0.0013888888888865742, // 0x1.6c16c16c14264p-10
  0.00019841269841474671, // 0x1.a01a01a02c74bp-13
  2.4801587360626592e-5, // 0x1.a01a01b0b83c5p-16
  2.755731893278914e-6, // 0x1.71de3a13da19bp-19
  2.7557243790959107e-7, // 0x1.27e4c662bb9c5p-22
  2.5052289442474558e-8, // 0x1.ae652259774bbp-26
  2.0923899565540267e-9, // 0x1.1f936d41de79ep-29
  1.6029159577883632e-10, // 0x1.607c2578ff551p-33
];

/**
 * e^x in binary64, at most 0.76 ulp from the true value. NaN for NaN, Infinity if the result is
 * above the largest binary64, subnormal and then 0 for large negative x.
 */
export function portableExp(x: number): number {
  return expOfSum(x, 0);
}

/** e^(high + low) for |low| <= ulp(high). */
function expOfSum(high: number, low: number): number {
  if (high > 710) return Infinity;
  if (high < -746) return 0;
  const n = high * log2e + roundingShift - roundingShift;
  const a = high - n * ln2High;
  const b = n * ln2Low - low;
  const r = a - b;
  const tail = r * r * horner(expTail, r) - b;
  const sum = 1 + a;
  const mantissa = sum + (1 - sum + a + tail);
  const half = Math.floor(n / 2);
  return mantissa * powerOfTwo(half) * powerOfTwo(n - half);
}

/** 2^n for a whole n from -1022 to 1023. NaN gives some number. */
function powerOfTwo(n: number): number {
  bits.setUint32(0, (n + 1023) << 20);
  bits.setUint32(4, 0);
  return bits.getFloat64(0);
}

const twoThirdsHigh = 0.6666666666666666; // 0x1.5555555555555p-1
const twoThirdsLow = 3.700743415417188e-17; // 0x1.5555555555555p-55

/**
 * (2 atanh(s) - 2s - (2/3)s^3) / s^5 in z = s^2, for 0 <= z <= (3 - 2 sqrt(2))^2, within 2^-66 of 2
 * atanh(s).
 */
export const logTail: readonly number[] = [
  0.3999999999999998, // 0x1.9999999999996p-2
  0.2857142857144477, // 0x1.2492492492ff8p-2
  0.22222222217605445, // 0x1.c71c71c586593p-3
  0.1818181886307375, // 0x1.745d182fe5540p-3
  0.15384557303099175, // 0x1.3b1363466b7f7p-3
  0.13336302629322297, // 0x1.1120a263665c5p-3
  0.1167508918799567, // 0x1.de362ee673b21p-4
  0.11986958661776294, // 0x1.eafc5f24eeec9p-4
];

/**
 * Natural logarithm in binary64, at most 0.501 ulp from the true value. -Infinity for 0 and -0, NaN
 * for x < 0 and NaN.
 */
export function portableLog(x: number): number {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN;
  if (x === Infinity) return x;
  return logPair(x, scratch).high;
}

const scratch: Pair = { high: 0, low: 0 };

/** log(x) for finite x > 0 to about 2^-65 of its size, into `out`. */
function logPair(x: number, out: Pair): Pair {
  let k = 0;
  let m = x;
  if (m < 2.2250738585072014e-308) {
    m *= 18014398509481984;
    k = -54;
  }
  bits.setFloat64(0, m);
  const word = bits.getUint32(0);
  k += (word >>> 20) - 1023;
  bits.setUint32(0, (word & 0xfffff) | 0x3ff00000);
  m = bits.getFloat64(0);
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard gives Math.SQRT2 only approximately
  if (m >= 1.4142135623730951) {
    m *= 0.5;
    k += 1;
  }
  const f = m - 1;
  const d = m + 1;
  const dLow = m - (d - 1);
  const s = f / d;
  const p = s * d;
  const sLow = (f - p - productError(s, d, p) - s * dLow) / d;
  const z = s * s;
  const zLow = productError(s, s, z) + (s + s) * sLow;
  const tail = z * horner(logTail, z);
  const w = twoThirdsHigh + tail;
  const wLow = twoThirdsHigh - w + tail + twoThirdsLow;
  const c = s * z;
  const cLow = productError(s, z, c) + (s * zLow + sLow * z);
  const b = c * w;
  const bLow = productError(c, w, b) + (c * wLow + cLow * w);
  const kHigh = k * ln2High;
  const first = kHigh + (s + s);
  const firstError = kHigh - first + (s + s);
  const second = first + b;
  const secondError = first - second + b;
  const low = firstError + secondError + bLow + (sLow + sLow + k * ln2Low);
  out.high = second + low;
  out.low = second - out.high + low;
  return out;
}

/**
 * x^y in binary64, at most 0.91 ulp from the true value, and exact if the true value is a
 * binary64 number. Zeros, infinities, NaN and negative x are treated as `Math.pow` treats them: a
 * negative x takes a whole y, any other gives NaN.
 */
export function portablePow(x: number, y: number): number {
  if (y === 0) return 1;
  if (Number.isNaN(x) || Number.isNaN(y)) return NaN;
  const size = Math.abs(x);
  if (Math.abs(y) === Infinity) return size === 1 ? NaN : size > 1 === y > 0 ? Infinity : 0;
  const odd = Math.abs(y % 2) === 1;
  if (size === 0 || size === Infinity) {
    const result = (size === 0) === y > 0 ? 0 : Infinity;
    return odd && (x < 0 || Object.is(x, -0)) ? -result : result;
  }
  if (x < 0 && !Number.isInteger(y)) return NaN;
  const { high, low } = logPair(size, scratch);
  const product = y * high;
  const result = Math.abs(product) < 1000 ? expOfSum(product, productError(y, high, product) + y * low) : expOfSum(product, 0);
  return x < 0 && odd ? -result : result;
}

/**
 * (sin(x) - x) / x^3 and (cos(x) - 1 + x^2 / 2) / x^4 in z = x^2, for |x| <= pi / 4, within 2^-57
 * and 2^-59.
 */
const sinTail = [
  -0.16666666666666666, // -0x1.5555555555555p-3
  0.008333333333333323, // 0x1.111111111110bp-7
  -0.00019841269841255153, // -0x1.a01a01a018aefp-13
  2.755731921423352e-6, // 0x1.71de3a533a43ap-19
  -2.5052104922731006e-8, // -0x1.ae645299455a3p-26
  1.6058368044933377e-10, // 0x1.6120934f53911p-33
  -7.578768274955492e-13, // -0x1.aaa58fc09dfbcp-41
];
const cosTail = [
  0.041666666666666664, // 0x1.5555555555555p-5
  -0.0013888888888888874, // -0x1.6c16c16c16c10p-10
  2.480158730157169e-5, // 0x1.a01a01a018e1ap-16
  -2.7557319215450126e-7, // -0x1.27e4fb7600514p-22
  2.0876754381386537e-9, // 0x1.1eed8ca68a05cp-29
  -1.1470294862083914e-11, // -0x1.93933b38aac88p-37
  4.738176271610701e-14, // 0x1.aac6e804cb60ap-45
];

/**
 * Sine of x radians in binary64, at most 0.8 ulp from the true value for every finite x. NaN for
 * NaN and infinities.
 */
export function portableSin(x: number): number {
  if (!(Math.abs(x) >= leastReduced)) return x;
  const quadrant = reduce(x, scratch);
  return signed(quadrant, (quadrant & 1) === 0 ? sineNear(scratch) : cosineNear(scratch));
}

/**
 * Cosine of x radians in binary64, at most 0.8 ulp from the true value for every finite x. NaN for
 * NaN and infinities.
 */
export function portableCos(x: number): number {
  const quadrant = reduce(x, scratch) + 1;
  return signed(quadrant, (quadrant & 1) === 0 ? sineNear(scratch) : cosineNear(scratch));
}

/** A sine and a cosine of the same angle. */
export interface SineCosine {
  sine: number;
  cosine: number;
}

/**
 * `portableSin` and `portableCos` of x at once, the same bits in little more than the time of one.
 * @returns `out`
 */
export function portableSinCos(x: number, out: SineCosine): SineCosine {
  const quadrant = reduce(x, scratch);
  const sine = sineNear(scratch);
  const cosine = cosineNear(scratch);
  const odd = (quadrant & 1) !== 0;
  out.sine = Math.abs(x) >= leastReduced ? signed(quadrant, odd ? cosine : sine) : x;
  out.cosine = signed(quadrant + 1, odd ? sine : cosine);
  return out;
}

/** Below this, sin(x) rounds to x. */
const leastReduced = 7.450580596923828e-9;

const signed = (quadrant: number, value: number): number => ((quadrant & 2) === 0 ? value : -value);

/** sin(high + low), |high| at most about pi / 4. */
function sineNear({ high, low }: Pair): number {
  const z = high * high;
  return high + (z * high * horner(sinTail, z) + low * (1 - 0.5 * z));
}

/** cos(high + low), likewise. */
function cosineNear({ high, low }: Pair): number {
  const z = high * high;
  const half = 0.5 * z;
  const w = 1 - half;
  return w + (1 - w - half + (z * z * horner(cosTail, z) - high * low));
}

const twoOverPi = 0.6366197723675814; // 0x1.45f306dc9c883p-1
// pi / 2 in pieces of 23 bits, whose products with a whole number up to 2^30 are exact, and a last
// one of 53 bits.
const halfPi1 = 1.570796251296997; // 0x1.921fb40000000p+0
const halfPi2 = 7.549789415861596e-8; // 0x1.4442d00000000p-24
const halfPi3 = 5.390302529957765e-15; // 0x1.8469880000000p-48
const halfPi4 = 3.2820031633724233e-22; // 0x1.8cc5140000000p-72
const halfPi5 = 3.795010649787914e-29; // 0x1.80dc1c0000000p-95
const halfPi6 = 1.2293331171481208e-36; // 0x1.a252049c1114dp-120

/** x - n pi / 2 into `out`, |x - n pi / 2| <= pi / 4 + 2^-22; returns n modulo 4. */
function reduce(x: number, out: Pair): number {
  if (!(Math.abs(x) < 1073741824)) return reduceLarge(x, out);
  const n = x * twoOverPi + roundingShift - roundingShift;
  let high = x - n * halfPi1 - n * halfPi2;
  let low = 0;
  for (const part of [halfPi3, halfPi4, halfPi5]) {
    const product = n * part;
    const difference = high - product;
    const back = difference - high;
    low += high - (difference - back) - (product + back);
    high = difference;
  }
  low -= n * halfPi6;
  out.high = high + low;
  out.low = high - out.high + low;
  return n & 3;
}

/** floor(2^1200 pi / 2). */
const halfPi1200 = BigInt(
  "0x1921fb54442d18469898cc51701b839a252049c1114cf98e804177d4c76273644a29410f31c6809bbdf2a33679a748636605614dbe4be286e9fc26ad" +
    "adaa3848bc90b6aecc4bcfd8de89885d34c6fdad617feb96de80d6fdbdc70d7f6b5133f4b5d3e4822f8963fcc9250cca3d9c8b67b8400f97142c77e0b31b" +
    "4906c38aba734d22c7f51fa499ebf06caba47b9475b2c38c5e6ac410a",
);

/**
 * `reduce` for |x| >= 2^30, in whole numbers of unlimited length: the remainder is right to 2^-170.
 */
function reduceLarge(x: number, out: Pair): number {
  if (!Number.isFinite(x)) {
    out.high = NaN;
    out.low = NaN;
    return 0;
  }
  bits.setFloat64(0, Math.abs(x));
  const word = bits.getUint32(0);
  const mantissa = (BigInt((word & 0xfffff) | 0x100000) << 32n) | BigInt(bits.getUint32(4));
  const scaled = mantissa << BigInt((word >>> 20) - 1075 + 1200);
  const n = (2n * scaled + halfPi1200) / (2n * halfPi1200);
  const rest = (scaled - n * halfPi1200) >> 1000n;
  const high = Number(rest);
  const sign = x < 0 ? -1 : 1;
  const unit = 6.223015277861142e-61; // 2^-200
  out.high = sign * high * unit;
  out.low = sign * Number(rest - BigInt(high)) * unit;
  return sign * Number(n & 3n);
}

/**
 * (tanh(x) / x - 1) / x^2 in y = x^2 as P(y) / Q(y), for 0 <= x <= 0.7, within 2^-57 of tanh(x).
 */
const tanhP = [
  -1616.1783946347696, // -0x1.940b6ad154878p+10
  -99.35990699999533, // -0x1.8d708b75ea536p+6
  -0.9644274255696649, // -0x1.edc96e785fd6bp-1
];
const tanhQ = [
  4848.535183904314, // 0x1.2f08901cff660p+12
  2237.4937945614915, // 0x1.17afcd2a40919p+11
  112.88986556747304, // 0x1.c38f38eb58886p+6
  1,
];
/** (e^r - 1 - r) / r^2 again, two degrees lower: within 2^-56 of e^r, which is enough here. */
const tanhExpTail = [
  0.5000000000000011, // 0x1.000000000000ap-1
  0.1666666666666641, // 0x1.55555555554f9p-3
  0.04166666666653005, // 0x1.555555555086dp-5
  0.008333333333495126, // 0x1.1111111127d64p-7
  0.0013888888943701543, // 0x1.6c16c184321cap-10
  0.00019841269505327386, // 0x1.a01a0129e7000p-13
  2.4801492989176654e-5, // 0x1.a01999ed849b7p-16
  2.7557587237560754e-6, // 0x1.71df2614b7264p-19
  2.76302981359823e-7, // 0x1.28ad95cf92e62p-22
  2.4999885901859747e-8, // 0x1.ad7ea9353e2f6p-26
];

/**
 * tanh(x) in binary64 by docs/numerics.md, rule 4: x + x y P(y) / Q(y) below 0.7, else 1 - 2 /
 * (e^(2x) + 1). At most 1.071 ulp from the true value; odd, never above 1. NaN for NaN.
 */
export function portableTanh(x: number): number {
  if (x === 0) return x;
  const size = Math.min(Math.abs(x), 20);
  let result: number;
  if (size < 0.7) {
    const y = size * size;
    result = size + (size * (y * horner(tanhP, y))) / horner(tanhQ, y);
  } else {
    const u = size + size;
    const n = u * log2e + roundingShift - roundingShift;
    const r = u - n * ln2High - n * ln2Low;
    const e = (r * r * horner(tanhExpTail, r) + r + 1) * powerOfTwo(n);
    result = 1 - 2 / (e + 1);
  }
  return x < 0 ? -result : result;
}

const fround = Math.fround;
const tanh32Tail = [
  -0.3333319127559662, // -0x1.5554f6p-2
  0.1332911103963852, // 0x1.10faeep-3
  -0.05355885997414589, // -0x1.b6c112p-5
  0.02009197138249874, // 0x1.492fd6p-6
  -0.005138663109391928, // -0x1.50c476p-8
];
const tanh32ExpTail = [
  0.4999999403953552, // 0x1.fffffcp-2
  0.1666652113199234, // 0x1.555492p-3
  0.04166838899254799, // 0x1.5558f2p-5
  0.008368716575205326, // 0x1.1239e2p-7
  0.001381459878757596, // 0x1.6a2434p-10
];

/**
 * tanh(x) of a binary32 x, every operation rounded to binary32, by docs/numerics.md, rule 4. At
 * most 1.066 ulp (of binary32) from the true value; odd, never above 1. A number that is not a
 * binary32 is rounded first. NaN for NaN.
 */
export function portableTanh32(x: number): number {
  const z = fround(x);
  if (z === 0) return z;
  const size = Math.min(Math.abs(z), 10);
  let result: number;
  if (size < 0.699999988079071) {
    const y = fround(size * size);
    result = fround(size + fround(size * fround(y * horner32(tanh32Tail, y))));
  } else {
    const u = fround(size + size);
    const t = fround(fround(u * 1.4426950216293335) + 12582912);
    const n = fround(t - 12582912);
    const r = fround(fround(u - fround(n * 0.693359375)) - fround(n * -0.00021219444170128554));
    const e = fround(fround(fround(fround(r * r) * horner32(tanh32ExpTail, r)) + r) + 1);
    result = fround(1 - fround(2 / fround(fround(e * powerOfTwo(n)) + 1)));
  }
  return z < 0 ? -result : result;
}

/** `horner` in binary32. */
function horner32(coefficients: readonly number[], x: number): number {
  let sum = coefficients[coefficients.length - 1]!;
  for (let i = coefficients.length - 2; i >= 0; i--) sum = fround(fround(sum * x) + coefficients[i]!);
  return sum;
}

/** Sum of coefficients[i] x^i: from the last, multiply, then add. */
export function horner(coefficients: readonly number[], x: number): number {
  let sum = coefficients[coefficients.length - 1]!;
  for (let i = coefficients.length - 2; i >= 0; i--) sum = sum * x + coefficients[i]!;
  return sum;
}
