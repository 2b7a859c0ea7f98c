/* A libcuda that keeps device memory on the host, for the FFI path: that arguments arrive in order, in their widths and as pointers.
   It is compiled against cuda.h, so a prototype that differs from NVIDIA's does not compile. Kernels do nothing but what `echo` needs:
   a launch copies its arguments to where the test reads them. Not a simulated device. */
#include <cuda.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(CUlaunchConfig, gridDimX) == 0 && offsetof(CUlaunchConfig, blockDimX) == 12, "sizes of a launch");
_Static_assert(offsetof(CUlaunchConfig, sharedMemBytes) == 24 && offsetof(CUlaunchConfig, hStream) == 32, "stream of a launch");
_Static_assert(offsetof(CUlaunchConfig, attrs) == 40 && offsetof(CUlaunchConfig, numAttrs) == 48, "attributes of a launch");
_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8, "an attribute of a launch");
_Static_assert(CU_LAUNCH_ATTRIBUTE_COOPERATIVE == 2 && CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == 4, "ids of attributes");
_Static_assert(sizeof(CUDA_MEMCPY2D) == 128 && offsetof(CUDA_MEMCPY2D, srcMemoryType) == 16, "a 2-D copy's source");
_Static_assert(offsetof(CUDA_MEMCPY2D, srcHost) == 24 && offsetof(CUDA_MEMCPY2D, srcDevice) == 32, "a 2-D copy's source addresses");
_Static_assert(offsetof(CUDA_MEMCPY2D, srcPitch) == 48 && offsetof(CUDA_MEMCPY2D, dstMemoryType) == 72, "a 2-D copy's pitch");
_Static_assert(offsetof(CUDA_MEMCPY2D, dstHost) == 80 && offsetof(CUDA_MEMCPY2D, dstDevice) == 88, "a 2-D copy's destination");
_Static_assert(offsetof(CUDA_MEMCPY2D, dstPitch) == 104 && offsetof(CUDA_MEMCPY2D, WidthInBytes) == 112, "a 2-D copy's width");
_Static_assert(offsetof(CUDA_MEMCPY2D, Height) == 120, "a 2-D copy's height");
_Static_assert(sizeof(CUmemPoolProps) == 88 && offsetof(CUmemPoolProps, location) == 8, "a pool's properties");
_Static_assert(sizeof(CUmemAccessDesc) == 12 && offsetof(CUmemAccessDesc, flags) == 8, "access to a pool");
_Static_assert(sizeof(CUgraphExecUpdateResultInfo) == 24 && offsetof(CUgraphExecUpdateResultInfo, result) == 0, "a graph's update");
_Static_assert(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD == 4 && CU_MEMPOOL_ATTR_USED_MEM_HIGH == 8, "attributes of a pool");
_Static_assert(CU_JIT_INFO_LOG_BUFFER == 3 && CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == 6, "options of a module's load");
_Static_assert(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8 && CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED == 14, "kernel");

