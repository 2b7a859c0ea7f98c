// Eigenvalues, and on request the real Schur form, of an upper Hessenberg matrix by the implicit double-shift QR algorithm.
import { at } from "./address";

const ulp: f64 = 2.220446049250313e-16;
const smallest: f64 = 2.2250738585072014e-308;

// What standardize() found: the 2 x 2 block, its rotation, its two eigenvalues.
let sa: f64, sb: f64, sc: f64, sd: f64, cosine: f64, sine: f64, re1: f64, im1: f64, re2: f64, im2: f64;

/**
 * The eigenvalues of the upper Hessenberg matrix H (n x n, leading dimension ld) into re and im, conjugate pairs next to each other and
 * exact, the positive imaginary part first. With z = 0 only the active block is updated and H is destroyed. Else H becomes the
 * real Schur form T, its 2 x 2 blocks standardized, and the n x ld matrix at z is multiplied by the transformations from the right.
 * Returns 0, or k where eigenvalues 0..k-1 were not found (those from k on are right).
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

      // The sweep may start below l where two subdiagonal elements in a row are small.
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
        if (i < n - 1) rotate(at(h, ld, i - 1, i + 1), at(h, ld, i, i + 1), 8, n - 1 - i);
        rotate(at(h, ld, 0, i - 1), at(h, ld, 0, i), line, i - 1);
        rotate(at(z, ld, 0, i - 1), at(z, ld, 0, i), line, n);
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

/** One implicit double-shift QR sweep over rows m..i, from the first column (v0, v1, v2) of the shifted square. */
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
      // Not -h: that would be wrong where v1 and v2 underflow.
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

/** A reflection of three rows, `count` columns. */
function reflectRows3(p: usize, line: usize, count: i32, t0: f64, t1: f64, t2: f64, v1: f64, v2: f64): void {
  const q = p + line;
  const r = q + line;
  const tt0 = f64x2.splat(t0);
  const tt1 = f64x2.splat(t1);
  const tt2 = f64x2.splat(t2);
  const vv1 = f64x2.splat(v1);
  const vv2 = f64x2.splat(v2);
  const end = (<usize>count) << 3;
  let c: usize = 0;
  for (; c + 16 <= end; c += 16) {
    const x = v128.load(p + c);
    const y = v128.load(q + c);
    const w = v128.load(r + c);
    const sum = f64x2.add(f64x2.add(x, f64x2.mul(vv1, y)), f64x2.mul(vv2, w));
    v128.store(p + c, f64x2.sub(x, f64x2.mul(sum, tt0)));
    v128.store(q + c, f64x2.sub(y, f64x2.mul(sum, tt1)));
    v128.store(r + c, f64x2.sub(w, f64x2.mul(sum, tt2)));
  }
  if (c < end) {
    const x = load<f64>(p + c);
    const y = load<f64>(q + c);
    const w = load<f64>(r + c);
    const sum = x + v1 * y + v2 * w;
    store<f64>(p + c, x - sum * t0);
    store<f64>(q + c, y - sum * t1);
    store<f64>(r + c, w - sum * t2);
  }
}

/** A reflection of three columns, `count` rows, two rows at a time. */
function reflectColumns3(p: usize, line: usize, count: i32, t0: f64, t1: f64, t2: f64, v1: f64, v2: f64): void {
  const tt0 = f64x2.splat(t0);
  const tt1 = f64x2.splat(t1);
  const tt2 = f64x2.splat(t2);
  const vv1 = f64x2.splat(v1);
  const vv2 = f64x2.splat(v2);
  let r = 0;
  for (; r + 2 <= count; r += 2) {
    const q = p + line;
    const a = v128.load(p);
    const b = v128.load(q);
    const x = v128.shuffle<f64>(a, b, 0, 2);
    const y = v128.shuffle<f64>(a, b, 1, 3);
    const w = v128.load64_lane(q, v128.load64_zero(p, 16), 1, 16);
    const sum = f64x2.add(f64x2.add(x, f64x2.mul(vv1, y)), f64x2.mul(vv2, w));
    const x1 = f64x2.sub(x, f64x2.mul(sum, tt0));
    const y1 = f64x2.sub(y, f64x2.mul(sum, tt1));
    const w1 = f64x2.sub(w, f64x2.mul(sum, tt2));
    v128.store(p, v128.shuffle<f64>(x1, y1, 0, 2));
    v128.store(q, v128.shuffle<f64>(x1, y1, 1, 3));
    v128.store64_lane(p, w1, 0, 16);
    v128.store64_lane(q, w1, 1, 16);
    p = q + line;
  }
  if (r < count) {
    const x = load<f64>(p);
    const y = load<f64>(p, 8);
    const w = load<f64>(p, 16);
    const sum = x + v1 * y + v2 * w;
    store<f64>(p, x - sum * t0);
    store<f64>(p, y - sum * t1, 8);
    store<f64>(p, w - sum * t2, 16);
  }
}

