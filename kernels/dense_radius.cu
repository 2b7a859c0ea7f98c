// max |lambda| of many dense matrices in binary64, one block of threads each: Hessenberg form, then
// the double-shift QR algorithm. Every operation is in the order of assembly/spectrum
// (hessenberg.ts, francis.ts, standard-block.ts), so a radius has the host's bits. Matrices are
// balanced and brought to [1, 2) by the host.
#include "portable.cuh"

using portable::add;
using portable::div;
using portable::mul;
using portable::root;
using portable::sub;

namespace {

/** Of the largest matrix (dense-blocks.ts). */
const int mostRows = 512;

const int mostThreads = 256;

const double ulp = 0x1p-52, smallest = 0x1p-1022;

__device__ __forceinline__ double sum3(double a, double b, double c) { return add(add(a, b), c); }

/** A matrix of n rows, `ld` numbers apart; ld is even, and numbers beyond column n are 0. */
struct Square {
  double* values;
  int n, ld;
  __device__ __forceinline__ double& operator()(int r, int c) const { return values[r * ld + c]; }
};

/** What the threads of a block share. */
struct Shared {
  /** A column, its reflection v, w = v^T A and y = A v. */
  double column[mostRows], v[mostRows + 2], w[mostRows], y[mostRows];
  /** The largest row that a search of all threads found, or -1. */
  int split, start;
};

/** y[r] = A[r] v from column `first` on, by the sums of even and odd columns. */
__device__ __forceinline__ double timesRow(const Square& A, int r, int first, const double* v) {
  const double* row = &A(r, 0);
  double even = 0.0, odd = 0.0;
#pragma unroll 2
  for (int c = first; c < A.n; c += 2) {
    const double2 x = *(const double2*)(row + c);
    even = add(even, mul(x.x, v[c]));
    odd = add(odd, mul(x.y, v[c + 1]));
  }
  return add(even, odd);
}

/** w[c] = v^T A over the rows from `start` on, four at a time. */
__device__ __forceinline__ double timesColumn(const Square& A, int c, int start, const double* v) {
  double sum = 0.0;
  int r = start;
#pragma unroll 1
  for (; r + 4 <= A.n; r += 4) {
    const double left = add(mul(A(r, c), v[r]), mul(A(r + 1, c), v[r + 1]));
    sum = add(sum, add(left, add(mul(A(r + 2, c), v[r + 2]), mul(A(r + 3, c), v[r + 3]))));
  }
#pragma unroll 1
  for (; r < A.n; r++) sum = add(sum, mul(A(r, c), v[r]));
  return sum;
}

__device__ void reduceToHessenberg(const Square& A, Shared& s) {
  const int n = A.n, me = threadIdx.x, threads = blockDim.x;
  for (int k = 0; k < n - 2; k++) {
#pragma unroll 1
    for (int r = k + 1 + me; r < n; r += threads) s.column[r] = A(r, k);
    __syncthreads();
    double tail = 0.0;
#pragma unroll 4
    for (int r = k + 2; r < n; r++) tail = add(tail, mul(s.column[r], s.column[r]));
    if (tail == 0.0) {
#pragma unroll 1
      for (int r = k + 2 + me; r < n; r += threads) A(r, k) = 0.0;
      __syncthreads();
      continue;
    }
    const double alpha = s.column[k + 1], beta = -copysign(root(add(mul(alpha, alpha), tail)), alpha);
    const double tau = div(sub(beta, alpha), beta), scale = div(1.0, sub(alpha, beta));
#pragma unroll 1
    for (int r = me; r < n + 2; r += threads) s.v[r] = r <= k || r >= n ? 0.0 : r == k + 1 ? 1.0 : mul(s.column[r], scale);
#pragma unroll 1
    for (int r = k + 1 + me; r < n; r += threads) A(r, k) = r == k + 1 ? beta : 0.0;
    __syncthreads();
    const int first = (k + 1) & ~1;
#pragma unroll 1
    for (int t = me; t < 2 * n - first; t += threads) {
      const int c = first + t - n;
      if (t < n) s.y[t] = timesRow(A, t, first, s.v);
      else s.w[c] = c == k ? 0.0 : timesColumn(A, c, k + 1, s.v);
    }
    __syncthreads();
    double wv = 0.0;
#pragma unroll 4
    for (int c = k + 1; c < n; c++) wv = add(wv, mul(s.w[c], s.v[c]));
#pragma unroll 1
    for (int r = me >> 5; r < n; r += threads >> 5) {
      const double left = mul(tau, s.v[r]), right = mul(tau, sub(s.y[r], mul(left, wv)));
#pragma unroll 2
      for (int c = first + (me & 31); c < n; c += 32) {
        const double change = mul(right, s.v[c]);
        A(r, c) = sub(A(r, c), left == 0.0 ? change : add(mul(left, s.w[c]), change));
      }
    }
    __syncthreads();
  }
}

/** Whether a block that ends in row i may be split above row k. */
__device__ __forceinline__ bool splits(const Square& H, int k, double small) {
  const double *p = &H(k, k), *up = p - H.ld;
  const double below = fabs(p[-1]), here = p[0], before = up[-1];
  if (below <= small) return true;
  double scale = add(fabs(before), fabs(here));
  if (scale == 0.0) {
    if (k >= 2) scale = add(scale, fabs(up[-2]));
    if (k + 1 < H.n) scale = add(scale, fabs(p[H.ld]));
  }
  if (below > mul(ulp, scale)) return false;
  const double above = fabs(up[0]), difference = fabs(sub(before, here));
  const double ab = fmax(below, above), ba = fmin(below, above), aa = fmax(fabs(here), difference), bb = fmin(fabs(here), difference);
  const double sum = add(aa, ab);
  return mul(ba, div(ab, sum)) <= fmax(small, mul(ulp, mul(bb, div(aa, sum))));
}

/** Two shifts: r1 + i i1 and r2 - i i1. */
struct Shifts {
  double r1, i1, r2;
};

/** Those of the block of rows l to i, after so many sweeps that split nothing. */
__device__ Shifts shiftsOf(const Square& H, int l, int i, int stalled) {
  double h11, h12, h21, h22;
  if (stalled % 10 == 0) {
    const bool atEnd = stalled % 20 == 0;
    double s = fabs(atEnd ? H(i, i - 1) : H(l + 1, l));
    if (!atEnd) s = add(s, fabs(H(l + 2, l + 1)));
    else if (i > l + 1) s = add(s, fabs(H(i - 1, i - 2)));
    h22 = h11 = add(mul(0.75, s), atEnd ? H(i, i) : H(l, l));
    h12 = mul(-0.4375, s);
    h21 = s;
  } else {
    h11 = H(i - 1, i - 1), h12 = H(i - 1, i), h21 = H(i, i - 1), h22 = H(i, i);
  }
  const double s = add(add(add(fabs(h11), fabs(h12)), fabs(h21)), fabs(h22));
  if (s == 0.0) return {0.0, 0.0, 0.0};
  h11 = div(h11, s), h12 = div(h12, s), h21 = div(h21, s), h22 = div(h22, s);
  const double trace = mul(add(h11, h22), 0.5);
  const double determinant = sub(mul(sub(h11, trace), sub(h22, trace)), mul(h12, h21)), width = root(fabs(determinant));
  if (determinant >= 0.0) return {mul(trace, s), mul(width, s), mul(trace, s)};
  const double up = add(trace, width), down = sub(trace, width);
  const double r = mul(fabs(sub(up, h22)) <= fabs(sub(down, h22)) ? up : down, s);
  return {r, 0.0, r};
}

/** The first column of the shifted square, for a sweep from row m. */
struct First {
  double v0, v1, v2;
};

__device__ __forceinline__ First firstColumn(const Square& H, int m, const Shifts& shifts) {
  const double *p = &H(m, m), *down = p + H.ld;
  const double hmm = p[0], below = down[0], next = down[1], off = sub(hmm, shifts.r2);
  const double sum = sum3(fabs(off), fabs(shifts.i1), fabs(below)), q = div(below, sum);
  const double v0 = sum3(mul(q, p[1]), mul(sub(hmm, shifts.r1), div(off, sum)), mul(shifts.i1, div(shifts.i1, sum)));
  const double v1 = mul(q, sub(sub(add(hmm, next), shifts.r1), shifts.r2)), v2 = mul(q, down[H.ld + 1]);
  const double size = sum3(fabs(v0), fabs(v1), fabs(v2));
  return {div(v0, size), div(v1, size), div(v2, size)};
}

/** Whether a sweep may start in row m. */
__device__ __forceinline__ bool starts(const Square& H, int m, const Shifts& shifts) {
  const First v = firstColumn(H, m, shifts);
  const double* p = &H(m, m);
  const double around = sum3(fabs(p[-H.ld - 1]), fabs(p[0]), fabs(p[H.ld + 1]));
  return mul(fabs(p[-1]), add(fabs(v.v1), fabs(v.v2))) <= mul(mul(ulp, fabs(v.v0)), around);
}

/** I - tau (1, v1, v2)(1, v1, v2)^T on three numbers `step` apart. */
__device__ __forceinline__ void reflect3(double* p, int step, double tau, double t1, double t2, double v1, double v2) {
  const double x = p[0], y = p[step], z = p[2 * step], sum = sum3(x, mul(v1, y), mul(v2, z));
  p[0] = sub(x, mul(sum, tau));
  p[step] = sub(y, mul(sum, t1));
  p[2 * step] = sub(z, mul(sum, t2));
}

__device__ __forceinline__ void reflect2(double* p, int step, double tau, double t1, double v1) {
  const double x = p[0], y = p[step], sum = add(x, mul(v1, y));
  p[0] = sub(x, mul(sum, tau));
  p[step] = sub(y, mul(sum, t1));
}

/** One implicit double-shift QR sweep over rows m to i of a block from row l on. */
__device__ void sweep(const Square& H, Shared& s, int l, int m, int i, First v) {
  const int me = threadIdx.x, threads = blockDim.x;
  double v0 = v.v0, v1 = v.v1, v2 = v.v2;
  for (int k = m; k < i; k++) {
    const bool three = k < i - 1;
    if (k > m) v0 = H(k, k - 1), v1 = H(k + 1, k - 1), v2 = three ? H(k + 2, k - 1) : 0.0;
    double tau = 0.0, beta = v0;
    const double most = fmax(fabs(v1), fabs(v2));
    if (most != 0.0) {
      const double scale = fmax(fabs(v0), most), a = div(v0, scale), b = div(v1, scale), c = div(v2, scale);
      const double norm = -copysign(root(sum3(mul(a, a), mul(b, b), mul(c, c))), a), inverse = div(1.0, sub(a, norm));
      tau = div(sub(norm, a), norm);
      v1 = mul(b, inverse);
      v2 = mul(c, inverse);
      beta = mul(norm, scale);
    }
    const double t1 = mul(tau, v1), t2 = mul(tau, v2);
#pragma unroll 1
    for (int c = k + me; c <= i; c += threads) {
      if (three) reflect3(&H(k, c), H.ld, tau, t1, t2, v1, v2);
      else reflect2(&H(k, c), H.ld, tau, t1, v1);
    }
    __syncthreads();
    if (me == 0) {
      s.start = -1;
      if (k > m) {
        H(k, k - 1) = beta;
        H(k + 1, k - 1) = 0.0;
        if (three) H(k + 2, k - 1) = 0.0;
      } else if (m > l) {
        H(k, k - 1) = mul(H(k, k - 1), sub(1.0, tau));
      }
    }
#pragma unroll 1
    for (int r = l + me; r <= min(k + 3, i); r += threads) {
      if (three) reflect3(&H(r, k), 1, tau, t1, t2, v1, v2);
      else reflect2(&H(r, k), 1, tau, t1, v1);
    }
    __syncthreads();
  }
}

__device__ __forceinline__ double powerOfTwo(int exponent) { return __longlong_as_double((long long)(exponent + 1023) << 52); }

/** x 2^exponent, rounded only if it leaves the normal range. */
__device__ double scaled(double x, int exponent) {
#pragma unroll 1
  for (; exponent > 1023; exponent -= 1023) x = mul(x, powerOfTwo(1023));
#pragma unroll 1
  for (; exponent < -1022; exponent += 1022) x = mul(x, powerOfTwo(-1022));
  return mul(x, powerOfTwo(exponent));
}

/** |(x + iy) 2^exponent| */
__device__ double modulus(double x, double y, int exponent) {
  const double re = fabs(scaled(x, exponent)), im = fabs(scaled(y, exponent)), most = fmax(re, im), least = fmin(re, im);
  if (least == 0.0) return most;
  const double ratio = div(least, most);
  return mul(most, root(add(1.0, mul(ratio, ratio))));
}

/** sqrt(x^2 + y^2), free of overflow and underflow; x and y are not both 0. */
__device__ double norm2(double x, double y) {
  const double most = fmax(fabs(x), fabs(y)), ratio = div(fmin(fabs(x), fabs(y)), most);
  return mul(most, root(add(1.0, mul(ratio, ratio))));
}

/** The larger modulus of the eigenvalues of [a b; c d], by its standard form. */
__device__ double modulusOfBlock(double a, double b, double c, double d, int exponent) {
  if (c != 0.0 && b == 0.0) {
    c = 0.0;
  } else if (c != 0.0 && !(a == d && copysign(1.0, b) != copysign(1.0, c))) {
    const double t = sub(a, d);
    double p = mul(0.5, t);
    const double most = fmax(fabs(b), fabs(c)), least = mul(mul(fmin(fabs(b), fabs(c)), copysign(1.0, b)), copysign(1.0, c));
    const double scale = fmax(fabs(p), most);
    double w = add(mul(div(p, scale), p), mul(div(most, scale), least));
    if (w >= 4 * ulp) {
      w = add(p, copysign(mul(root(scale), root(w)), p));
      a = add(d, w);
      d = sub(d, mul(div(most, w), least));
      c = 0.0;
    } else {
      const double sigma = add(b, c), norm = norm2(sigma, t);
      const double cosine = root(mul(0.5, add(1.0, div(fabs(sigma), norm))));
      const double sine = mul(-div(p, mul(norm, cosine)), copysign(1.0, sigma));
      const double aa = add(mul(a, cosine), mul(b, sine)), bb = sub(mul(b, cosine), mul(a, sine));
      const double cc = add(mul(c, cosine), mul(d, sine)), dd = sub(mul(d, cosine), mul(c, sine));
      a = add(mul(aa, cosine), mul(cc, sine));
      b = add(mul(bb, cosine), mul(dd, sine));
      c = sub(mul(cc, cosine), mul(aa, sine));
      d = sub(mul(dd, cosine), mul(bb, sine));
      const double middle = mul(0.5, add(a, d));
      a = d = middle;
      if (c != 0.0 && b == 0.0) {
        c = 0.0;
      } else if (c != 0.0 && copysign(1.0, b) == copysign(1.0, c)) {
        p = copysign(mul(root(fabs(b)), root(fabs(c))), c);
        a = add(middle, p);
        d = sub(middle, p);
        c = 0.0;
      }
    }
  }
  const double im = c == 0.0 ? 0.0 : mul(root(fabs(b)), root(fabs(c)));
  double radius = 0.0;
#pragma unroll 1
  for (int e = 0; e < 2; e++) radius = fmax(radius, modulus(e == 0 ? a : d, im, exponent));
  return radius;
}

/** max |lambda| 2^exponent of a Hessenberg matrix; a NaN if the iteration does not converge. */
__device__ double radiusOf(const Square& H, Shared& s, int exponent) {
  const int me = threadIdx.x, threads = blockDim.x, limit = 30 * max(10, H.n);
  const double small = mul(smallest, div((double)H.n, ulp));
  double radius = 0.0;
  for (int i = H.n - 1, stalled = 0; i >= 0; stalled = 0) {
    int l = 0, its = 0;
    for (; its <= limit; its++) {
#pragma unroll 1
      for (int k = l + 1 + me; k <= i; k += threads)
        if (splits(H, k, small)) atomicMax(&s.split, k);
      __syncthreads();
      l = max(l, s.split);
      if (me == 0 && l > 0) H(l, l - 1) = 0.0;
      if (l >= i - 1) break;
      stalled++;
      const Shifts shifts = shiftsOf(H, l, i, stalled);
#pragma unroll 1
      for (int m = l + 1 + me; m <= i - 2; m += threads)
        if (starts(H, m, shifts)) atomicMax(&s.start, m);
      __syncthreads();
      const int m = max(l, s.start);
      if (me == 0) s.split = -1;
      const First v = firstColumn(H, m, shifts);
      __syncthreads();
      sweep(H, s, l, m, i, v);
    }
    if (its > limit) return __longlong_as_double(0x7ff8000000000000ll);
    // One eigenvalue is a block of two equal ones.
    const bool one = l == i;
    const double d = H(i, i);
    radius = fmax(radius, modulusOfBlock(one ? d : H(i - 1, i - 1), one ? 0.0 : H(i - 1, i), one ? 0.0 : H(i, i - 1), d, exponent));
    __syncthreads();
    if (me == 0) s.split = -1;
    __syncthreads();
    i = l - 1;
  }
  return radius;
}

}  // namespace

/**
 * radii[b] of matrix b, which is destroyed: `table` has four numbers a matrix, where its values
 * begin, n, ld, and the exponent of the power of two that multiplies its eigenvalues.
 */
extern "C" __global__ void __launch_bounds__(mostThreads) dense_radii(double* values, const int* __restrict__ table, double* radii) {
  __shared__ Shared s;
  const int* own = table + 4 * blockIdx.x;
  const Square A = {values + own[0], own[1], own[2]};
  if (threadIdx.x == 0) s.split = s.start = -1;
  __syncthreads();
  reduceToHessenberg(A, s);
  const double radius = radiusOf(A, s, own[3]);
  if (threadIdx.x == 0) radii[blockIdx.x] = radius;
}
