// 64-bit integers as two 32-bit halves. A result's low half is returned and its high half left in
// `wide.high`: nothing is allocated.

/** The high half of the last 64-bit result. */
export const wide = { high: 0 };

/** High 32 bits of the signed 64-bit product. */
export function mulHigh(a: number, b: number): number {
  // The product as a double is off by at most 2^10, far below half of 2^32, once the exact low half
  // is taken away.
  return Math.floor((a * b - (Math.imul(a, b) >>> 0)) * 2.3283064365386963e-10 + 0.5) | 0;
}

/** High 32 bits of the unsigned product of two halves, given as signed or unsigned. */
export function mulHighUnsigned(a: number, b: number): number {
  return Math.floor(((a >>> 0) * (b >>> 0) - (Math.imul(a, b) >>> 0)) * 2.3283064365386963e-10 + 0.5) | 0;
}

export function mul64(aLow: number, aHigh: number, bLow: number, bHigh: number): number {
  wide.high = (mulHighUnsigned(aLow, bLow) + Math.imul(aLow, bHigh) + Math.imul(aHigh, bLow)) | 0;
  return Math.imul(aLow, bLow);
}

export function shl64(low: number, high: number, amount: number): number {
  const n = amount >>> 0;
  if (n === 0) {
    wide.high = high;
    return low;
  }
  if (n >= 64) {
    wide.high = 0;
    return 0;
  }
  if (n >= 32) {
    wide.high = low << (n - 32);
    return 0;
  }
  wide.high = (high << n) | (low >>> (32 - n));
  return low << n;
}

export function shr64(low: number, high: number, amount: number, signed: boolean): number {
  const n = amount >>> 0;
  const fill = signed ? high >> 31 : 0;
  if (n === 0) {
    wide.high = high;
    return low;
  }
  if (n >= 64) {
    wide.high = fill;
    return fill;
  }
  if (n >= 32) {
    wide.high = fill;
    return (signed ? high >> (n - 32) : high >>> (n - 32)) | 0;
  }
  wide.high = (signed ? high >> n : high >>> n) | 0;
  return (low >>> n) | (high << (32 - n));
}

export function toBigInt(low: number, high: number, signed: boolean): bigint {
  return (BigInt(signed ? high : high >>> 0) << 32n) | BigInt(low >>> 0);
}

export function fromBigInt(value: bigint): number {
  wide.high = Number(BigInt.asIntN(32, value >> 32n));
  return Number(BigInt.asIntN(32, value));
}

function safe(low: number, high: number): number {
  return (high >>> 0) * 4294967296 + (low >>> 0);
}

function store(value: number): number {
  wide.high = (value / 4294967296) | 0;
  return value | 0;
}

/** Quotient; division by zero gives all ones, as the hardware does (the ISA leaves it open). */
export function div64(aLow: number, aHigh: number, bLow: number, bHigh: number, signed: boolean): number {
  if ((bLow | bHigh) === 0) {
    wide.high = -1;
    return -1;
  }
  if ((aHigh | bHigh) >>> 21 === 0) return store(Math.floor(safe(aLow, aHigh) / safe(bLow, bHigh)));
  return fromBigInt(toBigInt(aLow, aHigh, signed) / toBigInt(bLow, bHigh, signed));
}

export function rem64(aLow: number, aHigh: number, bLow: number, bHigh: number, signed: boolean): number {
  if ((bLow | bHigh) === 0) {
    wide.high = aHigh;
    return aLow;
  }
  if ((aHigh | bHigh) >>> 21 === 0) return store(safe(aLow, aHigh) % safe(bLow, bHigh));
  return fromBigInt(toBigInt(aLow, aHigh, signed) % toBigInt(bLow, bHigh, signed));
}

export function mulHigh64(aLow: number, aHigh: number, bLow: number, bHigh: number, signed: boolean): number {
  return fromBigInt((toBigInt(aLow, aHigh, signed) * toBigInt(bLow, bHigh, signed)) >> 64n);
}

/** vmad: (a b + c + `more`) >> shift, the product or c negated; 32 bits, clamped or not. */
export function multiplyScaled(
  a: number,
  b: number,
  c: number,
  minus: boolean,
  negated: boolean,
  more: boolean,
  signed: boolean,
  shift: number,
  saturates: boolean,
): number {
  const product = BigInt(a) * BigInt(b);
  const addend = negated ? -BigInt(c) : BigInt(signed ? c : c >>> 0);
  const result = ((minus ? -product : product) + addend + (more ? 1n : 0n)) >> BigInt(shift);
  if (!saturates) return Number(BigInt.asIntN(32, result));
  const [least, most] = signed ? [-0x80000000n, 0x7fffffffn] : [0n, 0xffffffffn];
  return Number(BigInt.asIntN(32, result < least ? least : result > most ? most : result));
}
