// Standard kernels, on host arrays and on device memory, and kernels of one's own by name, on one
// device. Arrays are binary32, matrices row-major. Operations on device memory are in the order of
// the device's stream: they neither wait nor copy.
import { disposeAll } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Dimensions, LaunchConfig } from "../launch-config.js";
import type { ArgumentsFor } from "../parameters.js";
import type { DeviceSlice } from "../slice.js";
import { type DeviceSource, GpuDevice } from "./gpu-device.js";
import { GpuTensor } from "./gpu-tensor.js";
import {
  type Changed,
  checkLengths,
  computed,
  type HostInput,
  type Like,
  type OnDevice,
  onDevice,
  pair,
  withArrays,
} from "./host-arrays.js";
import { KernelLoader } from "./kernel-loader.js";
import { type Cublas, multiplyByCublas, openCublas } from "./math-libraries.js";
import { type BlasChoice, chooseTile, type ExecutorOptions, executorTable, type ProductSource, type Tile, tileCount } from "./matmul.js";
import { type Layer, NeuralNetwork } from "./neural-network.js";
import {
  type BatchNorm,
  blocksFor,
  checkSizes,
  type Declarations,
  type Input,
  type Norm,
  norms,
  type Output,
  partialsFor,
  rowShape,
  type StandardKernel,
  threads,
} from "./standard-kernels.js";

/** A product or a network's output, and what multiplied. */
export interface Product {
  readonly values: Float32Array;
  readonly source: ProductSource;
}

/** A network's output, batch x outputs, and what multiplied in each layer. */
export interface NetworkOutput {
  readonly values: Float32Array;
  readonly sources: readonly ProductSource[];
}

type Sizes = [m: number, k: number, n: number, options?: ExecutorOptions];
type Summed<X> = X extends Float32Array ? Promise<number> : undefined;

/** @throws ArgumentError */
function checkProduct(m: number, k: number, n: number): void {
  for (const sizes of [
    { m, k },
    { k, n },
    { m, n },
  ])
    checkSizes("matmul", sizes);
}

/**
 * Standard kernels and one's own on one device. Given arrays of the host, a standard kernel copies
 * them to the device, and its result is an array of its own; given device memory, it returns at
 * once.
 */
export class KernelExecutor extends KernelLoader {
  /** What multiplies matrices if a call does not say. */
  readonly blas: BlasChoice;
  readonly #ownsDevice: boolean;
  #cublas: Cublas | undefined;
  #noCublas: unknown;

  /**
   * Opens a device, or uses one that is open, which it then leaves open. Kernels are loaded at
   * their first use. @throws as `openDevice`.
   */
  constructor(device: GpuDevice | DeviceSource = 0, options: ExecutorOptions = {}) {
    const { blas = "none" } = resolve(executorTable, options, "KernelExecutor");
    super(device instanceof GpuDevice ? device : new GpuDevice(device));
    this.blas = blas;
    this.#ownsDevice = !(device instanceof GpuDevice);
  }

  /**
   * Why `blas: "auto"` does not multiply by cuBLAS; undefined if it does, or was not asked to
   * yet.
   */
  get blasProblem(): string | undefined {
    return this.#noCublas instanceof Error ? this.#noCublas.message : undefined;
  }

