// The CUDA driver functions that are called, each under its C prototype (cuda.h of CUDA 13.0), and
// the argument types they have here. Not a way to call them: that is a `Driver`.

/**
 * What an argument is in C, and so how wide it is. Results are written into typed arrays passed as
 * `out`.
 */
export type ArgumentKind = "i32" | "u32" | "u16" | "u8" | "u64" | "size" | "handle" | "address" | "pointer" | "out" | "text" | "bytes128";

/**
 * The JavaScript type of an argument of each kind. Handles and device addresses are bigints; 0n is
 * null.
 */
export interface ArgumentTypes {
  i32: number;
  u32: number;
  u16: number;
  u8: number;
  u64: number;
  size: number;
  /** An opaque pointer that the driver gave. */
  handle: bigint;
  /** A device address. */
  address: bigint;
  /** Host memory that the driver reads, or a host address. */
  pointer: bigint | ArrayBufferView;
  /** Host memory that the driver writes, or a host address. */
  out: bigint | ArrayBufferView;
  /** A NUL-terminated string; the NUL is added. */
  text: string;
  /** A struct of 128 bytes, by value. */
  bytes128: { readonly bytes: Uint8Array };
}

/**
 * A function of a C library: the symbols that it may have, newest first, and its arguments. It
 * returns a 32-bit status.
 */
export interface CallSignature {
  readonly symbols: readonly string[];
  readonly arguments: readonly ArgumentKind[];
}

/** A function's signature. `symbols` are the names that it may have, with a blank between. */
export const signature = <const Kinds extends readonly ArgumentKind[]>(
  symbols: string,
  ...kinds: Kinds
): { readonly symbols: readonly string[]; readonly arguments: Kinds } => ({ symbols: symbols.split(" "), arguments: kinds });

/**
 * Every driver function that is called. A name is the function's without its version; the version
 * is in the symbol.
 */
