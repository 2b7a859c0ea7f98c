// tanh, exp, sin and cos over the lanes of a vector (docs/numerics.md, rules 4 and 8).
// Nothing here is exported to JavaScript, because a v128 cannot cross that boundary.

/**
 * tanh of four binary32 values. A NaN stays a NaN: `pmin` keeps its first operand then, and the
 * comparison picks the side of x.
 */
// @ts-ignore: decorator
@inline
export function tanhF32x4(x: v128): v128 {
  const ax = f32x4.pmin(f32x4.abs(x), f32x4.splat(10));
  const y = f32x4.mul(ax, ax);
  let p = f32x4.splat(-0.005138663109391928);
  p = f32x4.add(f32x4.mul(p, y), f32x4.splat(0.02009197138249874));
  p = f32x4.add(f32x4.mul(p, y), f32x4.splat(-0.05355885997414589));
  p = f32x4.add(f32x4.mul(p, y), f32x4.splat(0.1332911103963852));
  p = f32x4.add(f32x4.mul(p, y), f32x4.splat(-0.3333319127559662));
  const small = f32x4.add(ax, f32x4.mul(ax, f32x4.mul(y, p)));
  const u = f32x4.add(ax, ax);
  const t = f32x4.add(f32x4.mul(u, f32x4.splat(1.4426950216293335)), f32x4.splat(12582912));
  const n = f32x4.sub(t, f32x4.splat(12582912));
  const r = f32x4.sub(f32x4.sub(u, f32x4.mul(n, f32x4.splat(0.693359375))), f32x4.mul(n, f32x4.splat(-0.00021219444170128554)));
  let g = f32x4.splat(0.001381459878757596);
  g = f32x4.add(f32x4.mul(g, r), f32x4.splat(0.008368716575205326));
  g = f32x4.add(f32x4.mul(g, r), f32x4.splat(0.04166838899254799));
  g = f32x4.add(f32x4.mul(g, r), f32x4.splat(0.1666652113199234));
  g = f32x4.add(f32x4.mul(g, r), f32x4.splat(0.4999999403953552));
  const mantissa = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(r, r), g), r), f32x4.splat(1));
  const e = i32x4.add(mantissa, i32x4.shl(t, 23));
  const big = f32x4.sub(f32x4.splat(1), f32x4.div(f32x4.splat(2), f32x4.add(e, f32x4.splat(1))));
  const size = v128.bitselect(big, small, f32x4.ge(ax, f32x4.splat(0.699999988079071)));
  return v128.or(size, v128.and(x, i32x4.splat(0x80000000)));
}

/** tanh of two binary64 values; one division serves both sides. A NaN stays a NaN, as above. */
// @ts-ignore: decorator
@inline
export function tanhF64x2(x: v128): v128 {
  const ax = f64x2.pmin(f64x2.abs(x), f64x2.splat(20));
  const y = f64x2.mul(ax, ax);
  let p = f64x2.splat(-0.9644274255696649);
  p = f64x2.add(f64x2.mul(p, y), f64x2.splat(-99.35990699999533));
  p = f64x2.add(f64x2.mul(p, y), f64x2.splat(-1616.1783946347696));
  let q = f64x2.add(y, f64x2.splat(112.88986556747304));
  q = f64x2.add(f64x2.mul(q, y), f64x2.splat(2237.4937945614915));
  q = f64x2.add(f64x2.mul(q, y), f64x2.splat(4848.535183904314));
  const u = f64x2.add(ax, ax);
  const t = f64x2.add(f64x2.mul(u, f64x2.splat(1.4426950408889634)), f64x2.splat(6755399441055744));
  const n = f64x2.sub(t, f64x2.splat(6755399441055744));
  const r = f64x2.sub(f64x2.sub(u, f64x2.mul(n, f64x2.splat(0.6931471805598903))), f64x2.mul(n, f64x2.splat(5.497923018708371e-14)));
  let g = f64x2.splat(2.4999885901859747e-8);
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(2.76302981359823e-7));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(2.7557587237560754e-6));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(2.4801492989176654e-5));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(0.00019841269505327386));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(0.0013888888943701543));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(0.008333333333495126));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(0.04166666666653005));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(0.1666666666666641));
  g = f64x2.add(f64x2.mul(g, r), f64x2.splat(0.5000000000000011));
  const mantissa = f64x2.add(f64x2.add(f64x2.mul(f64x2.mul(r, r), g), r), f64x2.splat(1));
  const e = i64x2.add(mantissa, i64x2.shl(t, 52));
  const big = f64x2.ge(ax, f64x2.splat(0.7));
  const numerator = v128.bitselect(f64x2.splat(-2), f64x2.mul(ax, f64x2.mul(y, p)), big);
  const denominator = v128.bitselect(f64x2.add(e, f64x2.splat(1)), q, big);
  const size = f64x2.add(v128.bitselect(f64x2.splat(1), ax, big), f64x2.div(numerator, denominator));
  return v128.or(size, v128.and(x, i64x2.splat(0x8000000000000000)));
}