  #launch<Name extends StandardKernel>(
    name: Name,
    grid: Dimensions,
    block: Dimensions,
    ...values: ArgumentsFor<Declarations[Name]["parameters"]>
  ): void {
    const launch = this.device.stream.launch as (kernel: unknown, config: LaunchConfig, ...values: readonly unknown[]) => void;
    launch.call(this.device.stream, this.kernel(name), { grid, block }, ...values);
  }

  /** Changes an array of these sizes: device memory in place, or a copy of a host array. */
  #inPlace<X extends Float32Array | Output>(
    kernel: StandardKernel,
    x: X,
    sizes: Readonly<Record<string, number>>,
    vectors: Readonly<Record<string, Like<X>>>,
    launch: (data: Output, ...vectors: Input[]) => void,
  ): Changed<X> {
    const counts = Object.values(sizes);
    const run = (data: Output, ...others: Input[]) => {
      checkSizes(kernel, sizes);
      if (!counts.includes(0)) launch(data, ...others);
    };
    if (onDevice(x)) return run(x, ...(Object.values(vectors) as Input[])) as Changed<X>;
    const onCopy = async () => {
      checkSizes(kernel, sizes);
      const elements = counts.reduce((product, count) => product * count, 1);
      const others = Object.entries(vectors).map(([name, vector]): HostInput => [name, vector as Float32Array, counts.at(-1)!]);
      return withArrays(this.device, [["x", x as Float32Array, elements, counts.join(" x ")], ...others], (data, ...buffers) => {
        run(data!, ...buffers);
        return this.device.download(data!);
      });
    };
    return onCopy() as Changed<X>;
  }

  #binary<X extends Float32Array | Input>(
    name: "vector_add" | "elementwise_multiply",
    formula: string,
    [a, b, c, n = c?.length ?? 0]: readonly [a: X, b: Like<X>, c?: Output, n?: number],
  ): Changed<X> {
    const launch = (left: Input, right: Input, out: Output, count: number) => {
      checkSizes(name, { n: count });
      if (count > 0) this.#launch(name, blocksFor(count), threads, left, right, out, count);
    };
    if (onDevice(a)) return launch(a, b as Input, c!, n) as Changed<X>;
    const { length } = a;
    const arrays = pair(a, b, length, formula);
    const sum = computed(this.device, arrays, "f32", length, (out, left, right) => launch(left!, right!, out, length));
    return sum.then(([values]) => values) as Changed<X>;
  }

  /**
   * a + b; with device memory c = a + b. @throws ArgumentError if lengths differ; LaunchError if
   * memory is shorter than `n`; CudaError.
   */
  vectorAdd<X extends Float32Array | Input>(a: X, b: Like<X>, ...out: OnDevice<X, [c: Output, n?: number]>): Changed<X> {
    return this.#binary("vector_add", "a + b", [a, b, ...(out as [Output?, number?])]);
  }

  /** a b, element by element; with device memory c = a b. @throws as `vectorAdd`. */
  multiply<X extends Float32Array | Input>(a: X, b: Like<X>, ...out: OnDevice<X, [c: Output, n?: number]>): Changed<X> {
    return this.#binary("elementwise_multiply", "a b", [a, b, ...(out as [Output?, number?])]);
  }

  /** exp(x); with device memory y = exp(x). @throws as `vectorAdd`. */
  exp<X extends Float32Array | Input>(x: X, ...out: OnDevice<X, [y: Output, n?: number]>): Changed<X> {
    const [y, n = (y ?? x).length] = out as [Output?, number?];
    const launch = (from: Input, to: Output) => this.#launch("elementwise_exp", blocksFor(n), threads, from, to, n);
    const result = onDevice(x)
      ? this.#inPlace("elementwise_exp", y!, { n }, {}, (to) => launch(x, to))
      : this.#inPlace("elementwise_exp", x as Float32Array, { n }, {}, (data) => launch(data, data));
    return result as Changed<X>;
  }

  #activate<X extends Float32Array | Output>(name: "relu" | "sigmoid" | "tanh_activation", x: X, n: number): Changed<X> {
    return this.#inPlace(name, x, { n }, {}, (data) => this.#launch(name, blocksFor(n), threads, data, n));
  }

  /** max(x, 0); device memory in place; a NaN stays one. @throws as `vectorAdd`. */
  relu<X extends Float32Array | Output>(x: X, n: number = x.length): Changed<X> {
    return this.#activate("relu", x, n);
  }

  /** 1 / (1 + exp(-x)); device memory in place. @throws as `vectorAdd`. */
  sigmoid<X extends Float32Array | Output>(x: X, n: number = x.length): Changed<X> {
    return this.#activate("sigmoid", x, n);
  }

  /**
   * tanh(x) in the portable arithmetic of the reservoirs; device memory in place. @throws as
   * `vectorAdd`.
   */
  tanh<X extends Float32Array | Output>(x: X, n: number = x.length): Changed<X> {
    return this.#activate("tanh_activation", x, n);
  }

  /**
   * x (batch x features) with `bias` (features) added to every row; device memory in place. @throws
   * ArgumentError if shapes differ; LaunchError, CudaError.
   */
  broadcastAdd<X extends Float32Array | Output>(x: X, bias: Like<X>, batch: number, features: number): Changed<X> {
    const grid: Dimensions = [blocksFor(features), Math.min(batch, 65535)];
    return this.#inPlace("broadcast_add", x, { batch, features }, { bias }, (data, shift) =>
      this.#launch("broadcast_add", grid, threads, data, shift!, batch, features),
    );
  }

  /**
   * (x - mean) / sqrt(variance + epsilon) gamma + beta for each feature of x (batch x features);
   * device memory in place. @throws as `broadcastAdd`.
   */
  batchNorm<X extends Float32Array | Output>(x: X, norm: BatchNorm<Like<X>>, batch: number, features: number): Changed<X> {
    const { gamma, beta, mean, variance, epsilon = 1e-5 } = norm;
    const grid: Dimensions = [blocksFor(features), Math.min(batch, 1024)];
    return this.#inPlace("batch_norm", x, { batch, features }, { gamma, beta, mean, variance }, (data, ...vectors) =>
      this.#launch("batch_norm", grid, threads, data, ...(vectors as [Input, Input, Input, Input]), batch, features, epsilon),
    );
  }

  /**
   * exp(x - max) / sum over each row of x (batch x classes); device memory in place. @throws as
   * `broadcastAdd`.
   */
  softmax<X extends Float32Array | Output>(x: X, batch: number, classes: number): Changed<X> {
    const { grid, block } = rowShape(batch, classes);
    return this.#inPlace("softmax", x, { batch, classes }, {}, (data) => this.#launch("softmax", grid, block, data, batch, classes));
  }

  /**
   * Each row of x (rows x columns) divided by its norm; device memory in place. A row of norm 0
   * becomes NaN or infinite. @throws as `broadcastAdd`.
   */
  normalize<X extends Float32Array | Output>(x: X, rows: number, columns: number, norm: Norm = "sum"): Changed<X> {
    const { grid, block } = rowShape(rows, columns);
    return this.#inPlace("normalize", x, { rows, columns }, {}, (data) => {
      if (!Object.hasOwn(norms, norm)) throw new ArgumentError("norm", norm, Object.keys(norms).join(", "));
      this.#launch("normalize", grid, block, data, rows, columns, norms[norm]);
    });
  }

  /**
   * The sum of x, added in binary64 in an order that depends only on the length; with device memory
   * of its first `n` elements into `sum`. @throws as `vectorAdd`.
   */
  reduceSum<X extends Float32Array | Input>(x: X, ...out: OnDevice<X, [sum: DeviceSlice<"f64">, n?: number]>): Summed<X> {
    const [sum, n = x.length] = out as [DeviceSlice<"f64">?, number?];
    const reduce = (values: Input, into: DeviceSlice<"f64">) =>
      this.#reduce("reduce_sum", n, into, (partials, count) => this.#launch("reduce_sum", count, threads, values, partials, n));
    if (onDevice(x)) return reduce(x, sum!) as Summed<X>;
    return computed(this.device, [["x", x as Float32Array, n]], "f64", 1, (to, values) => reduce(values!, to)).then(
      ([[total]]) => total,
    ) as Summed<X>;
  }

  /**
   * a . b: exact products, added in binary64 in an order that depends only on the length; with
   * device memory of the first `n` elements into `sum`. @throws as `vectorAdd`.
   */
  dot<X extends Float32Array | Input>(a: X, b: Like<X>, ...out: OnDevice<X, [sum: DeviceSlice<"f64">, n?: number]>): Summed<X> {
    const [sum, n = a.length] = out as [DeviceSlice<"f64">?, number?];
    const reduce = (left: Input, right: Input, into: DeviceSlice<"f64">) =>
      this.#reduce("dot_product", n, into, (partials, count) => this.#launch("dot_product", count, threads, left, right, partials, n));
    if (onDevice(a)) return reduce(a, b as Input, sum!) as Summed<X>;
    const total = computed(this.device, pair(a, b, n, "a . b"), "f64", 1, (to, left, right) => reduce(left!, right!, to));
    return total.then(([[value]]) => value) as Summed<X>;
  }

  #reduce(kernel: StandardKernel, n: number, sum: DeviceSlice<"f64">, first: (partials: DeviceSlice<"f64">, count: number) => void): void {
    checkSizes(kernel, { n });
    const count = partialsFor(n);
    const partials = this.device.context.alloc("f64", count, { stream: this.device.stream });
    try {
      first(partials, count);
      this.#launch("sum_partials", 1, threads, partials, sum.slice(0, 1), count);
    } finally {
      partials.dispose();
    }
  }

  /**
   * A B (m x n) of A (m x k) and B (k x n), and what computed it; with device memory into C. By this
   * package's kernels each element is one chain of fused multiply-adds in the order of k: the same
   * bits on every device.
   *
   * @throws ArgumentError if shapes differ; LaunchError if memory is shorter than its matrix; with
   * `blas: "cublas"` LibraryError, CublasError.
   */
  matmul<X extends Float32Array | Input>(
    a: X,
    b: Like<X>,
    ...rest: X extends Float32Array ? Sizes : [c: Output, ...sizes: Sizes]
  ): X extends Float32Array ? Promise<Product> : ProductSource {
    type Result = X extends Float32Array ? Promise<Product> : ProductSource;
    if (onDevice(a)) return this.#product(a, b as Input, ...(rest as [Output, ...Sizes])) as Result;
    const onHost = async (...[m, k, n, options]: Sizes): Promise<Product> => {
      checkProduct(m, k, n);
      const arrays: HostInput[] = [
        ["A", a as Float32Array, m * k, `${m} x ${k}`],
        ["B", b as Float32Array, k * n, `${k} x ${n}`],
      ];
      const product = computed(this.device, arrays, "f32", m * n, (out, left, right) =>
        this.#product(left!, right!, out, m, k, n, options),
      );
      const [values, source] = await product;
      return { values, source };
    };
    return onHost(...(rest as Sizes)) as Result;
  }

  #product(a: Input, b: Input, c: Output, m: number, k: number, n: number, options: ExecutorOptions = {}): ProductSource {
    checkProduct(m, k, n);
    const { blas = this.blas } = resolve(executorTable, options, "matmul");
    const cublas = this.#blas(blas);
    if (cublas && k > 0) {
      for (const [what, slice, elements] of [["A", a, m * k] as const, ["B", b, k * n] as const, ["C", c, m * n] as const])
        if (slice.length < elements)
          throw ArgumentError.shape(`matmul: ${what} has ${slice.length} elements; its matrix has ${elements}`, { field: what });
      if (m * n > 0) multiplyByCublas(cublas, this.device.stream, [a, b, c], [m, k, n]);
      return { library: "cublas", version: cublas.version, path: cublas.library.path };
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
        const cublas = openCublas(this.device.context);
        cublas.library.call("cublasSetStream", cublas.handle, this.device.stream.handle);
        this.#cublas = cublas;
        return cublas;
      } catch (error) {
        this.#noCublas = error;
      }
    }
    if (choice === "cublas") throw this.#noCublas;
    return undefined;
  }

  /**
   * A matrix on the device (rows x columns, row-major), for chains of operations there. @throws
   * ArgumentError; OutOfMemoryError, CudaError.
   */
  tensor(values: Float32Array, rows: number, columns: number): GpuTensor {
    checkSizes("tensor", { rows, columns });
    checkLengths([["values", values, rows * columns, `${rows} x ${columns}`]]);
    return new GpuTensor(this, this.device.upload(values), rows, columns);
  }

  /**
   * A feed-forward network with its weights on the device. @throws ArgumentError if layers do
   * not fit; OutOfMemoryError, CudaError.
   */
  network(layers: readonly Layer[]): NeuralNetwork {
    return new NeuralNetwork(this, layers);
  }

  /**
   * The outputs (batch x outputs) of `layers` on inputs (batch x inputs): linear, activation, ...,
   * softmax. Only the input and the output travel.
   *
   * @throws as `network`, ArgumentError if the input does not fit.
   */
  async neuralForward(
    input: Float32Array,
    batch: number,
    layers: readonly Layer[] | NeuralNetwork,
    options: ExecutorOptions = {},
  ): Promise<NetworkOutput> {
    const network = layers instanceof NeuralNetwork ? layers : this.network(layers);
    try {
      checkSizes("neural_forward", { batch, inputs: network.inputs });
      const arrays: HostInput[] = [["input", input, batch * network.inputs, `${batch} x ${network.inputs}`]];
      const { output, sources } = withArrays(this.device, arrays, (there) => network.run(there!, batch, options));
      const values = this.device.download(output);
      output.dispose();
      return { values: await values, sources };
    } finally {
      if (network !== layers) network.dispose();
    }
  }

  /**
   * Unloads the kernels and cuBLAS after the device's work, and closes the device if it was opened
   * here. A second call does nothing. @throws CudaError.
   */
  dispose(): void {
    const modules = this.takeModules();
    if (modules.size > 0) this.device.waitForWork();
    const cublas = this.#cublas;
    this.#cublas = undefined;
    disposeAll([this.#ownsDevice ? this.device : undefined, cublas, ...modules]);
  }
}
