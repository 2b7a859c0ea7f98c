// tanh in integers: a table with straight lines between its entries (docs/numerics.md, rule 18).
import { portableTanh } from "@spillway/numerics";

/** Entries for a change of z by 1. */
const perUnit = 64;

/** z is held within -8 to 8, less one step of 2^-15. */
const mostHeld = 2 ** 18 - 1;

/** Entry i is tanh(i / 64) in steps of 2^-15, at most 32767; 513 of them. */
export const tanhTable: Int16Array = Int16Array.from({ length: 8 * perUnit + 1 }, (_, i) =>
  Math.min(32767, Math.floor(32768 * portableTanh(i / perUnit) + 0.5)),
);

/** tanh(z) in steps of 2^-15, of a z in steps of 2^-15. */
export function integerTanh(z: number): number {
  const size = Math.min(Math.abs(z), mostHeld);
  const i = size >> 9;
  const from = tanhTable[i]!;
  const value = from + (((tanhTable[i + 1]! - from) * (size & 511) + 256) >> 9);
  return z < 0 ? -value : value;
}