/** exp of two binary64 values by rule 8. A NaN stays a NaN. */
// @ts-ignore: decorator
@inline
export function expF64x2(x: v128): v128 {
  const shift = f64x2.splat(6755399441055744);
  const t = f64x2.add(f64x2.mul(x, f64x2.splat(1.4426950408889634)), shift);
  const n = f64x2.sub(t, shift);
  const a = f64x2.sub(x, f64x2.mul(n, f64x2.splat(0.6931471805598903)));
  const b = f64x2.mul(n, f64x2.splat(5.497923018708371e-14));
  const r = f64x2.sub(a, b);
  let e = f64x2.splat(1.6029159577883632e-10);
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(2.0923899565540267e-9));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(2.5052289442474558e-8));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(2.7557243790959107e-7));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(2.755731893278914e-6));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(2.4801587360626592e-5));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(0.00019841269841474671));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(0.0013888888888865742));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(0.008333333333333269));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(0.041666666666666706));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(0.16666666666666666));
  e = f64x2.add(f64x2.mul(e, r), f64x2.splat(0.5));
  const tail = f64x2.sub(f64x2.mul(f64x2.mul(r, r), e), b);
  const one = f64x2.splat(1);
  const sum = f64x2.add(one, a);
  const mantissa = f64x2.add(sum, f64x2.add(f64x2.add(f64x2.sub(one, sum), a), tail));
  const whole = i64x2.sub(t, shift);
  const half = i64x2.shr_s(whole, 1);
  const bias = i64x2.splat(1023);
  const power = i64x2.shl(i64x2.add(half, bias), 52);
  const rest = i64x2.shl(i64x2.add(i64x2.sub(whole, half), bias), 52);
  const value = f64x2.mul(f64x2.mul(mantissa, power), rest);
  const bounded = v128.bitselect(f64x2.splat(Infinity), value, f64x2.gt(x, f64x2.splat(710)));
  return v128.andnot(bounded, f64x2.lt(x, f64x2.splat(-746)));
}

/** The same of four binary32 values, computed in binary64 and rounded once. */
// @ts-ignore: decorator
@inline
export function expF32x4(x: v128): v128 {
  const low = f32x4.demote_f64x2_zero(expF64x2(f64x2.promote_low_f32x4(x)));
  const high = f32x4.demote_f64x2_zero(expF64x2(f64x2.promote_low_f32x4(v128.shuffle<i32>(x, x, 2, 3, 2, 3))));
  return v128.shuffle<i32>(low, high, 0, 1, 4, 5);
}

/** The terms of log((1 + s) / (1 - s)) beyond 2 s + 2 s^3 / 3, over 2 s^5: by z = s^2. */
// @ts-ignore: decorator
@inline
function logTerms(z: v128): v128 {
  let t = f64x2.splat(0.11986958661776294);
  t = f64x2.add(f64x2.mul(t, z), f64x2.splat(0.1167508918799567));
  t = f64x2.add(f64x2.mul(t, z), f64x2.splat(0.13336302629322297));
  t = f64x2.add(f64x2.mul(t, z), f64x2.splat(0.15384557303099175));
  t = f64x2.add(f64x2.mul(t, z), f64x2.splat(0.1818181886307375));
  t = f64x2.add(f64x2.mul(t, z), f64x2.splat(0.22222222217605445));
  t = f64x2.add(f64x2.mul(t, z), f64x2.splat(0.2857142857144477));
  t = f64x2.add(f64x2.mul(t, z), f64x2.splat(0.3999999999999998));
  return t;
}

