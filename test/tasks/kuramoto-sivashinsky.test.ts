// What the Kuramoto-Sivashinsky solver keeps over long times, and the Fourier transform under it.
import { describe, expect, it } from "vitest";
import { fourierTransform } from "../../src/tasks/fourier.js";
import { kuramotoSivashinsky } from "../../src/tasks/index.js";

describe("kuramotoSivashinsky", () => {
  it("stays on its attractor for 1000 units of time: rounding does not grow in the unstable modes", () => {
    const series = kuramotoSivashinsky(20, { N: 64, L: 22, dt: 50, step: 0.25, discard: 2 });
    expect(series.data.every((u) => Math.abs(u) < 4)).toBe(true);
    const last = series.row(19);
    expect(Math.max(...last) - Math.min(...last)).toBeGreaterThan(1);
  });

  it("conserves the mean of u", () => {
    const start = Array.from({ length: 32 }, (_, j) => 0.25 + Math.cos((2 * Math.PI * j) / 32));
    const series = kuramotoSivashinsky(40, { N: 32, L: 22, initialState: start });
    for (let t = 0; t < 40; t++) expect(series.row(t).reduce((sum, u) => sum + u, 0) / 32).toBeCloseTo(0.25, 12);
  });

  it("grows a small wave of number q by exp((q^2 - q^4) t)", () => {
    const q = (2 * Math.PI * 2) / 22;
    const small = Array.from({ length: 32 }, (_, j) => 1e-8 * Math.cos((q * 22 * (j + 1)) / 32));
    const series = kuramotoSivashinsky(2, { N: 32, L: 22, dt: 5, initialState: small });
    const growth = Math.exp((q ** 2 - q ** 4) * 5);
    small.forEach((u, j) => {
      expect(series.at(1, j)).toBeCloseTo(growth * u, 13);
    });
  });
});

describe("fourierTransform", () => {
  it.each([1, 2, 8, 64])("agrees with the sum it stands for, n = %d", (n) => {
    const input = Array.from({ length: n }, (_, j) => [Math.sin(j * j + 1), Math.cos(3 * j)] as const);
    const real = Float64Array.from(input, ([re]) => re);
    const imaginary = Float64Array.from(input, ([, im]) => im);
    const transform = fourierTransform(n);
    transform.forward(real, imaginary);
    for (let k = 0; k < n; k++) {
      let re = 0;
      let im = 0;
      input.forEach(([a, b], j) => {
        const angle = (-2 * Math.PI * j * k) / n;
        re += a * Math.cos(angle) - b * Math.sin(angle);
        im += a * Math.sin(angle) + b * Math.cos(angle);
      });
      expect(real[k]).toBeCloseTo(re, 12);
      expect(imaginary[k]).toBeCloseTo(im, 12);
    }
    transform.inverse(real, imaginary);
    input.forEach(([re, im], j) => {
      expect(real[j]).toBeCloseTo(re, 14);
      expect(imaginary[j]).toBeCloseTo(im, 14);
    });
  });
});