/* The version suffixes that driver-calls.ts binds are those that cuda.h maps the plain names to. */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
const char *mock_symbols(void) {
  return TEXT(cuDeviceTotalMem) " " TEXT(cuDevicePrimaryCtxRelease) " " TEXT(cuStreamDestroy) " " TEXT(cuStreamBeginCapture) " "
      TEXT(cuEventDestroy) " " TEXT(cuEventElapsedTime) " " TEXT(cuMemGetInfo) " " TEXT(cuMemAlloc) " " TEXT(cuMemFree) " "
      TEXT(cuMemHostRegister) " " TEXT(cuMemcpyHtoDAsync) " " TEXT(cuMemcpyDtoHAsync) " " TEXT(cuMemcpyDtoDAsync) " "
      TEXT(cuMemcpy2DAsync) " " TEXT(cuModuleGetGlobal) " " TEXT(cuGraphExecUpdate) " " TEXT(cuDeviceGetUuid);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread CUcontext current;
static int retained, live, launches, pools, streams, events, modules, graphs, registered;
static struct { unsigned sizes[7]; CUstream stream; unsigned attributes, ids[2], values[2][3]; unsigned long long arguments[8]; CUfunction function; } last;
static char report[1024];
static int context, device_attributes[200];

static void count(int *what, int by) { pthread_mutex_lock(&lock); *what += by; pthread_mutex_unlock(&lock); }
#define NEED_CONTEXT if (!current) return CUDA_ERROR_INVALID_CONTEXT

/* What the test reads: the last launch, and what is held. */
const char *mock_report(void) {
  snprintf(report, sizeof report,
      "{\"sizes\":[%u,%u,%u,%u,%u,%u,%u],\"stream\":\"%llu\",\"function\":\"%llu\",\"attributes\":%u,\"ids\":[%u,%u],\"cluster\":[%u,%u,%u],"
      "\"arguments\":[\"%llx\",\"%llx\",\"%llx\",\"%llx\",\"%llx\",\"%llx\",\"%llx\"],"
      "\"retained\":%d,\"live\":%d,\"pools\":%d,\"streams\":%d,\"events\":%d,\"modules\":%d,\"graphs\":%d,\"registered\":%d,\"launches\":%d}",
      last.sizes[0], last.sizes[1], last.sizes[2], last.sizes[3], last.sizes[4], last.sizes[5], last.sizes[6],
      (unsigned long long)last.stream, (unsigned long long)last.function, last.attributes, last.ids[0], last.ids[1],
      last.values[1][0], last.values[1][1], last.values[1][2],
      last.arguments[0], last.arguments[1], last.arguments[2], last.arguments[3], last.arguments[4], last.arguments[5], last.arguments[6],
      retained, live, pools, streams, events, modules, graphs, registered, launches);
  return report;
}

CUresult cuGetErrorString(CUresult error, const char **text) { *text = error == 1 ? "invalid argument" : "mock sentence"; return 0; }
CUresult cuGetErrorName(CUresult error, const char **text) {
  if (error != CUDA_ERROR_INVALID_VALUE) { *text = NULL; return CUDA_ERROR_INVALID_VALUE; }
  *text = "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
CUresult cuInit(unsigned int flags) { return flags == 0 ? 0 : CUDA_ERROR_INVALID_VALUE; }
CUresult cuDriverGetVersion(int *version) { *version = 13000; return 0; }
CUresult cuDeviceGetCount(int *n) { *n = 2; return 0; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { if (ordinal > 1) return CUDA_ERROR_INVALID_DEVICE; *device = ordinal; return 0; }
CUresult cuDeviceGetName(char *name, int length, CUdevice device) { snprintf(name, (size_t)length, "Mock %d", device); return 0; }
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { for (int i = 0; i < 16; i++) uuid->bytes[i] = (char)(i + device); return 0; }
CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) { snprintf(id, (size_t)length, "0000:0%d:00.0", device); return 0; }
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) { (void)device; *bytes = (size_t)141 << 30; return 0; }
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  (void)device;
  if (!device_attributes[1]) {
    int *a = device_attributes;
    a[1] = 1024; a[2] = 1024; a[3] = 1024; a[4] = 64; a[5] = 2147483647; a[6] = 65535; a[7] = 65535; a[8] = 49152; a[10] = 32; a[16] = 132;
    a[75] = 9; a[76] = 0; a[95] = 1; a[97] = 232448; a[99] = 1; a[115] = 1; a[120] = 1;
  }
  *value = (unsigned)attribute < 200 ? device_attributes[attribute] : -1;
  return 0;
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) { *can = device != peer; return 0; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) { *out = (CUcontext)((char *)&context + device); count(&retained, 1); return 0; }
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { (void)device; count(&retained, -1); return 0; }
CUresult cuCtxSetCurrent(CUcontext next) { current = next; return 0; }
CUresult cuCtxSynchronize(void) { NEED_CONTEXT; return 0; }
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) { NEED_CONTEXT; *least = 0; *greatest = -5; return 0; }
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) { NEED_CONTEXT; return peer != current && flags == 0 ? 0 : CUDA_ERROR_INVALID_VALUE; }
CUresult cuCtxDisablePeerAccess(CUcontext peer) { NEED_CONTEXT; return peer != current ? 0 : CUDA_ERROR_INVALID_VALUE; }

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
  NEED_CONTEXT;
  if (flags != CU_STREAM_NON_BLOCKING || priority > 0 || priority < -5) return CUDA_ERROR_INVALID_VALUE;
  *stream = (CUstream)malloc(8); count(&streams, 1); return 0;
}
CUresult cuStreamDestroy(CUstream stream) { NEED_CONTEXT; free(stream); count(&streams, -1); return 0; }
CUresult cuStreamSynchronize(CUstream stream) { NEED_CONTEXT; (void)stream; return 0; }
CUresult cuStreamQuery(CUstream stream) { NEED_CONTEXT; (void)stream; return 0; }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) { NEED_CONTEXT; return stream && event && flags == 0 ? 0 : CUDA_ERROR_INVALID_VALUE; }
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) { NEED_CONTEXT; return stream && mode == CU_STREAM_CAPTURE_MODE_RELAXED ? 0 : CUDA_ERROR_INVALID_VALUE; }
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) { NEED_CONTEXT; (void)stream; *graph = (CUgraph)malloc(8); count(&graphs, 1); return 0; }