/** log of two normal binary64 values above 0, as packages/numerics/src/short-log.ts. */
// @ts-ignore: decorator
@inline
export function logF64x2(x: v128): v128 {
  const one = f64x2.splat(1);
  const mantissa = v128.or(v128.and(x, i64x2.splat(0xfffffffffffff)), i64x2.splat(0x3ff0000000000000));
  const isLarge = f64x2.ge(mantissa, f64x2.splat(1.4142135623730951));
  // The exponent as a number: 2^52 + e in binary64, less 2^52 + 1023.
  const exponent = v128.or(i64x2.shr_u(x, 52), i64x2.splat(0x4330000000000000));
  const whole = f64x2.sub(exponent, f64x2.splat(4503599627371519));
  const k = f64x2.add(whole, v128.and(isLarge, one));
  const m = v128.bitselect(f64x2.mul(mantissa, f64x2.splat(0.5)), mantissa, isLarge);
  const s = f64x2.div(f64x2.sub(m, one), f64x2.add(m, one));
  const z = f64x2.mul(s, s);
  const t = logTerms(z);
  const cubic = f64x2.mul(f64x2.mul(s, z), f64x2.add(f64x2.splat(0.6666666666666666), f64x2.mul(z, t)));
  return f64x2.add(f64x2.mul(k, f64x2.splat(0.6931471805599453)), f64x2.add(f64x2.add(s, s), cubic));
}

/** The same of four binary32 values, computed in binary64 and rounded once. */
// @ts-ignore: decorator
@inline
export function logF32x4(x: v128): v128 {
  const low = f32x4.demote_f64x2_zero(logF64x2(f64x2.promote_low_f32x4(x)));
  const high = f32x4.demote_f64x2_zero(logF64x2(f64x2.promote_low_f32x4(v128.shuffle<i32>(x, x, 2, 3, 2, 3))));
  return v128.shuffle<i32>(low, high, 0, 1, 4, 5);
}

/**
 * The nearest values of 26 bits. What they leave has 26 bits too, so err of rule 8 is exact with
 * these parts as with its own.
 */
// @ts-ignore: decorator
@inline
function highPartF64x2(x: v128): v128 {
  return v128.and(i64x2.add(x, i64x2.splat(0x4000000)), i64x2.splat(0xfffffffff8000000));
}

// @ts-ignore: decorator
@inline
function productErrorF64x2(a: v128, b: v128, product: v128): v128 {
  const aHigh = highPartF64x2(a);
  const aLow = f64x2.sub(a, aHigh);
  const bHigh = highPartF64x2(b);
  const bLow = f64x2.sub(b, bHigh);
  const first = f64x2.add(f64x2.sub(f64x2.mul(aHigh, bHigh), product), f64x2.mul(aHigh, bLow));
  return f64x2.add(f64x2.add(first, f64x2.mul(aLow, bHigh)), f64x2.mul(aLow, bLow));
}

/** log of two normal binary64 values above 0 by rule 8. */
// @ts-ignore: decorator
@inline
export function portableLogF64x2(x: v128): v128 {
  const one = f64x2.splat(1);
  const ln2High = f64x2.splat(0.6931471805598903);
  const twoThirds = f64x2.splat(0.6666666666666666);
  const mantissa = v128.or(v128.and(x, i64x2.splat(0xfffffffffffff)), i64x2.splat(0x3ff0000000000000));
  const isLarge = f64x2.ge(mantissa, f64x2.splat(1.4142135623730951));
  const exponent = v128.or(i64x2.shr_u(x, 52), i64x2.splat(0x4330000000000000));
  const k = f64x2.add(f64x2.sub(exponent, f64x2.splat(4503599627371519)), v128.and(isLarge, one));
  const m = v128.bitselect(f64x2.mul(mantissa, f64x2.splat(0.5)), mantissa, isLarge);
  const f = f64x2.sub(m, one);
  const d = f64x2.add(m, one);
  const dLow = f64x2.sub(m, f64x2.sub(d, one));
  const s = f64x2.div(f, d);
  const p = f64x2.mul(s, d);
  const sLow = f64x2.div(f64x2.sub(f64x2.sub(f64x2.sub(f, p), productErrorF64x2(s, d, p)), f64x2.mul(s, dLow)), d);
  const z = f64x2.mul(s, s);
  const zLow = f64x2.add(productErrorF64x2(s, s, z), f64x2.mul(f64x2.add(s, s), sLow));
  const t = logTerms(z);
  const q = f64x2.mul(z, t);
  const w = f64x2.add(twoThirds, q);
  const wLow = f64x2.add(f64x2.add(f64x2.sub(twoThirds, w), q), f64x2.splat(3.700743415417188e-17));
  const c = f64x2.mul(s, z);
  const cLow = f64x2.add(productErrorF64x2(s, z, c), f64x2.add(f64x2.mul(s, zLow), f64x2.mul(sLow, z)));
  const b = f64x2.mul(c, w);
  const bLow = f64x2.add(productErrorF64x2(c, w, b), f64x2.add(f64x2.mul(c, wLow), f64x2.mul(cLow, w)));
  const g = f64x2.mul(k, ln2High);
  const twice = f64x2.add(s, s);
  const v = f64x2.add(g, twice);
  const vLow = f64x2.add(f64x2.sub(g, v), twice);
  const y = f64x2.add(v, b);
  const yLow = f64x2.add(f64x2.sub(v, y), b);
  const rest = f64x2.add(f64x2.add(sLow, sLow), f64x2.mul(k, f64x2.splat(5.497923018708371e-14)));
  return f64x2.add(y, f64x2.add(f64x2.add(f64x2.add(vLow, yLow), bLow), rest));
}

