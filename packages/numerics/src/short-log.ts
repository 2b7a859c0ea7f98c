// The logarithm of docs/numerics.md, rule 8, without its second parts: within some units in the
// last place, and short enough for the lanes of a vector.

/** From degree 0 up: what 2 s + s^3 (2/3 + s^2 t(s^2)) = log((1 + s) / (1 - s)) needs of t. */
const tail = [
  0.3999999999999998, // 0x1.9999999999996p-2
  0.2857142857144477, // 0x1.2492492492ff8p-2
  0.22222222217605445, // 0x1.c71c71c586593p-3
  0.1818181886307375, // 0x1.745d182fe5540p-3
  0.15384557303099175, // 0x1.3b1363466b7f7p-3
  0.13336302629322297, // 0x1.1120a263665c5p-3
  0.1167508918799567, // 0x1.de362ee673b21p-4
  0.11986958661776294, // 0x1.eafc5f24eeec9p-4
];
const bits = new DataView(new ArrayBuffer(8));

/** log(x) in binary64 for normal x > 0. */
export function shortLog(x: number): number {
  bits.setFloat64(0, x);
  const word = bits.getUint32(0);
  bits.setUint32(0, (word & 0xfffff) | 0x3ff00000);
  let m = bits.getFloat64(0);
  let k = (word >>> 20) - 1023;
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard gives Math.SQRT2 only approximately
  if (m >= 1.4142135623730951) {
    m *= 0.5;
    k += 1;
  }
  const s = (m - 1) / (m + 1);
  const z = s * s;
  let t = tail[7]!;
  for (let degree = 6; degree >= 0; degree--) t = t * z + tail[degree]!;
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard gives Math.LN2 only approximately
  return k * 0.6931471805599453 + (s + s + s * z * (0.6666666666666666 + z * t));
}
