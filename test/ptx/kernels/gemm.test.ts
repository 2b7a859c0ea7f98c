// Matrix products made by the builder, run in the interpreter against double precision at sizes that no tile divides.
import { describe, expect, it } from "vitest";
import { gemmNaive } from "../../../src/ptx/kernels/gemm-naive.js";
import { gemmTiled } from "../../../src/ptx/kernels/gemm-tiled.js";
import { input, output } from "../device.js";
import { product, runKernel, uniform, worst } from "./run.js";

const sizes = [
  [1, 1, 1],
  [3, 5, 7],
  [33, 31, 29],
  [17, 64, 40],
  [70, 36, 52],
] as const;

function errorOf(kernel: ReturnType<typeof gemmNaive>, m: number, n: number, k: number): number {
  const [a, b, c] = [uniform(m * k, 1), uniform(k * n, 2), new Float32Array(m * n)];
  runKernel(kernel, [input(a), input(b), output(c)]);
  const { value, size } = product(a, b, m, n, k);
  return worst(c, value, size);
}

describe("gemmNaive", () => {
  it.each(sizes)("%i x %i x %i is the product to 1e-6 of |A||B|", (m, n, k) => {
    expect(errorOf(gemmNaive({ m, n, k }), m, n, k)).toBeLessThan(1e-6);
  });
});

describe("gemmTiled", () => {
  it.each([16, 32, 64, 128] as const)("in tiles of %i is the product to 1e-6 of |A||B|", (tileSize) => {
    for (const [m, n, k] of sizes) expect(errorOf(gemmTiled({ m, n, k, tileSize }), m, n, k), `${m} x ${n} x ${k}`).toBeLessThan(1e-6);
  });

  it("over several tiles in every direction", () => {
    expect(errorOf(gemmTiled({ m: 130, n: 135, k: 37, tileSize: 64 }), 130, 135, 37)).toBeLessThan(1e-6);
    expect(errorOf(gemmTiled({ m: 140, n: 260, k: 33, tileSize: 128 }), 140, 260, 33)).toBeLessThan(1e-6);
  });

  it("refuses sizes and tiles that it does not have", () => {
    expect(() => gemmTiled({ m: 0, n: 1, k: 1 })).toThrow("kernel gemm_tiled: m is 0; it takes a whole number from 1 to 1073741824");
    expect(() => gemmTiled({ m: 1, n: 1, k: 1, tileSize: 48 as 64 })).toThrow("tileSize is 48; it takes 16, 32, 64 or 128");
  });
});
