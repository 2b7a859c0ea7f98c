// The normal distribution: its mass below a number, and the number below which a mass lies, in
// portable arithmetic. Logarithms of masses far out are the search's own (src/search/normal.ts).
import { horner, portableExp, portableLog } from "./portable.js";

const oneOverSqrtPi = 0.5641895835477563;

/**
 * exp(x^2) erfc(x) for x >= 0: by erf's series with positive terms below 2, by the continued
 * fraction above (Abramowitz and Stegun, 7.1.6 and 7.1.14).
 */
export function scaledErfc(x: number): number {
  if (x < 2) {
    let term = x;
    let sum = x;
    for (let n = 1; term > 1e-17 * sum; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return portableExp(x * x) - 2 * oneOverSqrtPi * sum;
  }
  let fraction = 0;
  for (let n = x < 3 ? 60 : x < 6 ? 30 : 12; n > 0; n--) fraction = n / 2 / (x + fraction);
  return oneOverSqrtPi / (x + fraction);
}

/** The mass of the standard normal distribution above x >= 0. */
export function normalUpperTail(x: number): number {
  return x > 38 ? 0 : 0.5 * portableExp((-x * x) / 2) * scaledErfc(x * Math.SQRT1_2);
}

/** The mass of the standard normal distribution below x. */
export function normalCdf(x: number): number {
  return x > 0 ? 1 - normalUpperTail(x) : normalUpperTail(-x);
}

/**
 * Coefficients of AS 241, degrees 0 to 7: numerator and denominator for the middle, for the sides,
 * and far out.
 */
const [middleTop, middleBottom, sideTop, sideBottom, farTop, farBottom] = [
  [
    ...[3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946],
    ...[45921.95393154987, 67265.7709270087, 33430.57558358813, 2509.0809287301227],
  ],
  [
    ...[1, 42.31333070160091, 687.1870074920579, 5394.196021424751],
    ...[21213.794301586597, 39307.89580009271, 28729.085735721943, 5226.495278852854],
  ],
  [
    ...[1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045],
    ...[1.2704582524523684, 0.2417807251774506, 0.022723844989269184, 0.0007745450142783414],
  ],
  [
    ...[1, 2.053191626637759, 1.6763848301838038, 0.6897673349851],
    ...[0.14810397642748008, 0.015198666563616457, 0.0005475938084995345, 1.0507500716444169e-9],
  ],
  [
    ...[6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487],
    ...[0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7],
  ],
  [
    ...[1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615],
    ...[0.0007868691311456133, 1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15],
  ],
] as const;

/**
 * The standard normal number below which a share p of the distribution lies, 0 < p < 1, to 1e-15:
 * algorithm AS 241, PPND16 (Wichura 1988, "The percentage points of the normal distribution",
 * Applied Statistics 37:477).
 */
export function normalQuantile(p: number): number {
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * horner(middleTop, r)) / horner(middleBottom, r);
  }
  const r = Math.sqrt(-portableLog(q < 0 ? p : 1 - p));
  const size = r <= 5 ? horner(sideTop, r - 1.6) / horner(sideBottom, r - 1.6) : horner(farTop, r - 5) / horner(farBottom, r - 5);
  return q < 0 ? -size : size;
}
