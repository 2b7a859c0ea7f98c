/**
 * CUDA for Node: devices, streams, memory, modules, typed launches, graphs and NVRTC. It knows
 * nothing of what is computed.
 */
export { ArgumentError, DisposedError, LaunchError, SpillwayError } from "@spillway/core/errors.js";
export { bfloat16Bits, halfBits } from "@spillway/core/half.js";
export { DeviceBuffer } from "./buffer.js";
export { CompileCache, defaultCacheFolder } from "./compile-cache.js";
export type { CompileOptions, CompileRequest } from "./compile-options.js";
export { Context } from "./context.js";
export { type DeviceInfo, deviceAttribute } from "./device-info.js";
export { type Driver, MissingCallError } from "./driver.js";
export { type DriverArguments, type DriverCall, type DriverFunction, driverCalls } from "./driver-calls.js";
export { type ArrayOf, arrayOf, bytesOf, type Dtype, type HostArray } from "./dtypes.js";
export { entryModule } from "./entry-module.js";
export { CompileError, ContextLostError, CudaError, ModuleLoadError, OutOfMemoryError } from "./errors.js";
export { DeviceEvent } from "./event.js";
export {
  CublasError,
  CusolverError,
  DenseRoutines,
  GpuCompute,
  GpuDevice,
  GpuTensor,
  type KernelArgument,
  KernelExecutor,
  KernelLauncher,
  type LaunchOptions,
  type Layer,
  NeuralNetwork,
  sharedExecutor,
  standardKernelNames,
} from "./executor/index.js";
export { Graph } from "./graph.js";
export { Kernel, type KernelResources } from "./kernel.js";
export type { Dimensions, LaunchConfig } from "./launch-config.js";
export type { Leak } from "./ledger.js";
export { LibraryError } from "./library-search.js";
export { imageKind, Module } from "./module.js";
export { loadDriver } from "./native-driver.js";
export { Communicator, communicatorGroup, joinCommunicator, ncclIdentity, openCommunicators, probeNccl } from "./nccl.js";
export { NcclError } from "./nccl-library.js";
export { loadNvrtc, Nvrtc } from "./nvrtc.js";
export type { CompileOutcome, CompilerLibrary } from "./nvrtc-library.js";
export { listDevices, type OpenOptions, openDevice, openDevices, registerDriver } from "./open-device.js";
export type { ArgumentFor, ArgumentsFor, Parameter } from "./parameters.js";
export type { HostPart } from "./parts.js";
export { isLocked, PinnedBuffer } from "./pinned.js";
export { type GpuProbe, probe } from "./probe.js";
export { driverForPtx, type EntryParameter, ptxEntries, ptxTarget, ptxVersion } from "./ptx-entry.js";
export { shippedManifest, shippedPtx, shippedPtxVersion, shippedSource } from "./shipped.js";
export { DeviceSlice, type ReadonlyDeviceSlice } from "./slice.js";
export type { CopyMarks } from "./staging.js";
export { losesContext, statusCodes, statusName } from "./status.js";
export { LibraryCallError } from "./status-library.js";
export { Stream } from "./stream.js";
export { StreamMeter } from "./stream-meter.js";
export { dim3, type FieldType, StructType, struct, vector } from "./struct.js";
