// The CUDA driver functions that are called (cuda.h of CUDA 13.0). Not a way to call them: that is
// a `Driver`.
import { type ArgumentsOf, signatures } from "./c-functions.js";

/**
 * Every driver function that is called. A name is the function's without its version; the version
 * is in the symbol.
 */
export const driverCalls = signatures({
  cuGetErrorString: "cuGetErrorString(i32 error, out pStr)",
  cuGetErrorName: "cuGetErrorName(i32 error, out pStr)",
  cuInit: "cuInit(u32 Flags)",
  cuDriverGetVersion: "cuDriverGetVersion(out driverVersion)",

  cuDeviceGetCount: "cuDeviceGetCount(out count)",
  cuDeviceGet: "cuDeviceGet(out device, i32 ordinal)",
  cuDeviceGetName: "cuDeviceGetName(out name, i32 len, i32 dev)",
  cuDeviceGetUuid: "cuDeviceGetUuid_v2|cuDeviceGetUuid(out uuid, i32 dev)",
  cuDeviceGetPCIBusId: "cuDeviceGetPCIBusId(out pciBusId, i32 len, i32 dev)",
  cuDeviceTotalMem: "cuDeviceTotalMem_v2(out bytes, i32 dev)",
  cuDeviceGetAttribute: "cuDeviceGetAttribute(out pi, i32 attrib, i32 dev)",
  cuDeviceCanAccessPeer: "cuDeviceCanAccessPeer(out canAccessPeer, i32 dev, i32 peerDev)",

  cuDevicePrimaryCtxRetain: "cuDevicePrimaryCtxRetain(out pctx, i32 dev)",
  cuDevicePrimaryCtxRelease: "cuDevicePrimaryCtxRelease_v2(i32 dev)",
  cuCtxSetCurrent: "cuCtxSetCurrent(handle ctx)",
  cuCtxSynchronize: "cuCtxSynchronize()",
  cuCtxGetStreamPriorityRange: "cuCtxGetStreamPriorityRange(out leastPriority, out greatestPriority)",
  cuCtxEnablePeerAccess: "cuCtxEnablePeerAccess(handle peerContext, u32 Flags)",
  cuCtxDisablePeerAccess: "cuCtxDisablePeerAccess(handle peerContext)",

  cuStreamCreateWithPriority: "cuStreamCreateWithPriority(out phStream, u32 flags, i32 priority)",
  cuStreamDestroy: "cuStreamDestroy_v2(handle hStream)",
  cuStreamSynchronize: "cuStreamSynchronize(handle hStream)",
  cuStreamQuery: "cuStreamQuery(handle hStream)",
  cuStreamWaitEvent: "cuStreamWaitEvent(handle hStream, handle hEvent, u32 Flags)",
  cuStreamBeginCapture: "cuStreamBeginCapture_v2(handle hStream, i32 mode)",
  cuStreamEndCapture: "cuStreamEndCapture(handle hStream, out phGraph)",

  cuEventCreate: "cuEventCreate(out phEvent, u32 Flags)",
  cuEventDestroy: "cuEventDestroy_v2(handle hEvent)",
  cuEventRecord: "cuEventRecord(handle hEvent, handle hStream)",
  cuEventQuery: "cuEventQuery(handle hEvent)",
  cuEventSynchronize: "cuEventSynchronize(handle hEvent)",
  cuEventElapsedTime: "cuEventElapsedTime_v2|cuEventElapsedTime(out pMilliseconds, handle hStart, handle hEnd)",

  cuMemGetInfo: "cuMemGetInfo_v2(out free, out total)",
  cuMemAlloc: "cuMemAlloc_v2(out dptr, size bytesize)",
  cuMemFree: "cuMemFree_v2(address dptr)",
  cuMemPoolCreate: "cuMemPoolCreate(out pool, pointer poolProps)",
  cuMemPoolDestroy: "cuMemPoolDestroy(handle pool)",
  cuMemPoolSetAttribute: "cuMemPoolSetAttribute(handle pool, i32 attr, pointer value)",
  cuMemPoolGetAttribute: "cuMemPoolGetAttribute(handle pool, i32 attr, out value)",
  cuMemPoolSetAccess: "cuMemPoolSetAccess(handle pool, pointer map, size count)",
  cuMemPoolTrimTo: "cuMemPoolTrimTo(handle pool, size minBytesToKeep)",
  cuMemAllocFromPoolAsync: "cuMemAllocFromPoolAsync(out dptr, size bytesize, handle pool, handle hStream)",
  cuMemFreeAsync: "cuMemFreeAsync(address dptr, handle hStream)",
  cuMemHostRegister: "cuMemHostRegister_v2(pointer p, size bytesize, u32 Flags)",
  cuMemHostUnregister: "cuMemHostUnregister(pointer p)",

  cuMemcpyHtoDAsync: "cuMemcpyHtoDAsync_v2(address dstDevice, pointer srcHost, size ByteCount, handle hStream)",
  cuMemcpyDtoHAsync: "cuMemcpyDtoHAsync_v2(out dstHost, address srcDevice, size ByteCount, handle hStream)",
  cuMemcpyDtoDAsync: "cuMemcpyDtoDAsync_v2(address dstDevice, address srcDevice, size ByteCount, handle hStream)",
  cuMemcpyPeerAsync: `cuMemcpyPeerAsync(
    address dstDevice, handle dstContext, address srcDevice, handle srcContext, size ByteCount,
    handle hStream)`,
  cuMemcpy2DAsync: "cuMemcpy2DAsync_v2(pointer pCopy, handle hStream)",
  cuMemsetD8Async: "cuMemsetD8Async(address dstDevice, u8 uc, size N, handle hStream)",
  cuMemsetD16Async: "cuMemsetD16Async(address dstDevice, u16 us, size N, handle hStream)",
  cuMemsetD32Async: "cuMemsetD32Async(address dstDevice, u32 ui, size N, handle hStream)",

  cuModuleLoadDataEx: "cuModuleLoadDataEx(out module, pointer image, u32 numOptions, pointer options, pointer optionValues)",
  cuModuleUnload: "cuModuleUnload(handle hmod)",
  cuModuleGetFunction: "cuModuleGetFunction(out hfunc, handle hmod, text name)",
  cuModuleGetGlobal: "cuModuleGetGlobal_v2(out dptr, out bytes, handle hmod, text name)",
  cuFuncGetAttribute: "cuFuncGetAttribute(out pi, i32 attrib, handle hfunc)",
  cuFuncSetAttribute: "cuFuncSetAttribute(handle hfunc, i32 attrib, i32 value)",
  cuFuncGetParamInfo: "cuFuncGetParamInfo(handle func, size paramIndex, out paramOffset, out paramSize)",

  cuLaunchKernelEx: "cuLaunchKernelEx(pointer config, handle f, pointer kernelParams, pointer extra)",
  cuLaunchKernel: `cuLaunchKernel(
    handle f, u32 gridDimX, u32 gridDimY, u32 gridDimZ, u32 blockDimX, u32 blockDimY,
    u32 blockDimZ, u32 sharedMemBytes, handle hStream, pointer kernelParams, pointer extra)`,
  cuLaunchCooperativeKernel: `cuLaunchCooperativeKernel(
    handle f, u32 gridDimX, u32 gridDimY, u32 gridDimZ, u32 blockDimX, u32 blockDimY,
    u32 blockDimZ, u32 sharedMemBytes, handle hStream, pointer kernelParams)`,
  cuOccupancyMaxActiveBlocksPerMultiprocessor: `cuOccupancyMaxActiveBlocksPerMultiprocessor(
    out numBlocks, handle func, i32 blockSize, size dynamicSMemSize)`,
  cuOccupancyMaxActiveClusters: "cuOccupancyMaxActiveClusters(out numClusters, handle func, pointer config)",

  cuGraphInstantiate: "cuGraphInstantiateWithFlags(out phGraphExec, handle hGraph, u64 flags)",
  cuGraphGetNodes: "cuGraphGetNodes(handle hGraph, out nodes, out numNodes)",
  cuGraphUpload: "cuGraphUpload(handle hGraphExec, handle hStream)",
  cuGraphLaunch: "cuGraphLaunch(handle hGraphExec, handle hStream)",
  cuGraphExecUpdate: "cuGraphExecUpdate_v2(handle hGraphExec, handle hGraph, out resultInfo)",
  cuGraphExecDestroy: "cuGraphExecDestroy(handle hGraphExec)",
  cuGraphDestroy: "cuGraphDestroy(handle hGraph)",
});

/** The name of a driver function that is called. */
export type DriverCall = keyof typeof driverCalls;

/** The arguments of a driver function. */
export type DriverArguments<Name extends DriverCall> = ArgumentsOf<(typeof driverCalls)[Name]["arguments"]>;

/** A driver function: arguments in, CUDA's status out (0 is success). */
export type DriverFunction<Name extends DriverCall> = (...values: DriverArguments<Name>) => number;
