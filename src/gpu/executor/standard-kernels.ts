// The shipped kernels of executor.cu on device memory, in the order of the device's stream: nothing
// here waits or copies. Arrays are binary32, matrices row-major. On host arrays they are
// KernelExecutor's.

import { ArgumentError } from "../../core/errors.js";
import { suggestion } from "../../core/near-names.js";
import { resolve } from "../../core/options.js";
import type { DeviceBuffer } from "../buffer.js";
import type { Dtype } from "../dtypes.js";
import type { Kernel, KernelOptions } from "../kernel.js";
import type { Dimensions } from "../launch-config.js";
import type { Module } from "../module.js";
import type { ArgumentsFor, Parameter } from "../parameters.js";
import type { DeviceSlice, ReadonlyDeviceSlice } from "../slice.js";
import { Cublas } from "./cublas.js";
import type { GpuDevice } from "./gpu-device.js";
import { type BlasChoice, chooseTile, type ExecutorOptions, executorTable, type ProductSource, type Tile, tileCount } from "./matmul.js";

/** Memory that a kernel reads. */
export type Input = ReadonlyDeviceSlice<"f32">;
/** Memory that a kernel writes. */
export type Output = DeviceSlice<"f32">;

/** Running statistics and parameters of a batch normalisation, one of each for a feature. */
export interface BatchNorm<Vector> {
  readonly gamma: Vector;
  readonly beta: Vector;
  readonly mean: Vector;
  readonly variance: Vector;
  /** Added to the variance; default 1e-5. */
  readonly epsilon?: number;
}

/** What rows are divided by: their sum, their sum of magnitudes, or their Euclidean length. */
export type Norm = "sum" | "magnitudes" | "euclidean";

const norms: Readonly<Record<Norm, number>> = { sum: 0, magnitudes: 1, euclidean: 2 };

interface Declared {
  readonly parameters: readonly Parameter[];
  readonly lengths: KernelOptions["lengths"];
}

const declare = <const Parameters extends readonly Parameter[]>(parameters: Parameters, lengths: readonly (readonly number[])[]) => ({
  parameters,
  lengths,
});

const binary = declare(["const f32*", "const f32*", "f32*", "i32"], [[3], [3], [3]]);
const inPlace = declare(["f32*", "i32"], [[1]]);
const product = declare(
  ["const f32*", "const f32*", "f32*", "i32", "i32", "i32"],
  [
    [3, 4],
    [4, 5],
    [3, 5],
  ],
);

/** Every kernel of executor.cu: its parameters, and which of them say how long its arrays are. */
const declarations = {
  vector_add: binary,
  elementwise_multiply: binary,
  elementwise_exp: declare(["const f32*", "f32*", "i32"], [[2], [2]]),
  relu: inPlace,
  sigmoid: inPlace,
  tanh_activation: inPlace,
  broadcast_add: declare(["f32*", "const f32*", "i32", "i32"], [[2, 3], [3]]),
  batch_norm: declare(["f32*", "const f32*", "const f32*", "const f32*", "const f32*", "i32", "i32", "f32"], [[5, 6], [6], [6], [6], [6]]),
  softmax: declare(["f32*", "i32", "i32"], [[1, 2]]),
  normalize: declare(["f32*", "i32", "i32", "i32"], [[1, 2]]),
  reduce_sum: declare(["const f32*", "f64*", "i32"], [[2]]),
  dot_product: declare(["const f32*", "const f32*", "f64*", "i32"], [[3], [3]]),
  sum_partials: declare(["const f64*", "f64*", "i32"], [[2]]),
  matmul: product,
  matmul_small: product,
  matmul_large: product,
} satisfies Record<string, Declared>;

type Declarations = typeof declarations;

/** The name of a standard kernel. */
export type StandardKernel = keyof Declarations;

/** The names of the standard kernels, in the order of executor.cu. */
export const standardKernelNames: readonly StandardKernel[] = Object.keys(declarations) as StandardKernel[];

