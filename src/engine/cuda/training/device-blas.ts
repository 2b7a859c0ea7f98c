// Optional ridge regression by NVIDIA's libraries: cuBLAS sums training rows where they are, on the
// device or on the host, and cuSOLVER solves. Not the portable bits; those are gram.ts and
// numerics/linear-algebra.
import { DisposedByUsing, disposeAll, Making } from "@spillway/core/disposal.js";
import { type Context, DenseRoutines, type DeviceBuffer, type DeviceSlice, type ReadonlyDeviceSlice, type Stream } from "@spillway/gpu";
import { type ColumnSource, type DenseBlas, type GramSum, lostPivot, Matrix, shiftedTriangle, writeRows } from "@spillway/numerics";
import { realKernel } from "../kernels.js";
import type { GramTrainer, MemberRows, RowShape } from "./gram.js";
import { rowArguments, rowFeatures, rowParameters } from "./gram.js";

/** What is used of the libraries. */
export type Routines = Pick<DenseRoutines, "library" | "addProducts" | "solvePositiveDefinite" | "dispose">;

/** Rows that are written out in binary64 and multiplied at a time. */
const chunkRows = 2048;

/** cuBLAS and cuSOLVER as a ridge fit takes them: `ridge({ blas })`. */
export class DeviceBlas extends DisposedByUsing implements DenseBlas {
  readonly context: Context;
  readonly #routines: Routines;
  readonly #stream: Stream;

  /**
   * @throws LibraryError if a library is missing; ArgumentError if the device is not a GPU.
   */
  constructor(context: Context, routines?: Routines) {
    super();
    this.context = context;
    using made = new Making();
    this.#stream = made.own(context.stream({ label: "training by libraries" }));
    this.#routines = routines ?? new DenseRoutines(context);
    made.done();
  }

  /** Such as "cuBLAS 13.1.0 and cuSOLVER (/usr/local/cuda/lib64/libcusolver.so.12)". */
  get library(): string {
    return this.#routines.library;
  }

  /** @internal */
  get stream(): Stream {
    return this.#stream;
  }

  /**
   * An empty X^T X over rows of `columns` values, on the device until its sums are asked for.
   * @throws OutOfMemoryError
   */
  gram(columns: number): GramSum {
    return new DeviceGram(this, columns);
  }

  /** @internal Enqueues sums += X^T X. */
  add(stream: Stream, x: ReadonlyDeviceSlice<"f64">, rows: number, columns: number, sums: DeviceSlice<"f64">): void {
    this.#routines.addProducts(stream, x, rows, columns, sums);
  }

  solvePositiveDefinite(
    matrix: Matrix<Float64Array>,
    diagonal: ArrayLike<number>,
    rhs: Matrix<Float64Array>,
  ): Matrix<Float64Array> | number {
    const { rows: n, cols: outputs } = rhs;
    const right = new Float64Array(n * outputs);
    for (let i = 0; i < n; i++) for (let o = 0; o < outputs; o++) right[o * n + i] = rhs.data[i * outputs + o]!;
    const triangle = shiftedTriangle(matrix, diagonal);
    using a = this.context.upload(triangle, { label: "normal equations" });
    using b = this.context.upload(right, { label: "right-hand sides" });
    const failed = this.#routines.solvePositiveDefinite(this.#stream, a, b, n, outputs);
    const [factor, rows] = [this.context.read(a), failed > 0 ? failed - 1 : n];
    const lost = lostPivot(
      n,
      rows,
      (i) => factor[i * (n + 1)]!,
      (i) => triangle[i * (n + 1)]!,
    );
    if (lost >= 0 || rows < n) return lost >= 0 ? lost : rows;
    const solved = this.context.read(b);
    const out = Matrix.zeros(n, outputs);
    for (let i = 0; i < n; i++) for (let o = 0; o < outputs; o++) out.data[i * outputs + o] = solved[o * n + i]!;
    return out;
  }

  /** What stands for it in a file: another machine has no such handle. */
  toJSON(): string {
    return "portable";
  }

  /**
   * Gives the libraries' handles back; sums that are left keep their memory until they are
   * disposed.
   */
  dispose(): void {
    disposeAll([this.#stream, this.#routines]);
  }
}

/** X^T X on the device. */
export class DeviceGram implements GramSum {
  readonly columns: number;
  readonly blas: DeviceBlas;
  /** columns x columns; only the lower triangle counts. */
  readonly sums: DeviceBuffer<"f64">;
  rows = 0;

  constructor(blas: DeviceBlas, columns: number) {
    this.blas = blas;
    this.columns = columns;
    this.sums = blas.context.zeros("f64", columns * columns, { label: "Gram matrix by cuBLAS" });
  }

  add(sources: readonly ColumnSource[], rows: number): void {
    const { context, stream } = this.blas;
    const chunk = new Float64Array(Math.min(rows, chunkRows) * this.columns);
    using there = context.alloc("f64", chunk.length, { label: "training rows" });
    for (let first = 0; first < rows; first += chunkRows) {
      const count = Math.min(chunkRows, rows - first);
      writeRows(sources, first, count, chunk, this.columns);
      const values = count * this.columns;
      stream.upload(there.slice(0, values), chunk.subarray(0, values));
      this.blas.add(stream, there, count, this.columns, this.sums);
    }
    stream.sync();
    this.rows += rows;
  }

  lowerTriangle(): Matrix<Float64Array> {
    return new Matrix(this.columns, this.columns, this.blas.context.read(this.sums));
  }

  diagonal(): Float64Array {
    const { data } = this.lowerTriangle();
    return Float64Array.from({ length: this.columns }, (_, i) => data[i * (this.columns + 1)]!);
  }

  dispose(): void {
    this.sums.dispose();
  }
}

/**
 * Sums rows that are on the device, whose `DeviceGram` is of the same context.
 * @internal
 */
export function openBlasTrainer(context: Context, shape: RowShape, gram: DeviceGram): GramTrainer {
  const columns = rowFeatures(shape) + shape.outputs;
  const name = `training_rows_${shape.precision === "float32" ? "f32" : "f64"}`;
  const kernel = realKernel(context, "training", name, shape.precision, [...rowParameters, "i32", "f64*"]);
  const written = context.alloc("f64", chunkRows * columns, { label: "training rows" });
  let taken = 0;
  const part = (given: MemberRows, first: number, rows: number): MemberRows => ({
    ...given,
    rows,
    states: given.states.slice(first * shape.size, (first + rows) * shape.size) as MemberRows["states"],
    inputs: given.inputs && (given.inputs.slice(first * shape.inputSize, (first + rows) * shape.inputSize) as MemberRows["states"]),
    targets: given.targets.slice(first * shape.outputs, (first + rows) * shape.outputs),
  });
  return {
    bytes: written.byteLength + gram.sums.byteLength,
    add(stream, given) {
      for (let first = 0; first < given.rows; first += chunkRows) {
        const rows = Math.min(chunkRows, given.rows - first);
        const values = rowArguments(shape, part(given, first, rows));
        stream.launch(kernel, { grid: rows, block: 256 }, ...values, rows, written);
        gram.blas.add(stream, written, rows, columns, gram.sums);
      }
      taken += given.rows;
    },
    async finish(stream) {
      await stream.done();
      gram.rows += taken;
      taken = 0;
    },
    dispose: () => written.dispose(),
  };
}
