// Matrices that lie in the memory of a device: inputs that are there already, and states that stay
// there. It starts no work on a device.
import { DisposedByUsing } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, DeviceSlice } from "@spillway/gpu";
import { describe, Matrix, type Precision } from "@spillway/numerics";

/** A stretch of device memory of real numbers. */
export type RealValues = DeviceSlice<"f32" | "f64">;

/** What a matrix on a device is besides its numbers. */
export interface DeviceShape {
  /** T. */
  readonly rows: number;
  /** C. */
  readonly cols: number;
  /** Time from one row to the next in ms, if it is known; bins have it. */
  readonly stepMs?: number | undefined;
}

/**
 * T x C numbers in device memory, row-major. `run`, `batch` and `summarise` of a ReservoirComputer
 * on the same context take it in place of a series.
 *
 * @example
 * const context = openDevice();
 * const values = context.alloc("f32", 200 * 50); // which a kernel of one's own fills
 * const computer = await ReservoirComputer.create({ size: 500, inputSize: 50 }, { context });
 * using states = await computer.run(new DeviceMatrix(context, values, { rows: 200, cols: 50,
 * stepMs: 1 }), { keep: "device" });
 */
export class DeviceMatrix<Values extends RealValues = RealValues> extends DisposedByUsing implements DeviceShape {
  readonly context: Context;
  readonly rows: number;
  readonly cols: number;
  readonly stepMs: number | undefined;
  /** Element (r, c) is number r * cols + c. */
  readonly values: Values;
  readonly #owner: Disposable | undefined;

  /**
   * Names memory that is there already. It stays its owner's; with `owner`, `dispose` disposes of
   * that.
   * @throws ArgumentError for memory of another type than "f32" or "f64", or of another length than
   * rows x cols
   */
  constructor(context: Context, values: Values, { rows, cols, stepMs }: DeviceShape, owner?: Disposable) {
    super();
    checkShape(values, rows, cols);
    if (stepMs !== undefined && !(stepMs > 0 && Number.isFinite(stepMs)))
      throw new ArgumentError("stepMs", stepMs, "a finite number of ms above 0");
    this.context = context;
    this.rows = rows;
    this.cols = cols;
    this.stepMs = stepMs;
    this.values = values;
    this.#owner = owner;
  }

  /** "float32" or "float64", as the memory has it. */
  get precision(): Precision {
    return this.values.dtype === "f32" ? "float32" : "float64";
  }

  /** A copy on the host, after all work of all streams. @throws CudaError, DisposedError */
  toMatrix(): Matrix {
    return new Matrix(this.rows, this.cols, this.context.read(this.values as DeviceSlice<"f32">));
  }

  /** Gives back memory that came with it. Idempotent. */
  dispose(): void {
    this.#owner?.[Symbol.dispose]();
  }
}

/** Matrices of the same width one behind the other in one stretch of device memory. */
export class DeviceSequences<Values extends RealValues = RealValues> extends DisposedByUsing {
  readonly sequences: readonly DeviceMatrix<Values>[];
  /** All numbers: those of sequences[0], then those of sequences[1], and so on. */
  readonly values: Values;
  readonly #owner: Disposable | undefined;

  /**
   * @param owner what `dispose` disposes of
   * @throws ArgumentError if the rows do not fill the memory
   */
  constructor(
    context: Context,
    values: Values,
    { rows, cols, stepMs }: { readonly rows: readonly number[]; readonly cols: number; readonly stepMs?: number | undefined },
    owner?: Disposable,
  ) {
    super();
    checkShape(
      values,
      rows.reduce((sum, each) => sum + each, 0),
      cols,
    );
    let start = 0;
    this.sequences = rows.map((each) => {
      const from = start;
      start += each * cols;
      const matrix = new DeviceMatrix<Values>(context, values.slice(from, start) as Values, { rows: each, cols, stepMs });
      stretches.set(matrix, { values, start: from });
      return matrix;
    });
    this.values = values;
    this.#owner = owner;
  }

  /** Copies on the host, after all work of all streams. @throws CudaError, DisposedError */
  toMatrices(): Matrix[] {
    return this.sequences.map((matrix) => matrix.toMatrix());
  }

  /** Gives the memory of all of them back. Idempotent. */
  dispose(): void {
    this.#owner?.[Symbol.dispose]();
  }
}

/** The stretch that a matrix is a part of, and where it begins there. */
export interface Stretch {
  readonly values: RealValues;
  readonly start: number;
}

const stretches = new WeakMap<DeviceMatrix, Stretch>();

/** The longest stretch of memory that a matrix is known to lie in. */
export function stretchOf(matrix: DeviceMatrix): Stretch {
  return stretches.get(matrix) ?? { values: matrix.values, start: 0 };
}

function checkShape(values: RealValues, rows: number, cols: number): void {
  const dtype: unknown = values?.dtype;
  if (dtype !== "f32" && dtype !== "f64")
    throw new ArgumentError("values", undefined, "a device slice of f32 or f64", {
      shown: dtype === undefined ? describe(values) : `a slice of ${dtype}`,
    });
  for (const [name, size] of Object.entries({ rows, cols }))
    if (!Number.isSafeInteger(size) || size < 0) throw new ArgumentError(name, size, "a whole number of at least 0");
  if (values.length !== rows * cols)
    throw ArgumentError.shape(`values holds ${values.length} numbers; ${rows} x ${cols} take ${rows * cols}`, { field: "values" });
}
