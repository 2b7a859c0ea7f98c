// The Kuramoto-Sivashinsky equation: spatio-temporal chaos in one dimension.
import { checked, type InputOf, number, option, resolve } from "@spillway/core/options.js";
import { type Matrix, portableCos, portableSin } from "@spillway/numerics";
import { type ComplexVector, complexZeros, etdrk4 } from "./etdrk4.js";
import { fourierTransform } from "./fourier.js";
import type { SamplingOptions } from "./integrate.js";
import { checkLength, optionalVectorOption, samplingTable, startOf, stepsPer } from "./options.js";
import { finishedSeries, type SeriesTask, seriesTask } from "./task.js";

const gridOption = option(
  checked<number>(
    "a power of two from 8 to 65536",
    (value) => Number.isInteger(value) && (value as number) >= 8 && (value as number) <= 65536 && isPowerOfTwo(value as number),
  ),
  128,
  "number of grid points",
);

const table = {
  /** Number of grid points, a power of two from 8 to 65536; default 128. */
  N: gridOption,
  /** Length of the periodic domain; default 32 pi. */
  L: option(number({ above: 0 }), 32 * Math.PI, "length of the periodic domain; the default is 32 pi"),
  /** The N values at time 0; null for cos(2 pi x / L) (1 + sin(2 pi x / L)). */
  initialState: optionalVectorOption("the N values at time 0; left out: cos(2 pi x / L) (1 + sin(2 pi x / L))", "N numbers"),
  ...samplingTable(0.25, 0.0625),
};

/** Grid, domain, start and integration of the Kuramoto-Sivashinsky equation. */
export interface KuramotoSivashinskyOptions extends SamplingOptions, InputOf<typeof table> {}

/**
 * The Kuramoto-Sivashinsky equation on a periodic domain of length L (Y. Kuramoto 1978, Prog.
 * Theor. Phys. Suppl. 64; G. I. Sivashinsky 1977, Acta Astronautica 4), in the form of Kassam and
 * Trefethen 2005:
 *
 *     du/dt = -u du/dx - d2u/dx2 - d4u/dx4.
 *
 * N Fourier modes without dealiasing, ETDRK4 in time with ceil(dt / step) equal steps between two
 * rows. Column j is u at x = (j + 1) L / N, row t at time (discard + t) dt. From the default start
 * the attractor is reached after some 60 units of time. Defaults: N 128, L 32 pi, dt 0.25, step
 * 0.0625, discard 0. ReservoirPy's M is L / (2 pi).
 * @returns length x N.
 * @throws ArgumentError on options it does not take, and when the series diverges.
 */
export function kuramotoSivashinsky(length: number, options: KuramotoSivashinskyOptions = {}): Matrix<Float64Array> {
  const { N, L, initialState, dt, step, discard } = resolve(table, options, "kuramotoSivashinsky");
  checkLength("kuramotoSivashinsky", length);
  const start = startOf("kuramotoSivashinsky", initialState ?? defaultStart(N), N);
  const fourier = fourierTransform(N);
  const linear = new Float64Array(N);
  const halfWaveNumber = new Float64Array(N);
  for (let k = 0; k < N; k++) {
    const q = ((k <= N / 2 ? k : k - N) * 2 * Math.PI) / L;
    linear[k] = q * q - q * q * (q * q);
    halfWaveNumber[k] = k === N / 2 ? 0 : q / 2;
  }
  const nonlinear = (v: ComplexVector, out: ComplexVector) => {
    out.real.set(v.real);
    out.imaginary.set(v.imaginary);
    fourier.inverse(out.real, out.imaginary);
    for (let j = 0; j < N; j++) out.real[j] = out.real[j]! * out.real[j]!;
    out.imaginary.fill(0);
    fourier.forward(out.real, out.imaginary);
    for (let k = 0; k < N; k++) {
      const real = out.real[k]!;
      out.real[k] = halfWaveNumber[k]! * out.imaginary[k]!;
      out.imaginary[k] = -halfWaveNumber[k]! * real;
    }
  };
  const substeps = stepsPer(dt, step);
  const advance = etdrk4(linear, dt / substeps, nonlinear);

  const v = complexZeros(N);
  v.real.set(start);
  fourier.forward(v.real, v.imaginary);
  const sample = complexZeros(N);
  const out = new Float64Array(length * N);
  for (let row = -discard; row < length; row++) {
    if (row >= 0) {
      sample.real.set(v.real);
      sample.imaginary.set(v.imaginary);
      fourier.inverse(sample.real, sample.imaginary);
      out.set(sample.real, row * N);
    }
    if (row === length - 1) break;
    for (let k = 0; k < substeps; k++) {
      advance(v);
      keepReal(v);
    }
  }
  return finishedSeries("kuramotoSivashinsky", N, out);
}

/**
 * Makes v the transform of a real vector again: V_{N-k} is the conjugate of V_k. Rounding puts a
 * little of the contrary into the linearly unstable modes, where no nonlinear term holds it back:
 * it would grow by exp(t / 4) and swamp the solution at t = 150.
 */
function keepReal({ real, imaginary }: ComplexVector): void {
  const n = real.length;
  imaginary[0] = 0;
  imaginary[n / 2] = 0;
  for (let k = 1; k < n / 2; k++) {
    real[n - k] = real[k]!;
    imaginary[n - k] = -imaginary[k]!;
  }
}

function defaultStart(N: number): number[] {
  return Array.from({ length: N }, (_, j) => {
    const angle = (2 * Math.PI * (j + 1)) / N;
    return portableCos(angle) * (1 + portableSin(angle));
  });
}

function isPowerOfTwo(value: number): boolean {
  return (value & (value - 1)) === 0;
}

export const kuramotoSivashinskyTask: SeriesTask = seriesTask(
  "kuramotoSivashinsky",
  "Kuramoto-Sivashinsky: spatio-temporal chaos of a flame front",
  table,
  kuramotoSivashinsky,
  [
    {
      value: 0.092,
      parameters: { N: 128, L: 32 * Math.PI },
      source: "measured: divergence of two trajectories over 15,000 units of time (ETDRK4, step 0.125)",
    },
  ],
);
