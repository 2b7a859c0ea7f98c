// Element-wise kernels, the matrix-vector product and the leaky step, in the interpreter: portable
// ones to the bit, the others against doubles.
import { describe, expect, it } from "vitest";
import { portableTanh32 } from "../../../packages/numerics/src/portable.js";
import { elementwise } from "../../../packages/ptx/src/kernels/elementwise.js";
import { gemv, leakyStep } from "../../../packages/ptx/src/kernels/gemv.js";
import type { ElementwiseName } from "../../../packages/ptx/src/kernels/shapes.js";
import { activationOf } from "../../../src/reservoir/activations.js";
import { Bench, input, output } from "../device.js";
import { runKernel, uniform, worst } from "./run.js";

const f = Math.fround;
const odd = [0, -0, 1e-40, -1e-45, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3e38, 0.7, -0.7, 9.99, Number.NaN, -11];
const numbers = Float32Array.of(...odd, ...uniform(1001 - odd.length, 1, 12));

/** Runs a kernel that works on its data in place. */
function inPlace(operation: ElementwiseName, data: Float32Array): Float32Array {
  const result = data.slice();
  const kernel = elementwise({ operation, count: data.length });
  new Bench(kernel.ptx).run(operation, { grid: kernel.grid, block: kernel.block }, [output(result), data.length], true);
  return result;
}

describe("activations", () => {
  it("tanh has the bits of portableTanh32", () => {
    expect(inPlace("tanh_activation", numbers)).toEqual(numbers.map(portableTanh32));
  });

  it("sigmoid has those of .5 + .5 tanh(.5 x)", () => {
    expect(inPlace("sigmoid", numbers)).toEqual(numbers.map((x) => f(0.5 + f(0.5 * portableTanh32(f(0.5 * x))))));
  });

  it("relu keeps what is above 0, and NaN, as the executor's does", () => {
    const values = Float32Array.of(...numbers, Number.NaN, -0);
    expect(inPlace("relu", values)).toEqual(values.map(activationOf({ activation: "relu", precision: "float32" })));
  });
});

describe("of two arrays", () => {
  const [a, b] = [uniform(777, 2), uniform(777, 3)];
  it.each([
    ["vector_add", (x: number, y: number) => f(x + y)],
    ["elementwise_multiply", (x: number, y: number) => f(x * y)],
  ] as const)("%s", (operation, of) => {
    const c = new Float32Array(777);
    runKernel(elementwise({ operation, count: 777 }), [input(a), input(b), output(c), 777]);
    expect(c).toEqual(a.map((x, k) => of(x, b[k]!)));
  });
});

it("elementwise_exp is e^x to 4 ulp, from where it is 0 to where it is infinite", () => {
  const x = Float32Array.from({ length: 1000 }, (_, k) => (k - 500) * 0.21);
  const y = new Float32Array(1000);
  runKernel(elementwise({ operation: "elementwise_exp", count: 1000 }), [input(x), output(y), 1000]);
  for (const [k, value] of x.entries()) {
    const exact = Math.exp(value);
    if (exact > 3.4028235e38) expect(y[k]).toBe(Number.POSITIVE_INFINITY);
    else expect(Math.abs(y[k]! - exact), `e^${value}`).toBeLessThanOrEqual(4 * 2 ** -24 * exact + 2 ** -149);
  }
});

it("a grid smaller than the data goes over it in strides, and one larger leaves the rest alone", () => {
  const kernel = elementwise({ operation: "vector_add", count: 10 });
  const c = new Float32Array(600);
  runKernel(kernel, [input(uniform(600, 4)), input(uniform(600, 5)), output(c), 599]);
  expect(c.subarray(0, 599).some(Number.isNaN)).toBe(false);
  expect(c[599]).toBeNaN();
});

it("broadcast_add and batch_norm take a row of features for every row", () => {
  const [batch, features] = [7, 13];
  const [data, bias, gamma, beta, mean] = [uniform(91, 6), uniform(13, 7), uniform(13, 8), uniform(13, 9), uniform(13, 10)];
  const variance = uniform(13, 11).map((x) => x * x + 0.1);
  const run = (operation: ElementwiseName, args: Parameters<Bench["run"]>[2]) => {
    const kernel = elementwise({ operation, count: 91 });
    new Bench(kernel.ptx).run(operation, { grid: kernel.grid, block: kernel.block }, args, true);
  };
  const [added, normed] = [data.slice(), data.slice()];
  run("broadcast_add", [output(added), input(bias), batch, features]);
  expect(added).toEqual(data.map((x, k) => f(x + bias[k % 13]!)));
  run("batch_norm", [output(normed), input(gamma), input(beta), input(mean), input(variance), batch, features, 1e-5]);
  const expected = data.map((x, k) => ((x - mean[k % 13]!) / Math.sqrt(variance[k % 13]! + 1e-5)) * gamma[k % 13]! + beta[k % 13]!);
  expect(worst(normed, expected, 1)).toBeLessThan(1e-5);
});

/** A dot product by docs/numerics.md, rule 1. */
function dot(a: Float32Array, x: Float32Array): number {
  let lanes = new Array<number>(32).fill(0);
  for (const [k, value] of a.entries()) lanes[k & 31] = f(lanes[k & 31]! + f(value * x[k]!));
  for (let o = 16; o; o >>= 1) lanes = lanes.map((value, l) => f(value + lanes[l ^ o]!));
  return lanes[0]!;
}

describe("gemv", () => {
  it.each([
    [1, 1],
    [5, 31],
    [7, 32],
    [9, 300],
    [3, 1000],
  ])("%i x %i is alpha A x + beta y in the portable order", (m, n) => {
    const [a, x, y] = [uniform(m * n, 12), uniform(n, 13), uniform(m, 14)];
    const result = y.slice();
    const kernel = gemv({ m, n });
    new Bench(kernel.ptx).run("gemv", { grid: kernel.grid, block: kernel.block }, [input(a), input(x), output(result), 1.5, -0.25], true);
    expect(result).toEqual(y.map((old, r) => f(f(dot(a.subarray(r * n, (r + 1) * n), x) * 1.5) + f(-0.25 * old))));
  });

  it("does not read y where beta is 0", () => {
    const y = new Float32Array(4);
    runKernel(gemv({ m: 4, n: 40 }), [input(uniform(160, 15)), input(uniform(40, 16)), output(y), 1, 0]);
    expect(y.some(Number.isNaN)).toBe(false);
  });
});

it("leakyStep is the portable leaky step", () => {
  const [x, z, y, leak] = [uniform(300, 17), uniform(300, 18, 4), new Float32Array(300), f(0.3)];
  runKernel(leakyStep({ size: 300 }), [input(x), input(z), output(y), leak]);
  expect(y).toEqual(x.map((old, k) => f(f(f(1 - leak) * old) + f(leak * portableTanh32(z[k]!)))));
});
