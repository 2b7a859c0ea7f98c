// The long-vector work of the Krylov-Schur iteration: products with the matrix, orthogonalization,
// change of basis. Vectors are `ld` numbers long, ld a multiple of 4, zero beyond the matrix. A
// basis is one vector after another.
import { laneSum } from "./address";

/**
 * y = W x for a CSR matrix whose column indices are byte offsets (column * 8). A row has four
 * partial sums, by position in the row modulo 4, added as (0 + 1) + (2 + 3) - positions that are
 * left over go to the first partial sums.
 */
export function krylovMultiplySparse(rows: i32, offsets: usize, columns: usize, values: usize, x: usize, y: usize): void {
  const last = offsets + ((<usize>rows) << 2);
  for (; offsets < last; offsets += 4, y += 8) {
    const end = columns + ((<usize>load<u32>(offsets, 4) - <usize>load<u32>(offsets)) << 2);
    let s0 = f64x2.splat(0);
    let s1 = s0;
    for (; columns + 16 <= end; columns += 16, values += 32) {
      const x0 = v128.load64_lane(x + load<u32>(columns, 4), v128.load64_zero(x + load<u32>(columns)), 1);
      const x1 = v128.load64_lane(x + load<u32>(columns, 12), v128.load64_zero(x + load<u32>(columns, 8)), 1);
      s0 = f64x2.add(s0, f64x2.mul(v128.load(values), x0));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(values, 16), x1));
    }
    let sum = laneSum(s0) + laneSum(s1);
    for (; columns < end; columns += 4, values += 8) sum += load<f64>(values) * load<f64>(x + load<u32>(columns));
    store<f64>(y, sum);
  }
}

/**
 * y = W x for a dense matrix whose rows are ld numbers apart. Two partial sums a row: even and odd
 * columns.
 */
export function krylovMultiplyDense(rows: i32, ld: i32, matrix: usize, x: usize, y: usize): void {
  const line = (<usize>ld) << 3;
  let w = matrix;
  let r = 0;
  for (; r + 4 <= rows; r += 4) {
    const w1 = w + line;
    const w2 = w1 + line;
    const w3 = w2 + line;
    let s0 = f64x2.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    for (let c: usize = 0; c < line; c += 16) {
      const xc = v128.load(x + c);
      s0 = f64x2.add(s0, f64x2.mul(v128.load(w + c), xc));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(w1 + c), xc));
      s2 = f64x2.add(s2, f64x2.mul(v128.load(w2 + c), xc));
      s3 = f64x2.add(s3, f64x2.mul(v128.load(w3 + c), xc));
    }
    const out = y + ((<usize>r) << 3);
    store<f64>(out, laneSum(s0));
    store<f64>(out, laneSum(s1), 8);
    store<f64>(out, laneSum(s2), 16);
    store<f64>(out, laneSum(s3), 24);
    w = w3 + line;
  }
  for (; r < rows; r++) {
    let sum = f64x2.splat(0);
    for (let c: usize = 0; c < line; c += 16) sum = f64x2.add(sum, f64x2.mul(v128.load(w + c), v128.load(x + c)));
    store<f64>(y + ((<usize>r) << 3), laneSum(sum));
    w += line;
  }
}

/** x . x */
export function krylovSquaredNorm(ld: i32, x: usize): f64 {
  let s0 = f64x2.splat(0);
  let s1 = s0;
  for (let c: usize = 0, end = (<usize>ld) << 3; c < end; c += 32) {
    const a = v128.load(x + c);
    const b = v128.load(x + c, 16);
    s0 = f64x2.add(s0, f64x2.mul(a, a));
    s1 = f64x2.add(s1, f64x2.mul(b, b));
  }
  return laneSum(f64x2.add(s0, s1));
}

/** y = factor x */
export function krylovScale(ld: i32, x: usize, y: usize, factor: f64): void {
  const f = f64x2.splat(factor);
  for (let c: usize = 0, end = (<usize>ld) << 3; c < end; c += 16) v128.store(y + c, f64x2.mul(v128.load(x + c), f));
}

