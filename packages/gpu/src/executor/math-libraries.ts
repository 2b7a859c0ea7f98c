// cuBLAS and cuSOLVER as C libraries (cublas_api.h and cusolverDn.h of CUDA 13.0), and their handles
// on a context. They are used by choice only: nothing needs them.
import { ArgumentError } from "@spillway/core/errors.js";
import { signatures } from "../c-functions.js";
import type { Context } from "../context.js";
import type { ContextCore } from "../context-core.js";
import { Holding } from "../ledger.js";
import { cublasCandidates, cusolverCandidates } from "../library-search.js";
import { isNative } from "../native-driver.js";
import { type DeviceSlice, noteUse, type ReadonlyDeviceSlice, usable } from "../slice.js";
import { LibraryCallError, lazyLibrary } from "../status-library.js";
import type { Stream } from "../stream.js";

const cublasCalls = signatures({
  cublasCreate: "cublasCreate_v2(out handle)",
  cublasDestroy: "cublasDestroy_v2(handle handle)",
  cublasGetVersion: "cublasGetVersion_v2(handle handle, out version)",
  cublasSetStream: "cublasSetStream_v2(handle handle, handle streamId)",
  cublasSgemm: `cublasSgemm_v2(
    handle handle, i32 transa, i32 transb, i32 m, i32 n, i32 k, pointer alpha, address A,
    i32 lda, address B, i32 ldb, pointer beta, address C, i32 ldc)`,
  cublasDsyrk: `cublasDsyrk_v2(
    handle handle, i32 uplo, i32 trans, i32 n, i32 k, pointer alpha, address A, i32 lda,
    pointer beta, address C, i32 ldc)`,
});

const cusolverCalls = signatures({
  cusolverDnCreate: "cusolverDnCreate(out handle)",
  cusolverDnDestroy: "cusolverDnDestroy(handle handle)",
  cusolverDnSetStream: "cusolverDnSetStream(handle handle, handle streamId)",
  cusolverDnDpotrfBufferSize: "cusolverDnDpotrf_bufferSize(handle handle, i32 uplo, i32 n, address A, i32 lda, out Lwork)",
  cusolverDnDpotrf: "cusolverDnDpotrf(handle handle, i32 uplo, i32 n, address A, i32 lda, address Workspace, i32 Lwork, address devInfo)",
  cusolverDnDpotrs: "cusolverDnDpotrs(handle handle, i32 uplo, i32 n, i32 nrhs, address A, i32 lda, address B, i32 ldb, address devInfo)",
});

