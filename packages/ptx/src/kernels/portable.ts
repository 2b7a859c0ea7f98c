// Portable arithmetic (docs/numerics.md, rules 1, 4 and 5) as instructions: every operation rounded
// to binary32, none fused, in one order.
import type { PtxKernel } from "../builder/index.js";
import type { Single } from "./value-types.js";

/** The polynomials of rule 4, from degree 0: -0x1.5554f6p-2, ... and 0x1.fffffcp-2, ... */
const tail = [-0.3333319127559662, 0.1332911103963852, -0.05355885997414589, 0.02009197138249874, -0.005138663109391928];
const exponentialTail = [0.4999999403953552, 0.1666652113199234, 0.04166838899254799, 0.008368716575205326, 0.001381459878757596];

function horner(k: PtxKernel, coefficients: readonly number[], x: Single): Single {
  const start: Single = k.constant("f32", coefficients.at(-1)!);
  return coefficients.slice(0, -1).reduceRight<Single>((sum, coefficient) => k.add(k.mul(sum, x), coefficient), start);
}

/** tanh(x), at most 1.066 ulp; NaN for NaN. */
export function portableTanh(k: PtxKernel, x: Single): Single {
  const size = k.abs(x);
  // A NaN fails the comparison and stays.
  const clamped = k.select(k.compare("gt", size, 10), k.constant("f32", 10), size);
  const y = k.mul(clamped, clamped);
  const small = k.add(clamped, k.mul(clamped, k.mul(y, horner(k, tail, y))));
  const u = k.add(clamped, clamped);
  const t = k.add(k.mul(u, 1.4426950216293335), 12582912);
  const n = k.sub(t, 12582912);
  const r = k.sub(k.sub(u, k.mul(n, 0.693359375)), k.mul(n, -0.00021219444170128554));
  const near = k.add(k.add(k.mul(k.mul(r, r), horner(k, exponentialTail, r)), r), 1);
  const e = k.reinterpret("f32", k.add(k.reinterpret("u32", near), k.shl(k.reinterpret("u32", t), 23)));
  const one = k.constant("f32", 1);
  const big = k.sub(one, k.div(k.constant("f32", 2), k.add(e, 1)));
  return k.copysign(k.select(k.compare("ge", clamped, 0.699999988079071), big, small), x);
}

/** .5 + .5 tanh(.5 x) */
export function portableSigmoid(k: PtxKernel, x: Single): Single {
  return k.add(k.mul(portableTanh(k, k.mul(x, 0.5)), 0.5), 0.5);
}

/** (keep * x) + (leak * activated), where keep = 1 - leak was rounded once. */
export function leakyIntegration(k: PtxKernel, keep: Single, x: Single, leak: Single, activated: Single): Single {
  return k.add(k.mul(keep, x), k.mul(leak, activated));
}

/** The butterfly of rule 1: the sum of the 32 partial sums, the same in every lane. */
export function butterfly(k: PtxKernel, partial: Single): Single {
  return [16, 8, 4, 2, 1].reduce((sum, distance) => k.add(sum, k.shuffle("bfly", sum, distance)), partial);
}
