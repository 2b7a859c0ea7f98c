// Exponential time differencing of order 4 for dv_k/dt = linear_k v_k + nonlinear(v)_k with real,
// diagonal and possibly stiff linear parts. It has never heard of a particular equation.
import { portableCos, portableExp, portableSin } from "@spillway/numerics";

/** A complex vector. */
export interface ComplexVector {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/** Complex zeros. */
export function complexZeros(length: number): ComplexVector {
  return { real: new Float64Array(length), imaginary: new Float64Array(length) };
}

/** Points on the upper half of the unit circle over which the coefficients are averaged. */
const contourPoints = 32;

/**
 * One step of ETDRK4 (S. M. Cox, P. C. Matthews 2002, J. Comput. Phys. 176) in place, with the
 * coefficients as contour means (A.-K. Kassam, L. N. Trefethen 2005, "Fourth-order time-stepping
 * for stiff PDEs", SIAM J. Sci. Comput. 26, section 2):
 *
 *     a = E2 v + Q N(v),  b = E2 v + Q N(a),  c = E2 a + Q (2 N(b) - N(v)),
 *     v' = E v + f1 N(v) + 2 f2 (N(a) + N(b)) + f3 N(c),  E = exp(h L), E2 = exp(h L / 2).
 *
 * `nonlinear` writes N(v) into its second argument.
 */
export function etdrk4(
  linear: Float64Array,
  h: number,
  nonlinear: (v: ComplexVector, out: ComplexVector) => void,
): (v: ComplexVector) => void {
  const n = linear.length;
  const { E, E2, Q, f1, f2, f3 } = coefficients(linear, h);
  const [a, b, c, nv, na, nb, nc] = Array.from({ length: 7 }, () => complexZeros(n)) as [
    ComplexVector,
    ComplexVector,
    ComplexVector,
    ComplexVector,
    ComplexVector,
    ComplexVector,
    ComplexVector,
  ];
  const parts = ["real", "imaginary"] as const;
  return (v) => {
    nonlinear(v, nv);
    for (const part of parts) for (let k = 0; k < n; k++) a[part][k] = E2[k]! * v[part][k]! + Q[k]! * nv[part][k]!;
    nonlinear(a, na);
    for (const part of parts) for (let k = 0; k < n; k++) b[part][k] = E2[k]! * v[part][k]! + Q[k]! * na[part][k]!;
    nonlinear(b, nb);
    for (const part of parts) {
      for (let k = 0; k < n; k++) c[part][k] = E2[k]! * a[part][k]! + Q[k]! * (2 * nb[part][k]! - nv[part][k]!);
    }
    nonlinear(c, nc);
    for (const part of parts) {
      for (let k = 0; k < n; k++) {
        const middle = 2 * f2[k]! * (na[part][k]! + nb[part][k]!);
        v[part][k] = E[k]! * v[part][k]! + f1[k]! * nv[part][k]! + middle + f3[k]! * nc[part][k]!;
      }
    }
  };
}

/**
 * The coefficients, each the mean of an analytic function of z over the circle of radius 1 around
 * hL, which avoids the cancellation of its formula near z = 0. L is real, so the upper half of the
 * circle and the real parts are enough.
 */
function coefficients(linear: Float64Array, h: number) {
  const n = linear.length;
  const [E, E2, Q, f1, f2, f3] = Array.from({ length: 6 }, () => new Float64Array(n)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const share = h / contourPoints;
  for (let k = 0; k < n; k++) {
    const center = h * linear[k]!;
    E[k] = portableExp(center);
    E2[k] = portableExp(center / 2);
    for (let j = 0; j < contourPoints; j++) {
      const angle = (Math.PI * (j + 0.5)) / contourPoints;
      const z: Complex = [center + portableCos(angle), portableSin(angle)];
      const z2 = times(z, z);
      const z3 = times(z2, z);
      const whole = exp(z);
      const half = exp([z[0] / 2, z[1] / 2]);
      Q[k] = Q[k]! + share * realQuotient([half[0] - 1, half[1]], z);
      const inner1: Complex = [4 - 3 * z[0] + z2[0], -3 * z[1] + z2[1]];
      const outer1 = times(whole, inner1);
      f1[k] = f1[k]! + share * realQuotient([-4 - z[0] + outer1[0], -z[1] + outer1[1]], z3);
      const outer2 = times(whole, [-2 + z[0], z[1]]);
      f2[k] = f2[k]! + share * realQuotient([2 + z[0] + outer2[0], z[1] + outer2[1]], z3);
      const outer3 = times(whole, [4 - z[0], -z[1]]);
      const before3: Complex = [-4 - 3 * z[0] - z2[0] + outer3[0], -3 * z[1] - z2[1] + outer3[1]];
      f3[k] = f3[k]! + share * realQuotient(before3, z3);
    }
  }
  return { E, E2, Q, f1, f2, f3 };
}

type Complex = readonly [number, number];

function times(a: Complex, b: Complex): Complex {
  return [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
}

function exp(z: Complex): Complex {
  const size = portableExp(z[0]);
  return [size * portableCos(z[1]), size * portableSin(z[1])];
}

function realQuotient(a: Complex, b: Complex): number {
  return (a[0] * b[0] + a[1] * b[1]) / (b[0] * b[0] + b[1] * b[1]);
}