const threads = 256;

/** Blocks for `count` elements, four a thread; beyond these blocks threads walk on. */
const blocksFor = (count: number): number => Math.min(Math.ceil(count / (4 * threads)), 65536);

/**
 * Blocks of a reduction. It depends on the length only, since it is part of the order of the sum.
 */
const partialsFor = (count: number): number => Math.max(1, Math.min(Math.ceil(count / (16 * threads)), 2048));

/**
 * The shape of a launch whose blocks are (threads of a row, rows): about eight elements a thread.
 */
function rowShape(rows: number, columns: number): { readonly grid: number; readonly block: Dimensions } {
  let across = 32;
  while (across < 1024 && across * 8 < columns) across *= 2;
  const down = Math.max(1, threads / across);
  return { grid: Math.ceil(rows / down), block: [across, down] };
}

/** @throws ArgumentError if a size is no count that a kernel takes. */
export function checkSizes(kernel: string, sizes: Readonly<Record<string, number>>): void {
  let elements = 1;
  for (const [name, size] of Object.entries(sizes)) {
    if (!Number.isSafeInteger(size) || size < 0) throw new ArgumentError(name, size, "a whole number, at least 0", { of: kernel });
    if (size > 2147483647) throw new ArgumentError(name, size, "at most 2147483647", { of: kernel });
    elements *= Math.max(1, size);
  }
  if (!Number.isSafeInteger(elements))
    throw ArgumentError.because(`${kernel}: ${Object.values(sizes).join(" x ")} elements are too many`, {
      field: Object.keys(sizes).join(" x "),
      value: elements,
    });
}

/** The standard kernels on a device's memory. */
export class StandardKernels {
  readonly device: GpuDevice;
  /** What multiplies matrices if a call does not say. */
  readonly blas: BlasChoice;
  readonly #kernels = new Map<StandardKernel, Kernel>();
  readonly #modules: Module[] = [];
  #cublas: Cublas | undefined;
  #noCublas: unknown;

  /**
   * For one device; each kernel is loaded at its first use. `blas` is what multiplies matrices
   * if a call does not say; default "none".
   */
  constructor(device: GpuDevice, options: ExecutorOptions = {}) {
    this.blas = resolve(executorTable, options, "StandardKernels").blas ?? "none";
    this.device = device;
  }

  /**
   * A standard kernel, loaded when it is first asked for. @throws ArgumentError naming those there
   * are.
   */
  kernel<Name extends StandardKernel>(name: Name): Kernel<Declarations[Name]["parameters"]> {
    let kernel = this.#kernels.get(name);
    if (!kernel) {
      if (!Object.hasOwn(declarations, name))
        throw ArgumentError.because(
          `there is no standard kernel ${JSON.stringify(name)}${suggestion(name, standardKernelNames)}; there are ${standardKernelNames.join(", ")}`,
          { field: "name", value: name, expected: standardKernelNames.join(", ") },
        );
      const { context } = this.device;
      const ptx = context.shippedPtx("executor", { entries: [name] });
      const { parameters, lengths } = declarations[name];
      const module = context.load(ptx, { label: `executor ${name}` });
      this.#modules.push(module);
      kernel = module.kernel(name, parameters, { lengths }) as unknown as Kernel;
      this.#kernels.set(name, kernel);
    }
    return kernel as unknown as Kernel<Declarations[Name]["parameters"]>;
  }

