// The discrete Fourier transform for lengths that are powers of two, in one order of operations and
// with portable twiddle factors.
import { portableCos, portableSin } from "@spillway/numerics";

/** A transform of one length; it works in place on real and imaginary parts. */
export interface FourierTransform {
  /** V_k = sum over j of v_j exp(-2 pi i j k / n). */
  forward(real: Float64Array, imaginary: Float64Array): void;
  /** v_j = 1/n sum over k of V_k exp(2 pi i j k / n). */
  inverse(real: Float64Array, imaginary: Float64Array): void;
}

/** Prepares the radix-2 transform of Cooley and Tukey (1965) for n values, n a power of two. */
export function fourierTransform(n: number): FourierTransform {
  const cosines = new Float64Array(n / 2);
  const sines = new Float64Array(n / 2);
  for (let k = 0; k < n / 2; k++) {
    const angle = (2 * Math.PI * k) / n;
    cosines[k] = portableCos(angle);
    sines[k] = portableSin(angle);
  }
  const reversed = new Uint32Array(n);
  for (let i = 1; i < n; i++) reversed[i] = (reversed[i >> 1]! >> 1) | (i & 1 ? n >> 1 : 0);

  const transform = (real: Float64Array, imaginary: Float64Array, sign: 1 | -1) => {
    for (let i = 0; i < n; i++) {
      const j = reversed[i]!;
      if (j <= i) continue;
      [real[i], real[j]] = [real[j]!, real[i]!];
      [imaginary[i], imaginary[j]] = [imaginary[j]!, imaginary[i]!];
    }
    for (let half = 1; half < n; half *= 2) {
      const stride = n / (2 * half);
      for (let start = 0; start < n; start += 2 * half) {
        for (let k = 0; k < half; k++) {
          const c = cosines[k * stride]!;
          const s = sign * sines[k * stride]!;
          const even = start + k;
          const odd = even + half;
          const re = real[odd]! * c - imaginary[odd]! * s;
          const im = real[odd]! * s + imaginary[odd]! * c;
          real[odd] = real[even]! - re;
          imaginary[odd] = imaginary[even]! - im;
          real[even] = real[even]! + re;
          imaginary[even] = imaginary[even]! + im;
        }
      }
    }
  };
  return {
    forward: (real, imaginary) => transform(real, imaginary, -1),
    inverse: (real, imaginary) => {
      transform(real, imaginary, 1);
      for (let i = 0; i < n; i++) {
        real[i] = real[i]! / n;
        imaginary[i] = imaginary[i]! / n;
      }
    },
  };
}
