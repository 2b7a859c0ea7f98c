// A BLAS and LAPACK of the system, called through koffi when someone asks for it: fast, and not the
// portable bits. Nothing here loads until `SystemBlas.load()`.

import { SpillwayError } from "@spillway/core/errors.js";
import type koffi from "koffi";
import { Matrix, transposed } from "../matrix.js";
import { lostPivot } from "./cholesky.js";
import { type DenseBlas, shiftedTriangle } from "./dense-blas.js";
import type { GramSum } from "./gram.js";
import { type ColumnSource, sourceColumns } from "./panels.js";

/** The four routines, in the Fortran interface with 32-bit integers that every BLAS has. */
interface Routines {
  /**
   * void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double
   * *alpha, const double *a, const int *lda, const double *beta, double *c, const int *ldc): C =
   * alpha A A^T + beta C
   */
  dsyrk(
    ...values: [string, string, Int32Array, Int32Array, Float64Array, Float64Array, Int32Array, Float64Array, Float64Array, Int32Array]
  ): void;
  /**
   * void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info): Cholesky
   */
  dpotrf(...values: [string, Int32Array, Float64Array, Int32Array, Int32Array]): void;
  /**
   * void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
   * double *b, const int *ldb, int *info): solve with it
   */
  dpotrs(...values: [string, Int32Array, Int32Array, Float64Array, Int32Array, Float64Array, Int32Array, Int32Array]): void;
}

const prototypes = {
  dsyrk:
    "void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *a, const int *lda, const double *beta, _Inout_ double *c, const int *ldc)",
  dpotrf: "void dpotrf_(const char *uplo, const int *n, _Inout_ double *a, const int *lda, _Inout_ int *info)",
  dpotrs:
    "void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, _Inout_ double *b, const int *ldb, _Inout_ int *info)",
} as const;

/**
 * Where a BLAS with LAPACK is looked for, by platform. Names without a folder go through the
 * system's own search.
 */
const candidates: Readonly<Record<string, readonly string[]>> = {
  linux: [
    "libopenblas.so.0",
    "libopenblas.so",
    "/usr/lib/x86_64-linux-gnu/libopenblas.so.0",
    "/usr/lib/aarch64-linux-gnu/libopenblas.so.0",
    "/usr/lib64/libopenblas.so.0",
    "/usr/lib/libopenblas.so.0",
    "liblapack.so.3",
  ],
  darwin: [
    "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
    "/usr/local/opt/openblas/lib/libopenblas.dylib",
    "/System/Library/Frameworks/Accelerate.framework/Accelerate",
  ],
  win32: ["libopenblas.dll", "openblas.dll"],
};

/** No usable library was found. */
export class SystemBlasError extends SpillwayError {
  override readonly name = "SystemBlasError";
  /** Every library that was tried, with what went wrong. */
  readonly tried: readonly string[];
  constructor(tried: readonly string[]) {
    super(
      "unavailable",
      `no system BLAS was found. Tried: ${tried.join("; ")}. Install OpenBLAS (Debian: libopenblas0), name a library in SPILLWAY_BLAS, or ask for blas: "portable"`,
    );
    this.tried = tried;
  }
}

/**
 * koffi's stacks for calls on other threads are set for the whole process, before its first
 * library. Nothing here needs them, but the CUDA layer does (packages/gpu/src/ffi.ts), and must
 * find them whichever of the two loads a library first.
 */
const asyncStacks = { async_stack_size: 8 << 20, resident_async_pools: 32 };

/** A loaded library. */
export class SystemBlas implements DenseBlas {
  /** The name or path that was loaded. */
  readonly library: string;
  readonly #routines: Routines;

  private constructor(library: string, routines: Routines) {
    this.library = library;
    this.#routines = routines;
  }

  /**
   * Loads the library that SPILLWAY_BLAS names, or else the first one found. @throws
   * SystemBlasError naming every path tried.
   */
  static load(): SystemBlas {
    const named = globalThis.process?.env["SPILLWAY_BLAS"];
    const names = named ? [named] : (candidates[globalThis.process?.platform ?? ""] ?? []);
    const tried: string[] = [];
    const createRequire = globalThis.process?.getBuiltinModule?.("node:module").createRequire;
    if (!createRequire) throw new SystemBlasError(["nothing, because there is no Node here"]);
    let library: typeof koffi;
    try {
      library = createRequire(import.meta.url)("koffi") as typeof koffi;
    } catch (error) {
      throw new SystemBlasError([`the package koffi (${firstLine(error)})`]);
    }
    try {
      library.config(asyncStacks);
    } catch {
      // Already set, by the code that loaded the first library.
    }
    for (const name of names) {
      try {
        const loaded = library.load(name);
        const bind = <Name extends keyof Routines>(routine: Name): Routines[Name] => loaded.func(prototypes[routine]) as Routines[Name];
        return new SystemBlas(name, { dsyrk: bind("dsyrk"), dpotrf: bind("dpotrf"), dpotrs: bind("dpotrs") });
      } catch (error) {
        tried.push(`${name} (${firstLine(error)})`);
      }
    }
    throw new SystemBlasError(tried.length > 0 ? tried : [`nothing, because no library is known for ${globalThis.process?.platform}`]);
  }

