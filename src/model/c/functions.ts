// Functions of real numbers in C99, in the order of docs/numerics.md.
import type { Precision } from "../../numerics/index.js";

/** Tells compilers to round every product, and refuses to be compiled if one would not. */
export const arithmetic = `/* Every operation is rounded by itself: no fused multiply-add, no reordering, no wider numbers. */
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: the sums have one fixed order"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 /* 16: of _Float16 */
#error "this compiler computes in wider numbers; on x86 take -mfpmath=sse -msse2"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
`;

/** tanh by rule 4, `tanh_of_single` or `tanh_of_double`. */
export const portableTanh: Readonly<Record<Precision, string>> = {
  float32: `/* tanh in binary32: docs/numerics.md of Spillway, rule 4. */
static float tanh_of_single(float x)
{
  union { float value; uint32_t bits; } t, e;
  const float size = x < 0.0f ? -x : x;
  const float ax = size > 10.0f ? 10.0f : size;
  float out;
  if (x == 0.0f) return x;
  if (ax < 0x1.666666p-1f) {
    const float y = ax * ax;
    float p = -0x1.50c476p-8f;
    p = p * y + 0x1.492fd6p-6f;
    p = p * y + -0x1.b6c112p-5f;
    p = p * y + 0x1.10faeep-3f;
    p = p * y + -0x1.5554f6p-2f;
    out = ax + ax * (y * p);
  } else {
    const float u = ax + ax;
    float n, r, g;
    t.value = u * 0x1.715476p+0f + 12582912.0f;
    n = t.value - 12582912.0f;
    r = (u - n * 0.693359375f) - n * -0x1.bd0106p-13f;
    g = 0x1.6a2434p-10f;
    g = g * r + 0x1.1239e2p-7f;
    g = g * r + 0x1.5558f2p-5f;
    g = g * r + 0x1.555492p-3f;
    g = g * r + 0x1.fffffcp-2f;
    e.value = ((r * r) * g + r) + 1.0f;
    e.bits += t.bits << 23;
    out = 1.0f - 2.0f / (e.value + 1.0f);
  }
  return x < 0.0f ? -out : out;
}
`,
  float64: `/* tanh in binary64: docs/numerics.md of Spillway, rule 4. */
static double tanh_of_double(double x)
{
  static const double degrees[9] = {
    0x1.28ad95cf92e62p-22, 0x1.71df2614b7264p-19, 0x1.a01999ed849b7p-16, 0x1.a01a0129e7000p-13, 0x1.6c16c184321cap-10,
    0x1.1111111127d64p-7, 0x1.555555555086dp-5, 0x1.55555555554f9p-3, 0x1.000000000000ap-1,
  };
  union { double value; uint64_t bits; } t, e;
  const double size = x < 0.0 ? -x : x;
  const double ax = size > 20.0 ? 20.0 : size;
  double out;
  if (x == 0.0) return x;
  if (ax < 0x1.6666666666666p-1) {
    const double y = ax * ax;
    double p = -0x1.edc96e785fd6bp-1;
    double q = 1.0;
    p = p * y + -0x1.8d708b75ea536p+6;
    p = p * y + -0x1.940b6ad154878p+10;
    q = q * y + 0x1.c38f38eb58886p+6;
    q = q * y + 0x1.17afcd2a40919p+11;
    q = q * y + 0x1.2f08901cff660p+12;
    out = ax + (ax * (y * p)) / q;
  } else {
    const double u = ax + ax;
    double n, r, g = 0x1.ad7ea9353e2f6p-26;
    int i;
    t.value = u * 0x1.71547652b82fep+0 + 6755399441055744.0;
    n = t.value - 6755399441055744.0;
    r = (u - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
    for (i = 0; i < 9; i++) g = g * r + degrees[i];
    e.value = ((r * r) * g + r) + 1.0;
    e.bits += t.bits << 52;
    out = 1.0 - 2.0 / (e.value + 1.0);
  }
  return x < 0.0 ? -out : out;
}
`,
};

/** e^x by rule 8. */
export const portableExp = `/* e^x in binary64: docs/numerics.md of Spillway, rule 8. */
static double power_of_two(int n)
{
  union { uint64_t bits; double value; } power;
  power.bits = (uint64_t)(n + 1023) << 52;
  return power.value;
}

static double exp_of_sum(double x, double x_low)
{
  static const double degrees[11] = {
    0x1.1f936d41de79ep-29, 0x1.ae652259774bbp-26, 0x1.27e4c662bb9c5p-22, 0x1.71de3a13da19bp-19, 0x1.a01a01b0b83c5p-16,
    0x1.a01a01a02c74bp-13, 0x1.6c16c16c14264p-10, 0x1.11111111110ecp-7, 0x1.555555555555bp-5, 0x1.5555555555555p-3, 0x1p-1,
  };
  double n, a, b, r, e = 0x1.607c2578ff551p-33, c, s, m;
  int i, whole, half;
  if (x != x) return x;
  if (x > 710.0) return x * 0x1p1023;
  if (x < -746.0) return 0;
  n = x * 0x1.71547652b82fep+0 + 6755399441055744.0;
  n = n - 6755399441055744.0;
  a = x - n * 0x1.62e42fefa3800p-1;
  b = n * 0x1.ef35793c76730p-45 - x_low;
  r = a - b;
  for (i = 0; i < 11; i++) e = e * r + degrees[i];
  c = (r * r) * e - b;
  s = 1.0 + a;
  m = s + (((1.0 - s) + a) + c);
  whole = (int)n;
  half = whole < 0 ? -((1 - whole) / 2) : whole / 2;
  return (m * power_of_two(half)) * power_of_two(whole - half);
}

static double exp_of(double x) { return exp_of_sum(x, 0); }

`;

/** A square root without a library: correctly rounded, as IEEE 754 has it. */
export const squareRoot = `/* The correctly rounded square root, by whole numbers. */
static double root_of(double x)
{
  union { double value; uint64_t bits; } v;
  uint64_t m, root = 0, rest = 0;
  int e, i;
  if (!(x > 0)) return 0;
  v.value = x;
  e = (int)(v.bits >> 52);
  m = v.bits & 0xfffffffffffffULL;
  if (e == 0) {
    e = 1;
    while (!(m >> 52)) { m <<= 1; e--; }
  } else m |= 1ULL << 52;
  e -= 1023;
  if (e & 1) { m <<= 1; e--; }
  /* 54 bits of the root of m 2^54: one beyond the 53 that are kept, and a rest that says if it is exact. */
  for (i = 0; i < 54; i++) {
    const int shift = 52 - 2 * i;
    const uint64_t two = shift >= 0 ? (m >> shift) & 3 : 0;
    uint64_t trial;
    rest = (rest << 2) | two;
    trial = (root << 2) | 1;
    root <<= 1;
    if (rest >= trial) { rest -= trial; root |= 1; }
  }
  root = (root >> 1) + (root & 1);
  if (root >> 53) { root >>= 1; e += 2; }
  v.bits = ((uint64_t)(e / 2 + 1023) << 52) | (root & 0xfffffffffffffULL);
  return v.value;
}
`;
