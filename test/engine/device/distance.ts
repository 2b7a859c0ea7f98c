// How far apart states are that need not have the same bits.
import type { Matrix } from "../../../packages/numerics/src/index.js";

/** |a - b| / |b| over all values. */
export function distance(a: Matrix, b: Matrix): number {
  let [apart, all] = [0, 0];
  for (let i = 0; i < b.data.length; i++) {
    apart += (a.data[i]! - b.data[i]!) ** 2;
    all += b.data[i]! ** 2;
  }
  return Math.sqrt(apart / all);
}
