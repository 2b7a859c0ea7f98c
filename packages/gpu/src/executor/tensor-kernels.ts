// What tensors and networks need of an executor: operations on device memory, in the order of its
// stream.
import type { GpuDevice } from "./gpu-device.js";
import type { ExecutorOptions, ProductSource } from "./matmul.js";
import type { Input, Output } from "./standard-kernels.js";

/** Operations of `KernelExecutor` on device memory, which say what they do. */
export interface TensorKernels {
  readonly device: GpuDevice;
  matmul(a: Input, b: Input, c: Output, m: number, k: number, n: number, options?: ExecutorOptions): ProductSource;
  broadcastAdd(x: Output, bias: Input, batch: number, features: number): void;
  relu(x: Output, n?: number): void;
  sigmoid(x: Output, n?: number): void;
  tanh(x: Output, n?: number): void;
  softmax(x: Output, batch: number, classes: number): void;
}
