// Balancing of a square matrix before its eigenvalues are computed. Permutations are not looked
// for: the caller splits a reducible matrix into strongly connected components, which is stronger.
import { at } from "./address";

/**
 * Scales rows and columns of A (n x n, leading dimension ld) by powers of two, A := D^-1 A D, until
 * the 2-norms of row i and column i are within a factor of two of each other. Exact but for
 * underflow. Returns the largest |a| of the balanced matrix. Osborne 1960; Parlett and Reinsch
 * 1969; 2-norms and the diagonal included, as James, Langou and Lowery 2014 advise.
 */
export function balanceMatrix(n: i32, a: usize, ld: i32): f64 {
  let changed = true;
  while (changed) {
    changed = false;
    for (let i = 0; i < n; i++) {
      let c = stridedNorm(n, at(a, ld, 0, i), (<usize>ld) << 3);
      let r = stridedNorm(n, at(a, ld, i, 0), 8);
      if (c == 0 || r == 0) continue;
      const before = c + r;
      let f: f64 = 1;
      while (c < r * 0.5 && f < 1e150) {
        c *= 2;
        r *= 0.5;
        f *= 2;
      }
      while (c * 0.5 >= r && f > 1e-150) {
        c *= 0.5;
        r *= 2;
        f *= 0.5;
      }
      if (f == 1 || c + r >= 0.95 * before) continue;
      changed = true;
      const inverse = 1 / f;
      for (let j = 0; j < n; j++) store<f64>(at(a, ld, i, j), load<f64>(at(a, ld, i, j)) * inverse);
      for (let j = 0; j < n; j++) store<f64>(at(a, ld, j, i), load<f64>(at(a, ld, j, i)) * f);
    }
  }
  let largest: f64 = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) largest = max(largest, abs(load<f64>(at(a, ld, i, j))));
  return largest;
}

/** The 2-norm of n numbers `stride` bytes apart, free of overflow and underflow. */
function stridedNorm(n: i32, x: usize, stride: usize): f64 {
  let largest: f64 = 0;
  for (let i = 0, p = x; i < n; i++, p += stride) largest = max(largest, abs(load<f64>(p)));
  if (largest == 0) return 0;
  let sum: f64 = 0;
  for (let i = 0, p = x; i < n; i++, p += stride) {
    const scaled = load<f64>(p) / largest;
    sum += scaled * scaled;
  }
  return largest * sqrt(sum);
}
