// What PTX calls approximations: ex2, lg2, sin, cos, tanh, each computed in double to about 1e-15
// relative and rounded once to binary32. The ISA bounds the hardware's error only (2 ulp for ex2
// and rsqrt, 2^-22 absolute for lg2 on [0.5, 2], 2^-20.5 for sin and cos on [-pi, pi], 2^-11
// relative for tanh), so a GPU may differ from these by that much; these have the same bits on
// every machine.
import { exponentOf, powerOfTwo } from "./bits.js";

// biome-ignore lint/suspicious/noApproximativeNumericConstant: the bits are part of the result
const ln2 = 0.6931471805599453;

/** e^r for |r| <= 0.35, by its series. */
function exponentialNearZero(r: number): number {
  let sum = 1;
  for (let k = 14; k >= 1; k--) sum = 1 + (sum * r) / k;
  return sum;
}

export function exp2(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x >= 1024) return Infinity;
  if (x < -1074) return 0;
  const whole = Math.round(x);
  const result = exponentialNearZero((x - whole) * ln2);
  const half = Math.floor(whole / 2);
  return result * powerOfTwo(half) * powerOfTwo(whole - half);
}

/** log2(x); -Infinity at 0, NaN below. */
export function log2(x: number): number {
  if (x === 0) return -Infinity;
  if (!(x > 0) || x === Infinity) return x > 0 ? x : NaN;
  let exponent = exponentOf(x);
  let mantissa = x * powerOfTwo(-exponent);
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: where to fold is free
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    exponent++;
  }
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let sum = 0;
  for (let k = 23; k >= 1; k -= 2) sum = 1 / k + square * sum;
  return exponent + (2 * s * sum) / ln2;
}

const twoOverPi = 0.6366197723675814;
// 29 bits each: their products with any quarter-turn count below 2^24 are exact.
const halfPiTop = 1.570796325802803;
const halfPiMiddle = 9.920935774287987e-10;
const halfPiLow = 2.2517417741562176e-18;

function seriesSine(r: number): number {
  const square = r * r;
  let sum = 1;
  for (let k = 19; k >= 3; k -= 2) sum = 1 - (sum * square) / (k * (k - 1));
  return r * sum;
}

function seriesCosine(r: number): number {
  const square = r * r;
  let sum = 1;
  for (let k = 20; k >= 2; k -= 2) sum = 1 - (sum * square) / (k * (k - 1));
  return sum;
}

function circular(x: number, quarter: number): number {
  if (!Number.isFinite(x)) return NaN;
  const turns = Math.round(x * twoOverPi);
  const r = x - turns * halfPiTop - turns * halfPiMiddle - turns * halfPiLow;
  const quadrant = (((turns + quarter) % 4) + 4) % 4;
  const value = quadrant % 2 === 0 ? seriesSine(r) : seriesCosine(r);
  return quadrant >= 2 ? -value : value;
}

/** sin(x), x in radians, |x| below 2^24. */
export function sine(x: number): number {
  return x === 0 ? x : circular(x, 0);
}

export function cosine(x: number): number {
  return circular(x, 1);
}

export function hyperbolicTangent(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude < 0.5) {
    const square = x * x;
    let fraction = 0;
    for (let k = 15; k >= 1; k -= 2) fraction = k + (fraction === 0 ? 0 : square / fraction);
    return x / fraction;
  }
  if (magnitude > 20) return x > 0 ? 1 : -1;
  const e = exp2((2 * x) / ln2);
  return Number.isNaN(x) ? x : (e - 1) / (e + 1);
}