/* An event is its count of looks that still say "not yet": the test sets it through a launch of an odd grid. */
static int looks;
CUresult cuEventCreate(CUevent *event, unsigned int flags) { NEED_CONTEXT; if (flags > 3) return CUDA_ERROR_INVALID_VALUE; *event = (CUevent)calloc(1, 8); count(&events, 1); return 0; }
CUresult cuEventDestroy(CUevent event) { NEED_CONTEXT; free(event); count(&events, -1); return 0; }
CUresult cuEventRecord(CUevent event, CUstream stream) { NEED_CONTEXT; (void)event; return stream ? 0 : CUDA_ERROR_INVALID_VALUE; }
CUresult cuEventQuery(CUevent event) { NEED_CONTEXT; (void)event; return looks ? CUDA_ERROR_NOT_READY : 0; }
CUresult cuEventSynchronize(CUevent event) { (void)event; struct timespec wait = {0, 50000000}; if (looks) nanosleep(&wait, NULL); looks = 0; return 0; }
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) { NEED_CONTEXT; (void)start; (void)end; *ms = 1.5f; return 0; }

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total) { NEED_CONTEXT; *free_bytes = (size_t)100 << 30; *total = (size_t)141 << 30; return 0; }
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) { NEED_CONTEXT; *address = (CUdeviceptr)malloc(bytes); count(&live, 1); return 0; }
CUresult cuMemFree(CUdeviceptr address) { NEED_CONTEXT; free((void *)address); count(&live, -1); return 0; }
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  NEED_CONTEXT;
  if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  if (properties->handleTypes || properties->maxSize || properties->win32SecurityAttributes || properties->location.id > 1) return CUDA_ERROR_INVALID_VALUE;
  *pool = (CUmemoryPool)calloc(1, 64); count(&pools, 1); return 0;
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) { NEED_CONTEXT; free(pool); count(&pools, -1); return 0; }
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  NEED_CONTEXT; (void)pool; return attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && *(cuuint64_t *)value == ~0ull ? 0 : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) { NEED_CONTEXT; (void)pool; *(cuuint64_t *)value = 1000u * attribute; return 0; }
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t n) {
  NEED_CONTEXT; (void)pool;
  if (n != 1 || map->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  return map->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE || map->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? 0 : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) { NEED_CONTEXT; return pool && keep == 12345 ? 0 : CUDA_ERROR_INVALID_VALUE; }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  NEED_CONTEXT;
  if (!pool || !stream) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > (size_t)100 << 30) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = (CUdeviceptr)malloc(bytes); count(&live, 1); return 0;
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) { NEED_CONTEXT; if (!stream) return CUDA_ERROR_INVALID_VALUE; free((void *)address); count(&live, -1); return 0; }
CUresult cuMemHostRegister(void *address, size_t bytes, unsigned int flags) { NEED_CONTEXT; (void)flags; if ((size_t)address % 4096 || !bytes) return CUDA_ERROR_INVALID_VALUE; count(&registered, 1); return 0; }
CUresult cuMemHostUnregister(void *address) { NEED_CONTEXT; if ((size_t)address % 4096) return CUDA_ERROR_INVALID_VALUE; count(&registered, -1); return 0; }

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) { NEED_CONTEXT; if (!stream) return 1; memcpy((void *)to, from, bytes); return 0; }
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) { NEED_CONTEXT; if (!stream) return 1; memcpy(to, (void *)from, bytes); return 0; }
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) { NEED_CONTEXT; if (!stream) return 1; memmove((void *)to, (void *)from, bytes); return 0; }
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes, CUstream stream) {
  NEED_CONTEXT; if (!stream || there != current || here == current) return 1; memmove((void *)to, (void *)from, bytes); return 0;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  NEED_CONTEXT;
  if (!stream || copy->srcXInBytes || copy->srcY || copy->dstXInBytes || copy->dstY) return CUDA_ERROR_INVALID_VALUE;
  const char *from = copy->srcMemoryType == CU_MEMORYTYPE_HOST ? copy->srcHost : (const char *)copy->srcDevice;
  char *to = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost : (char *)copy->dstDevice;
  for (size_t row = 0; row < copy->Height; row++) memcpy(to + row * copy->dstPitch, from + row * copy->srcPitch, copy->WidthInBytes);
  return 0;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) { NEED_CONTEXT; if (!stream) return 1; memset((void *)to, value, n); return 0; }
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream) { NEED_CONTEXT; if (!stream) return 1; for (size_t i = 0; i < n; i++) ((unsigned short *)to)[i] = value; return 0; }
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t n, CUstream stream) { NEED_CONTEXT; if (!stream) return 1; for (size_t i = 0; i < n; i++) ((unsigned *)to)[i] = value; return 0; }

