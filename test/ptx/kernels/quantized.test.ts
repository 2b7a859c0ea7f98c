// Four-bit weights: the block formats on the CPU, and the product with them in the interpreter
// against double precision.
import { describe, expect, it } from "vitest";
import type { Target } from "../../../packages/ptx/src/builder/index.js";
import { dequantizeQ4, type Q4Format, quantizeQ4 } from "../../../packages/ptx/src/kernels/q4k.js";
import { quantizedGemm } from "../../../packages/ptx/src/kernels/quantized-gemm.js";
import { casesOf } from "../../exhaustive.js";
import { input, output } from "../device.js";
import { product, runKernel, uniform, worst } from "./run.js";

const formats = ["superblock", "block32"] as const;

describe("the superblock", () => {
  it("is read as GGML writes it: a block made by hand", () => {
    const block = new Uint8Array(144);
    new DataView(block.buffer).setUint16(0, 0x3c00, true); // d = 1
    new DataView(block.buffer).setUint16(2, 0x3800, true); // dmin = 0.5
    // Group 1: scale 37, minimum 5. Group 6: scale 0b101001 = 41, minimum 0b110010 = 50.
    block[4 + 1] = 37;
    block[8 + 1] = 5;
    block[4 + 2] = 0b10 << 6;
    block[8 + 2] = 0b11 << 6;
    block[12 + 2] = 0b1001 | (0b0010 << 4);
    block[16 + 3] = 0xc0; // group 1, value 3: q = 12
    block[16 + 96 + 31] = 0x07; // group 6, value 31: q = 7
    const values = dequantizeQ4({ format: "superblock", rows: 1, columns: 256, data: block });
    expect(values[32 + 3]).toBe(37 * 12 - 0.5 * 5);
    expect(values[32 + 4]).toBe(-0.5 * 5);
    expect(values[192 + 31]).toBe(41 * 7 - 0.5 * 50);
    expect(values[192]).toBe(-0.5 * 50);
    expect(values[0]).toBe(0);
  });

  it("takes 144 bytes for 256 values, the other block 18 for 32, in whole blocks a row", () => {
    expect(quantizeQ4(new Float32Array(3 * 300), 3, 300).data.length).toBe(3 * 2 * 144);
    expect(quantizeQ4(new Float32Array(3 * 300), 3, 300, "block32").data.length).toBe(3 * 10 * 18);
  });
});

it("quantising to block32 keeps multiples of an eighth from -1 to 7/8, which are its steps", () => {
  const x = Float32Array.from({ length: 512 }, (_, k) => ((k * 7) % 16) / 8 - 1);
  expect(dequantizeQ4(quantizeQ4(x, 2, 256, "block32"))).toEqual(x);
});

describe.each(formats)("quantising to %s", (format: Q4Format) => {
  it("keeps every value within a step, 1/15 of its group's range with some for the scale's own rounding", () => {
    const [rows, columns] = [3, 515];
    const x = uniform(rows * columns, 1).map((value, k) => value * 4 ** (Math.floor(k / 32) % 3));
    const y = dequantizeQ4(quantizeQ4(x, rows, columns, format));
    for (let row = 0; row < rows; row++)
      for (let from = 0; from < columns; from += 32) {
        const at = row * columns + from;
        const group = [...x.subarray(at, at + Math.min(32, columns - from)), 0];
        const width = format === "superblock" ? Math.max(...group) - Math.min(...group) : 2 * Math.max(...group.map(Math.abs));
        const around = format === "superblock" ? 4 / 63 : 0;
        const step = width / 15 + around;
        for (let i = 0; i < group.length - 1; i++)
          expect(Math.abs(y[at + i]! - x[at + i]!), `${row}, ${from + i}`).toBeLessThanOrEqual(step);
      }
  });

  it("takes zeros, and refuses what is not finite or does not fit", () => {
    expect(dequantizeQ4(quantizeQ4(new Float32Array(40), 1, 40, format))).toEqual(new Float32Array(40));
    expect(() => quantizeQ4(Float32Array.of(1, Number.NaN), 1, 2, format)).toThrow("weights[1] is NaN; it takes finite numbers");
    expect(() => quantizeQ4(new Float32Array(3), 2, 2, format)).toThrow("weights has 3 values; 2 x 2 takes 4");
  });
});

