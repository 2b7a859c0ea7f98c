#if TANH_SINGLE
/* tanh in binary32: docs/numerics.md of Spillway, rule 4. */
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

#endif
#if TANH_DOUBLE
/* tanh in binary64: docs/numerics.md of Spillway, rule 4. */
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

#endif
#if EXP
/* e^x in binary64: docs/numerics.md of Spillway, rule 8. */
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

static double exp_of(double x)
{
  return exp_of_sum(x, 0);
}

#endif
#if LOG
/* log(x) by rule 8 for finite x above 0, to some 65 bits: the part that is lost goes to `rest`. */
static double product_error(double a, double b, double p)
{
  const double a_shifted = a * 134217729.0, a_high = a_shifted - (a_shifted - a), a_low = a - a_high;
  const double b_shifted = b * 134217729.0, b_high = b_shifted - (b_shifted - b), b_low = b - b_high;
  return (((a_high * b_high - p) + a_high * b_low) + a_low * b_high) + a_low * b_low;
}

static double log_pair(double x, double *rest)
{
  static const double degrees[7] = {
    0x1.de362ee673b21p-4, 0x1.1120a263665c5p-3, 0x1.3b1363466b7f7p-3, 0x1.745d182fe5540p-3, 0x1.c71c71c586593p-3,
    0x1.2492492492ff8p-2, 0x1.9999999999996p-2,
  };
  union { double value; uint64_t bits; } m;
  double k = 0, f, d, d_low, s, p, s_low, z, z_low, tail = 0x1.eafc5f24eeec9p-4, w, w_low, c, c_low, b, b_low, k_high;
  double first, first_error, second, second_error, low, high;
  int i;
  m.value = x;
  if (m.value < 0x1p-1022) {
    m.value = m.value * 0x1p54;
    k = -54;
  }
  k = k + (double)((int)(m.bits >> 52) - 1023);
  m.bits = (m.bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
  if (m.value >= 0x1.6a09e667f3bcdp+0) {
    m.value = m.value * 0.5;
    k = k + 1;
  }
  f = m.value - 1;
  d = m.value + 1;
  d_low = m.value - (d - 1);
  s = f / d;
  p = s * d;
  s_low = (((f - p) - product_error(s, d, p)) - s * d_low) / d;
  z = s * s;
  z_low = product_error(s, s, z) + (s + s) * s_low;
  for (i = 0; i < 7; i++) tail = tail * z + degrees[i];
  tail = z * tail;
  w = 0x1.5555555555555p-1 + tail;
  w_low = ((0x1.5555555555555p-1 - w) + tail) + 0x1.5555555555555p-55;
  c = s * z;
  c_low = product_error(s, z, c) + (s * z_low + s_low * z);
  b = c * w;
  b_low = product_error(c, w, b) + (c * w_low + c_low * w);
  k_high = k * 0x1.62e42fefa3800p-1;
  first = k_high + (s + s);
  first_error = (k_high - first) + (s + s);
  second = first + b;
  second_error = (first - second) + b;
  low = ((first_error + second_error) + b_low) + ((s_low + s_low) + k * 0x1.ef35793c76730p-45);
  high = second + low;
  *rest = (second - high) + low;
  return high;
}

/* No number (NaN) if x is not above 0. */
static double log_of(double x)
{
  double rest;
  if (!(x > 0)) return (x - x) / (x - x);
  return x - x == 0 ? log_pair(x, &rest) : x;
}

#endif
#if BOX_COX
/* x^y by rule 8, for x of at least 0 and y other than 0. */
static double pow_of(double x, double y)
{
  double rest, high, product;
  if (x != x || x - x != 0) return x;
  if (x == 0) return y > 0 ? 0 : 1 / x;
  high = log_pair(x, &rest);
  product = y * high;
  if (product < 1000 && product > -1000) return exp_of_sum(product, product_error(y, high, product) + y * rest);
  return exp_of_sum(product, 0);
}

#endif
#if ROOT
/* The correctly rounded square root, by whole numbers. */
static double root_of(double x)
{
#ifdef __wasm__
  return x > 0 ? __builtin_sqrt(x) : 0;
#else
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
#endif
}

#endif
