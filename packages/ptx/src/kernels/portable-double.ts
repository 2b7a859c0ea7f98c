// Portable arithmetic in binary64 (docs/numerics.md, rules 1, 8 and 10) as instructions: every
// operation rounded, none fused, in one order.
import type { Pointer, PtxKernel, Value } from "../builder/index.js";

/** E of rule 8, from degree 0 up: (e^r - 1 - r) / r^2. */
const expTail = [
  0.5, 0.16666666666666666, 0.041666666666666706, 0.008333333333333269, 0.0013888888888865742, 0.00019841269841474671,
  2.4801587360626592e-5, 2.755731893278914e-6, 2.7557243790959107e-7, 2.5052289442474558e-8, 2.0923899565540267e-9, 1.6029159577883632e-10,
];
// biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard gives Math.LOG2E only approximately
const log2e = 1.4426950408889634;
const ln2High = 0.6931471805598903;
const ln2Low = 5.497923018708371e-14;
const roundingShift = 6755399441055744;

/** 2^n for -1023 < n < 1024. */
function powerOfTwo(k: PtxKernel, n: Value<"s32">): Value<"f64"> {
  return k.join("f64", k.constant("u32", 0), k.shl(k.reinterpret("u32", k.add(n, 1023)), 20));
}

/** exp(x) of rule 8 for x up to 0: +0 if it is below -746; NaN for NaN. */
export function portableExpOfNegative(k: PtxKernel, x: Value<"f64">): Value<"f64"> {
  const n = k.sub(k.add(k.mul(x, log2e), roundingShift), roundingShift);
  const a = k.sub(x, k.mul(n, ln2High));
  const b = k.mul(n, ln2Low);
  const r = k.sub(a, b);
  const start: Value<"f64"> = k.constant("f64", expTail.at(-1)!);
  const e = expTail.slice(0, -1).reduceRight<Value<"f64">>((sum, coefficient) => k.add(k.mul(sum, r), coefficient), start);
  const tail = k.sub(k.mul(k.mul(r, r), e), b);
  const one = k.constant("f64", 1);
  const sum = k.add(a, one);
  const mantissa = k.add(sum, k.add(k.add(k.sub(one, sum), a), tail));
  const whole = k.convert("s32", n, "rzi");
  const half = k.shr(whole, 1);
  const result = k.mul(k.mul(mantissa, powerOfTwo(k, half)), powerOfTwo(k, k.sub(whole, half)));
  return k.select(k.compare("lt", x, -746), k.constant("f64", 0), result);
}

function shuffled(k: PtxKernel, value: Value<"f64">, distance: number): Value<"f64"> {
  const [low, high] = k.split("b32", value);
  return k.join("f64", k.shuffle("bfly", low, distance), k.shuffle("bfly", high, distance));
}

/**
 * The sum of `term` over 0 .. count - 1 in the order of rule 1, in every lane of the warp. All
 * lanes must come here: lane l adds terms l, l + 32, ... from +0, then the butterfly.
 */
export function warpSum(k: PtxKernel, count: number, term: (index: Value<"u32">) => Value<"f64">): Value<"f64"> {
  const partial = k.variable("f64", 0);
  k.for("u32", { from: k.and(k.threadIndex(), 31), to: count, step: 32 }, (index) => k.assign(partial, k.add(partial, term(index))));
  return [16, 8, 4, 2, 1].reduce<Value<"f64">>((sum, distance) => k.add(sum, shuffled(k, sum, distance)), partial);
}

/** The sum of `count` numbers in rising order from +0, as one thread has it. */
export function risingSum(k: PtxKernel, from: Pointer<"global", "f64">, count: number): Value<"f64"> {
  const sum = k.variable("f64", 0);
  k.for("u32", { from: 0, to: count }, (index) => k.assign(sum, k.add(sum, k.load(k.at(from, index)))));
  return sum;
}
