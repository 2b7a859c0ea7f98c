// Softmax and the norms, run in the interpreter against double precision: rows shorter and longer
// than a warp, a block, and what registers hold.
import { describe, expect, it } from "vitest";
import type { GeneratedKernel } from "../../../packages/ptx/src/kernels/generated-kernel.js";
import { layerNorm, rmsNorm } from "../../../packages/ptx/src/kernels/norms.js";
import { rowSoftmax } from "../../../packages/ptx/src/kernels/softmax.js";
import { input, output } from "../device.js";
import { runKernel, uniform, worst } from "./run.js";

/**
 * Rows and lengths: one element, less and more than a warp, odd, in two and four; more than 1024
 * are shared by a block.
 */
const shapes = [
  [1, 1],
  [3, 7],
  [9, 33],
  [2, 130],
  [17, 64],
  [2, 1000],
  [2, 1025],
  [1, 2049],
  [2, 1538],
] as const;
/** Longer than what registers hold: a warp, and a block of 1024. */
const long = { warp: [2, 1333], block: [1, 33001] } as const;

function run(kernel: GeneratedKernel, x: Float32Array, rows: number, weights: Float32Array[] = []): Float32Array {
  const y = new Float32Array(x.length);
  runKernel(kernel, [input(x), output(y), ...weights.map(input), rows]);
  return y;
}

const rowsOf = (x: ArrayLike<number>, dim: number): number[][] =>
  Array.from({ length: x.length / dim }, (_, r) => Array.from({ length: dim }, (_, i) => x[r * dim + i]!));

const softmaxOf = (row: number[]): number[] => {
  const top = Math.max(...row);
  const parts = row.map((x) => Math.exp(x - top));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((part) => part / sum);
};

const normOf = (row: number[], epsilon: number, centred: boolean): number[] => {
  const mean = centred ? row.reduce((a, b) => a + b, 0) / row.length : 0;
  const square = row.reduce((a, b) => a + (b - mean) ** 2, 0) / row.length;
  return row.map((x) => (x - mean) / Math.sqrt(square + epsilon));
};

describe("softmax", () => {
  it.each(shapes)("of %i rows of %i, to 1e-6", (rows, dim) => {
    const x = uniform(rows * dim, 3, 8);
    expect(worst(run(rowSoftmax({ rows, dim }), x, rows), rowsOf(x, dim).flatMap(softmaxOf), 1)).toBeLessThan(1e-6);
  });

  it.each(["warp", "block"] as const)("by a %s, of rows longer than registers hold", (form) => {
    const [rows, dim] = long[form];
    const x = uniform(rows * dim, 4, 8);
    const kernel = rowSoftmax({ rows, dim, form });
    expect(kernel.name).toBe(`softmax_${form}`);
    expect(worst(run(kernel, x, rows), rowsOf(x, dim).flatMap(softmaxOf), 1 / dim)).toBeLessThan(1e-3);
  });

  it.each(["warp", "block"] as const)("by a %s: rows sum to one, and a number added to a row changes nothing", (form) => {
    const [rows, dim] = [5, 77];
    // Quarters: adding 512 is exact.
    const x = uniform(rows * dim, 5, 20).map((value) => Math.round(value * 4) / 4);
    const kernel = rowSoftmax({ rows, dim, form });
    const y = run(kernel, x, rows);
    for (const row of rowsOf(y, dim)) expect(Math.abs(row.reduce((a, b) => a + b, 0) - 1)).toBeLessThan(1e-6);
    expect(
      run(
        kernel,
        x.map((value) => value + 512),
        rows,
      ),
    ).toEqual(y);
  });

  it("of large numbers, of equal ones, and of -infinity", () => {
    const kernel = rowSoftmax({ rows: 3, dim: 3 });
    const y = run(kernel, Float32Array.of(3e38, 3e38, -3e38, 7, 7, 7, Number.NEGATIVE_INFINITY, 0, Number.NEGATIVE_INFINITY), 3);
    expect([...y]).toEqual([0.5, 0.5, 0, ...new Array<number>(3).fill(Math.fround(1 / 3)), 0, 1, 0]);
  });

  it("leaves rows alone that are not asked for", () => {
    const y = run(rowSoftmax({ rows: 9, dim: 5 }), new Float32Array(45), 7);
    expect(y.slice(0, 35)).toEqual(new Float32Array(35).fill(Math.fround(0.2)));
    expect(y.slice(35).every(Number.isNaN)).toBe(true);
  });

  it("refuses another form", () => {
    expect(() => rowSoftmax({ rows: 1, dim: 3, form: "thread" as "warp" })).toThrow('form is "thread"; it takes "warp" or "block"');
  });
});

describe.each([
  ["layerNorm", layerNorm, true, 1e-5],
  ["rmsNorm", rmsNorm, false, 1e-6],
] as const)("%s", (_, make, centred, epsilon) => {
  it.each(shapes)("of %i rows of %i, to 1e-5", (rows, dim) => {
    const x = uniform(rows * dim, 6, 3).map((value) => value + 1);
    const [gamma, beta] = [uniform(dim, 7), uniform(dim, 8)];
    const y = run(make({ rows, hiddenSize: dim }), x, rows, centred ? [gamma, beta] : [gamma]);
    const expected = rowsOf(x, dim).flatMap((row) => normOf(row, epsilon, centred).map((v, i) => v * gamma[i]! + (centred ? beta[i]! : 0)));
    expect(worst(y, expected, 1)).toBeLessThan(1e-5);
  });

  it.each(["warp", "block"] as const)("by a %s, of rows longer than registers hold, without weights", (form) => {
    const [rows, dim] = long[form];
    const x = uniform(rows * dim, 9, 3).map((value) => value + 1);
    const y = run(make({ rows, hiddenSize: dim, form, affine: false, epsilon: 0.5 }), x, rows);
    expect(
      worst(
        y,
        rowsOf(x, dim).flatMap((row) => normOf(row, 0.5, centred)),
        1,
      ),
    ).toBeLessThan(1e-5);
  });

  it("does not change when a row is multiplied by two, where epsilon is 0", () => {
    const x = uniform(5 * 45, 10);
    const kernel = make({ rows: 5, hiddenSize: 45, affine: false, epsilon: 0 });
    expect(
      run(
        kernel,
        x.map((value) => 2 * value),
        5,
      ),
    ).toEqual(run(kernel, x, 5));
  });
});

it("layer norm takes away what is added to a row, RMS norm does not", () => {
  const x = uniform(64, 11).map((value) => Math.round(value * 1024) / 1024);
  const shifted = x.map((value) => value + 2);
  const [layer, root] = [layerNorm, rmsNorm].map((make) => make({ rows: 1, hiddenSize: 64, affine: false }));
  expect(worst(run(layer!, shifted, 1), run(layer!, x, 1), 1)).toBeLessThan(1e-5);
  expect(worst(run(root!, shifted, 1), run(root!, x, 1), 1)).toBeGreaterThan(0.1);
});
