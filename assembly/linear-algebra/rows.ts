// Products of rows with vectors: evaluation of readouts in the portable order (docs/numerics.md,
// rule 1), gradients, and the recursive least squares update. Rows are row-major binary64, padded
// with zeros to a multiple of 32 values.

/** out[t][o] = (rule 1's dot product of row t and weights o) + intercept[o]. */
export function evaluateRows(rows: usize, count: i32, width: i32, weights: usize, outputs: i32, intercept: usize, out: usize): void {
  const ld = (<usize>width) << 3;
  for (let t = 0; t < count; t++) {
    for (let o = 0; o < outputs; o++) {
      store<f64>(out, portableDot(rows, weights + <usize>o * ld, ld) + load<f64>(intercept + ((<usize>o) << 3)));
      out += 8;
    }
    rows += ld;
  }
}

/**
 * 32 partial sums, partial l over the positions l, l + 32, ..., then the butterfly: sixteen of them
 * at a time fit the registers.
 */
function portableDot(x: usize, w: usize, bytes: usize): f64 {
  let a0 = f64x2.splat(0);
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  let a4 = a0;
  let a5 = a0;
  let a6 = a0;
  let a7 = a0;
  for (let p: usize = 0; p < bytes; p += 256) {
    a0 = f64x2.add(a0, f64x2.mul(v128.load(w + p), v128.load(x + p)));
    a1 = f64x2.add(a1, f64x2.mul(v128.load(w + p, 16), v128.load(x + p, 16)));
    a2 = f64x2.add(a2, f64x2.mul(v128.load(w + p, 32), v128.load(x + p, 32)));
    a3 = f64x2.add(a3, f64x2.mul(v128.load(w + p, 48), v128.load(x + p, 48)));
    a4 = f64x2.add(a4, f64x2.mul(v128.load(w + p, 64), v128.load(x + p, 64)));
    a5 = f64x2.add(a5, f64x2.mul(v128.load(w + p, 80), v128.load(x + p, 80)));
    a6 = f64x2.add(a6, f64x2.mul(v128.load(w + p, 96), v128.load(x + p, 96)));
    a7 = f64x2.add(a7, f64x2.mul(v128.load(w + p, 112), v128.load(x + p, 112)));
  }
  return upperHalf(x, w, bytes, a0, a1, a2, a3, a4, a5, a6, a7);
}

function upperHalf(x: usize, w: usize, bytes: usize, a0: v128, a1: v128, a2: v128, a3: v128, a4: v128, a5: v128, a6: v128, a7: v128): f64 {
  let b0 = f64x2.splat(0);
  let b1 = b0;
  let b2 = b0;
  let b3 = b0;
  let b4 = b0;
  let b5 = b0;
  let b6 = b0;
  let b7 = b0;
  for (let p: usize = 0; p < bytes; p += 256) {
    b0 = f64x2.add(b0, f64x2.mul(v128.load(w + p, 128), v128.load(x + p, 128)));
    b1 = f64x2.add(b1, f64x2.mul(v128.load(w + p, 144), v128.load(x + p, 144)));
    b2 = f64x2.add(b2, f64x2.mul(v128.load(w + p, 160), v128.load(x + p, 160)));
    b3 = f64x2.add(b3, f64x2.mul(v128.load(w + p, 176), v128.load(x + p, 176)));
    b4 = f64x2.add(b4, f64x2.mul(v128.load(w + p, 192), v128.load(x + p, 192)));
    b5 = f64x2.add(b5, f64x2.mul(v128.load(w + p, 208), v128.load(x + p, 208)));
    b6 = f64x2.add(b6, f64x2.mul(v128.load(w + p, 224), v128.load(x + p, 224)));
    b7 = f64x2.add(b7, f64x2.mul(v128.load(w + p, 240), v128.load(x + p, 240)));
  }
  const c0 = f64x2.add(f64x2.add(a0, b0), f64x2.add(a4, b4));
  const c1 = f64x2.add(f64x2.add(a1, b1), f64x2.add(a5, b5));
  const c2 = f64x2.add(f64x2.add(a2, b2), f64x2.add(a6, b6));
  const c3 = f64x2.add(f64x2.add(a3, b3), f64x2.add(a7, b7));
  const d = f64x2.add(f64x2.add(c0, c2), f64x2.add(c1, c3));
  return f64x2.extract_lane(d, 0) + f64x2.extract_lane(d, 1);
}

/** out[k] += sum over t of factors[t][k] * row t, for k below `outputs`, in rising t. */
export function addWeightedRows(rows: usize, count: i32, width: i32, factors: usize, outputs: i32, out: usize): void {
  const ld = (<usize>width) << 3;
  const factorLd = (<usize>outputs) << 3;
  let t = 0;
  for (; t + 4 <= count; t += 4) {
    const x = rows + <usize>t * ld;
    for (let k = 0; k < outputs; k++) {
      const f = factors + <usize>t * factorLd + ((<usize>k) << 3);
      const f0 = v128.load64_splat(f);
      const f1 = v128.load64_splat(f + factorLd);
      const f2 = v128.load64_splat(f + 2 * factorLd);
      const f3 = v128.load64_splat(f + 3 * factorLd);
      const to = out + <usize>k * ld;
      for (let p: usize = 0; p < ld; p += 16) {
        let sum = f64x2.add(v128.load(to + p), f64x2.mul(v128.load(x + p), f0));
        sum = f64x2.add(sum, f64x2.mul(v128.load(x + ld + p), f1));
        sum = f64x2.add(sum, f64x2.mul(v128.load(x + 2 * ld + p), f2));
        v128.store(to + p, f64x2.add(sum, f64x2.mul(v128.load(x + 3 * ld + p), f3)));
      }
    }
  }
  for (; t < count; t++) {
    const x = rows + <usize>t * ld;
    for (let k = 0; k < outputs; k++) {
      const factor = v128.load64_splat(factors + <usize>t * factorLd + ((<usize>k) << 3));
      const to = out + <usize>k * ld;
      for (let p: usize = 0; p < ld; p += 16) v128.store(to + p, f64x2.add(v128.load(to + p), f64x2.mul(v128.load(x + p), factor)));
    }
  }
}

/** out = P x for a symmetric P of `width` columns and `n` rows; returns x . out in rising order. */
export function multiplySymmetric(matrix: usize, n: i32, width: i32, x: usize, out: usize): f64 {
  const ld = (<usize>width) << 3;
  let total: f64 = 0;
  for (let i = 0; i < n; i++) {
    const value = portableDot(x, matrix + <usize>i * ld, ld);
    store<f64>(out + ((<usize>i) << 3), value);
    total += load<f64>(x + ((<usize>i) << 3)) * value;
  }
  return total;
}

/** P = (P - q q^T) * factor, which keeps P symmetric in every bit. */
export function downdateSymmetric(matrix: usize, n: i32, width: i32, q: usize, factor: f64): void {
  const ld = (<usize>width) << 3;
  const f = f64x2.splat(factor);
  for (let i = 0; i < n; i++) {
    const qi = v128.load64_splat(q + ((<usize>i) << 3));
    const row = matrix + <usize>i * ld;
    for (let p: usize = 0; p < ld; p += 32) {
      v128.store(row + p, f64x2.mul(f64x2.sub(v128.load(row + p), f64x2.mul(v128.load(q + p), qi)), f));
      v128.store(row + p, f64x2.mul(f64x2.sub(v128.load(row + p, 16), f64x2.mul(v128.load(q + p, 16), qi)), f), 16);
    }
  }
}
