// Sums of products and solves of matrices in binary64 by NVIDIA's libraries, on memory of a
// context. Their order of sums is their own.
import { DisposedByUsing } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context } from "../context.js";
import { type DeviceSlice, noteUse, type ReadonlyDeviceSlice, usable } from "../slice.js";
import type { Stream } from "../stream.js";
import { type Cublas, openCublas, openCusolver } from "./math-libraries.js";

/**
 * cublasFillMode_t and cublasOperation_t, cublas_api.h. A lower triangle by rows is the upper one
 * by columns.
 */
const upper = 1;
const notTransposed = 0;

const one = Float64Array.of(1);

/** cuBLAS and cuSOLVER on a context. Matrices are row-major, of binary64. */
export class DenseRoutines extends DisposedByUsing {
  /** Such as "cuBLAS 13.1.0 and cuSOLVER (/usr/local/cuda/lib64/libcusolver.so.12)". */
  readonly library: string;
  readonly context: Context;
  readonly #blas: Cublas;
  readonly #solver: ReturnType<typeof openCusolver>;

  /**
   * @throws LibraryError if a library is missing; ArgumentError if the device is not a GPU;
   * CublasError, CusolverError.
   */
  constructor(context: Context) {
    super();
    this.context = context;
    this.#blas = openCublas(context);
    try {
      this.#solver = openCusolver(context);
    } catch (error) {
      this.#blas.dispose();
      throw error;
    }
    this.library = `cuBLAS ${this.#blas.version} and cuSOLVER (${this.#solver.library.path})`;
  }

  #memory<T extends "f64" | "i32">(stream: Stream, slice: ReadonlyDeviceSlice<T>, elements: number, what: string): bigint {
    if (slice.length < elements) throw ArgumentError.shape(`${what} has ${slice.length} elements; it takes ${elements}`, { field: what });
    const memory = usable(this.context.core, slice, false);
    noteUse(memory.memory, stream.handle);
    return memory.address;
  }

  /**
   * The lower triangle of `sums`, columns x columns, += X^T X of X, rows x columns, in the stream's
   * order. @throws CublasError.
   */
  addProducts(stream: Stream, x: ReadonlyDeviceSlice<"f64">, rows: number, columns: number, sums: DeviceSlice<"f64">): void {
    stream.use();
    const [from, to] = [this.#memory(stream, x, rows * columns, "x"), this.#memory(stream, sums, columns * columns, "sums")];
    if (rows === 0 || columns === 0) return;
    const { library, handle } = this.#blas;
    this.context.core.enter("cublasDsyrk");
    library.call("cublasSetStream", handle, stream.handle);
    library.call("cublasDsyrk", handle, upper, notTransposed, columns, rows, one, from, columns, one, to, columns);
  }

  /**
   * Solves A W = B. `matrix` is n x n: its lower triangle is read, and holds the factor afterwards.
   * `rhs` is B^T, outputs x n, and becomes W^T. It blocks the event loop until the stream is done.
   * Returns the number of the first pivot that is not positive, from 1, or 0.
   * @throws CusolverError, CudaError, OutOfMemoryError.
   */
  solvePositiveDefinite(stream: Stream, matrix: DeviceSlice<"f64">, rhs: DeviceSlice<"f64">, n: number, outputs: number): number {
    stream.use();
    const [a, b] = [this.#memory(stream, matrix, n * n, "matrix"), this.#memory(stream, rhs, outputs * n, "rhs")];
    const { core } = this.context;
    core.enter("cusolverDnDpotrf");
    const { library, handle } = this.#solver;
    library.call("cusolverDnSetStream", handle, stream.handle);
    const length = new Int32Array(1);
    library.call("cusolverDnDpotrfBufferSize", handle, upper, n, a, n, length);
    const work = this.context.zeros("f64", Math.max(1, length[0]!), { label: "work of a factorisation" });
    const info = this.context.zeros("i32", 1, { label: "report of a factorisation" });
    try {
      const [at, report] = [this.#memory(stream, work, 0, "work"), this.#memory(stream, info, 1, "info")];
      core.enter("cusolverDnDpotrf");
      library.call("cusolverDnDpotrf", handle, upper, n, a, n, at, length[0]!, report);
      const failed = this.context.read(info)[0]!;
      if (failed !== 0 || outputs === 0) return failed;
      core.enter("cusolverDnDpotrs");
      library.call("cusolverDnDpotrs", handle, upper, n, outputs, a, n, b, n, report);
      stream.sync();
      return 0;
    } finally {
      work.dispose();
      info.dispose();
    }
  }

  /** Gives the handles back. A second call does nothing. @throws CublasError, CusolverError. */
  dispose(): void {
    this.#solver.dispose();
    this.#blas.dispose();
  }
}
