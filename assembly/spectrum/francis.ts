// Eigenvalues, and on request the real Schur form, of an upper Hessenberg matrix by the implicit
// double-shift QR algorithm.
import { at } from "./address";
import { reflect2, reflectColumns3, reflectRows3 } from "./reflections";
import { applyRotation, im1, im2, re1, re2, sa, sb, sc, sd, standardize } from "./standard-block";

const ulp: f64 = 2.220446049250313e-16;
const smallest: f64 = 2.2250738585072014e-308;

/**
 * The eigenvalues of the upper Hessenberg matrix H (n x n, leading dimension ld) into re and im,
 * conjugate pairs next to each other and exact, the positive imaginary part first. With z = 0 only
 * the active block is updated and H is destroyed. Else H becomes the real Schur form T, its 2 x 2
 * blocks standardized, and the n x ld matrix at z is multiplied by the transformations from the
 * right. Returns 0, or k where eigenvalues 0..k-1 were not found (those from k on are right).
 * Francis 1961; deflation after Ahues and Tisseur 1997, as in LAPACK's dlahqr.
 */
export function francisQr(n: i32, h: usize, ld: i32, z: usize, re: usize, im: usize): i32 {
  const small = smallest * (<f64>n / ulp);
  const limit = 30 * max(10, n);
  const line = (<usize>ld) << 3;
  let stalled = 0;
  let i = n - 1;
  while (i >= 0) {
    let l = 0;
    let its = 0;
    for (; its <= limit; its++) {
      l = deflation(n, h, ld, l, i, small);
      if (l > 0) store<f64>(at(h, ld, l, l - 1), 0);
      if (l >= i - 1) break;
      stalled++;
      const firstRow = z == 0 ? l : 0;
      const lastColumn = z == 0 ? i : n - 1;

      let h11: f64, h12: f64, h21: f64, h22: f64;
      if (stalled % 20 == 0) {
        let s = abs(load<f64>(at(h, ld, i, i - 1)));
        if (i > l + 1) s += abs(load<f64>(at(h, ld, i - 1, i - 2)));
        h11 = 0.75 * s + load<f64>(at(h, ld, i, i));
        h12 = -0.4375 * s;
        h21 = s;
        h22 = h11;
      } else if (stalled % 10 == 0) {
        const s = abs(load<f64>(at(h, ld, l + 1, l))) + abs(load<f64>(at(h, ld, l + 2, l + 1)));
        h11 = 0.75 * s + load<f64>(at(h, ld, l, l));
        h12 = -0.4375 * s;
        h21 = s;
        h22 = h11;
      } else {
        h11 = load<f64>(at(h, ld, i - 1, i - 1));
        h12 = load<f64>(at(h, ld, i - 1, i));
        h21 = load<f64>(at(h, ld, i, i - 1));
        h22 = load<f64>(at(h, ld, i, i));
      }
      let r1: f64 = 0;
      let i1: f64 = 0;
      let r2: f64 = 0;
      const s = abs(h11) + abs(h12) + abs(h21) + abs(h22);
      if (s != 0) {
        h11 /= s;
        h12 /= s;
        h21 /= s;
        h22 /= s;
        const trace = (h11 + h22) * 0.5;
        const determinant = (h11 - trace) * (h22 - trace) - h12 * h21;
        const root = sqrt(abs(determinant));
        if (determinant >= 0) {
          r1 = trace * s;
          r2 = r1;
          i1 = root * s;
        } else {
          r1 = trace + root;
          r2 = trace - root;
          r1 = (abs(r1 - h22) <= abs(r2 - h22) ? r1 : r2) * s;
          r2 = r1;
        }
      }

      // The sweep may start below l if two subdiagonal elements in a row are small.
      let v0: f64 = 0;
      let v1: f64 = 0;
      let v2: f64 = 0;
      let m = i - 2;
      for (; m >= l; m--) {
        const p = at(h, ld, m, m);
        const hmm = load<f64>(p);
        const below = load<f64>(p + line);
        const next = load<f64>(p + line + 8);
        const sum = abs(hmm - r2) + abs(i1) + abs(below);
        const q = below / sum;
        v0 = q * load<f64>(p + 8) + (hmm - r1) * ((hmm - r2) / sum) + i1 * (i1 / sum);
        v1 = q * (hmm + next - r1 - r2);
        v2 = q * load<f64>(p + line + line + 8);
        const size = abs(v0) + abs(v1) + abs(v2);
        v0 /= size;
        v1 /= size;
        v2 /= size;
        if (m == l) break;
        const around = abs(load<f64>(p - line - 8)) + abs(hmm) + abs(next);
        if (abs(load<f64>(p - 8)) * (abs(v1) + abs(v2)) <= ulp * abs(v0) * around) break;
      }
      sweep(n, h, ld, z, l, m, i, firstRow, lastColumn, v0, v1, v2);
    }
    if (its > limit) return i + 1;

    if (l == i) {
      store<f64>(re + ((<usize>i) << 3), load<f64>(at(h, ld, i, i)));
      store<f64>(im + ((<usize>i) << 3), 0);
    } else {
      const p = at(h, ld, i - 1, i - 1);
      standardize(load<f64>(p), load<f64>(p + 8), load<f64>(p + line), load<f64>(p + line + 8));
      store<f64>(p, sa);
      store<f64>(p + 8, sb);
      store<f64>(p + line, sc);
      store<f64>(p + line + 8, sd);
      store<f64>(re + ((<usize>(i - 1)) << 3), re1);
      store<f64>(im + ((<usize>(i - 1)) << 3), im1);
      store<f64>(re + ((<usize>i) << 3), re2);
      store<f64>(im + ((<usize>i) << 3), im2);
      if (z != 0) {
        if (i < n - 1) applyRotation(at(h, ld, i - 1, i + 1), at(h, ld, i, i + 1), 8, n - 1 - i);
        applyRotation(at(h, ld, 0, i - 1), at(h, ld, 0, i), line, i - 1);
        applyRotation(at(z, ld, 0, i - 1), at(z, ld, 0, i), line, n);
      }
    }
    stalled = 0;
    i = l - 1;
  }
  return 0;
}

