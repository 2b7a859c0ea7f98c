// What the executor's kernels compute, against binary64 on the host: on the simulated device at
// sizes fit for it, on a GPU at all.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { matmulTiles } from "../../../packages/gpu/src/executor/matmul.js";
import { KernelExecutor, type Layer } from "../../../packages/gpu/src/index.js";
import { randomArray, uniform } from "../numbers.js";
import { onHardware, openTestDevice, size } from "./device.js";

const lengths = [1, 31, 33, 1000, 4097, ...(onHardware ? [3_000_001] : [])];

const shapes: readonly (readonly [rows: number, columns: number])[] = [
  [1, 1],
  [3, 31],
  [7, 33],
  [2, 1000],
  [1, 4097],
  [300, 5],
];
const largeShapes = [
  [31, 31],
  [33, 33],
  [1000, 1000],
  [4097, 33],
  [7, 4097],
  [1, 1_000_003],
  [100_000, 3],
] as const;

const products: readonly (readonly [m: number, k: number, n: number])[] = [
  [1, 1, 1],
  [31, 33, 31],
  [33, 31, 65],
  [1, 1000, 5],
  [70, 3, 130],
  [300, 8, 300],
];
const large = size(4097, 0, 513);
const largeProducts = [
  [31, 31, 31],
  [33, 33, 33],
  [1000, 1000, 1000],
  [large, large, large],
  [1, 4097, 1000],
  [4097, 31, 1],
  [200_000, 3, 33],
] as const;

/** Equal in every bit; `toEqual` takes seconds for millions of elements. */
function expectBits(actual: Float32Array, expected: Float32Array): void {
  const bytes = (array: Float32Array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  if (Buffer.compare(bytes(actual), bytes(expected)) !== 0) expect(actual).toEqual(expected);
}

/** The bar of every kernel: relative to binary64. */
const tolerance = 1e-5;

/** The largest error relative to the value itself. */
function worst(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  let most = 0;
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i]! - expected[i]!);
    most = Math.max(most, error === 0 ? 0 : error / Math.abs(expected[i]!));
    if (Number.isNaN(error)) return Number.NaN;
  }
  return most;
}

/**
 * Of an element of a sum of products: relative to the sum of their magnitudes, which is what
 * rounding is proportional to.
 */
function worstProduct(
  product: Float32Array,
  a: Float32Array,
  b: Float32Array,
  k: number,
  n: number,
  cells: readonly (readonly [number, number])[],
) {
  let most = 0;
  for (const [row, column] of cells) {
    let sum = 0;
    let magnitude = 0;
    for (let i = 0; i < k; i++) {
      const term = a[row * k + i]! * b[i * n + column]!;
      sum += term;
      magnitude += Math.abs(term);
    }
    const error = Math.abs(product[row * n + column]! - sum);
    most = Math.max(most, magnitude === 0 ? error : error / magnitude);
  }
  return most;
}

/** Every place of a small product; of a large one the corners and some hundred others. */
function cellsOf(m: number, n: number): (readonly [number, number])[] {
  if (m * n <= 20_000) return Array.from({ length: m * n }, (_, at) => [Math.floor(at / n), at % n] as const);
  const random = uniform(m + n);
  const corners = [[0, 0] as const, [m - 1, n - 1] as const, [0, n - 1] as const, [m - 1, 0] as const];
  const within = (size: number) => Math.min(size - 1, Math.floor(((random() + 1) / 2) * size));
  return [...corners, ...Array.from({ length: 400 }, () => [within(m), within(n)] as const)];
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const map = (array: Float32Array, f: (value: number, index: number) => number) => Float64Array.from(array, f);

/** Softmax in binary64. */
function softmax(x: ArrayLike<number>, rows: number, columns: number): Float64Array {
  const out = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    let most = -Infinity;
    for (let i = 0; i < columns; i++) most = Math.max(most, x[row * columns + i]!);
    let sum = 0;
    for (let i = 0; i < columns; i++) sum += Math.exp(x[row * columns + i]! - most);
    for (let i = 0; i < columns; i++) out[row * columns + i] = Math.exp(x[row * columns + i]! - most) / sum;
  }
  return out;
}

let executor: KernelExecutor;

beforeAll(() => {
  executor = new KernelExecutor(openTestDevice());
});
afterAll(() => {
  const context = executor?.device.context;
  executor?.dispose();
  context?.dispose();
});

