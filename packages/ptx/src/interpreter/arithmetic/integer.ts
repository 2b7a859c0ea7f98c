// Bit-field and packed integer operations on 32-bit words (and pairs of them), as the PTX ISA's
// pseudo-code defines them.
import { shl64, shr64, wide } from "./integer64.js";

export function popcount(x: number): number {
  let v = x - ((x >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function reverseBits(x: number): number {
  let v = ((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  v = ((v >>> 2) & 0x33333333) | ((v & 0x33333333) << 2);
  v = ((v >>> 4) & 0x0f0f0f0f) | ((v & 0x0f0f0f0f) << 4);
  v = ((v >>> 8) & 0x00ff00ff) | ((v & 0x00ff00ff) << 8);
  return (v >>> 16) | (v << 16);
}

/** Position of the top bit that is not the sign, or distance from bit 31; -1 for none. */
export function findTop(x: number, signed: boolean, shiftAmount: boolean): number {
  const value = signed && x < 0 ? ~x : x;
  if (value === 0) return -1;
  const position = 31 - Math.clz32(value);
  return shiftAmount ? 31 - position : position;
}

export function findTop64(low: number, high: number, signed: boolean, shiftAmount: boolean): number {
  const flip = signed && high < 0 ? -1 : 0;
  const top = high ^ flip;
  const bottom = low ^ flip;
  if ((top | bottom) === 0) return -1;
  const position = top !== 0 ? 63 - Math.clz32(top) : 31 - Math.clz32(bottom);
  return shiftAmount ? 63 - position : position;
}

export function clz64(low: number, high: number): number {
  return high !== 0 ? Math.clz32(high) : 32 + Math.clz32(low);
}

/** Position of the n-th set bit from `base`, upwards for positive offsets; -1 if there is none. */
export function findNthSet(mask: number, base: number, offset: number): number {
  if (offset === 0) return (mask >>> base) & 1 ? base : -1;
  const step = offset > 0 ? 1 : -1;
  let count = Math.abs(offset) - 1;
  for (let position = base; position >= 0 && position < 32; position += step) if ((mask >>> position) & 1 && count-- === 0) return position;
  return -1;
}

/** Bits [position, position + length) of a word, with the ISA's clamping and sign extension. */
export function extractBits(x: number, position: number, length: number, signed: boolean): number {
  const at = position & 255;
  const count = length & 255;
  if (count === 0) return 0;
  const last = Math.min(at + count - 1, 31);
  const sign = signed ? (x >>> last) & 1 : 0;
  if (at > 31) return signed ? x >> 31 : 0;
  const kept = Math.min(count, 32 - at);
  const field = kept === 32 ? x : (x >>> at) & ((1 << kept) - 1);
  return sign && kept < 32 ? field | (-1 << kept) : field | 0;
}

export function extractBits64(low: number, high: number, position: number, length: number, signed: boolean): number {
  const at = position & 255;
  const count = length & 255;
  if (count === 0) {
    wide.high = 0;
    return 0;
  }
  // Shifting up and down again drops what is above the field and extends its sign.
  const above = 64 - Math.min(at + count, 64);
  const up = shl64(low, high, above);
  return shr64(up, wide.high, Math.min(above + at, 64), signed);
}

export function insertBits(field: number, into: number, position: number, length: number): number {
  const at = position & 255;
  const count = Math.min(length & 255, 32 - Math.min(at, 32));
  if (count <= 0) return into;
  const mask = (count === 32 ? -1 : (1 << count) - 1) << at;
  return (into & ~mask) | ((field << at) & mask);
}

export function insertBits64(fieldLow: number, fieldHigh: number, low: number, high: number, position: number, length: number): number {
  const at = position & 255;
  const count = Math.min(length & 255, 64 - Math.min(at, 64));
  if (count <= 0) {
    wide.high = high;
    return low;
  }
  const onesLow = shr64(-1, -1, 64 - count, false);
  const maskLow = shl64(onesLow, wide.high, at);
  const maskHigh = wide.high;
  const movedLow = shl64(fieldLow, fieldHigh, at);
  wide.high = (high & ~maskHigh) | (wide.high & maskHigh);
  return (low & ~maskLow) | (movedLow & maskLow);
}

/** Any Boolean function of three words, by its truth table. */
export function lop3(a: number, b: number, c: number, table: number): number {
  let result = 0;
  if (table & 0x01) result |= ~a & ~b & ~c;
  if (table & 0x02) result |= ~a & ~b & c;
  if (table & 0x04) result |= ~a & b & ~c;
  if (table & 0x08) result |= ~a & b & c;
  if (table & 0x10) result |= a & ~b & ~c;
  if (table & 0x20) result |= a & ~b & c;
  if (table & 0x40) result |= a & b & ~c;
  if (table & 0x80) result |= a & b & c;
  return result;
}

/** Selectors of the modes, by the two low bits of the selector that is given. */
const permuteModes: Readonly<Record<string, readonly number[]>> = {
  f4e: [0x3210, 0x4321, 0x5432, 0x6543],
  b4e: [0x5670, 0x6701, 0x7012, 0x0123],
  rc8: [0x0000, 0x1111, 0x2222, 0x3333],
  ecl: [0x3210, 0x3211, 0x3222, 0x3333],
  ecr: [0x0000, 0x1110, 0x2210, 0x3210],
  rc16: [0x1010, 0x3232, 0x1010, 0x3232],
};

/** prmt.b32: four of the eight bytes of b:a; bit 3 of a selector replicates the sign. */
export function permuteBytes(a: number, b: number, selector: number, mode: string): number {
  const picks = permuteModes[mode]?.[selector & 3] ?? selector;
  let result = 0;
  for (let k = 0; k < 4; k++) {
    const pick = (picks >>> (4 * k)) & 15;
    const byte = (((pick & 4) === 0 ? a : b) >>> (8 * (pick & 3))) & 255;
    result |= (pick & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * k);
  }
  return result;
}

/** shf: 32 bits out of the 64-bit b:a, shifted left (the upper word) or right (the lower). */
export function funnelShift(a: number, b: number, amount: number, left: boolean, wrap: boolean): number {
  const n = wrap ? amount & 31 : Math.min(amount >>> 0, 32);
  if (n === 0) return left ? b : a;
  if (n === 32) return left ? a : b;
  return left ? (b << n) | (a >>> (32 - n)) : (b << (32 - n)) | (a >>> n);
}

const byteOf = (x: number, k: number, signed: boolean): number => (signed ? (x << (24 - 8 * k)) >> 24 : (x >>> (8 * k)) & 255);

export function dotBytes(a: number, b: number, c: number, aSigned: boolean, bSigned: boolean): number {
  let sum = c;
  for (let k = 0; k < 4; k++) sum = (sum + byteOf(a, k, aSigned) * byteOf(b, k, bSigned)) | 0;
  return sum;
}

/** Sum of two products of a half-word of a with a byte of b's lower or upper half, added to c. */
export function dotHalves(a: number, b: number, c: number, aSigned: boolean, bSigned: boolean, high: boolean): number {
  let sum = c;
  for (let k = 0; k < 2; k++) {
    const half = aSigned ? (a << (16 - 16 * k)) >> 16 : (a >>> (16 * k)) & 0xffff;
    sum = (sum + Math.imul(half, byteOf(b, k + (high ? 2 : 0), bSigned))) | 0;
  }
  return sum;
}

/** Quotient of signed words, all ones by zero as in hardware; -2^31 / -1 wraps. */
export function divide(a: number, b: number): number {
  return b === 0 ? -1 : (a / b) | 0;
}

export function divideUnsigned(a: number, b: number): number {
  return b === 0 ? -1 : ((a >>> 0) / (b >>> 0)) | 0;
}

export function remainder(a: number, b: number): number {
  return b === 0 ? a : (a % b) | 0;
}

export function remainderUnsigned(a: number, b: number): number {
  return b === 0 ? a : ((a >>> 0) % (b >>> 0)) | 0;
}

/** A mask of `length` ones from `position`; lengths and positions clamp, or wrap at 32. */
export function bitMask(position: number, length: number, wrap: boolean): number {
  const at = wrap ? position & 31 : Math.min(position >>> 0, 32);
  const count = wrap ? length & 31 : Math.min(length >>> 0, 32);
  if (at === 32 || count === 0) return 0;
  return (count === 32 ? -1 : (1 << count) - 1) << at;
}

/** Sign- or zero-extends the low `count` bits. */
export function extendBits(x: number, count: number, signed: boolean, wrap: boolean): number {
  const n = wrap ? count & 31 : Math.min(count >>> 0, 32);
  if (n === 0) return 0;
  if (n === 32) return x;
  return signed ? (x << (32 - n)) >> (32 - n) : x & ((1 << n) - 1);
}