/** The first row of the block that ends in row i and cannot be split, not above row l. */
function deflation(n: i32, h: usize, ld: i32, l: i32, i: i32, small: f64): i32 {
  const line = (<usize>ld) << 3;
  let k = i;
  for (; k > l; k--) {
    const p = at(h, ld, k, k);
    const below = abs(load<f64>(p - 8));
    if (below <= small) break;
    const here = load<f64>(p);
    const before = load<f64>(p - line - 8);
    let scale = abs(before) + abs(here);
    if (scale == 0) {
      if (k - 2 >= 0) scale += abs(load<f64>(p - line - 16));
      if (k + 1 < n) scale += abs(load<f64>(p + line));
    }
    if (below > ulp * scale) continue;
    const above = abs(load<f64>(p - line));
    const difference = abs(before - here);
    const ab = max(below, above);
    const ba = min(below, above);
    const aa = max(abs(here), difference);
    const bb = min(abs(here), difference);
    const sum = aa + ab;
    if (ba * (ab / sum) <= max(small, ulp * (bb * (aa / sum)))) break;
  }
  return k;
}

/**
 * One implicit double-shift QR sweep over rows m..i, from the first column (v0, v1, v2) of the
 * shifted square.
 */
function sweep(
  n: i32,
  h: usize,
  ld: i32,
  z: usize,
  l: i32,
  m: i32,
  i: i32,
  firstRow: i32,
  lastColumn: i32,
  v0: f64,
  v1: f64,
  v2: f64,
): void {
  const line = (<usize>ld) << 3;
  for (let k = m; k < i; k++) {
    const three = k < i - 1;
    if (k > m) {
      v0 = load<f64>(at(h, ld, k, k - 1));
      v1 = load<f64>(at(h, ld, k + 1, k - 1));
      v2 = three ? load<f64>(at(h, ld, k + 2, k - 1)) : 0;
    }
    // Householder: I - tau (1, v1, v2)(1, v1, v2)^T maps the column to (beta, 0, 0).
    const largest = max(abs(v1), abs(v2));
    let tau: f64 = 0;
    let beta = v0;
    if (largest != 0) {
      const scale = max(abs(v0), largest);
      const a = v0 / scale;
      const b = v1 / scale;
      const c = v2 / scale;
      const norm = -copysign(sqrt(a * a + b * b + c * c), a);
      tau = (norm - a) / norm;
      const inverse = 1 / (a - norm);
      v1 = b * inverse;
      v2 = c * inverse;
      beta = norm * scale;
    }
    if (k > m) {
      store<f64>(at(h, ld, k, k - 1), beta);
      store<f64>(at(h, ld, k + 1, k - 1), 0);
      if (three) store<f64>(at(h, ld, k + 2, k - 1), 0);
    } else if (m > l) {
      // Not -h: that would be wrong if v1 and v2 underflow.
      store<f64>(at(h, ld, k, k - 1), load<f64>(at(h, ld, k, k - 1)) * (1 - tau));
    }
    const t1 = tau * v1;
    const t2 = tau * v2;
    const lastRow = min(k + 3, i);
    if (three) {
      reflectRows3(at(h, ld, k, k), line, lastColumn - k + 1, tau, t1, t2, v1, v2);
      reflectColumns3(at(h, ld, firstRow, k), line, lastRow - firstRow + 1, tau, t1, t2, v1, v2);
      if (z != 0) reflectColumns3(at(z, ld, 0, k), line, n, tau, t1, t2, v1, v2);
    } else {
      reflect2(at(h, ld, k, k), at(h, ld, k + 1, k), 8, lastColumn - k + 1, tau, t1, v1);
      reflect2(at(h, ld, firstRow, k), at(h, ld, firstRow, k + 1), line, lastRow - firstRow + 1, tau, t1, v1);
      if (z != 0) reflect2(at(z, ld, 0, k), at(z, ld, 0, k + 1), line, n, tau, t1, v1);
    }
  }
}
