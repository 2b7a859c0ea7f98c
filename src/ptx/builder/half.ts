// Halves by their bits: numbers rounded to nearest even to f16 or bf16, and f16 read back.

const scratch = new DataView(new ArrayBuffer(4));

/** Bits of a number as f16 or bf16; beyond the largest it is infinite. */
export function halfBits(value: number, type: "f16" | "bf16"): number {
  if (Number.isNaN(value)) return 0x7fff;
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  if (type === "bf16") return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = Math.abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  // 2^-24 is the unit of subnormal halves; above 2^-14 a unit is 2^(exponent - 10).
  const exponent = Math.max(((bits >>> 23) & 0xff) - 127, -14);
  const units = magnitude * 2 ** (10 - exponent);
  const floor = Math.floor(units);
  const rest = units - floor;
  const rounded = floor + (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? 1 : 0);
  return sign | (rounded + (exponent + 14) * 1024);
}

/** The number that the bits of an f16 mean. */
export function f16Value(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}