describe("the standard kernels", () => {
  it("adds 1024 elements to 3.0 by a kernel run with 4 blocks of 256 threads", async () => {
    const { device } = executor;
    const [a, b, c] = [device.upload(new Float32Array(1024).fill(1)), device.upload(new Float32Array(1024).fill(2)), device.allocate(1024)];
    executor.runKernel("vector_add", 4, 256, [a, b, c, 1024]);
    expect(await device.download(c)).toEqual(new Float32Array(1024).fill(3));
    for (const buffer of [a, b, c]) buffer.dispose();
  });

  it.each(lengths)("adds, multiplies and exponentiates %i elements", async (n) => {
    const a = randomArray(n, 3, 4);
    const b = randomArray(n, 5, 4);
    expectBits(
      await executor.vectorAdd(a, b),
      a.map((value, i) => Math.fround(value + b[i]!)),
    );
    expectBits(
      await executor.multiply(a, b),
      a.map((value, i) => Math.fround(value * b[i]!)),
    );
    expect(worst(await executor.exp(a), map(a, Math.exp))).toBeLessThanOrEqual(tolerance);
  });

  it.each(lengths)("activates %i elements, far from 0 as well as near it", async (n) => {
    const x = randomArray(n, 7, 30);
    for (let i = 0; i < n; i += 2) x[i] = x[i]! / 1000;
    expectBits(
      await executor.relu(x),
      x.map((value) => Math.max(value, 0)),
    );
    expect(worst(await executor.sigmoid(x), map(x, sigmoid))).toBeLessThanOrEqual(tolerance);
    expect(worst(await executor.tanh(x), map(x, Math.tanh))).toBeLessThanOrEqual(tolerance);
  });

  it("keeps NaN, infinities and zeros through the activations", async () => {
    const x = Float32Array.of(Number.NaN, Infinity, -Infinity, 0, -200, 200);
    expect([...(await executor.relu(x))]).toEqual([Number.NaN, Infinity, 0, 0, 0, 200]);
    expect([...(await executor.sigmoid(x))]).toEqual([Number.NaN, 1, 0, 0.5, expect.closeTo(0, 30), 1]);
    expect([...(await executor.tanh(x))].slice(1)).toEqual([1, -1, 0, -1, 1]);
  });

  it.each(lengths)("sums %i elements, and multiplies and sums them, in binary64", async (n) => {
    const a = randomArray(n, 11, 1, 0.25);
    const b = randomArray(n, 13);
    const sum = a.reduce((total, value) => total + value, 0);
    const dot = a.reduce((total, value, i) => total + value * b[i]!, 0);
    expect(Math.abs((await executor.reduceSum(a)) - sum)).toBeLessThanOrEqual(1e-13 * n);
    expect(Math.abs((await executor.dot(a, b)) - dot)).toBeLessThanOrEqual(1e-13 * n);
  });

  it("sums to the last digit what cancels, the same each time", async () => {
    const x = Float32Array.of(1e8, 1, -1e8, 2 ** -20);
    expect(await executor.reduceSum(x)).toBe(1 + 2 ** -20);
    const long = randomArray(20_000, 17, 1e6);
    expect(await executor.reduceSum(long)).toBe(await executor.reduceSum(long));
    expect(await executor.reduceSum(new Float32Array(0))).toBe(0);
  });

  it.each([...shapes, ...(onHardware ? largeShapes : [])])("softens %i rows of %i classes, which sum to 1", async (rows, columns) => {
    const x = randomArray(rows * columns, 19, 8);
    const y = await executor.softmax(x, rows, columns);
    expect(worst(y, softmax(x, rows, columns))).toBeLessThanOrEqual(tolerance);
    for (let row = 0; row < rows; row++)
      expect(Math.abs(y.subarray(row * columns, (row + 1) * columns).reduce((sum, value) => sum + value, 0) - 1)).toBeLessThanOrEqual(1e-6);
  });

  it("softens what would overflow, and a class that cannot be", async () => {
    expect([...(await executor.softmax(Float32Array.of(1000, 1000, -Infinity, -1000), 1, 4))]).toEqual([0.5, 0.5, 0, 0]);
    expect([...(await executor.softmax(Float32Array.of(-Infinity, -Infinity), 1, 2))]).toEqual([Number.NaN, Number.NaN]);
  });

  it.each([...shapes, ...(onHardware ? largeShapes : [])])(
    "normalises %i x %i by batch statistics, adds a bias, and divides by norms",
    async (rows, columns) => {
      const x = randomArray(rows * columns, 23, 2, 1);
      const vectors = {
        gamma: randomArray(columns, 29, 1, 2),
        beta: randomArray(columns, 31, 0.5, 30),
        mean: randomArray(columns, 37),
        variance: randomArray(columns, 41, 0.5, 1),
      };
      const feature = (index: number) => index % columns;
      const normal = map(
        x,
        (value, i) =>
          ((value - vectors.mean[feature(i)]!) / Math.sqrt(vectors.variance[feature(i)]! + 1e-3)) * vectors.gamma[feature(i)]! +
          vectors.beta[feature(i)]!,
      );
      expect(worst(await executor.batchNorm(x, { ...vectors, epsilon: 1e-3 }, rows, columns), normal)).toBeLessThanOrEqual(tolerance);
      expect(await executor.broadcastAdd(x, vectors.beta, rows, columns)).toEqual(
        x.map((value, i) => Math.fround(value + vectors.beta[feature(i)]!)),
      );
      for (const [norm, term, end] of [
        ["sum", (value: number) => value, (sum: number) => sum],
        ["magnitudes", Math.abs, (sum: number) => sum],
        ["euclidean", (value: number) => value * value, Math.sqrt],
      ] as const) {
        const divisors = Float64Array.from({ length: rows }, (_, row) =>
          end(x.subarray(row * columns, (row + 1) * columns).reduce((sum, value) => sum + term(value), 0)),
        );
        const divided = map(x, (value, i) => value / divisors[Math.floor(i / columns)]!);
        expect(worst(await executor.normalize(x, rows, columns, norm), divided), norm).toBeLessThanOrEqual(tolerance);
      }
    },
  );

  it.each([...products, ...(onHardware ? largeProducts : [])])("multiplies %i x %i by ... x %i, and says by what", async (m, k, n) => {
    const a = randomArray(m * k, 43);
    const b = randomArray(k * n, 47);
    const { values, source } = await executor.matmul(a, b, m, k, n);
    expect(source).toEqual({ library: "spillway", kernel: expect.stringMatching(/^matmul/) });
    expect(values).toHaveLength(m * n);
    expect(worstProduct(values, a, b, k, n, cellsOf(m, n))).toBeLessThanOrEqual(tolerance);
  });

  it("multiplies to the same bits by every tile: an element is one chain of fused sums in the order of k", async () => {
    const [m, k, n] = [33, 70, 37];
    const { device } = executor;
    const [a, b] = [randomArray(m * k, 53), randomArray(k * n, 59)];
    const [left, right] = [device.upload(a), device.upload(b)];
    const results: Float32Array[] = [];
    for (const tile of matmulTiles) {
      const out = device.allocate(m * n);
      executor.multiplyBy(tile, left, right, out, m, k, n);
      results.push(await device.download(out));
      out.dispose();
    }
    for (const buffer of [left, right]) buffer.dispose();
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it("gives zeros for a product of no terms and nothing for one of no rows", async () => {
    expect((await executor.matmul(new Float32Array(0), new Float32Array(0), 2, 0, 3)).values).toEqual(new Float32Array(6));
    expect((await executor.matmul(new Float32Array(0), new Float32Array(6), 0, 2, 3)).values).toEqual(new Float32Array(0));
  });

  it("runs a network of three layers as the host would", async () => {
    const [batch, inputs, hidden, classes] = [5, 33, 20, 7];
    const layers: Layer[] = [
      { weights: randomArray(inputs * hidden, 61), inputs, outputs: hidden, bias: randomArray(hidden, 67), activation: "relu" },
      { weights: randomArray(hidden * hidden, 71), inputs: hidden, outputs: hidden, activation: "tanh" },
      {
        weights: randomArray(hidden * classes, 73),
        inputs: hidden,
        outputs: classes,
        bias: randomArray(classes, 79),
        activation: "softmax",
      },
    ];
    const input = randomArray(batch * inputs, 83);
    let expected: Float64Array = Float64Array.from(input);
    for (const { weights, inputs: from, outputs: to, bias, activation } of layers) {
      const next = new Float64Array(batch * to);
      for (let row = 0; row < batch; row++)
        for (let j = 0; j < to; j++) {
          let sum = bias?.[j] ?? 0;
          for (let i = 0; i < from; i++) sum += expected[row * from + i]! * weights[i * to + j]!;
          next[row * to + j] = activation === "relu" ? Math.max(sum, 0) : activation === "tanh" ? Math.tanh(sum) : sum;
        }
      expected = activation === "softmax" ? softmax(next, batch, to) : next;
    }
    const { values, sources } = await executor.neuralForward(input, batch, layers);
    expect(worst(values, expected)).toBeLessThanOrEqual(tolerance);
    expect(sources.map(({ library }) => library)).toEqual(["spillway", "spillway", "spillway"]);
  });

  it("chains operations on a tensor there, a product saying what computed it", async () => {
    using a = executor.tensor(Float32Array.of(1, 2, 3, 4, 5, 6), 2, 3);
    using b = executor.tensor(Float32Array.of(1, 0, -1, 1, 2, -1), 3, 2);
    using row = executor.tensor(Float32Array.of(-5, 2), 1, 2);
    using product = a.matmul(b);
    expect([product.shape, product.source?.library]).toEqual(["2 x 2", "spillway"]);
    expect([...(await product.toArray())]).toEqual([5, -1, 11, -1]);
    expect([...(await product.addRow(row).relu().toArray())]).toEqual([0, 1, 6, 1]);
    expect([...(await product.softmax().toArray())].map((value) => value.toFixed(4))).toEqual(["0.2689", "0.7311", "0.9933", "0.0067"]);
    expect(() => a.matmul(row)).toThrow("a product takes as many rows on the right as columns on the left; got 2 x 3 times 1 x 2");
    expect(() => a.addRow(row)).toThrow("a row of 2 x 3 is 1 x 3; got 1 x 2");
  });
});
