// NCCL as a C library: the functions that are called (nccl.h of 2.27). It is used by choice only:
// nothing needs it.
import { signatures } from "./c-functions.js";
import { ncclCandidates } from "./library-search.js";
import { LibraryCallError, lazyLibrary, type StatusLibrary } from "./status-library.js";

const calls = signatures({
  ncclGetVersion: "ncclGetVersion(out version)",
  ncclGetUniqueId: "ncclGetUniqueId(out uniqueId)",
  ncclCommInitAll: "ncclCommInitAll(out comm, i32 ndev, pointer devlist)",
  ncclCommInitRank: "ncclCommInitRank(out comm, i32 nranks, bytes128 commId, i32 rank)",
  ncclCommDestroy: "ncclCommDestroy(handle comm)",
  ncclCommAbort: "ncclCommAbort(handle comm)",
  ncclCommGetAsyncError: "ncclCommGetAsyncError(handle comm, out asyncError)",
  ncclGroupStart: "ncclGroupStart()",
  ncclGroupEnd: "ncclGroupEnd()",
  ncclAllReduce: "ncclAllReduce(address sendbuff, address recvbuff, size count, i32 datatype, i32 op, handle comm, handle stream)",
  ncclAllGather: "ncclAllGather(address sendbuff, address recvbuff, size sendcount, i32 datatype, handle comm, handle stream)",
  ncclBroadcast: "ncclBroadcast(address sendbuff, address recvbuff, size count, i32 datatype, i32 root, handle comm, handle stream)",
  ncclReduceScatter: `ncclReduceScatter(
    address sendbuff, address recvbuff, size recvcount, i32 datatype, i32 op, handle comm,
    handle stream)`,
  ncclSend: "ncclSend(address sendbuff, size count, i32 datatype, i32 peer, handle comm, handle stream)",
  ncclRecv: "ncclRecv(address recvbuff, size count, i32 datatype, i32 peer, handle comm, handle stream)",
});

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