/** cublasStatus_t, cublas_api.h. */
const cublasStatuses: Readonly<Record<number, string>> = {
  ...{ 1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH", 11: "MAPPING_ERROR" },
  ...{ 13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR" },
};

/** cusolverStatus_t, cusolver_common.h. */
const cusolverStatuses: Readonly<Record<number, string>> = {
  ...{ 1: "NOT_INITIALIZED", 2: "ALLOC_FAILED", 3: "INVALID_VALUE", 4: "ARCH_MISMATCH", 5: "MAPPING_ERROR" },
  ...{ 6: "EXECUTION_FAILED", 7: "INTERNAL_ERROR", 8: "MATRIX_TYPE_NOT_SUPPORTED", 9: "NOT_SUPPORTED" },
};

/** A cuBLAS function returned an error. */
export class CublasError extends LibraryCallError {
  override readonly name = "CublasError";

  constructor(code: number, call: string) {
    super(code, `CUBLAS_STATUS_${cublasStatuses[code] ?? code}`, call);
  }
}

/** A cuSOLVER function returned an error. */
export class CusolverError extends LibraryCallError {
  override readonly name = "CusolverError";

  constructor(code: number, call: string) {
    super(code, `CUSOLVER_STATUS_${cusolverStatuses[code] ?? code}`, call);
  }
}

const loadCublas = lazyLibrary(
  "cuBLAS",
  cublasCandidates,
  cublasCalls,
  (code, call) => new CublasError(code, call),
  "cublasSgemm",
  'Install it with CUDA\'s toolkit, name its library by the variable SPILLWAY_CUBLAS_LIBRARY, or do without (blas: "none").',
);

const loadCusolver = lazyLibrary(
  "cuSOLVER",
  cusolverCandidates,
  cusolverCalls,
  (code, call) => new CusolverError(code, call),
  "cusolverDnDpotrf",
  "Install it with CUDA's toolkit, name its library by the variable SPILLWAY_CUSOLVER_LIBRARY, or do without.",
);

/** A handle that its context owns. `dispose` gives it back; a second call does nothing. */
function holdHandle(core: ContextCore, what: string, handle: bigint, destroy: () => void) {
  const holding = new Holding(`${what} handle`, what, 0, destroy, true);
  core.ledger.enter(holding);
  return { handle, dispose: () => core.release(holding) };
}

/** Opens cuSOLVER on a context. @throws LibraryError if there is no cuSOLVER; CusolverError. */
export function openCusolver({ core }: Context) {
  const library = loadCusolver();
  core.enter("cusolverDnCreate");
  const handle = new BigUint64Array(1);
  library.call("cusolverDnCreate", handle);
  return { library, ...holdHandle(core, "cuSOLVER", handle[0]!, () => library.call("cusolverDnDestroy", handle[0]!)) };
}

/** 130100 as "13.1.0" and, of old ones, 11805 as "11.8.5". */
function versionText(version: number): string {
  const [major, rest] = version >= 100000 ? [10000, 100] : [1000, 100];
  return `${Math.floor(version / major)}.${Math.floor((version % major) / rest)}.${version % rest}`;
}

/**
 * Opens cuBLAS on a context. `version` is such as "13.1.0". @throws LibraryError if there is no
 * cuBLAS; ArgumentError if the device is not a GPU; CublasError.
 */
export function openCublas({ core, info }: Context) {
  if (!isNative(core.driver))
    throw ArgumentError.because(`cuBLAS works on a GPU only; this device is ${info.name} of the driver ${core.driver.library}`, {
      field: "blas",
      value: "cublas",
      expected: '"none" or "auto"',
    });
  const library = loadCublas();
  core.enter("cublasCreate");
  const handle = new BigUint64Array(1);
  library.call("cublasCreate", handle);
  const held = holdHandle(core, "cuBLAS", handle[0]!, () => library.call("cublasDestroy", handle[0]!));
  const version = new Int32Array(1);
  library.call("cublasGetVersion", handle[0]!, version);
  return { core, library, version: versionText(version[0]!), ...held };
}

/** A handle of cuBLAS, which its context owns. */
export type Cublas = ReturnType<typeof openCublas>;

const one = Float32Array.of(1);
const zero = Float32Array.of(0);

/**
 * C = A B, row-major, C m x n: to cuBLAS, whose matrices go by columns, it is C' = B' A'. Its sums
 * are in an order of its own, which differs between its versions and devices. The handle's stream
 * is `stream`. @throws CublasError.
 */
export function multiplyByCublas(
  { core, library, handle }: Cublas,
  stream: Stream,
  [a, b, c]: readonly [a: ReadonlyDeviceSlice<"f32">, b: ReadonlyDeviceSlice<"f32">, c: DeviceSlice<"f32">],
  [m, k, n]: readonly [m: number, k: number, n: number],
): void {
  stream.use();
  const [left, right, product] = [usable(core, a, false), usable(core, b, false), usable(core, c, true)];
  for (const slice of [left, right, product]) noteUse(slice.memory, stream.handle);
  core.enter("cublasSgemm");
  const leading = Math.max(1, k);
  library.call("cublasSgemm", handle, 0, 0, n, m, k, one, right.address, n, left.address, leading, zero, product.address, n);
}
