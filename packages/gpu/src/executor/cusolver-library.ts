// cuSOLVER as a C library: the functions that are called, each under its prototype (cusolverDn.h of
// CUDA 13.0). It is used by choice only: nothing needs it.
import { type CallSignature, signature } from "../driver-calls.js";
import { cusolverCandidates } from "../library-search.js";
import { LibraryCallError, lazyLibrary, type StatusLibrary } from "../status-library.js";

const calls = {
  // cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
  cusolverDnCreate: signature("cusolverDnCreate", "out"),
  // cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
  cusolverDnDestroy: signature("cusolverDnDestroy", "handle"),
  // cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId)
  cusolverDnSetStream: signature("cusolverDnSetStream", "handle", "handle"),
  // cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
  // int n, double *A, int lda, int *Lwork)
  cusolverDnDpotrfBufferSize: signature("cusolverDnDpotrf_bufferSize", "handle", "i32", "i32", "address", "i32", "out"),
  // cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
  // double *A, int lda, double *Workspace, int Lwork, int *devInfo)
  cusolverDnDpotrf: signature("cusolverDnDpotrf", "handle", "i32", "i32", "address", "i32", "address", "i32", "address"),
  // cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int
  // nrhs, const double *A, int lda, double *B, int ldb,
  //                                   int *devInfo)
  cusolverDnDpotrs: signature("cusolverDnDpotrs", "handle", "i32", "i32", "i32", "address", "i32", "address", "i32", "address"),
} satisfies Record<string, CallSignature>;

/** cusolverStatus_t, cusolver_common.h. */
const statusNames: Readonly<Record<number, string>> = {
  1: "CUSOLVER_STATUS_NOT_INITIALIZED",
  2: "CUSOLVER_STATUS_ALLOC_FAILED",
  3: "CUSOLVER_STATUS_INVALID_VALUE",
  4: "CUSOLVER_STATUS_ARCH_MISMATCH",
  5: "CUSOLVER_STATUS_MAPPING_ERROR",
  6: "CUSOLVER_STATUS_EXECUTION_FAILED",
  7: "CUSOLVER_STATUS_INTERNAL_ERROR",
  8: "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
  9: "CUSOLVER_STATUS_NOT_SUPPORTED",
};

/** A cuSOLVER function returned an error. */
export class CusolverError extends LibraryCallError {
  override readonly name = "CusolverError";

  constructor(code: number, call: string) {
    super(code, statusNames[code] ?? `CUSOLVER_STATUS_${code}`, call);
  }
}

/** cuSOLVER, loaded. */
export type CusolverLibrary = StatusLibrary<typeof calls>;

export const loadCusolver = lazyLibrary(
  "cuSOLVER",
  cusolverCandidates,
  calls,
  (code, call) => new CusolverError(code, call),
  "cusolverDnDpotrf",
  "Install it with CUDA's toolkit, name its library by the variable SPILLWAY_CUSOLVER_LIBRARY, or do without.",
);
