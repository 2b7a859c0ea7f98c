/**
 * CUDA for Node: devices, streams, memory, modules, typed launches, graphs and NVRTC. It knows
 * nothing of what is computed.
 */
export { ArgumentError, DisposedError, LaunchError, SpillwayError } from "@spillway/core/errors.js";
export { bfloat16Bits, halfBits } from "@spillway/core/half.js";
export { DeviceBuffer } from "./buffer.js";
export { CompileCache, defaultCacheFolder } from "./compile-cache.js";
export type { CompileOptions, CompileRequest } from "./compile-options.js";
export { type AllocOptions, Context, type Held, type KernelSource, type MemoryInfo } from "./context.js";
export type { Rectangle } from "./copies.js";
export { type DeviceAttribute, type DeviceInfo, deviceAttribute } from "./device-info.js";
export { type Driver, MissingCallError } from "./driver.js";
export { type DriverArguments, type DriverCall, type DriverFunction, driverCalls } from "./driver-calls.js";
export { type ArrayOf, arrayOf, bytesOf, type Dtype, type DtypeArrays, type DtypeOf, type HostArray } from "./dtypes.js";
export { entryModule } from "./entry-module.js";
export {
  CompileError,
  ContextLostError,
  CudaError,
  type CudaFailure,
  type MemoryHolder,
  ModuleLoadError,
  OutOfMemoryError,
} from "./errors.js";
export { DeviceEvent } from "./event.js";
export {
  type BatchNorm,
  type BlasChoice,
  CublasError,
  CusolverError,
  DenseRoutines,
  type DeviceSource,
  type ExecutorOptions,
  GpuCompute,
  GpuDevice,
  GpuTensor,
  type KernelArgument,
  KernelExecutor,
  KernelLauncher,
  type LaunchOptions,
  type Layer,
  type LayerActivation,
  type MatmulKernel,
  type NetworkOutput,
  NeuralNetwork,
  type Norm,
  type Product,
  type ProductSource,
  type StandardKernel,
  sharedExecutor,
  standardKernelNames,
} from "./executor/index.js";
export { Graph } from "./graph.js";
export { Kernel, type KernelOptions, type KernelResources, type SignatureSource } from "./kernel.js";
export type { Dimensions, LaunchConfig } from "./launch-config.js";
export type { LaunchRecord } from "./launch-history.js";
export type { Leak } from "./ledger.js";
export { LibraryError, type TriedPath } from "./library-search.js";
export type { PoolStatistics } from "./memory-pool.js";
export { type ImageKind, imageKind, Module } from "./module.js";
export { loadDriver } from "./native-driver.js";
export {
  Communicator,
  communicatorGroup,
  type JoinOptions,
  joinCommunicator,
  type NcclProbe,
  ncclIdentity,
  openCommunicators,
  probeNccl,
  type Reduction,
} from "./nccl.js";
export { NcclError } from "./nccl-library.js";
export { type Compiled, loadNvrtc, Nvrtc, type NvrtcOptions } from "./nvrtc.js";
export type { CompileOutcome, CompilerLibrary } from "./nvrtc-library.js";
export { listDevices, type OpenOptions, openDevice, openDevices, registerDriver } from "./open-device.js";
export type { EventOptions, LabelOptions, StreamOptions, UploadOptions } from "./options.js";
export type { ArgumentFor, ArgumentsFor, Parameter, PtxParameter, ValueFor } from "./parameters.js";
export type { HostPart } from "./parts.js";
export { isLocked, PinnedBuffer } from "./pinned.js";
export { type GpuProbe, type NvrtcProbe, type ProbedDevice, type ProbeOptions, probe } from "./probe.js";
export { driverForPtx, type EntryParameter, ptxEntries, ptxTarget, ptxVersion } from "./ptx-entry.js";
export {
  type ShippedEntry,
  type ShippedImage,
  type ShippedKernels,
  type ShippedPtxOptions,
  type ShippedSource,
  shippedManifest,
  shippedPtx,
  shippedPtxVersion,
  shippedSource,
} from "./shipped.js";
export { DeviceSlice, type ReadonlyDeviceSlice } from "./slice.js";
export type { CopyMarks } from "./staging.js";
export { losesContext, statusCodes, statusName } from "./status.js";
export { LibraryCallError } from "./status-library.js";
export { Stream } from "./stream.js";
export { StreamMeter } from "./stream-meter.js";
export { type Axes, dim3, type Fields, type FieldType, type StructOptions, StructType, struct, vector } from "./struct.js";
