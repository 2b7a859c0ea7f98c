// Reduction of a square matrix to bidiagonal form by Householder reflections from both sides (Golub
// and Kahan 1965), which makes ridge regression with any lambda a matter of a few operations per
// unknown. Not an iteration: it always ends.

/**
 * M = [A | Z], n x (n + extra), row-major with `ld` bytes a row: A = U B V^T with B upper
 * bidiagonal, Z becomes U^T Z. diagonal and superdiagonal take n values each. Row k of A keeps the
 * reflection of step k (1, v...) from column k + 1 on, and
 * `rightFactors` its factor. `work` takes 2 n + (n + extra) values.
 */
export function bidiagonalize(
  matrix: usize,
  n: i32,
  extra: i32,
  ld: usize,
  diagonal: usize,
  superdiagonal: usize,
  rightFactors: usize,
  work: usize,
): void {
  const u = work;
  const s = u + ((<usize>n) << 3);
  const w = s + ((<usize>n) << 3);
  const width = n + extra;
  let right: f64 = 0;
  for (let k = 0; k < n; k++) {
    // Column k, with only the right reflection of the step before applied: this step's u must be
    // known before the rows are visited.
    const previous = matrix + <usize>(k - 1) * ld;
    let squares: f64 = 0;
    for (let i = k; i < n; i++) {
      let value = load<f64>(matrix + <usize>i * ld + ((<usize>k) << 3));
      if (k > 0) value -= load<f64>(s + ((<usize>i) << 3));
      store<f64>(u + ((<usize>i) << 3), value);
      if (i > k) squares += value * value;
    }
    const alpha = load<f64>(u + ((<usize>k) << 3));
    let left: f64 = 0;
    let beta = alpha;
    if (squares > 0) {
      const norm = Math.sqrt(alpha * alpha + squares);
      beta = alpha >= 0 ? -norm : norm;
      left = (beta - alpha) / beta;
      for (let i = k + 1; i < n; i++) store<f64>(u + ((<usize>i) << 3), load<f64>(u + ((<usize>i) << 3)) / (alpha - beta));
    } else {
      for (let i = k + 1; i < n; i++) store<f64>(u + ((<usize>i) << 3), 0);
    }
    store<f64>(u + ((<usize>k) << 3), 1);
    store<f64>(diagonal + ((<usize>k) << 3), beta);

    const from = k + 1;
    memory.fill(w, 0, (<usize>width) << 3);
    for (let i = k; i < n; i++) {
      const row = matrix + <usize>i * ld;
      if (k > 0) subtractScaled(row, previous, load<f64>(s + ((<usize>i) << 3)), from, n);
      addScaled(w, row, load<f64>(u + ((<usize>i) << 3)), from, width);
    }
    scale(w, left, from, width);

    const pivotRow = matrix + <usize>k * ld;
    subtractScaled(pivotRow, w, 1, from, width);
    right = 0;
    let super_: f64 = 0;
    if (from < n) {
      const first = pivotRow + ((<usize>from) << 3);
      super_ = load<f64>(first);
      squares = dot(pivotRow, pivotRow, from + 1, n);
      if (squares > 0) {
        const norm = Math.sqrt(super_ * super_ + squares);
        const target = super_ >= 0 ? -norm : norm;
        right = (target - super_) / target;
        const divisor = super_ - target;
        for (let c = from + 1; c < n; c++) {
          const at = pivotRow + ((<usize>c) << 3);
          store<f64>(at, load<f64>(at) / divisor);
        }
        super_ = target;
      }
      store<f64>(first, 1);
    }
    store<f64>(superdiagonal + ((<usize>k) << 3), super_);
    store<f64>(rightFactors + ((<usize>k) << 3), right);
    for (let i = from; i < n; i++) {
      const row = matrix + <usize>i * ld;
      subtractScaled(row, w, load<f64>(u + ((<usize>i) << 3)), from, width);
      store<f64>(s + ((<usize>i) << 3), right * dot(row, pivotRow, from, n));
    }
  }
}

/** Multiplies rows (row-major, `ld` bytes a row, n values) by V from the right. */
export function applyRightReflections(
  matrix: usize,
  n: i32,
  matrixLd: usize,
  rightFactors: usize,
  rows: usize,
  count: i32,
  ld: usize,
): void {
  for (let k = 0; k < n - 1; k++) {
    const v = matrix + <usize>k * matrixLd;
    const factor = load<f64>(rightFactors + ((<usize>k) << 3));
    if (factor == 0) continue;
    for (let i = 0; i < count; i++) {
      const row = rows + <usize>i * ld;
      subtractScaled(row, v, factor * dot(row, v, k + 1, n), k + 1, n);
    }
  }
}

function dot(a: usize, b: usize, from: i32, to: i32): f64 {
  let p = (<usize>from) << 3;
  const end = (<usize>to) << 3;
  let s0 = f64x2.splat(0);
  let s1 = s0;
  let s2 = s0;
  let s3 = s0;
  for (; p + 64 <= end; p += 64) {
    s0 = f64x2.add(s0, f64x2.mul(v128.load(a + p), v128.load(b + p)));
    s1 = f64x2.add(s1, f64x2.mul(v128.load(a + p, 16), v128.load(b + p, 16)));
    s2 = f64x2.add(s2, f64x2.mul(v128.load(a + p, 32), v128.load(b + p, 32)));
    s3 = f64x2.add(s3, f64x2.mul(v128.load(a + p, 48), v128.load(b + p, 48)));
  }
  const sum = f64x2.add(f64x2.add(s0, s1), f64x2.add(s2, s3));
  let total = f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
  for (; p < end; p += 8) total += load<f64>(a + p) * load<f64>(b + p);
  return total;
}

/** to -= x factor: the product with -factor is the negative of the product, bit for bit. */
// @ts-ignore: decorator
@inline
function subtractScaled(to: usize, x: usize, factor: f64, from: i32, end: i32): void {
  addScaled(to, x, -factor, from, end);
}

function addScaled(to: usize, x: usize, factor: f64, from: i32, end: i32): void {
  let p = (<usize>from) << 3;
  const last = (<usize>end) << 3;
  const f = f64x2.splat(factor);
  for (; p + 32 <= last; p += 32) {
    v128.store(to + p, f64x2.add(v128.load(to + p), f64x2.mul(v128.load(x + p), f)));
    v128.store(to + p, f64x2.add(v128.load(to + p, 16), f64x2.mul(v128.load(x + p, 16), f)), 16);
  }
  for (; p < last; p += 8) store<f64>(to + p, load<f64>(to + p) + load<f64>(x + p) * factor);
}

function scale(x: usize, factor: f64, from: i32, end: i32): void {
  for (let c = from; c < end; c++) store<f64>(x + ((<usize>c) << 3), load<f64>(x + ((<usize>c) << 3)) * factor);
}
