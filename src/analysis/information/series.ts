// What every information measure starts from: two series of the same length, and the digamma
// function.
import { ArgumentError } from "@spillway/core/errors.js";
import { type FloatArray, firstNonFinite, isList } from "@spillway/numerics";

/** A series of single numbers. */
export type Series = FloatArray | readonly number[];

/**
 * @throws ArgumentError on series of different lengths, of fewer than `least` values, or with a
 * value that is not finite.
 */
export function checkedPair(names: readonly [string, string], a: Series, b: Series, least: number): readonly [Float64Array, Float64Array] {
  for (const [name, values] of [
    [names[0], a],
    [names[1], b],
  ] as const) {
    if (!isList(values)) throw new ArgumentError(name, values, "a list of numbers");
    if (values.length < least) throw new ArgumentError(`the length of ${name}`, values.length, `at least ${least}`, { code: "shape" });
    const bad = firstNonFinite(values);
    if (bad >= 0) throw new ArgumentError(`${name}[${bad}]`, values[bad], "finite numbers");
  }
  if (a.length !== b.length)
    throw new ArgumentError(`the length of ${names[1]}`, b.length, `${a.length}, as ${names[0]}`, { code: "shape" });
  return [Float64Array.from(a), Float64Array.from(b)];
}

/**
 * The digamma function of x > 0, within 1e-13: the recurrence up to 10, then the asymptotic series
 * (Abramowitz and Stegun 6.3.18).
 */
export function digamma(x: number): number {
  let shift = 0;
  let y = x;
  for (; y < 10; y++) shift -= 1 / y;
  const z = 1 / (y * y);
  return shift + Math.log(y) - 0.5 / y - z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760))))));
}
