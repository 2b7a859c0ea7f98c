// The elementary functions that a reservoir needs: tanh (docs/numerics.md, rule 4), log and cos (rule 8). Not the whole of rule 8: cos is
// for 0 <= x < 2^30, where the draws of rule 7 lie.
#include <math.h>
#include <stdint.h>
#include <string.h>

static uint32_t bits32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float float32_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t bits64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double float64_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static float horner32(const float *coefficients, int degree, float x) {
  float s = coefficients[degree];
  for (int i = degree - 1; i >= 0; i--) s = s * x + coefficients[i];
  return s;
}

static double horner64(const double *coefficients, int degree, double x) {
  double s = coefficients[degree];
  for (int i = degree - 1; i >= 0; i--) s = s * x + coefficients[i];
  return s;
}

static float tanh_float(float x) {
  static const float n_coefficients[] = {-0x1.5554f6p-2f, 0x1.10faeep-3f, -0x1.b6c112p-5f, 0x1.492fd6p-6f, -0x1.50c476p-8f};
  static const float g_coefficients[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.1239e2p-7f, 0x1.6a2434p-10f};
  float ax = fabsf(x);
  if (ax > 10.0f) ax = 10.0f;
  float y = ax * ax;
  float small = ax + ax * (y * horner32(n_coefficients, 4, y));
  float u = ax + ax;
  float t = u * 0x1.715476p+0f + 12582912.0f;
  float n = t - 12582912.0f;
  float r = (u - n * 0.693359375f) - n * -0x1.bd0106p-13f;
  float e = ((r * r) * horner32(g_coefficients, 4, r) + r) + 1.0f;
  e = float32_of(bits32(e) + (bits32(t) << 23));
  float big = 1.0f - 2.0f / (e + 1.0f);
  return copysignf(ax >= 0x1.666666p-1f ? big : small, x);
}

static double tanh_double(double x) {
  static const double p_coefficients[] = {-0x1.940b6ad154878p+10, -0x1.8d708b75ea536p+6, -0x1.edc96e785fd6bp-1};
  static const double q_coefficients[] = {0x1.2f08901cff660p+12, 0x1.17afcd2a40919p+11, 0x1.c38f38eb58886p+6, 1};
  static const double g_coefficients[] = {0x1.000000000000ap-1,  0x1.55555555554f9p-3,  0x1.555555555086dp-5,  0x1.1111111127d64p-7,
                                          0x1.6c16c184321cap-10, 0x1.a01a0129e7000p-13, 0x1.a01999ed849b7p-16, 0x1.71df2614b7264p-19,
                                          0x1.28ad95cf92e62p-22, 0x1.ad7ea9353e2f6p-26};
  double ax = fabs(x);
  if (ax > 20) ax = 20;
  double y = ax * ax;
  double small = ax + (ax * (y * horner64(p_coefficients, 2, y))) / horner64(q_coefficients, 3, y);
  double u = ax + ax;
  double t = u * 0x1.71547652b82fep+0 + 6755399441055744;
  double n = t - 6755399441055744;
  double r = (u - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
  double e = ((r * r) * horner64(g_coefficients, 9, r) + r) + 1;
  e = float64_of(bits64(e) + (bits64(t) << 52));
  double big = 1 - 2 / (e + 1);
  return copysign(ax >= 0x1.6666666666666p-1 ? big : small, x);
}

static double round_whole(double v) { return (v + 6755399441055744) - 6755399441055744; }

/** The exact a*b - p for p = a*b rounded. */
static double product_error(double a, double b, double p) {
  double u = a * 134217729, a1 = u - (u - a), a2 = a - a1;
  double v = b * 134217729, b1 = v - (v - b), b2 = b - b1;
  return (((a1 * b1 - p) + a1 * b2) + a2 * b1) + a2 * b2;
}

/** For finite x >= 0; a zero gives minus infinity. */
static double portable_log(double x) {
  static const double t_coefficients[] = {0x1.9999999999996p-2, 0x1.2492492492ff8p-2, 0x1.c71c71c586593p-3, 0x1.745d182fe5540p-3,
                                          0x1.3b1363466b7f7p-3, 0x1.1120a263665c5p-3, 0x1.de362ee673b21p-4, 0x1.eafc5f24eeec9p-4};
  if (x == 0) return -INFINITY;
  int exponent;
  double m = 2 * frexp(x, &exponent);
  double k = exponent - 1;
  if (m >= 0x1.6a09e667f3bcdp+0) {
    m = m / 2;
    k = k + 1;
  }
  double f = m - 1, d = m + 1, d2 = m - (d - 1);
  double s = f / d, p = s * d, s2 = (((f - p) - product_error(s, d, p)) - s * d2) / d;
  double z = s * s, z2 = product_error(s, s, z) + (s + s) * s2;
  double q = z * horner64(t_coefficients, 7, z);
  double w = 0x1.5555555555555p-1 + q, w2 = ((0x1.5555555555555p-1 - w) + q) + 0x1.5555555555555p-55;
  double c = s * z, c2 = product_error(s, z, c) + (s * z2 + s2 * z);
  double b = c * w, b2 = product_error(c, w, b) + (c * w2 + c2 * w);
  double g = k * 0x1.62e42fefa3800p-1, t = s + s, v = g + t, v2 = (g - v) + t, y = v + b, y2 = (v - y) + b;
  double o = ((v2 + y2) + b2) + ((s2 + s2) + k * 0x1.ef35793c76730p-45);
  return y + o;
}

/** For 0 <= x < 2^30. */
static double portable_cos(double x) {
  static const double f_coefficients[] = {-0x1.5555555555555p-3,  0x1.111111111110bp-7,  -0x1.a01a01a018aefp-13, 0x1.71de3a533a43ap-19,
                                          -0x1.ae645299455a3p-26, 0x1.6120934f53911p-33, -0x1.aaa58fc09dfbcp-41};
  static const double c_coefficients[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16c10p-10, 0x1.a01a01a018e1ap-16, -0x1.27e4fb7600514p-22,
                                          0x1.1eed8ca68a05cp-29, -0x1.93933b38aac88p-37, 0x1.aac6e804cb60ap-45};
  static const double half_pi_rest[] = {0x1.846988p-48, 0x1.8cc514p-72, 0x1.80dc1cp-95};
  double n = round_whole(x * 0x1.45f306dc9c883p-1);
  int quadrant = (int)((int64_t)n % 4) + 1;
  double h = (x - n * 0x1.921fb4p+0) - n * 0x1.4442dp-24, l = 0;
  for (int i = 0; i < 3; i++) {
    double p = n * half_pi_rest[i], d = h - p, e = d - h;
    l = l + ((h - (d - e)) - (p + e));
    h = d;
  }
  l = l - n * 0x1.a252049c1114dp-120;
  double sum = h + l;
  l = (h - sum) + l;
  h = sum;

  double z = h * h, v;
  if (quadrant % 2 == 0) {
    v = h + ((z * h) * horner64(f_coefficients, 6, z) + l * (1 - .5 * z));
  } else {
    double g = .5 * z, w = 1 - g;
    v = w + (((1 - w) - g) + ((z * z) * horner64(c_coefficients, 6, z) - h * l));
  }
  return quadrant % 4 >= 2 ? -v : v;
}
