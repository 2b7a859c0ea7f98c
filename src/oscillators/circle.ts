// Phases as points (c, s) of the unit circle, and turns of them without a sine: docs/numerics.md,
// rule 15.

/** Rounds to a precision. */
export type Round = (value: number) => number;

export const inBinary64: Round = (value) => value;

/** Rounds to the precision of an array. */
export const roundFor = (precision: "float32" | "float64"): Round => (precision === "float32" ? Math.fround : inBinary64);

/**
 * Turns the point at index i of (c, s) by d radians into index i of (toC, toS): with m = (d / 2)(1
 * + d^2 / 12), which is tan(d / 2) up to d^5, and q = 1 + m^2, by the rotation ((1 - m^2) / q, 2 m
 * / q), then back to length 1. Every operation is rounded.
 */
export function turn(
  c: ArrayLike<number>,
  s: ArrayLike<number>,
  i: number,
  d: number,
  toC: { [index: number]: number },
  toS: { [index: number]: number },
  round: Round,
): void {
  const m = round(round(0.5 * d) * round(1 + round(round(d * d) / 12)));
  const square = round(m * m);
  const q = round(1 + square);
  const a = round(round(1 - square) / q);
  const b = round(round(m + m) / q);
  const x = c[i]!;
  const y = s[i]!;
  const turnedC = round(round(x * a) - round(y * b));
  const turnedS = round(round(x * b) + round(y * a));
  const length = round(Math.sqrt(round(round(turnedC * turnedC) + round(turnedS * turnedS))));
  toC[i] = turnedC / length;
  toS[i] = turnedS / length;
}

/**
 * The sum of `count` values: 32 partial sums by index modulo 32 from +0, then rule 1's butterfly.
 */
export function portableSum(values: ArrayLike<number>, count: number, round: Round): number {
  const partials = new Float64Array(32);
  for (let k = 0; k < count; k++) partials[k & 31] = round(partials[k & 31]! + values[k]!);
  for (let half = 16; half >= 1; half /= 2) for (let l = 0; l < half; l++) partials[l] = round(partials[l]! + partials[l + half]!);
  return partials[0]!;
}