/**
 * cos of two binary64 values by rule 8, |x| < 2^30; their sin to `sineTo` if it is not 0. The parts
 * of pi / 2 come off by short sums, because `high` is a multiple of the last bit of every product.
 */
// @ts-ignore: decorator
@inline
export function cosF64x2(x: v128, sineTo: usize): v128 {
  const one = f64x2.splat(1);
  const shift = f64x2.splat(6755399441055744);
  const t = f64x2.add(f64x2.mul(x, f64x2.splat(0.6366197723675814)), shift);
  const n = f64x2.sub(t, shift);
  const first = f64x2.mul(n, f64x2.splat(1.570796251296997));
  let high = f64x2.sub(f64x2.sub(x, first), f64x2.mul(n, f64x2.splat(7.549789415861596e-8)));
  let low = f64x2.splat(0);
  for (let i = 0; i < 3; i++) {
    const part = i == 0 ? 5.390302529957765e-15 : i == 1 ? 3.2820031633724233e-22 : 3.795010649787914e-29;
    const product = f64x2.mul(n, f64x2.splat(part));
    const difference = f64x2.sub(high, product);
    low = f64x2.add(low, f64x2.sub(f64x2.sub(high, difference), product));
    high = difference;
  }
  low = f64x2.sub(low, f64x2.mul(n, f64x2.splat(1.2293331171481208e-36)));
  const h = f64x2.add(high, low);
  const l = f64x2.add(f64x2.sub(high, h), low);
  const z = f64x2.mul(h, h);
  let f = f64x2.splat(-7.578768274955492e-13);
  f = f64x2.add(f64x2.mul(f, z), f64x2.splat(1.6058368044933377e-10));
  f = f64x2.add(f64x2.mul(f, z), f64x2.splat(-2.5052104922731006e-8));
  f = f64x2.add(f64x2.mul(f, z), f64x2.splat(2.755731921423352e-6));
  f = f64x2.add(f64x2.mul(f, z), f64x2.splat(-0.00019841269841255153));
  f = f64x2.add(f64x2.mul(f, z), f64x2.splat(0.008333333333333323));
  f = f64x2.add(f64x2.mul(f, z), f64x2.splat(-0.16666666666666666));
  const half = f64x2.mul(f64x2.splat(0.5), z);
  const w = f64x2.sub(one, half);
  const sine = f64x2.add(h, f64x2.add(f64x2.mul(f64x2.mul(z, h), f), f64x2.mul(l, w)));
  let g = f64x2.splat(4.738176271610701e-14);
  g = f64x2.add(f64x2.mul(g, z), f64x2.splat(-1.1470294862083914e-11));
  g = f64x2.add(f64x2.mul(g, z), f64x2.splat(2.0876754381386537e-9));
  g = f64x2.add(f64x2.mul(g, z), f64x2.splat(-2.7557319215450126e-7));
  g = f64x2.add(f64x2.mul(g, z), f64x2.splat(2.480158730157169e-5));
  g = f64x2.add(f64x2.mul(g, z), f64x2.splat(-0.0013888888888888874));
  g = f64x2.add(f64x2.mul(g, z), f64x2.splat(0.041666666666666664));
  const tail = f64x2.sub(f64x2.mul(f64x2.mul(z, z), g), f64x2.mul(h, l));
  const cosine = f64x2.add(w, f64x2.add(f64x2.sub(f64x2.sub(one, w), half), tail));
  // The lowest bits of t are those of n, the quadrant.
  const odd = i64x2.neg(v128.and(t, i64x2.splat(1)));
  const signs = i64x2.splat(0x8000000000000000);
  if (sineTo != 0) {
    const reduced = f64x2.ge(f64x2.abs(x), f64x2.splat(7.450580596923828e-9));
    const signed = v128.xor(v128.bitselect(cosine, sine, odd), v128.and(i64x2.shl(t, 62), signs));
    v128.store(sineTo, v128.bitselect(signed, x, reduced));
  }
  return v128.xor(v128.bitselect(sine, cosine, odd), v128.and(i64x2.shl(i64x2.add(t, i64x2.splat(1)), 62), signs));
}
