// Standard kernels, on host arrays and on device memory, and kernels of one's own by name, on one
// device. Arrays are binary32, matrices row-major. Operations on device memory are in the order of
// the device's stream: they neither wait nor copy.
import { disposeAll } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { suggestion } from "@spillway/core/near-names.js";
import { resolve } from "@spillway/core/options.js";
import { describe } from "@spillway/core/text.js";
import type { DeviceBuffer } from "../buffer.js";
import type { CompileOptions } from "../compile-options.js";
import type { ArrayOf } from "../dtypes.js";
import type { Kernel } from "../kernel.js";
import type { Dimensions, LaunchConfig } from "../launch-config.js";
import type { Module } from "../module.js";
import type { ArgumentsFor, Parameter } from "../parameters.js";
import { DeviceSlice } from "../slice.js";
import { StructType } from "../struct.js";
import { Cublas } from "./cublas.js";
import { type DeviceSource, GpuDevice } from "./gpu-device.js";
import { GpuTensor } from "./gpu-tensor.js";
import { type KernelArgument, type LaunchOptions, parametersFor } from "./kernel-arguments.js";
import { type BlasChoice, chooseTile, type ExecutorOptions, executorTable, type ProductSource, type Tile, tileCount } from "./matmul.js";
import { type Layer, NeuralNetwork } from "./neural-network.js";
import {
  type BatchNorm,
  blocksFor,
  checkSizes,
  type Declarations,
  declarations,
  type Input,
  type Norm,
  norms,
  type Output,
  partialsFor,
  rowShape,
  type StandardKernel,
  standardKernelNames,
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

interface Registered {
  readonly source: string;
  readonly options: string;
  readonly module: Module;
}

/** An array on the host with the length that it must have. */
type HostInput = readonly [name: string, array: Float32Array, length: number, shape?: string];

/** Further arrays of an operation: on the host if the first is, else memory of the device. */
type Like<X> = X extends Float32Array ? Float32Array : Input;
/** Arguments of an operation on device memory alone. */
type OnDevice<X, Arguments extends unknown[]> = X extends Float32Array ? [] : Arguments;
/** A new array of the host, or nothing if device memory was written. */
type Changed<X> = X extends Float32Array ? Promise<Float32Array> : undefined;
type Sizes = [m: number, k: number, n: number, options?: ExecutorOptions];
type Summed<X> = X extends Float32Array ? Promise<number> : undefined;

const isStandard = (name: string): name is StandardKernel => Object.hasOwn(declarations, name);

const onDevice = <X>(values: X): values is Exclude<X, Float32Array> => values instanceof DeviceSlice;

/** The two arrays of an operation on the host. */
const pair = (a: unknown, b: unknown, length: number, formula: string): HostInput[] => [
  ["a", a as Float32Array, length],
  ["b", b as Float32Array, length, formula],
];

/** @throws ArgumentError */
function checkProduct(m: number, k: number, n: number): void {
  for (const sizes of [
    { m, k },
    { k, n },
    { m, n },
  ])
    checkSizes("matmul", sizes);
}

/** Whether a source is PTX, which begins with its version, and not CUDA C++. */
const isPtx = (source: string): boolean => /^(?:\s+|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*\.version\s/.test(source);

/** Equal for parameters with the same layout. */
const keyOf = (parameter: Parameter): string =>
  typeof parameter === "string" || parameter instanceof StructType ? String(parameter) : JSON.stringify(parameter);

/** @throws ArgumentError if one is no Float32Array, or if its length is another. */
function checkLengths(arrays: readonly HostInput[]): void {
  for (const [name, array, length, shape = String(length)] of arrays) {
    if (!(array instanceof Float32Array))
      throw new ArgumentError(name, undefined, "a Float32Array", { shown: Object.prototype.toString.call(array) });
    if (array.length !== length)
      throw ArgumentError.shape(`${name} has ${array.length} elements; ${shape} takes ${length}`, { field: name });
  }
}

/**
 * Standard kernels and one's own on one device. Given arrays of the host, a standard kernel copies
 * them to the device, and its result is an array of its own; given device memory, it returns at
 * once.
 */
export class KernelExecutor implements Disposable {
  readonly device: GpuDevice;
  /** What multiplies matrices if a call does not say. */
  readonly blas: BlasChoice;
  readonly #ownsDevice: boolean;
  readonly #loaded = new Map<string, Module>();
  readonly #own = new Map<string, Registered>();
  readonly #kernels = new WeakMap<Module, Map<string, Kernel>>();
  readonly #standard = new Map<StandardKernel, Kernel>();
  #loads = 0;
  #cublas: Cublas | undefined;
  #noCublas: unknown;

  /**
   * Opens a device, or uses one that is open, which it then leaves open. Kernels are loaded at
   * their first use. @throws as `openDevice`.
   */
  constructor(device: GpuDevice | DeviceSource = 0, options: ExecutorOptions = {}) {
    this.blas = resolve(executorTable, options, "KernelExecutor").blas ?? "none";
    this.#ownsDevice = !(device instanceof GpuDevice);
    this.device = device instanceof GpuDevice ? device : new GpuDevice(device);
  }

  /** The names of the kernels that `runKernel` knows. */
  get kernelNames(): readonly string[] {
    return [...new Set([...standardKernelNames, ...this.#own.keys()])];
  }

  /** How many modules of PTX were loaded so far. */
  get loads(): number {
    return this.#loads;
  }

  /**
   * Why `blas: "auto"` does not multiply by cuBLAS; undefined if it does, or was not asked to
   * yet.
   */
  get blasProblem(): string | undefined {
    return this.#noCublas instanceof Error ? this.#noCublas.message : undefined;
  }

  /**
   * Makes a kernel of one's own ready by its name: PTX is loaded, CUDA C++ compiled by NVRTC and
   * loaded. With the same source and options a second time it does nothing; another source replaces
   * the first. A C++ kernel is named as `extern "C"`, or by a name expression such as
   * "scale<float>". `runKernel` then prefers it to a standard kernel of the same name.
   *
   * @throws CompileError with the compiler's log; LibraryError if there is no NVRTC;
   * ModuleLoadError; ArgumentError if the source has no such kernel.
   */
  compileKernel(name: string, source: string, options: CompileOptions = {}): void {
    const key = JSON.stringify(options);
    const known = this.#own.get(name);
    if (known?.source === source && known.options === key) return;
    const module = this.#sharing(name, source, key) ?? this.#compile(name, source, options);
    if (!module.parametersOf(name)) {
      if (!this.#uses(module)) module.dispose();
      throw ArgumentError.because(
        `the source of ${JSON.stringify(name)} has no kernel of this name; it has ${module.kernelNames?.join(", ") ?? "others"}`,
        { field: "name", value: name, expected: module.kernelNames?.join(", ") },
      );
    }
    this.#own.set(name, { source, options: key, module });
    if (known && !this.#uses(known.module)) {
      this.device.stream.sync();
      known.module.dispose();
    }
  }

  #uses(module: Module): boolean {
    return [...this.#own.values()].some((each) => each.module === module);
  }

  /** The module of the same source, if another of its kernels was compiled before. */
  #sharing(name: string, source: string, options: string): Module | undefined {
    const others = [...this.#own.values()].filter((each) => each.source === source && each.options === options);
    return others.find(({ module }) => module.parametersOf(name))?.module;
  }

  #compile(name: string, source: string, options: CompileOptions): Module {
    const { context } = this.device;
    if (isPtx(source)) return context.load(source, { label: options.name ?? name });
    const nameExpressions = options.nameExpressions ?? (/extern\s+"C"/.test(source) ? [] : [name]);
    return context.compile(source, { name: `${name.replace(/\W+/g, "_")}.cu`, ...options, nameExpressions });
  }

  /**
   * Launches a kernel of one's own or a standard one, in the order of the device's stream or of the
   * stream given. Numbers are written as the types that the kernel has there.
   *
   * @throws ArgumentError if there is no kernel of the name; LaunchError if the kernel does not
   * accept an argument or the device not the shape; CudaError.
   */
  runKernel(name: string, grid: Dimensions, block: Dimensions, args: readonly KernelArgument[], options: LaunchOptions = {}): void {
    const own = this.#own.get(name)?.module;
    if (!own && !isStandard(name)) {
      const known = this.kernelNames;
      throw ArgumentError.because(
        `there is no kernel ${JSON.stringify(name)}, neither standard nor compiled${suggestion(name, known)}; there are ${known.join(", ")}`,
        { field: "name", value: name, expected: known.join(", ") },
      );
    }
    this.launch(own ?? this.#standardModule(name), name, grid, block, args, options);
  }

  /** The module of a PTX text, loaded when it is first asked for. @throws ModuleLoadError. */
  loadPtx(ptx: string, label?: string): Module {
    let module = this.#loaded.get(ptx);
    if (!module || module.disposed) {
      module = this.device.context.load(ptx, label === undefined ? {} : { label });
      this.#loaded.set(ptx, module);
      this.#loads++;
    }
    return module;
  }

  /**
   * Launches a kernel of a PTX text, which is loaded once however often it is launched.
   *
   * @throws ModuleLoadError; LaunchError if the kernel does not accept an argument or the device
   * not the shape; CudaError.
   */
  loadAndLaunchPtx(
    ptx: string,
    name: string,
    grid: Dimensions,
    block: Dimensions,
    args: readonly KernelArgument[],
    options: LaunchOptions = {},
  ): void {
    this.launch(this.loadPtx(ptx), name, grid, block, args, options);
  }

  /** Launches a kernel of a loaded module. @throws as `loadAndLaunchPtx`. */
  launch(
    module: Module,
    name: string,
    grid: Dimensions,
    block: Dimensions,
    args: readonly KernelArgument[],
    options: LaunchOptions = {},
  ): void {
    const { stream = this.device.stream, parameters = parametersFor(module, name, args), ...config } = options;
    const kernels = this.#kernels.get(module) ?? new Map<string, Kernel>();
    this.#kernels.set(module, kernels);
    const key = `${name}(${parameters.map(keyOf).join()})`;
    const kernel = kernels.get(key) ?? (module.kernel(name, parameters) as Kernel);
    kernels.set(key, kernel);
    const launch = stream.launch as (kernel: Kernel, config: LaunchConfig, ...values: readonly unknown[]) => void;
    launch.call(stream, kernel, { ...config, grid, block }, ...args);
  }

  #standardModule(name: string): Module {
    return this.loadPtx(this.device.context.shippedPtx("executor", { entries: [name] }), `executor ${name}`);
  }

  /**
   * A standard kernel, loaded when it is first asked for. @throws ArgumentError naming those there
   * are.
   */
  kernel<Name extends StandardKernel>(name: Name): Kernel<Declarations[Name]["parameters"]> {
    let kernel = this.#standard.get(name);
    if (!kernel) {
      if (!isStandard(name))
        throw ArgumentError.because(
          `there is no standard kernel ${JSON.stringify(name)}${suggestion(name, standardKernelNames)}; there are ${standardKernelNames.join(", ")}`,
          { field: "name", value: name, expected: standardKernelNames.join(", ") },
        );
      const { parameters, lengths } = declarations[name];
      kernel = this.#standardModule(name).kernel<readonly Parameter[]>(name, parameters, { lengths }) as Kernel;
      this.#standard.set(name, kernel);
    }
    return kernel as unknown as Kernel<Declarations[Name]["parameters"]>;
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

  /** Uploads arrays, gives the stream the work on them, and disposes of them after that work. */
  #with<Result>(arrays: readonly HostInput[], work: (...buffers: DeviceBuffer<"f32">[]) => Result): Result {
    checkLengths(arrays);
    const { context, stream } = this.device;
    const buffers: DeviceBuffer<"f32">[] = [];
    try {
      for (const [, array] of arrays) {
        const buffer = context.alloc("f32", array.length, { stream });
        buffers.push(buffer);
        stream.upload(buffer, array);
      }
      return work(...buffers);
    } finally {
      disposeAll(buffers);
    }
  }

  /** What `work` writes into memory of its own, and what it returns. */
  async #computed<T extends "f32" | "f64", Returned>(
    arrays: readonly HostInput[],
    dtype: T,
    length: number,
    work: (out: DeviceBuffer<T>, ...buffers: DeviceBuffer<"f32">[]) => Returned,
  ): Promise<[ArrayOf<T>, Returned]> {
    const [values, returned] = this.#with(arrays, (...buffers): [Promise<ArrayOf<T>>, Returned] => {
      const out = this.device.context.alloc(dtype, length, { stream: this.device.stream });
      try {
        const result = work(out, ...buffers);
        return [this.device.download(out), result];
      } finally {
        out.dispose();
      }
    });
    return [await values, returned];
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
      return this.#with([["x", x as Float32Array, elements, counts.join(" x ")], ...others], (data, ...buffers) => {
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
    const sum = this.#computed(arrays, "f32", length, (out, left, right) => launch(left!, right!, out, length));
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
    return this.#computed([["x", x as Float32Array, n]], "f64", 1, (to, values) => reduce(values!, to)).then(
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
    const total = this.#computed(pair(a, b, n, "a . b"), "f64", 1, (to, left, right) => reduce(left!, right!, to));
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
      const product = this.#computed(arrays, "f32", m * n, (out, left, right) => this.#product(left!, right!, out, m, k, n, options));
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
      const { output, sources } = this.#with(arrays, (there) => network.run(there!, batch, options));
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
    const modules = new Set([...this.#loaded.values(), ...[...this.#own.values()].map(({ module }) => module)]);
    for (const kernels of [this.#loaded, this.#own, this.#standard]) kernels.clear();
    if (modules.size > 0) this.device.settle();
    const cublas = this.#cublas;
    this.#cublas = undefined;
    disposeAll([this.#ownsDevice ? this.device : undefined, cublas, ...modules]);
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

const shared = new Map<number | string, KernelExecutor>();

/**
 * The thread's executor on a device, by its number or registered name, opened by the first call; a
 * later call for the same device gives the same one. After its `dispose`, or when its context was
 * lost, the next call opens another. Default: device 0.
 *
 * @throws ArgumentError for options or a context, which a new KernelExecutor accepts; LibraryError
 * or CudaError if no GPU can be used; `probe()` says why in a sentence.
 */
export function sharedExecutor(device: number | string = 0): KernelExecutor {
  if (typeof device !== "number" && typeof device !== "string")
    throw ArgumentError.because(
      `sharedExecutor got ${describe(device)}; it takes a device's number or name, and a new KernelExecutor takes the rest`,
      { field: "device", value: device, expected: "a device's number or name" },
    );
  const known = shared.get(device);
  if (known && !known.device.context.disposed && !known.device.context.loss) return known;
  shared.delete(device);
  known?.dispose();
  const executor = new KernelExecutor(device);
  shared.set(device, executor);
  return executor;
}
