// Reduction of a square matrix to upper Hessenberg form by Householder reflections. Not blocked:
// one pass that multiplies and one that updates, each over the whole matrix, for every column.
import { at, laneSum } from "./address";

/**
 * A := Q^T A Q, upper Hessenberg, for A of n x n. Rows are `ld` numbers apart and ld is even;
 * columns n..ld-1 must be zero and stay zero. If q is not 0, the n x ld matrix there is
 * multiplied by Q from the right. `work` takes 3 ld numbers. Golub and Van Loan, Matrix
 * Computations, algorithm 7.4.2, with both sides of a reflection applied in one rank-2 update.
 */
export function reduceToHessenberg(n: i32, a: usize, ld: i32, q: usize, work: usize): void {
  const v = work;
  const w = v + ((<usize>ld) << 3);
  const y = w + ((<usize>ld) << 3);
  for (let k = 0; k < n - 2; k++) {
    let tail: f64 = 0;
    for (let r = k + 2; r < n; r++) {
      const x = load<f64>(at(a, ld, r, k));
      tail += x * x;
    }
    if (tail == 0) {
      for (let r = k + 2; r < n; r++) store<f64>(at(a, ld, r, k), 0);
      continue;
    }
    const alpha = load<f64>(at(a, ld, k + 1, k));
    const beta = -copysign(sqrt(alpha * alpha + tail), alpha);
    const tau = (beta - alpha) / beta;
    const scale = 1 / (alpha - beta);
    memory.fill(v, 0, (<usize>ld) << 3);
    store<f64>(v + ((<usize>(k + 1)) << 3), 1);
    for (let r = k + 2; r < n; r++) {
      store<f64>(v + ((<usize>r) << 3), load<f64>(at(a, ld, r, k)) * scale);
      store<f64>(at(a, ld, r, k), 0);
    }
    store<f64>(at(a, ld, k + 1, k), beta);

    // Column k is done; an even first column keeps the lanes of v, w and y in step, and v is 0
    // there if it is column k.
    const first = (k + 1) & ~1;
    multiplyBoth(n, a, ld, k + 1, first, v, w, y);
    let wv: f64 = 0;
    for (let c = k + 1; c < n; c++) wv += load<f64>(w + ((<usize>c) << 3)) * load<f64>(v + ((<usize>c) << 3));
    if (first == k) store<f64>(w + ((<usize>k) << 3), 0);
    for (let r = 0; r < n; r++) {
      const vr = load<f64>(v + ((<usize>r) << 3));
      const left = tau * vr;
      const right = tau * (load<f64>(y + ((<usize>r) << 3)) - left * wv);
      if (left == 0) subtractOne(at(a, ld, r, first), v + ((<usize>first) << 3), ld - first, right);
      else subtractTwo(at(a, ld, r, first), w + ((<usize>first) << 3), v + ((<usize>first) << 3), ld - first, left, right);
    }
    if (q != 0) {
      for (let r = 0; r < n; r++) {
        const row = at(q, ld, r, first);
        subtractOne(row, v + ((<usize>first) << 3), ld - first, tau * dot(row, v + ((<usize>first) << 3), ld - first));
      }
    }
  }
}

/**
 * y = A v for every row, and w = v^T A over the rows from `start` on; columns from `first` (even)
 * on. Four rows at a time.
 */
function multiplyBoth(n: i32, a: usize, ld: i32, start: i32, first: i32, v: usize, w: usize, y: usize): void {
  const from = (<usize>first) << 3;
  const to = (<usize>ld) << 3;
  memory.fill(w + from, 0, to - from);
  for (let r = 0; r < n; r++) {
    const row = at(a, ld, r, 0);
    if (r < start || r + 4 > n) {
      let sum = f64x2.splat(0);
      const vr = f64x2.splat(r < start ? 0 : load<f64>(v + ((<usize>r) << 3)));
      for (let c = from; c < to; c += 16) {
        const x = v128.load(row + c);
        sum = f64x2.add(sum, f64x2.mul(x, v128.load(v + c)));
        if (r >= start) v128.store(w + c, f64x2.add(v128.load(w + c), f64x2.mul(x, vr)));
      }
      store<f64>(y + ((<usize>r) << 3), laneSum(sum));
      continue;
    }
    const step = to;
    const row1 = row + step;
    const row2 = row1 + step;
    const row3 = row2 + step;
    let s0 = f64x2.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    const v0 = v128.load64_splat(v + ((<usize>r) << 3));
    const v1 = v128.load64_splat(v + ((<usize>r) << 3), 8);
    const v2 = v128.load64_splat(v + ((<usize>r) << 3), 16);
    const v3 = v128.load64_splat(v + ((<usize>r) << 3), 24);
    for (let c = from; c < to; c += 16) {
      const vc = v128.load(v + c);
      const x0 = v128.load(row + c);
      const x1 = v128.load(row1 + c);
      const x2 = v128.load(row2 + c);
      const x3 = v128.load(row3 + c);
      s0 = f64x2.add(s0, f64x2.mul(x0, vc));
      s1 = f64x2.add(s1, f64x2.mul(x1, vc));
      s2 = f64x2.add(s2, f64x2.mul(x2, vc));
      s3 = f64x2.add(s3, f64x2.mul(x3, vc));
      const left = f64x2.add(f64x2.mul(x0, v0), f64x2.mul(x1, v1));
      const right = f64x2.add(f64x2.mul(x2, v2), f64x2.mul(x3, v3));
      v128.store(w + c, f64x2.add(v128.load(w + c), f64x2.add(left, right)));
    }
    store<f64>(y + ((<usize>r) << 3), laneSum(s0));
    store<f64>(y + ((<usize>r) << 3), laneSum(s1), 8);
    store<f64>(y + ((<usize>r) << 3), laneSum(s2), 16);
    store<f64>(y + ((<usize>r) << 3), laneSum(s3), 24);
    r += 3;
  }
}

/** x -= p * v */
function subtractOne(x: usize, v: usize, n: i32, p: f64): void {
  const pp = f64x2.splat(p);
  for (let c: usize = 0, end = (<usize>n) << 3; c < end; c += 16) {
    v128.store(x + c, f64x2.sub(v128.load(x + c), f64x2.mul(pp, v128.load(v + c))));
  }
}

/** x -= p * w + s * v */
function subtractTwo(x: usize, w: usize, v: usize, n: i32, p: f64, s: f64): void {
  const pp = f64x2.splat(p);
  const ss = f64x2.splat(s);
  for (let c: usize = 0, end = (<usize>n) << 3; c < end; c += 16) {
    const change = f64x2.add(f64x2.mul(pp, v128.load(w + c)), f64x2.mul(ss, v128.load(v + c)));
    v128.store(x + c, f64x2.sub(v128.load(x + c), change));
  }
}

function dot(x: usize, y: usize, n: i32): f64 {
  let sum = f64x2.splat(0);
  for (let c: usize = 0, end = (<usize>n) << 3; c < end; c += 16) sum = f64x2.add(sum, f64x2.mul(v128.load(x + c), v128.load(y + c)));
  return laneSum(sum);
}
