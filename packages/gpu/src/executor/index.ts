// The kernel executor: standard kernels on host arrays and device memory, and kernels of one's own
// by name. GpuCompute and KernelLauncher are other names of it.
export { DenseRoutines } from "./dense-routines.js";
export { type DeviceSource, GpuDevice } from "./gpu-device.js";
export { GpuTensor } from "./gpu-tensor.js";
export type { KernelArgument, LaunchOptions } from "./kernel-arguments.js";
export {
  KernelExecutor,
  KernelExecutor as GpuCompute,
  KernelExecutor as KernelLauncher,
  type NetworkOutput,
  type Product,
} from "./kernel-executor.js";
export { CublasError, CusolverError } from "./math-libraries.js";
export type { BlasChoice, ExecutorOptions, MatmulKernel, ProductSource } from "./matmul.js";
export { type Layer, type LayerActivation, NeuralNetwork } from "./neural-network.js";
export { sharedExecutor } from "./shared-executor.js";
export {
  type BatchNorm,
  type Norm,
  type StandardKernel,
  standardKernelNames,
} from "./standard-kernels.js";