  /** An empty X^T X over rows of `columns` values. */
  gram(columns: number): GramSum {
    return new SystemGram(columns, this.#routines);
  }

  /**
   * W with (A + diag(d)) W = B by dpotrf and dpotrs, B n x O. A is the leading n x n block of a
   * symmetric matrix whose lower triangle is read. Returns the failed pivot's index, from 0, if it
   * is not positive definite by `lostPivot`.
   */
  solvePositiveDefinite(
    matrix: Matrix<Float64Array>,
    diagonal: ArrayLike<number>,
    rhs: Matrix<Float64Array>,
  ): Matrix<Float64Array> | number {
    const factor = shiftedTriangle(matrix, diagonal);
    const n = rhs.rows;
    const order = Int32Array.of(n);
    const info = Int32Array.of(0);
    const original = Float64Array.from({ length: n }, (_, i) => factor[i * (n + 1)]!);
    this.#routines.dpotrf("U", order, factor, order, info);
    const rows = info[0]! > 0 ? info[0]! - 1 : n;
    const lost = lostPivot(
      n,
      rows,
      (i) => factor[i * (n + 1)]!,
      (i) => original[i]!,
    );
    if (lost >= 0 || rows < n) return lost >= 0 ? lost : rows;
    const columns = transposed(rhs);
    this.#routines.dpotrs("U", order, Int32Array.of(rhs.cols), factor, order, columns.data, order, info);
    return transposed(columns);
  }
}

/** Rows that are converted to binary64 and handed to dsyrk at a time. */
const chunkRows = 2048;

/** X^T X by dsyrk, in the library's own order. */
class SystemGram implements GramSum {
  readonly columns: number;
  rows = 0;
  readonly #routines: Routines;
  readonly #sum: Matrix<Float64Array>;

  constructor(columns: number, routines: Routines) {
    this.columns = columns;
    this.#routines = routines;
    this.#sum = Matrix.zeros(columns, columns);
  }

  add(sources: readonly ColumnSource[], rows: number): void {
    const chunk = new Float64Array(Math.min(rows, chunkRows) * this.columns);
    const order = Int32Array.of(this.columns);
    const one = Float64Array.of(1);
    for (let first = 0; first < rows; first += chunkRows) {
      const count = Math.min(chunkRows, rows - first);
      writeRows(sources, first, count, chunk, this.columns);
      this.#routines.dsyrk("U", "N", order, Int32Array.of(count), one, chunk, order, one, this.#sum.data, order);
    }
    this.rows += rows;
  }

  lowerTriangle(): Matrix<Float64Array> {
    return this.#sum.slice();
  }

  diagonal(): Float64Array {
    return Float64Array.from({ length: this.columns }, (_, i) => this.#sum.data[i * (this.columns + 1)]!);
  }

  dispose(): void {}
}

/**
 * Writes rows [first, first + count) of all sources, side by side in `width` columns, in binary64.
 */
export function writeRows(sources: readonly ColumnSource[], first: number, count: number, out: Float64Array, width: number): void {
  let column = 0;
  for (const source of sources) {
    writeColumns(source, first, count, out, width, column);
    column += sourceColumns(source);
  }
}

function writeColumns(source: ColumnSource, first: number, count: number, out: Float64Array, width: number, column: number): void {
  if (source === "ones") {
    for (let t = 0; t < count; t++) out[t * width + column] = 1;
    return;
  }
  const { data, cols } = source.matrix;
  for (let t = 0; t < count; t++) {
    const to = t * width + column;
    out.set(data.subarray((first + t) * cols, (first + t + 1) * cols), to);
    if (source.square === "none") continue;
    const step = source.square === "odd" ? 2 : 1;
    for (let c = step - 1; c < cols; c += step) out[to + c] = out[to + c]! * out[to + c]!;
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split("\n")[0]!;
}