export const driverCalls = {
  // CUresult cuGetErrorString(CUresult error, const char **pStr)
  cuGetErrorString: signature("cuGetErrorString", "i32", "out"),
  // CUresult cuGetErrorName(CUresult error, const char **pStr)
  cuGetErrorName: signature("cuGetErrorName", "i32", "out"),
  // CUresult cuInit(unsigned int Flags)
  cuInit: signature("cuInit", "u32"),
  // CUresult cuDriverGetVersion(int *driverVersion)
  cuDriverGetVersion: signature("cuDriverGetVersion", "out"),

  // CUresult cuDeviceGetCount(int *count)
  cuDeviceGetCount: signature("cuDeviceGetCount", "out"),
  // CUresult cuDeviceGet(CUdevice *device, int ordinal)
  cuDeviceGet: signature("cuDeviceGet", "out", "i32"),
  // CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
  cuDeviceGetName: signature("cuDeviceGetName", "out", "i32", "i32"),
  // CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
  cuDeviceGetUuid: signature("cuDeviceGetUuid_v2 cuDeviceGetUuid", "out", "i32"),
  // CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
  cuDeviceGetPCIBusId: signature("cuDeviceGetPCIBusId", "out", "i32", "i32"),
  // CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev)
  cuDeviceTotalMem: signature("cuDeviceTotalMem_v2", "out", "i32"),
  // CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
  cuDeviceGetAttribute: signature("cuDeviceGetAttribute", "out", "i32", "i32"),
  // CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
  cuDeviceCanAccessPeer: signature("cuDeviceCanAccessPeer", "out", "i32", "i32"),

  // CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
  cuDevicePrimaryCtxRetain: signature("cuDevicePrimaryCtxRetain", "out", "i32"),
  // CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
  cuDevicePrimaryCtxRelease: signature("cuDevicePrimaryCtxRelease_v2", "i32"),
  // CUresult cuCtxSetCurrent(CUcontext ctx)
  cuCtxSetCurrent: signature("cuCtxSetCurrent", "handle"),
  // CUresult cuCtxSynchronize(void)
  cuCtxSynchronize: signature("cuCtxSynchronize"),
  // CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
  cuCtxGetStreamPriorityRange: signature("cuCtxGetStreamPriorityRange", "out", "out"),
  // CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
  cuCtxEnablePeerAccess: signature("cuCtxEnablePeerAccess", "handle", "u32"),
  // CUresult cuCtxDisablePeerAccess(CUcontext peerContext)
  cuCtxDisablePeerAccess: signature("cuCtxDisablePeerAccess", "handle"),

  // CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
  cuStreamCreateWithPriority: signature("cuStreamCreateWithPriority", "out", "u32", "i32"),
  // CUresult cuStreamDestroy(CUstream hStream)
  cuStreamDestroy: signature("cuStreamDestroy_v2", "handle"),
  // CUresult cuStreamSynchronize(CUstream hStream)
  cuStreamSynchronize: signature("cuStreamSynchronize", "handle"),
  // CUresult cuStreamQuery(CUstream hStream)
  cuStreamQuery: signature("cuStreamQuery", "handle"),
  // CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
  cuStreamWaitEvent: signature("cuStreamWaitEvent", "handle", "handle", "u32"),
  // CUresult cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode)
  cuStreamBeginCapture: signature("cuStreamBeginCapture_v2", "handle", "i32"),
  // CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
  cuStreamEndCapture: signature("cuStreamEndCapture", "handle", "out"),

  // CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
  cuEventCreate: signature("cuEventCreate", "out", "u32"),
  // CUresult cuEventDestroy(CUevent hEvent)
  cuEventDestroy: signature("cuEventDestroy_v2", "handle"),
  // CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
  cuEventRecord: signature("cuEventRecord", "handle", "handle"),
  // CUresult cuEventQuery(CUevent hEvent)
  cuEventQuery: signature("cuEventQuery", "handle"),
  // CUresult cuEventSynchronize(CUevent hEvent)
  cuEventSynchronize: signature("cuEventSynchronize", "handle"),
  // CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
  cuEventElapsedTime: signature("cuEventElapsedTime_v2 cuEventElapsedTime", "out", "handle", "handle"),

  // CUresult cuMemGetInfo(size_t *free, size_t *total)
  cuMemGetInfo: signature("cuMemGetInfo_v2", "out", "out"),
  // CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
  cuMemAlloc: signature("cuMemAlloc_v2", "out", "size"),
  // CUresult cuMemFree(CUdeviceptr dptr)
  cuMemFree: signature("cuMemFree_v2", "address"),
  // CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
  cuMemPoolCreate: signature("cuMemPoolCreate", "out", "pointer"),
  // CUresult cuMemPoolDestroy(CUmemoryPool pool)
  cuMemPoolDestroy: signature("cuMemPoolDestroy", "handle"),
  // CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
  cuMemPoolSetAttribute: signature("cuMemPoolSetAttribute", "handle", "i32", "pointer"),
  // CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
  cuMemPoolGetAttribute: signature("cuMemPoolGetAttribute", "handle", "i32", "out"),
  // CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
  cuMemPoolSetAccess: signature("cuMemPoolSetAccess", "handle", "pointer", "size"),
  // CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
  cuMemPoolTrimTo: signature("cuMemPoolTrimTo", "handle", "size"),
  // CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
  // CUstream hStream)
  cuMemAllocFromPoolAsync: signature("cuMemAllocFromPoolAsync", "out", "size", "handle", "handle"),
  // CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
  cuMemFreeAsync: signature("cuMemFreeAsync", "address", "handle"),
  // CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
  cuMemHostRegister: signature("cuMemHostRegister_v2", "pointer", "size", "u32"),
  // CUresult cuMemHostUnregister(void *p)
  cuMemHostUnregister: signature("cuMemHostUnregister", "pointer"),

  // CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
  // CUstream hStream)
  cuMemcpyHtoDAsync: signature("cuMemcpyHtoDAsync_v2", "address", "pointer", "size", "handle"),
  // CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream
  // hStream)
  cuMemcpyDtoHAsync: signature("cuMemcpyDtoHAsync_v2", "out", "address", "size", "handle"),
  // CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
  // CUstream hStream)
  cuMemcpyDtoDAsync: signature("cuMemcpyDtoDAsync_v2", "address", "address", "size", "handle"),
  // CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
  // CUcontext srcContext,
  //                            size_t ByteCount, CUstream hStream)
  cuMemcpyPeerAsync: signature("cuMemcpyPeerAsync", "address", "handle", "address", "handle", "size", "handle"),
  // CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
  cuMemcpy2DAsync: signature("cuMemcpy2DAsync_v2", "pointer", "handle"),
  // CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
  cuMemsetD8Async: signature("cuMemsetD8Async", "address", "u8", "size", "handle"),
  // CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
  cuMemsetD16Async: signature("cuMemsetD16Async", "address", "u16", "size", "handle"),
  // CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
  cuMemsetD32Async: signature("cuMemsetD32Async", "address", "u32", "size", "handle"),

  // CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
  // CUjit_option *options, void **optionValues)
  cuModuleLoadDataEx: signature("cuModuleLoadDataEx", "out", "pointer", "u32", "pointer", "pointer"),
  // CUresult cuModuleUnload(CUmodule hmod)
  cuModuleUnload: signature("cuModuleUnload", "handle"),
  // CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
  cuModuleGetFunction: signature("cuModuleGetFunction", "out", "handle", "text"),
  // CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
  cuModuleGetGlobal: signature("cuModuleGetGlobal_v2", "out", "out", "handle", "text"),
  // CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
  cuFuncGetAttribute: signature("cuFuncGetAttribute", "out", "i32", "handle"),
  // CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
  cuFuncSetAttribute: signature("cuFuncSetAttribute", "handle", "i32", "i32"),
  // CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t
  // *paramSize)
  cuFuncGetParamInfo: signature("cuFuncGetParamInfo", "handle", "size", "out", "out"),

  // CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void
  // **extra)
  cuLaunchKernelEx: signature("cuLaunchKernelEx", "pointer", "handle", "pointer", "pointer"),
  // CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned
  // int gridDimZ, unsigned int blockDimX,
  //                         unsigned int blockDimY, unsigned int blockDimZ, unsigned int
  // sharedMemBytes, CUstream hStream,
  //                         void **kernelParams, void **extra)
  cuLaunchKernel: signature("cuLaunchKernel", "handle", "u32", "u32", "u32", "u32", "u32", "u32", "u32", "handle", "pointer", "pointer"),
  // CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
  // unsigned int gridDimZ,
  //                                    unsigned int blockDimX, unsigned int blockDimY, unsigned int
  // blockDimZ,
  //                                    unsigned int sharedMemBytes, CUstream hStream, void
  // **kernelParams)
  cuLaunchCooperativeKernel: signature(
    "cuLaunchCooperativeKernel",
    ...(["handle", "u32", "u32", "u32", "u32", "u32", "u32", "u32", "handle", "pointer"] as const),
  ),
  // CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int
  // blockSize, size_t dynamicSMemSize)
  cuOccupancyMaxActiveBlocksPerMultiprocessor: signature("cuOccupancyMaxActiveBlocksPerMultiprocessor", "out", "handle", "i32", "size"),
  // CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig
  // *config)
  cuOccupancyMaxActiveClusters: signature("cuOccupancyMaxActiveClusters", "out", "handle", "pointer"),

  // CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long
  // long flags)
  cuGraphInstantiate: signature("cuGraphInstantiateWithFlags", "out", "handle", "u64"),
  // CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
  cuGraphGetNodes: signature("cuGraphGetNodes", "handle", "out", "out"),
  // CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
  cuGraphUpload: signature("cuGraphUpload", "handle", "handle"),
  // CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
  cuGraphLaunch: signature("cuGraphLaunch", "handle", "handle"),
  // CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo
  // *resultInfo)
  cuGraphExecUpdate: signature("cuGraphExecUpdate_v2", "handle", "handle", "out"),
  // CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
  cuGraphExecDestroy: signature("cuGraphExecDestroy", "handle"),
  // CUresult cuGraphDestroy(CUgraph hGraph)
  cuGraphDestroy: signature("cuGraphDestroy", "handle"),
} satisfies Record<string, CallSignature>;

/** The name of a driver function that is called. */
export type DriverCall = keyof typeof driverCalls;

/** The arguments of a function whose kinds are given. */
export type ArgumentsOf<Kinds extends readonly ArgumentKind[]> = { -readonly [Index in keyof Kinds]: ArgumentTypes[Kinds[Index]] };

/** The arguments of a driver function. */
export type DriverArguments<Name extends DriverCall> = ArgumentsOf<(typeof driverCalls)[Name]["arguments"]>;

/** A driver function: arguments in, CUDA's status out (0 is success). */
export type DriverFunction<Name extends DriverCall> = (...values: DriverArguments<Name>) => number;