describe.each([
  ["superblock", "sm_75"],
  ["block32", "sm_75"],
  ["superblock", "sm_80"],
] as const)("the product with %s for %s", (format: Q4Format, target: Target) => {
  it.each([
    [1, 1, 1],
    [1, 5, 32],
    [1, 9, 255],
    [1, 19, 1100],
    [1, 33, 9000],
    [3, 10, 514],
    [6, 7, 2048],
    [2, 4, 30],
  ])("%i x %i x %i is that with the dequantised matrix, to 1e-6 of |A||B|", (m, n, k) => {
    const [a, weights, c] = [uniform(m * k, 2), uniform(n * k, 3), new Float32Array(m * n)];
    const quantized = quantizeQ4(weights, n, k, format);
    const kernel = quantizedGemm({ m, n, k, format }, { target });
    expect(kernel.name).toBe(format === "superblock" ? "q4k_gemm_fused" : "q4k_gemm_fused_block32");
    runKernel(kernel, [input(a), input(quantized.data), output(c)]);
    const w = dequantizeQ4(quantized);
    const turned = Float32Array.from({ length: k * n }, (_, at) => w[(at % n) * k + Math.floor(at / n)]!);
    const { value, size } = product(a, turned, m, n, k);
    // What is subtracted is as large as what it is subtracted from, so sizes count it twice.
    expect(
      worst(
        c,
        value,
        size.map((each) => each + 0.1),
      ),
    ).toBeLessThan(3e-6);
  });

  it.each(casesOf([2050, 8200], (n) => n < 8000))("with %i rows, which warps take several of", (n) => {
    const [a, weights, c] = [uniform(32, 4), uniform(n * 32, 5), new Float32Array(n)];
    const quantized = quantizeQ4(weights, n, 32, format);
    runKernel(quantizedGemm({ m: 1, n, k: 32, format }, { target }), [input(a), input(quantized.data), output(c)]);
    const w = dequantizeQ4(quantized);
    const expected = Float64Array.from({ length: n }, (_, j) => a.reduce((sum, x, l) => sum + x * w[j * 32 + l]!, 0));
    expect(worst(c, expected, 10)).toBeLessThan(1e-6);
  });
});

describe("the product on tensor cores", () => {
  it.each([1e-37, 1e-20, 1e20, 1e36])("takes inputs of about %e, beside which smaller ones count as little as in any sum", (scale) => {
    const [m, n, k] = [2, 20, 512];
    const [a, weights, c] = [uniform(m * k, 6, scale), uniform(n * k, 7, 1 / 512), new Float32Array(m * n)];
    for (let l = 0; l < 256; l++) a[l]! *= 1e-5;
    const quantized = quantizeQ4(weights, n, k);
    runKernel(quantizedGemm({ m, n, k }, { target: "sm_80" }), [input(a), input(quantized.data), output(c)]);
    const w = dequantizeQ4(quantized);
    const turned = Float32Array.from({ length: k * n }, (_, at) => w[(at % n) * k + Math.floor(at / n)]!);
    const { value, size } = product(a, turned, m, n, k);
    expect(worst(c, value, size)).toBeLessThan(3e-6);
  });

  it("gives zeros for zeros", () => {
    const c = new Float32Array(3);
    const { data } = quantizeQ4(uniform(3 * 300, 8), 3, 300);
    runKernel(quantizedGemm({ m: 1, n: 3, k: 300 }, { target: "sm_80" }), [input(new Float32Array(300)), input(data), output(c)]);
    expect(c).toEqual(new Float32Array(3));
  });

  it("is refused where there are none for it", () => {
    const refusal = "rowsPerWarp is 16; it takes 1, 2, 4 or 8, or 16 for superblocks on sm_80 and later";
    const shape = { m: 1, n: 3, k: 300, rowsPerWarp: 16 } as const;
    expect(() => quantizedGemm(shape)).toThrow(refusal);
    expect(() => quantizedGemm({ ...shape, format: "block32" }, { target: "sm_90" })).toThrow(refusal);
    expect(quantizedGemm({ ...shape, rowsPerWarp: 2 }, { target: "sm_90" }).block).toEqual([128, 1, 1]);
  });
});
