// The logarithm of docs/numerics.md, rule 8, without its second parts: within some units in the
// last place, and short enough for the lanes of a vector.
import { horner, logTail } from "./portable.js";

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
  const t = horner(logTail, z);
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard gives Math.LN2 only approximately
  return k * 0.6931471805599453 + (s + s + s * z * (0.6666666666666666 + z * t));
}