  #launch<Name extends StandardKernel>(
    name: Name,
    grid: Dimensions,
    block: Dimensions,
    ...values: ArgumentsFor<Declarations[Name]["parameters"]>
  ): void {
    this.device.stream.launch(this.kernel(name) as unknown as Kernel, { grid, block }, ...(values as unknown as []));
  }

  #fresh<T extends Dtype>(dtype: T, length: number): DeviceBuffer<T> {
    return this.device.context.alloc(dtype, length, { stream: this.device.stream });
  }

  /** c = a + b. @throws LaunchError if an array is shorter than `n`. */
  vectorAdd(a: Input, b: Input, c: Output, n: number = c.length): void {
    checkSizes("vector_add", { n });
    if (n > 0) this.#launch("vector_add", blocksFor(n), threads, a, b, c, n);
  }

  /** c = a b, element by element. @throws as `vectorAdd`. */
  multiply(a: Input, b: Input, c: Output, n: number = c.length): void {
    checkSizes("elementwise_multiply", { n });
    if (n > 0) this.#launch("elementwise_multiply", blocksFor(n), threads, a, b, c, n);
  }

  /** y = exp(x). @throws as `vectorAdd`. */
  exp(x: Input, y: Output, n: number = y.length): void {
    checkSizes("elementwise_exp", { n });
    if (n > 0) this.#launch("elementwise_exp", blocksFor(n), threads, x, y, n);
  }

  #activate(name: "relu" | "sigmoid" | "tanh_activation", data: Output, n: number): void {
    checkSizes(name, { n });
    if (n > 0) this.#launch(name, blocksFor(n), threads, data, n);
  }

  /** max(x, 0) in place; a NaN stays one. @throws as `vectorAdd`. */
  relu(data: Output, n: number = data.length): void {
    this.#activate("relu", data, n);
  }

  /** 1 / (1 + exp(-x)) in place. @throws as `vectorAdd`. */
  sigmoid(data: Output, n: number = data.length): void {
    this.#activate("sigmoid", data, n);
  }

  /** tanh(x) in place, in the portable arithmetic of the reservoirs. @throws as `vectorAdd`. */
  tanh(data: Output, n: number = data.length): void {
    this.#activate("tanh_activation", data, n);
  }

  /** Adds `bias` (features) to every row of `data` (batch x features). @throws as `vectorAdd`. */
  broadcastAdd(data: Output, bias: Input, batch: number, features: number): void {
    checkSizes("broadcast_add", { batch, features });
    if (batch * features === 0) return;
    this.#launch("broadcast_add", [blocksFor(features), Math.min(batch, 65535)], threads, data, bias, batch, features);
  }

  /**
   * (x - mean) / sqrt(variance + epsilon) gamma + beta, feature by feature, in place on `data`
   * (batch x features). @throws as `vectorAdd`.
   */
  batchNorm(data: Output, { gamma, beta, mean, variance, epsilon = 1e-5 }: BatchNorm<Input>, batch: number, features: number): void {
    checkSizes("batch_norm", { batch, features });
    if (batch * features === 0) return;
    const grid: Dimensions = [blocksFor(features), Math.min(batch, 1024)];
    this.#launch("batch_norm", grid, threads, data, gamma, beta, mean, variance, batch, features, epsilon);
  }

  /**
   * exp(x - max) / sum over each row of `data` (batch x classes), in place. @throws as `vectorAdd`.
   */
  softmax(data: Output, batch: number, classes: number): void {
    checkSizes("softmax", { batch, classes });
    if (batch * classes === 0) return;
    const { grid, block } = rowShape(batch, classes);
    this.#launch("softmax", grid, block, data, batch, classes);
  }

  /**
   * Divides each row of `data` (rows x columns) by its norm, in place; a row of norm 0 becomes NaN
   * or infinite. @throws as `vectorAdd`.
   */
  normalize(data: Output, rows: number, columns: number, norm: Norm = "sum"): void {
    checkSizes("normalize", { rows, columns });
    if (!Object.hasOwn(norms, norm)) throw new ArgumentError("norm", norm, Object.keys(norms).join(", "));
    if (rows * columns === 0) return;
    const { grid, block } = rowShape(rows, columns);
    this.#launch("normalize", grid, block, data, rows, columns, norms[norm]);
  }

  /**
   * The sum of the first `n` elements into `sum`, added in binary64 in an order that depends only
   * on `n`. @throws as `vectorAdd`.
   */
  reduceSum(x: Input, sum: DeviceSlice<"f64">, n: number = x.length): void {
    checkSizes("reduce_sum", { n });
    this.#reduce(n, sum, (partials, count) => this.#launch("reduce_sum", count, threads, x, partials, n));
  }

  /**
   * a . b into `sum`: exact products, added in binary64 in an order that depends only on `n`.
   * @throws as `vectorAdd`.
   */
  dot(a: Input, b: Input, sum: DeviceSlice<"f64">, n: number = a.length): void {
    checkSizes("dot_product", { n });
    this.#reduce(n, sum, (partials, count) => this.#launch("dot_product", count, threads, a, b, partials, n));
  }

  #reduce(n: number, sum: DeviceSlice<"f64">, first: (partials: DeviceSlice<"f64">, count: number) => void): void {
    const count = partialsFor(n);
    const partials = this.#fresh("f64", count);
    try {
      first(partials, count);
      this.#launch("sum_partials", 1, threads, partials, sum.slice(0, 1), count);
    } finally {
      partials.dispose();
    }
  }

  /**
   * C = A B with A m x k, B k x n and C m x n, and what computed it. By this package's kernels each
   * element is one chain of fused multiply-adds in the order of k: the same bits on every device.
   *
   * @throws LaunchError if an array is shorter than its matrix; with `blas: "cublas"`
   * LibraryError, CublasError.
   */
  matmul(a: Input, b: Input, c: Output, m: number, k: number, n: number, options: ExecutorOptions = {}): ProductSource {
    checkSizes("matmul", { m, k });
    checkSizes("matmul", { k, n });
    checkSizes("matmul", { m, n });
    const { blas = this.blas } = resolve(executorTable, options, "matmul");
    const cublas = this.#blas(blas);
    if (cublas && k > 0) {
      for (const [what, slice, elements] of [["A", a, m * k] as const, ["B", b, k * n] as const, ["C", c, m * n] as const])
        if (slice.length < elements)
          throw ArgumentError.shape(`matmul: ${what} has ${slice.length} elements; its matrix has ${elements}`, { field: what });
      if (m * n > 0) cublas.matmul(a, b, c, m, k, n);
      return { library: "cublas", version: cublas.version, path: cublas.path };
    }
    const tile = chooseTile(m, n, this.device.context.info.attributes.multiprocessors);
    if (m * n > 0) this.multiplyBy(tile, a, b, c, m, k, n);
    return { library: "spillway", kernel: tile.kernel };
  }

  /** @internal C = A B by a certain kernel, for measurements and tests. */
  multiplyBy(tile: Tile, a: Input, b: Input, c: Output, m: number, k: number, n: number): void {
    this.#launch(tile.kernel, tileCount(tile, m, n), tile.threads, a, b, c, m, k, n);
  }

  /** cuBLAS if the choice is for it. */
  #blas(choice: BlasChoice): Cublas | undefined {
    if (choice === "none" || this.#cublas) return choice === "none" ? undefined : this.#cublas;
    if (this.#noCublas === undefined) {
      try {
        this.#cublas = new Cublas(this.device);
        return this.#cublas;
      } catch (error) {
        this.#noCublas = error;
      }
    }
    if (choice === "cublas") throw this.#noCublas;
    return undefined;
  }

  /**
   * Gives back the kernels and the cuBLAS that were loaded, after the device's work. They load
   * again when asked for. @throws CudaError.
   */
  dispose(): void {
    if (this.#modules.length > 0) this.device.settle();
    for (const module of this.#modules.splice(0)) module.dispose();
    this.#kernels.clear();
    this.#cublas?.dispose();
    this.#cublas = undefined;
  }

  /**
   * Why `blas: "auto"` does not multiply by cuBLAS; undefined if it does, or was not asked to
   * yet.
   */
  get blasProblem(): string | undefined {
    return this.#noCublas instanceof Error ? this.#noCublas.message : undefined;
  }
}
