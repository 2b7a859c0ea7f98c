// The kernels that all matrix products are made of: a tile of 2 x 6 sums in registers, one product
// at a time in rising order. Two rows times six columns, two steps at a time, is what the compilers
// keep in sixteen vector registers without spilling: 4 x 4 is a tenth slower, and a last odd step
// inside the same function makes it half as fast. So the odd step is its own function.

/**
 * out[r][c] += sum over k = 0 .. n-1 of A[k][r] * B[k][c], for r = 0, 1 and c = 0 .. 5, every
 * product and sum rounded, in rising k on top of what is there. A lies with stride `strideA` bytes
 * between k, B with 48, the rows of `out` with `strideOut`.
 */
// @ts-ignore: decorator
@inline
export function addProducts(a: usize, strideA: usize, b: usize, n: i32, out: usize, strideOut: usize): void {
  const even = n & ~1;
  if (even > 0) addPairs(a, strideA, b, even, out, strideOut);
  if (n > even) addLast(a + <usize>even * strideA, b + <usize>even * 48, out, strideOut);
}

/**
 * The same with every product subtracted: out[r][c] = out[r][c] - A[k][r] * B[k][c] in rising k.
 */
// @ts-ignore: decorator
@inline
export function subtractProducts(a: usize, strideA: usize, b: usize, n: i32, out: usize, strideOut: usize): void {
  const even = n & ~1;
  if (even > 0) subtractPairs(a, strideA, b, even, out, strideOut);
  if (n > even) subtractLast(a + <usize>even * strideA, b + <usize>even * 48, out, strideOut);
}

function addPairs(a: usize, strideA: usize, b: usize, n: i32, out: usize, strideOut: usize): void {
  accumulatePairs(a, strideA, b, n, out, strideOut, false);
}
function subtractPairs(a: usize, strideA: usize, b: usize, n: i32, out: usize, strideOut: usize): void {
  accumulatePairs(a, strideA, b, n, out, strideOut, true);
}
function addLast(a: usize, b: usize, out: usize, strideOut: usize): void {
  accumulateLast(a, b, out, strideOut, false);
}
function subtractLast(a: usize, b: usize, out: usize, strideOut: usize): void {
  accumulateLast(a, b, out, strideOut, true);
}

/** `minus` is a constant wherever this is inlined, so each kernel has one of the two operations. */
// @ts-ignore: decorator
@inline
function accumulate(sum: v128, product: v128, minus: bool): v128 {
  return minus ? f64x2.sub(sum, product) : f64x2.add(sum, product);
}

// @ts-ignore: decorator
@inline
function accumulatePairs(a: usize, strideA: usize, b: usize, n: i32, out: usize, strideOut: usize, minus: bool): void {
  let c00 = v128.load(out);
  let c01 = v128.load(out, 16);
  let c02 = v128.load(out, 32);
  let c10 = v128.load(out + strideOut);
  let c11 = v128.load(out + strideOut, 16);
  let c12 = v128.load(out + strideOut, 32);
  for (let k = n; k > 0; k -= 2) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const a0 = v128.load64_splat(a);
    c00 = accumulate(c00, f64x2.mul(b0, a0), minus);
    c01 = accumulate(c01, f64x2.mul(b1, a0), minus);
    c02 = accumulate(c02, f64x2.mul(b2, a0), minus);
    const a1 = v128.load64_splat(a, 8);
    c10 = accumulate(c10, f64x2.mul(b0, a1), minus);
    c11 = accumulate(c11, f64x2.mul(b1, a1), minus);
    c12 = accumulate(c12, f64x2.mul(b2, a1), minus);
    const d0 = v128.load(b, 48);
    const d1 = v128.load(b, 64);
    const d2 = v128.load(b, 80);
    const e0 = v128.load64_splat(a + strideA);
    c00 = accumulate(c00, f64x2.mul(d0, e0), minus);
    c01 = accumulate(c01, f64x2.mul(d1, e0), minus);
    c02 = accumulate(c02, f64x2.mul(d2, e0), minus);
    const e1 = v128.load64_splat(a + strideA, 8);
    c10 = accumulate(c10, f64x2.mul(d0, e1), minus);
    c11 = accumulate(c11, f64x2.mul(d1, e1), minus);
    c12 = accumulate(c12, f64x2.mul(d2, e1), minus);
    a += strideA << 1;
    b += 96;
  }
  v128.store(out, c00);
  v128.store(out, c01, 16);
  v128.store(out, c02, 32);
  v128.store(out + strideOut, c10);
  v128.store(out + strideOut, c11, 16);
  v128.store(out + strideOut, c12, 32);
}

// @ts-ignore: decorator
@inline
function accumulateLast(a: usize, b: usize, out: usize, strideOut: usize, minus: bool): void {
  let c00 = v128.load(out);
  let c01 = v128.load(out, 16);
  let c02 = v128.load(out, 32);
  let c10 = v128.load(out + strideOut);
  let c11 = v128.load(out + strideOut, 16);
  let c12 = v128.load(out + strideOut, 32);
  const b0 = v128.load(b);
  const b1 = v128.load(b, 16);
  const b2 = v128.load(b, 32);
  const a0 = v128.load64_splat(a);
  c00 = accumulate(c00, f64x2.mul(b0, a0), minus);
  c01 = accumulate(c01, f64x2.mul(b1, a0), minus);
  c02 = accumulate(c02, f64x2.mul(b2, a0), minus);
  const a1 = v128.load64_splat(a, 8);
  c10 = accumulate(c10, f64x2.mul(b0, a1), minus);
  c11 = accumulate(c11, f64x2.mul(b1, a1), minus);
  c12 = accumulate(c12, f64x2.mul(b2, a1), minus);
  v128.store(out, c00);
  v128.store(out, c01, 16);
  v128.store(out, c02, 32);
  v128.store(out + strideOut, c10);
  v128.store(out + strideOut, c11, 16);
  v128.store(out + strideOut, c12, 32);
}