/** A reflection of two rows or columns whose elements are `stride` bytes apart. */
function reflect2(p: usize, q: usize, stride: usize, count: i32, t0: f64, t1: f64, v1: f64): void {
  for (let r = 0; r < count; r++, p += stride, q += stride) {
    const x = load<f64>(p);
    const y = load<f64>(q);
    const sum = x + v1 * y;
    store<f64>(p, x - sum * t0);
    store<f64>(q, y - sum * t1);
  }
}

/** The rotation that standardize() found, on two rows or columns whose elements are `stride` bytes apart. */
function rotate(p: usize, q: usize, stride: usize, count: i32): void {
  for (let r = 0; r < count; r++, p += stride, q += stride) {
    const x = load<f64>(p);
    const y = load<f64>(q);
    store<f64>(p, cosine * x + sine * y);
    store<f64>(q, cosine * y - sine * x);
  }
}

/**
 * Rotates the block [a b; c d] into standard form: c = 0 (real eigenvalues a and d), or a = d and b c < 0 (eigenvalues
 * a +- i sqrt(-b c)). LAPACK's dlanv2; the scaling loop against overflow is left out, as the caller scaled the matrix to 1.
 */
function standardize(a: f64, b: f64, c: f64, d: f64): void {
  cosine = 1;
  sine = 0;
  if (c == 0) {
  } else if (b == 0) {
    cosine = 0;
    sine = 1;
    const t = d;
    d = a;
    a = t;
    b = -c;
    c = 0;
  } else if (!(a - d == 0 && copysign(1.0, b) != copysign(1.0, c))) {
    const t = a - d;
    let p = 0.5 * t;
    const larger = max(abs(b), abs(c));
    const lesser = min(abs(b), abs(c)) * copysign(1.0, b) * copysign(1.0, c);
    const scale = max(abs(p), larger);
    let w = (p / scale) * p + (larger / scale) * lesser;
    if (w >= 4 * ulp) {
      // Real and well apart.
      w = p + copysign(sqrt(scale) * sqrt(w), p);
      a = d + w;
      d -= (larger / w) * lesser;
      const norm = norm2(c, w);
      cosine = w / norm;
      sine = c / norm;
      b -= c;
      c = 0;
    } else {
      // Complex, or real and nearly equal: make the diagonal equal.
      const sigma = b + c;
      const norm = norm2(sigma, t);
      cosine = sqrt(0.5 * (1 + abs(sigma) / norm));
      sine = -(p / (norm * cosine)) * copysign(1.0, sigma);
      const aa = a * cosine + b * sine;
      const bb = b * cosine - a * sine;
      const cc = c * cosine + d * sine;
      const dd = d * cosine - c * sine;
      a = aa * cosine + cc * sine;
      b = bb * cosine + dd * sine;
      c = cc * cosine - aa * sine;
      d = dd * cosine - bb * sine;
      const middle = 0.5 * (a + d);
      a = middle;
      d = middle;
      if (c != 0) {
        if (b == 0) {
          b = -c;
          c = 0;
          const was = cosine;
          cosine = -sine;
          sine = was;
        } else if (copysign(1.0, b) == copysign(1.0, c)) {
          // Real after all: make it triangular.
          const rootB = sqrt(abs(b));
          const rootC = sqrt(abs(c));
          p = copysign(rootB * rootC, c);
          const inverse = 1 / sqrt(abs(b + c));
          a = middle + p;
          d = middle - p;
          b -= c;
          c = 0;
          const cosine1 = rootB * inverse;
          const sine1 = rootC * inverse;
          const was = cosine;
          cosine = was * cosine1 - sine * sine1;
          sine = was * sine1 + sine * cosine1;
        }
      }
    }
  }
  sa = a;
  sb = b;
  sc = c;
  sd = d;
  re1 = a;
  re2 = d;
  im1 = c == 0 ? 0 : sqrt(abs(b)) * sqrt(abs(c));
  im2 = c == 0 ? 0 : -im1;
}

/** sqrt(x^2 + y^2), free of overflow and underflow; x and y are not both 0. */
function norm2(x: f64, y: f64): f64 {
  const larger = max(abs(x), abs(y));
  const ratio = min(abs(x), abs(y)) / larger;
  return larger * sqrt(1 + ratio * ratio);
}