static char global_memory[64];
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options, void **values) {
  NEED_CONTEXT;
  if (n != 4 || options[0] != CU_JIT_INFO_LOG_BUFFER || options[1] != CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || options[2] != CU_JIT_ERROR_LOG_BUFFER) return CUDA_ERROR_INVALID_VALUE;
  if ((size_t)values[1] != 16384 || (size_t)values[3] != 16384) return CUDA_ERROR_INVALID_VALUE;
  if (strstr(image, "bad")) { snprintf(values[2], 16384, "ptxas: line 1: bad"); return CUDA_ERROR_INVALID_PTX; }
  snprintf(values[0], 16384, "info: loaded %zu characters", strlen(image));
  *module = (CUmodule)malloc(8); count(&modules, 1); return 0;
}
CUresult cuModuleUnload(CUmodule module) { NEED_CONTEXT; free(module); count(&modules, -1); return 0; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  NEED_CONTEXT; if (!module || strcmp(name, "missing") == 0) return CUDA_ERROR_NOT_FOUND; *function = (CUfunction)(size_t)(0x1000 + strlen(name)); return 0;
}
CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  NEED_CONTEXT; if (!module || strcmp(name, "table") != 0) return CUDA_ERROR_NOT_FOUND; *address = (CUdeviceptr)global_memory; *bytes = sizeof global_memory; return 0;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  NEED_CONTEXT; if (!function) return 1; int table[] = {512, 256, 0, 0, 32, 75, 90}; *value = attribute < 7 ? table[attribute] : 0; return 0;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  NEED_CONTEXT; return function && (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? value > 48896 : attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED && value == 1) ? 0 : CUDA_ERROR_INVALID_VALUE;
}
/* The parameters of `echo`: ptr, i32, u32, i64, u64, f32, f64. */
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  NEED_CONTEXT; size_t sizes[] = {8, 4, 4, 8, 8, 4, 8}; if (!function || index > 6) return CUDA_ERROR_INVALID_VALUE; *offset = 8 * index; *size = sizes[index]; return 0;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  if (!current || extra || !config->hStream) return CUDA_ERROR_INVALID_VALUE;
  memcpy(last.sizes, config, 28);
  last.stream = config->hStream; last.function = function; last.attributes = config->numAttrs;
  for (unsigned i = 0; i < config->numAttrs && i < 2; i++) { last.ids[i] = config->attrs[i].id; memcpy(last.values[i], &config->attrs[i].value, 12); }
  if (function == (CUfunction)0x1004) { size_t sizes[] = {8, 4, 4, 8, 8, 4, 8}; for (int i = 0; i < 7; i++) { last.arguments[i] = 0; memcpy(&last.arguments[i], parameters[i], sizes[i]); } }
  if (function == (CUfunction)0x1005) looks = 1; /* "sleep" */
  launches++; return 0;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra) {
  CUlaunchConfig config = {gx, gy, gz, bx, by, bz, shared, stream, NULL, 0}; return cuLaunchKernelEx(&config, function, parameters, extra);
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **parameters) {
  CUlaunchConfig config = {gx, gy, gz, bx, by, bz, shared, stream, NULL, 0}; return cuLaunchKernelEx(&config, function, parameters, NULL);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int size, size_t shared) { NEED_CONTEXT; *blocks = function && size == 256 && shared == 1000 ? 8 : -1; return 0; }
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) { NEED_CONTEXT; *clusters = function && config->numAttrs == 1 ? (int)config->attrs[0].value.clusterDim.x * 10 : -1; return 0; }

#undef cuGraphInstantiateWithFlags
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags) { NEED_CONTEXT; if (!graph || flags) return 1; *executable = (CUgraphExec)malloc(8); count(&graphs, 1); return 0; }
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n) { NEED_CONTEXT; if (!graph || nodes) return 1; *n = 7; return 0; }
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) { NEED_CONTEXT; return executable && stream ? 0 : 1; }
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) { NEED_CONTEXT; return executable && stream ? 0 : 1; }
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo *info) { NEED_CONTEXT; if (!executable || !graph) return 1; info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED; return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE; }
CUresult cuGraphExecDestroy(CUgraphExec executable) { NEED_CONTEXT; free(executable); count(&graphs, -1); return 0; }
CUresult cuGraphDestroy(CUgraph graph) { NEED_CONTEXT; free(graph); count(&graphs, -1); return 0; }
