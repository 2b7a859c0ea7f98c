// cuBLAS as a C library: the functions that are called, each under its prototype (cublas_api.h of
// CUDA 13.0). It is used by choice only: nothing needs it.
import { type CallSignature, signature } from "../driver-calls.js";
import { cublasCandidates } from "../library-search.js";
import { LibraryCallError, lazyLibrary, type StatusLibrary } from "../status-library.js";

const calls = {
  // cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
  cublasCreate: signature("cublasCreate_v2", "out"),
  // cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
  cublasDestroy: signature("cublasDestroy_v2", "handle"),
  // cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
  cublasGetVersion: signature("cublasGetVersion_v2", "handle", "out"),
  // cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId)
  cublasSetStream: signature("cublasSetStream_v2", "handle", "handle"),
  // cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
  // cublasOperation_t transb, int m, int n, int k, const float *alpha,
  //                               const float *A, int lda, const float *B, int ldb, const float
  // *beta, float *C, int ldc)
  cublasSgemm: signature(
    "cublasSgemm_v2",
    ...(["handle", "i32", "i32", "i32", "i32", "i32", "pointer", "address", "i32", "address", "i32", "pointer", "address", "i32"] as const),
  ),
  // cublasStatus_t cublasDsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
  // trans, int n, int k, const double *alpha, const double *A,
  //                               int lda, const double *beta, double *C, int ldc)
  cublasDsyrk: signature(
    "cublasDsyrk_v2",
    ...(["handle", "i32", "i32", "i32", "i32", "pointer", "address", "i32", "pointer", "address", "i32"] as const),
  ),
} satisfies Record<string, CallSignature>;

/** cublasStatus_t, cublas_api.h. */
const statusNames: Readonly<Record<number, string>> = {
  1: "CUBLAS_STATUS_NOT_INITIALIZED",
  3: "CUBLAS_STATUS_ALLOC_FAILED",
  7: "CUBLAS_STATUS_INVALID_VALUE",
  8: "CUBLAS_STATUS_ARCH_MISMATCH",
  11: "CUBLAS_STATUS_MAPPING_ERROR",
  13: "CUBLAS_STATUS_EXECUTION_FAILED",
  14: "CUBLAS_STATUS_INTERNAL_ERROR",
  15: "CUBLAS_STATUS_NOT_SUPPORTED",
  16: "CUBLAS_STATUS_LICENSE_ERROR",
};

/** A cuBLAS function returned an error. */
export class CublasError extends LibraryCallError {
  override readonly name = "CublasError";

  constructor(code: number, call: string) {
    super(code, statusNames[code] ?? `CUBLAS_STATUS_${code}`, call);
  }
}

/** cuBLAS, loaded. */
export type CublasLibrary = StatusLibrary<typeof calls>;

export const loadCublas = lazyLibrary(
  "cuBLAS",
  cublasCandidates,
  calls,
  (code, call) => new CublasError(code, call),
  "cublasSgemm",
  'Install it with CUDA\'s toolkit, name its library by the variable SPILLWAY_CUBLAS_LIBRARY, or do without (blas: "none").',
);
