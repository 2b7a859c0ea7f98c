// The names of CUDA's status codes, for a driver too old or too simulated to give them. The
// driver's own sentence comes first if it has one.

const codes = {
  ...{ INVALID_VALUE: 1, OUT_OF_MEMORY: 2, NOT_INITIALIZED: 3, DEINITIALIZED: 4, PROFILER_DISABLED: 5 },
  ...{ PROFILER_NOT_INITIALIZED: 6, PROFILER_ALREADY_STARTED: 7, PROFILER_ALREADY_STOPPED: 8, STUB_LIBRARY: 34 },
  ...{ CALL_REQUIRES_NEWER_DRIVER: 36, DEVICE_UNAVAILABLE: 46 },
  ...{ NO_DEVICE: 100, INVALID_DEVICE: 101, DEVICE_NOT_LICENSED: 102 },
  ...{ INVALID_IMAGE: 200, INVALID_CONTEXT: 201, CONTEXT_ALREADY_CURRENT: 202, MAP_FAILED: 205, UNMAP_FAILED: 206 },
  ...{ ARRAY_IS_MAPPED: 207, ALREADY_MAPPED: 208, NO_BINARY_FOR_GPU: 209, ALREADY_ACQUIRED: 210, NOT_MAPPED: 211 },
  ...{ NOT_MAPPED_AS_ARRAY: 212, NOT_MAPPED_AS_POINTER: 213, ECC_UNCORRECTABLE: 214, UNSUPPORTED_LIMIT: 215 },
  ...{ CONTEXT_ALREADY_IN_USE: 216, PEER_ACCESS_UNSUPPORTED: 217, INVALID_PTX: 218, INVALID_GRAPHICS_CONTEXT: 219 },
  ...{ NVLINK_UNCORRECTABLE: 220, JIT_COMPILER_NOT_FOUND: 221, UNSUPPORTED_PTX_VERSION: 222, JIT_COMPILATION_DISABLED: 223 },
  ...{ UNSUPPORTED_EXEC_AFFINITY: 224, UNSUPPORTED_DEVSIDE_SYNC: 225, CONTAINED: 226 },
  ...{ INVALID_SOURCE: 300, FILE_NOT_FOUND: 301, SHARED_OBJECT_SYMBOL_NOT_FOUND: 302, SHARED_OBJECT_INIT_FAILED: 303 },
  ...{ OPERATING_SYSTEM: 304 },
  ...{ INVALID_HANDLE: 400, ILLEGAL_STATE: 401, LOSSY_QUERY: 402 },
  ...{ NOT_FOUND: 500 },
  ...{ NOT_READY: 600 },
  ...{ ILLEGAL_ADDRESS: 700, LAUNCH_OUT_OF_RESOURCES: 701, LAUNCH_TIMEOUT: 702, LAUNCH_INCOMPATIBLE_TEXTURING: 703 },
  ...{ PEER_ACCESS_ALREADY_ENABLED: 704, PEER_ACCESS_NOT_ENABLED: 705, PRIMARY_CONTEXT_ACTIVE: 708 },
  ...{ CONTEXT_IS_DESTROYED: 709, ASSERT: 710, TOO_MANY_PEERS: 711, HOST_MEMORY_ALREADY_REGISTERED: 712 },
  ...{ HOST_MEMORY_NOT_REGISTERED: 713, HARDWARE_STACK_ERROR: 714, ILLEGAL_INSTRUCTION: 715, MISALIGNED_ADDRESS: 716 },
  ...{ INVALID_ADDRESS_SPACE: 717, INVALID_PC: 718, LAUNCH_FAILED: 719, COOPERATIVE_LAUNCH_TOO_LARGE: 720 },
  ...{ TENSOR_MEMORY_LEAK: 721 },
  ...{ NOT_PERMITTED: 800, NOT_SUPPORTED: 801, SYSTEM_NOT_READY: 802, SYSTEM_DRIVER_MISMATCH: 803 },
  ...{ COMPAT_NOT_SUPPORTED_ON_DEVICE: 804, MPS_CONNECTION_FAILED: 805, MPS_RPC_FAILURE: 806, MPS_SERVER_NOT_READY: 807 },
  ...{ MPS_MAX_CLIENTS_REACHED: 808, MPS_MAX_CONNECTIONS_REACHED: 809, MPS_CLIENT_TERMINATED: 810, CDP_NOT_SUPPORTED: 811 },
  ...{ CDP_VERSION_MISMATCH: 812 },
  ...{ STREAM_CAPTURE_UNSUPPORTED: 900, STREAM_CAPTURE_INVALIDATED: 901, STREAM_CAPTURE_MERGE: 902 },
  ...{ STREAM_CAPTURE_UNMATCHED: 903, STREAM_CAPTURE_UNJOINED: 904, STREAM_CAPTURE_ISOLATION: 905 },
  ...{ STREAM_CAPTURE_IMPLICIT: 906, CAPTURED_EVENT: 907, STREAM_CAPTURE_WRONG_THREAD: 908, TIMEOUT: 909 },
  ...{ GRAPH_EXEC_UPDATE_FAILURE: 910, EXTERNAL_DEVICE: 911, INVALID_CLUSTER_SIZE: 912, FUNCTION_NOT_LOADED: 913 },
  ...{ INVALID_RESOURCE_TYPE: 914, INVALID_RESOURCE_CONFIGURATION: 915, KEY_ROTATION: 916, UNKNOWN: 999 },
};

const names = new Map<number, string>(Object.entries(codes).map(([name, code]) => [code, name]));

/** CUDA's name of a status, such as CUDA_ERROR_OUT_OF_MEMORY for 2. */
export function statusName(code: number): string {
  return code === 0 ? "CUDA_SUCCESS" : `CUDA_ERROR_${names.get(code) ?? code}`;
}

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

const camelCase = (name: string): string => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The codes by their names: `status.outOfMemory` is 2. */
export const status = Object.fromEntries(Object.entries({ SUCCESS: 0, ...codes }).map(([name, code]) => [camelCase(name), code])) as {
  readonly [Name in "SUCCESS" | keyof typeof codes as CamelCase<Name>]: number;
};

/** Every status that names an error, ascending. */
export const statusCodes: readonly number[] = Object.values(codes);

/**
 * The errors after which CUDA answers every call in the context with the same error: the device's
 * memory and the kernels of the context are gone. CUDA driver API, the descriptions of CUresult
 * ("the context cannot be used", "must be destroyed").
 */
const contextLosing: ReadonlySet<number> = new Set([4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810]);

/** Whether an error leaves the context unusable. */
export function losesContext(code: number): boolean {
  return contextLosing.has(code);
}
