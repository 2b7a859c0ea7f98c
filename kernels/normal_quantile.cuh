// The inverse of the normal distribution by Wichura's AS 241 (PPND16, Applied Statistics 37:477,
// 1988) in portable arithmetic: the same bits as on the host.
#pragma once
#include "elementary.cuh"

namespace normal {

using portable::add;
using portable::div;
using portable::mul;
using portable::root;
using portable::sub;

static __device__ __forceinline__ double polynomial(const double (&c)[8], double x) {
  double s = c[7];
#pragma unroll
  for (int k = 6; k >= 0; k--) s = add(mul(s, x), c[k]);
  return s;
}

static __device__ __forceinline__ double tail(double p, bool below) {
  constexpr double c[8] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
                           1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[8] = {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                           1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
  constexpr double e[8] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
                           2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double f[8] = {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                           7.86869131815613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
  const double r = root(-elementary::log(below ? p : sub(1.0, p)));
  const double near = sub(r, 1.6), far = sub(r, 5.0);
  const double z = r <= 5.0 ? div(polynomial(c, near), polynomial(d, near)) : div(polynomial(e, far), polynomial(f, far));
  return below ? -z : z;
}

/**
 * The number below which a share p of the standard normal distribution lies, for 2^-1000 < p < 1.
 */
static __device__ __forceinline__ double quantile(double p) {
  constexpr double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
                           4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double b[8] = {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
                           2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3};
  const double q = sub(p, 0.5);
  if (q < -0.425 || q > 0.425) return tail(p, q < 0);
  const double r = sub(0.180625, mul(q, q));
  return div(mul(q, polynomial(a, r)), polynomial(b, r));
}

}  // namespace normal
