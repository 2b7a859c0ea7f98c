// The standard form of a 2 x 2 diagonal block of a real Schur form, the rotation that makes it, and
// its two eigenvalues.

const ulp: f64 = 2.220446049250313e-16;

/** The block in standard form: [sa sb; sc sd]. */
export let sa: f64 = 0, sb: f64 = 0, sc: f64 = 0, sd: f64 = 0;

/** Its eigenvalues. */
export let re1: f64 = 0, im1: f64 = 0, re2: f64 = 0, im2: f64 = 0;

let cosine: f64 = 1, sine: f64 = 0;

/**
 * Rotates the block [a b; c d] into standard form: c = 0 (real eigenvalues a and d), or a = d and b
 * c < 0 (eigenvalues a +- i sqrt(-b c)). LAPACK's dlanv2; the scaling loop against overflow is left
 * out, as the caller scaled the matrix to 1.
 */
export function standardize(a: f64, b: f64, c: f64, d: f64): void {
  cosine = 1;
  sine = 0;
  if (c != 0 && b == 0) {
    cosine = 0;
    sine = 1;
    const t = d;
    d = a;
    a = t;
    b = -c;
    c = 0;
  } else if (c != 0 && !(a == d && copysign(1.0, b) != copysign(1.0, c))) {
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

/**
 * The rotation that standardize() found, on two rows or columns whose elements are `stride` bytes
 * apart.
 */
export function applyRotation(p: usize, q: usize, stride: usize, count: i32): void {
  for (let r = 0; r < count; r++, p += stride, q += stride) {
    const x = load<f64>(p);
    const y = load<f64>(q);
    store<f64>(p, cosine * x + sine * y);
    store<f64>(q, cosine * y - sine * x);
  }
}
