// The standard kernels on host arrays, and kernels of one's own beside them. On memory that is on
// the device already they are `standard`.

import { ArgumentError } from "../../core/errors.js";
import { suggestion } from "../../core/near-names.js";
import { resolve } from "../../core/options.js";
import type { DeviceBuffer } from "../buffer.js";
import type { CompileOptions } from "../compile-options.js";
import type { ArrayOf } from "../dtypes.js";
import type { Dimensions } from "../launch-config.js";
import { GpuCompute } from "./gpu-compute.js";
import type { DeviceSource, GpuDevice } from "./gpu-device.js";
import { GpuTensor } from "./gpu-tensor.js";
import type { KernelArgument, LaunchOptions } from "./kernel-launcher.js";
import { type ExecutorOptions, executorTable, type ProductSource } from "./matmul.js";
import { type Layer, NeuralNetwork } from "./neural-network.js";
import { type BatchNorm, checkSizes, type Norm, type Output, StandardKernels, standardKernelNames } from "./standard-kernels.js";

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

/** @throws ArgumentError if it is no Float32Array, or if its length is another. */
function checkLength(what: string, array: Float32Array, length: number, shape: string = String(length)): void {
  if (!(array instanceof Float32Array))
    throw new ArgumentError(what, undefined, "a Float32Array", { shown: Object.prototype.toString.call(array) });
  if (array.length !== length) throw ArgumentError.shape(`${what} has ${array.length} elements; ${shape} takes ${length}`, { field: what });
}

/**
 * Standard kernels and one's own on one device. The results of host calls are arrays of their own;
 * inputs stay as they are.
 */
export class KernelExecutor implements Disposable {
  readonly compute: GpuCompute;
  readonly device: GpuDevice;
  /** The standard kernels on device memory, in the order of the device's stream. */
  readonly standard: StandardKernels;

  /** Opens a device, or stands on one that is open. @throws as `openDevice`. */
  constructor(device: GpuDevice | DeviceSource = 0, options: ExecutorOptions = {}) {
    resolve(executorTable, options, "KernelExecutor");
    this.compute = new GpuCompute(device);
    this.device = this.compute.device;
    this.standard = new StandardKernels(this.device, options);
  }

  /** The names of the kernels that `runKernel` knows. */
  get kernelNames(): readonly string[] {
    return [...standardKernelNames, ...this.compute.kernelNames];
  }

  /**
   * Makes a kernel of one's own ready by its name: see `GpuCompute.compileKernel`. @throws
   * ArgumentError for a standard kernel's name; as there.
   */
  compileKernel(name: string, source: string, options: CompileOptions = {}): void {
    if ((standardKernelNames as readonly string[]).includes(name))
      throw ArgumentError.because(`${JSON.stringify(name)} is a standard kernel; give yours another name, or compile it by a GpuCompute`, {
        field: "name",
        value: name,
      });
    this.compute.compileKernel(name, source, options);
  }

  /** Launches a standard kernel or one's own: see `GpuCompute.runKernel`. @throws as there. */
  runKernel(name: string, grid: Dimensions, block: Dimensions, args: readonly KernelArgument[], options: LaunchOptions = {}): void {
    if (!(standardKernelNames as readonly string[]).includes(name)) {
      if (!this.compute.kernelNames.includes(name)) {
        const known = this.kernelNames;
        throw ArgumentError.because(
          `there is no kernel ${JSON.stringify(name)}, neither standard nor compiled${suggestion(name, known)}; there are ${known.join(", ")}`,
          { field: "name", value: name, expected: known.join(", ") },
        );
      }
      this.compute.runKernel(name, grid, block, args, options);
      return;
    }
    const ptx = this.device.context.shippedPtx("executor", { entries: [name] });
    this.compute.launcher.loadAndLaunchPtx(ptx, name, grid, block, args, options);
  }

