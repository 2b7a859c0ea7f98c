// The kernel executor: standard kernels on host arrays and device memory, and kernels of one's own
// by name.
export { CublasError } from "./cublas-library.js";
export { CusolverError } from "./cusolver-library.js";
export { DenseRoutines } from "./dense-routines.js";
export { GpuCompute } from "./gpu-compute.js";
export { type DeviceSource, GpuDevice } from "./gpu-device.js";
export { GpuTensor } from "./gpu-tensor.js";
export { KernelExecutor, type NetworkOutput, type Product } from "./kernel-executor.js";
export { type KernelArgument, KernelLauncher, type LaunchOptions } from "./kernel-launcher.js";
export type { BlasChoice, ExecutorOptions, MatmulKernel, ProductSource } from "./matmul.js";
export { type Layer, type LayerActivation, NeuralNetwork } from "./neural-network.js";
export { sharedExecutor } from "./shared-executor.js";
export {
  type BatchNorm,
  type Norm,
  type StandardKernel,
  StandardKernels,
  standardKernelNames,
} from "./standard-kernels.js";
