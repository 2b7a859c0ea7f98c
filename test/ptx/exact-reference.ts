// Exact floating-point arithmetic for tests, on fractions of BigInts: slow, and written apart from
// the interpreter's own.

export type Mode = "rn" | "rz" | "rm" | "rp";

interface Fraction {
  numerator: bigint;
  denominator: bigint;
}

export const formats = {
  f16: { precision: 11, least: -24, most: 15 },
  bf16: { precision: 8, least: -133, most: 127 },
  f32: { precision: 24, least: -149, most: 127 },
  f64: { precision: 53, least: -1074, most: 1023 },
} as const;
export type Format = keyof typeof formats;

export function fraction(value: number): Fraction {
  let denominator = 1n;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    denominator *= 2n;
  }
  return { numerator: BigInt(scaled), denominator };
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/** True if p/q >= 2^e. */
function atLeastPower(p: bigint, q: bigint, e: number): boolean {
  return e >= 0 ? p >= q << BigInt(e) : p << BigInt(-e) >= q;
}

/** A nonzero fraction rounded to a format. */
export function roundFraction({ numerator, denominator }: Fraction, format: Format, mode: Mode): number {
  const { precision, least, most } = formats[format];
  const negative = numerator < 0n !== denominator < 0n;
  const p = absolute(numerator);
  const q = absolute(denominator);
  let exponent = p.toString(2).length - q.toString(2).length;
  if (!atLeastPower(p, q, exponent)) exponent--;
  const unit = Math.max(exponent - precision + 1, least);
  const top = unit < 0 ? p << BigInt(-unit) : p;
  const bottom = unit < 0 ? q : q << BigInt(unit);
  let whole = top / bottom;
  const rest = top % bottom;
  const upward =
    mode === "rn"
      ? 2n * rest > bottom || (2n * rest === bottom && whole % 2n === 1n)
      : mode === "rz"
        ? false
        : rest > 0n && negative === (mode === "rm");
  if (upward) whole += 1n;
  const sign = negative ? -1 : 1;
  const limit = 1n << BigInt(most + 1);
  const overflows = unit < 0 ? whole >= limit << BigInt(-unit) : whole << BigInt(unit) >= limit;
  if (overflows) {
    const largest = Number(((1n << BigInt(precision)) - 1n) << BigInt(most + 1 - precision));
    const infinite = mode === "rn" || (mode !== "rz" && negative === (mode === "rm"));
    return sign * (infinite ? Infinity : largest);
  }
  // Both factors are powers of two or fit 53 bits, so this is exact.
  let value = Number(whole);
  for (let e = unit; e !== 0; ) {
    const step = Math.max(-1000, Math.min(1000, e));
    value *= 2 ** step;
    e -= step;
  }
  return sign * value;
}

/** a * b + c, rounded once; NaN and infinities by IEEE 754. */
export function fma(a: number, b: number, c: number, format: Format, mode: Mode): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a * b + c;
  if (!Number.isFinite(c)) return c;
  const [x, y, z] = [fraction(a), fraction(b), fraction(c)];
  const sum = {
    numerator: x.numerator * y.numerator * z.denominator + z.numerator * x.denominator * y.denominator,
    denominator: x.denominator * y.denominator * z.denominator,
  };
  if (sum.numerator !== 0n) return roundFraction(sum, format, mode);
  const below = (value: number): boolean => value < 0 || Object.is(value, -0);
  const productNegative = below(a) !== below(b);
  const addendNegative = below(c);
  if (productNegative === addendNegative && (a === 0 || b === 0) && c === 0) return productNegative ? -0 : 0;
  return mode === "rm" ? -0 : 0;
}

export function divide(a: number, b: number, format: Format, mode: Mode): number {
  if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0 || b === 0) return a / b;
  const [x, y] = [fraction(a), fraction(b)];
  return roundFraction({ numerator: x.numerator * y.denominator, denominator: x.denominator * y.numerator }, format, mode);
}

/** The square root, by an integer root to 200 bits and a remainder that only breaks ties. */
export function squareRoot(a: number, format: Format, mode: Mode): number {
  if (!(a > 0) || a === Infinity) return Math.sqrt(a);
  const { numerator, denominator } = fraction(a);
  // denominator is a power of two; make it a square.
  const even = (denominator.toString(2).length - 1) % 2 === 0;
  const [n, d] = even ? [numerator, denominator] : [2n * numerator, 2n * denominator];
  const scaled = n << 2600n;
  let root = 1n << BigInt(Math.ceil(scaled.toString(2).length / 2));
  for (let next = (root + scaled / root) / 2n; next < root; next = (root + scaled / root) / 2n) root = next;
  const exact = root * root === scaled;
  const bottom = (1n << BigInt((d.toString(2).length - 1) / 2)) << 1300n;
  return roundFraction({ numerator: 2n * root + (exact ? 0n : 1n), denominator: 2n * bottom }, format, mode);
}