  /**
   * Uploads arrays, gives the stream the work on them, and gives them back: memory lasts until the
   * stream has come that far.
   */
  #with<Result>(arrays: readonly Float32Array[], work: (...buffers: DeviceBuffer<"f32">[]) => Result): Result {
    const { context, stream } = this.device;
    const buffers: DeviceBuffer<"f32">[] = [];
    try {
      for (const array of arrays) {
        const buffer = context.alloc("f32", array.length, { stream });
        buffers.push(buffer);
        stream.upload(buffer, array);
      }
      return work(...buffers);
    } finally {
      for (const buffer of buffers) buffer.dispose();
    }
  }

  /** What `work` writes into memory of its own, and what it returns. */
  async #result<T extends "f32" | "f64", Told>(
    dtype: T,
    length: number,
    work: (out: DeviceBuffer<T>) => Told,
  ): Promise<[ArrayOf<T>, Told]> {
    const out = this.device.context.alloc(dtype, length, { stream: this.device.stream });
    let values: Promise<ArrayOf<T>>;
    let told: Told;
    try {
      told = work(out);
      values = this.device.download(out);
    } finally {
      out.dispose();
    }
    return [await values, told];
  }

  #changed(array: Float32Array, change: (data: Output) => void): Promise<Float32Array> {
    return this.#with([array], (data) => {
      change(data);
      return this.device.download(data);
    });
  }

  /** a + b. @throws ArgumentError if their lengths differ; CudaError. */
  async vectorAdd(a: Float32Array, b: Float32Array): Promise<Float32Array> {
    checkLength("b", b, a.length, "a + b");
    const work = (left: Output, right: Output) => this.#result("f32", a.length, (sum) => this.standard.vectorAdd(left, right, sum));
    return (await this.#with([a, b], work))[0];
  }

  /** a b, element by element. @throws as `vectorAdd`. */
  async multiply(a: Float32Array, b: Float32Array): Promise<Float32Array> {
    checkLength("b", b, a.length, "a b");
    const work = (left: Output, right: Output) => this.#result("f32", a.length, (product) => this.standard.multiply(left, right, product));
    return (await this.#with([a, b], work))[0];
  }

  /** exp(x). @throws CudaError. */
  async exp(x: Float32Array): Promise<Float32Array> {
    checkLength("x", x, x.length);
    return this.#changed(x, (data) => this.standard.exp(data, data));
  }

  /** max(x, 0). @throws CudaError. */
  async relu(x: Float32Array): Promise<Float32Array> {
    return this.#changed(x, (data) => this.standard.relu(data));
  }

  /** 1 / (1 + exp(-x)). @throws CudaError. */
  async sigmoid(x: Float32Array): Promise<Float32Array> {
    return this.#changed(x, (data) => this.standard.sigmoid(data));
  }

  /** tanh(x). @throws CudaError. */
  async tanh(x: Float32Array): Promise<Float32Array> {
    return this.#changed(x, (data) => this.standard.tanh(data));
  }

  /**
   * x (batch x features) with `bias` (features) added to every row. @throws ArgumentError if
   * shapes differ; CudaError.
   */
  async broadcastAdd(x: Float32Array, bias: Float32Array, batch: number, features: number): Promise<Float32Array> {
    checkSizes("broadcast_add", { batch, features });
    checkLength("x", x, batch * features, `${batch} x ${features}`);
    checkLength("bias", bias, features);
    return this.#with([x, bias], (data, shift) => {
      this.standard.broadcastAdd(data!, shift!, batch, features);
      return this.device.download(data!);
    });
  }

  /**
   * (x - mean) / sqrt(variance + epsilon) gamma + beta for each feature of x (batch x features).
   * @throws as `broadcastAdd`.
   */
  async batchNorm(x: Float32Array, norm: BatchNorm<Float32Array>, batch: number, features: number): Promise<Float32Array> {
    checkSizes("batch_norm", { batch, features });
    checkLength("x", x, batch * features, `${batch} x ${features}`);
    const { gamma, beta, mean, variance, ...rest } = norm;
    for (const [name, vector] of Object.entries({ gamma, beta, mean, variance })) checkLength(name, vector, features);
    return this.#with([x, gamma, beta, mean, variance], (data, scale, shift, centre, spread) => {
      const there = { gamma: scale!, beta: shift!, mean: centre!, variance: spread!, ...rest };
      this.standard.batchNorm(data!, there, batch, features);
      return this.device.download(data!);
    });
  }

  /** exp(x - max) / sum over each row of x (batch x classes). @throws as `broadcastAdd`. */
  async softmax(x: Float32Array, batch: number, classes: number): Promise<Float32Array> {
    checkSizes("softmax", { batch, classes });
    checkLength("x", x, batch * classes, `${batch} x ${classes}`);
    return this.#changed(x, (data) => this.standard.softmax(data, batch, classes));
  }

  /** Each row of x (rows x columns) divided by its norm. @throws as `broadcastAdd`. */
  async normalize(x: Float32Array, rows: number, columns: number, norm: Norm = "sum"): Promise<Float32Array> {
    checkSizes("normalize", { rows, columns });
    checkLength("x", x, rows * columns, `${rows} x ${columns}`);
    return this.#changed(x, (data) => this.standard.normalize(data, rows, columns, norm));
  }

  /** The sum of x, added in binary64. @throws CudaError. */
  async reduceSum(x: Float32Array): Promise<number> {
    checkLength("x", x, x.length);
    const [sum] = await this.#with([x], (values) => this.#result("f64", 1, (out) => this.standard.reduceSum(values!, out)));
    return sum[0]!;
  }

  /** a . b, added in binary64. @throws ArgumentError if their lengths differ; CudaError. */
  async dot(a: Float32Array, b: Float32Array): Promise<number> {
    checkLength("b", b, a.length, "a . b");
    const work = (left: Output, right: Output) => this.#result("f64", 1, (out) => this.standard.dot(left, right, out));
    return (await this.#with([a, b], work))[0][0]!;
  }

  /**
   * A B (m x n) of A (m x k) and B (k x n), row-major, and what multiplied. @throws ArgumentError
   * if shapes differ; as `StandardKernels.matmul`.
   */
  async matmul(a: Float32Array, b: Float32Array, m: number, k: number, n: number, options: ExecutorOptions = {}): Promise<Product> {
    checkSizes("matmul", { m, k });
    checkSizes("matmul", { k, n });
    checkSizes("matmul", { m, n });
    checkLength("A", a, m * k, `${m} x ${k}`);
    checkLength("B", b, k * n, `${k} x ${n}`);
    const work = (left: Output, right: Output) =>
      this.#result("f32", m * n, (product) => this.standard.matmul(left, right, product, m, k, n, options));
    const [values, source] = await this.#with([a, b], work);
    return { values, source };
  }

  /**
   * A matrix on the device (rows x columns, row-major), for chains of operations there. @throws
   * ArgumentError; OutOfMemoryError, CudaError.
   */
  tensor(values: Float32Array, rows: number, columns: number): GpuTensor {
    checkSizes("tensor", { rows, columns });
    checkLength("values", values, rows * columns, `${rows} x ${columns}`);
    return new GpuTensor(this.standard, this.device.upload(values), rows, columns);
  }

  /**
   * A feed-forward network with its weights on the device. @throws ArgumentError if layers do
   * not fit; OutOfMemoryError, CudaError.
   */
  network(layers: readonly Layer[]): NeuralNetwork {
    return new NeuralNetwork(this.standard, layers);
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
      checkLength("input", input, batch * network.inputs, `${batch} x ${network.inputs}`);
      const { output, sources } = this.#with([input], (there) => network.run(there!, batch, options));
      const values = this.device.download(output);
      output.dispose();
      return { values: await values, sources };
    } finally {
      if (network !== layers) network.dispose();
    }
  }

  /**
   * Unloads the kernels, and closes the device if it was opened here. A second call does
   * nothing. @throws CudaError.
   */
  dispose(): void {
    this.standard.dispose();
    this.compute.dispose();
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
