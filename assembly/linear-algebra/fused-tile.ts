// A tile of 3 x 6 sums with fused multiply-add, for products that are exact in binary64. A fused
// sum needs no register for its product and takes as long as one product, so nine of them hide each
// other's latency in sixteen registers.

/**
 * out[r][c] += sum over k = 0 .. n-1 of A[k][r] * B[k][c], for r = 0 .. 2 and c = 0 .. 5, in rising
 * k. All strides are 48 bytes.
 */
export function addFusedProducts(a: usize, b: usize, n: i32, out: usize): void {
  let c00 = v128.load(out);
  let c01 = v128.load(out, 16);
  let c02 = v128.load(out, 32);
  let c10 = v128.load(out, 48);
  let c11 = v128.load(out, 64);
  let c12 = v128.load(out, 80);
  let c20 = v128.load(out, 96);
  let c21 = v128.load(out, 112);
  let c22 = v128.load(out, 128);
  for (let k = n; k > 0; k--) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const a0 = v128.load64_splat(a);
    c00 = f64x2.relaxed_madd(b0, a0, c00);
    c01 = f64x2.relaxed_madd(b1, a0, c01);
    c02 = f64x2.relaxed_madd(b2, a0, c02);
    const a1 = v128.load64_splat(a, 8);
    c10 = f64x2.relaxed_madd(b0, a1, c10);
    c11 = f64x2.relaxed_madd(b1, a1, c11);
    c12 = f64x2.relaxed_madd(b2, a1, c12);
    const a2 = v128.load64_splat(a, 16);
    c20 = f64x2.relaxed_madd(b0, a2, c20);
    c21 = f64x2.relaxed_madd(b1, a2, c21);
    c22 = f64x2.relaxed_madd(b2, a2, c22);
    a += 48;
    b += 48;
  }
  v128.store(out, c00);
  v128.store(out, c01, 16);
  v128.store(out, c02, 32);
  v128.store(out, c10, 48);
  v128.store(out, c11, 64);
  v128.store(out, c12, 80);
  v128.store(out, c20, 96);
  v128.store(out, c21, 112);
  v128.store(out, c22, 128);
}
