// NCCL as a C library: the functions that are called, each under its prototype (nccl.h of 2.27). It
// is used by choice only: nothing needs it.
import { type CallSignature, signature } from "./driver-calls.js";
import { ncclCandidates } from "./library-search.js";
import { LibraryCallError, lazyLibrary, type StatusLibrary } from "./status-library.js";

const calls = {
  // ncclResult_t ncclGetVersion(int *version)
  ncclGetVersion: signature("ncclGetVersion", "out"),
  // ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId)
  ncclGetUniqueId: signature("ncclGetUniqueId", "out"),
  // ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist)
  ncclCommInitAll: signature("ncclCommInitAll", "out", "i32", "pointer"),
  // ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank)
  ncclCommInitRank: signature("ncclCommInitRank", "out", "i32", "bytes128", "i32"),
  // ncclResult_t ncclCommDestroy(ncclComm_t comm)
  ncclCommDestroy: signature("ncclCommDestroy", "handle"),
  // ncclResult_t ncclCommAbort(ncclComm_t comm)
  ncclCommAbort: signature("ncclCommAbort", "handle"),
  // ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError)
  ncclCommGetAsyncError: signature("ncclCommGetAsyncError", "handle", "out"),
  // ncclResult_t ncclGroupStart(void)
  ncclGroupStart: signature("ncclGroupStart"),
  // ncclResult_t ncclGroupEnd(void)
  ncclGroupEnd: signature("ncclGroupEnd"),
  // ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t
  // datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
  ncclAllReduce: signature("ncclAllReduce", "address", "address", "size", "i32", "i32", "handle", "handle"),
  // ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
  // ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
  ncclAllGather: signature("ncclAllGather", "address", "address", "size", "i32", "handle", "handle"),
  // ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t
  // datatype, int root, ncclComm_t comm, cudaStream_t stream)
  ncclBroadcast: signature("ncclBroadcast", "address", "address", "size", "i32", "i32", "handle", "handle"),
  // ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount,
  // ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
  ncclReduceScatter: signature("ncclReduceScatter", "address", "address", "size", "i32", "i32", "handle", "handle"),
  // ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer,
  // ncclComm_t comm, cudaStream_t stream)
  ncclSend: signature("ncclSend", "address", "size", "i32", "i32", "handle", "handle"),
  // ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer,
  // ncclComm_t comm, cudaStream_t stream)
  ncclRecv: signature("ncclRecv", "address", "size", "i32", "i32", "handle", "handle"),
} satisfies Record<string, CallSignature>;

/** ncclResult_t, nccl.h, and what NCCL's sentence of it is. */
const statuses: readonly (readonly [name: string, sentence: string])[] = [
  ["ncclSuccess", "no error"],
  ["ncclUnhandledCudaError", "a CUDA call of NCCL failed (run with NCCL_DEBUG=INFO for details)"],
  ["ncclSystemError", "a system call of NCCL failed (run with NCCL_DEBUG=INFO for details)"],
  ["ncclInternalError", "internal error (run with NCCL_DEBUG=WARN for details)"],
  ["ncclInvalidArgument", "invalid argument (run with NCCL_DEBUG=WARN for details)"],
  ["ncclInvalidUsage", "invalid usage (run with NCCL_DEBUG=WARN for details)"],
  ["ncclRemoteError", "a remote process exited or there was a network error"],
  ["ncclInProgress", "the work is in progress"],
];

/** An NCCL function returned an error. */
export class NcclError extends LibraryCallError {
  override readonly name = "NcclError";

  constructor(code: number, call: string) {
    const [name, sentence] = statuses[code] ?? [`ncclResult ${code}`, ""];
    super(code, name, call, sentence && `NCCL: ${sentence}`);
  }
}

/** NCCL, loaded. */
export type NcclLibrary = StatusLibrary<typeof calls>;

const load = lazyLibrary(
  "NCCL",
  ncclCandidates,
  calls,
  (code, call) => new NcclError(code, call),
  "ncclAllReduce",
  "Install it (libnccl2), name its library by the variable SPILLWAY_NCCL_LIBRARY, or do without.",
);
let loaded: NcclLibrary | undefined;

/** Loads NCCL. @throws LibraryError naming every path that was tried */
export function loadNccl(): NcclLibrary {
  // NVLink multicast can put the GPUs of a shared host out of service: it is off unless asked for.
  process.env["NCCL_NVLS_ENABLE"] ??= "0";
  loaded = load();
  return loaded;
}

/** NCCL, if something loaded it. */
export const loadedNccl = (): NcclLibrary | undefined => loaded;