/**
 * One pass of classical Gram-Schmidt: h = V w for the `count` vectors of the basis, then w -= V^T
 * h.
 */
export function krylovProject(count: i32, ld: i32, basis: usize, w: usize, h: usize): void {
  const line = (<usize>ld) << 3;
  let v = basis;
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    const v1 = v + line;
    const v2 = v1 + line;
    const v3 = v2 + line;
    let s0 = f64x2.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    for (let c: usize = 0; c < line; c += 16) {
      const x = v128.load(w + c);
      s0 = f64x2.add(s0, f64x2.mul(v128.load(v + c), x));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(v1 + c), x));
      s2 = f64x2.add(s2, f64x2.mul(v128.load(v2 + c), x));
      s3 = f64x2.add(s3, f64x2.mul(v128.load(v3 + c), x));
    }
    const out = h + ((<usize>i) << 3);
    store<f64>(out, laneSum(s0));
    store<f64>(out, laneSum(s1), 8);
    store<f64>(out, laneSum(s2), 16);
    store<f64>(out, laneSum(s3), 24);
    v = v3 + line;
  }
  for (; i < count; i++) {
    let sum = f64x2.splat(0);
    for (let c: usize = 0; c < line; c += 16) sum = f64x2.add(sum, f64x2.mul(v128.load(v + c), v128.load(w + c)));
    store<f64>(h + ((<usize>i) << 3), laneSum(sum));
    v += line;
  }
  v = basis;
  i = 0;
  for (; i + 4 <= count; i += 4) {
    const v1 = v + line;
    const v2 = v1 + line;
    const v3 = v2 + line;
    const from = h + ((<usize>i) << 3);
    const h0 = v128.load64_splat(from);
    const h1 = v128.load64_splat(from, 8);
    const h2 = v128.load64_splat(from, 16);
    const h3 = v128.load64_splat(from, 24);
    for (let c: usize = 0; c < line; c += 16) {
      const left = f64x2.add(f64x2.mul(h0, v128.load(v + c)), f64x2.mul(h1, v128.load(v1 + c)));
      const right = f64x2.add(f64x2.mul(h2, v128.load(v2 + c)), f64x2.mul(h3, v128.load(v3 + c)));
      v128.store(w + c, f64x2.sub(v128.load(w + c), f64x2.add(left, right)));
    }
    v = v3 + line;
  }
  for (; i < count; i++) {
    const hi = v128.load64_splat(h + ((<usize>i) << 3));
    for (let c: usize = 0; c < line; c += 16) v128.store(w + c, f64x2.sub(v128.load(w + c), f64x2.mul(hi, v128.load(v + c))));
    v += line;
  }
}

/**
 * The first `keep` vectors of the basis become V Q: vector j is the sum over i < count of Q[i][j]
 * times vector i. Q is row-major, its rows
 * `qld` numbers apart. Strips of four numbers at a time, copied to `work` (4 * count numbers)
 * first.
 */
export function krylovChangeBasis(count: i32, keep: i32, ld: i32, basis: usize, q: usize, qld: i32, work: usize): void {
  const line = (<usize>ld) << 3;
  for (let c: usize = 0; c < line; c += 32) {
    let v = basis + c;
    let to = work;
    for (let i = 0; i < count; i++) {
      v128.store(to, v128.load(v));
      v128.store(to, v128.load(v, 16), 16);
      v += line;
      to += 32;
    }
    v = basis + c;
    for (let j = 0; j < keep; j++) {
      let s0 = f64x2.splat(0);
      let s1 = s0;
      let from = work;
      let coefficient = q + ((<usize>j) << 3);
      for (let i = 0; i < count; i++) {
        const f = v128.load64_splat(coefficient);
        s0 = f64x2.add(s0, f64x2.mul(f, v128.load(from)));
        s1 = f64x2.add(s1, f64x2.mul(f, v128.load(from, 16)));
        from += 32;
        coefficient += (<usize>qld) << 3;
      }
      v128.store(v, s0);
      v128.store(v, s1, 16);
      v += line;
    }
  }
}
