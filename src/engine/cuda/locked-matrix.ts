// Matrices in page-locked memory of the host, which devices copy into at the full rate of the bus.
import { formatBytes } from "@spillway/core/bytes.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { machineMemory } from "@spillway/core/machine-memory.js";
import { choice, either, type InputOf, option, type Resolved, resolve, text, whole } from "@spillway/core/options.js";
import { type Context, openDevice, type PinnedBuffer } from "@spillway/gpu";
import { type FloatArray, Matrix } from "@spillway/numerics";

const lockedTable = {
  /** Of the reservoir whose states it takes. Default "float32". */
  precision: option(choice("float32", "float64"), "float32", "Of the reservoir whose states it takes."),
  /** The device that locks it, as of `openDevice`; every device copies into it. Default 0. */
  device: option(either("a number of a device, or a name", whole(), text()), 0, "The device that locks it; every device copies into it."),
};

/** Options of `lockedMatrix`. */
export interface LockedMatrixOptions extends InputOf<typeof lockedTable> {}

/** A matrix in page-locked memory: see `lockedMatrix`. */
export class LockedMatrix extends Matrix implements Disposable {
  readonly #context: Context;
  readonly #memory: PinnedBuffer;

  /** @internal */
  constructor(rows: number, cols: number, memory: PinnedBuffer, context: Context) {
    super(rows, cols, memory.array as FloatArray);
    this.#context = context;
    this.#memory = memory;
  }

  /**
   * Gives the memory back after the copies that are under way. `data`, and that of `subarray`s, is
   * empty then. A second call does nothing.
   */
  dispose(): void {
    try {
      this.#memory.dispose();
    } finally {
      this.#context.dispose();
    }
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/**
 * A rows x cols matrix of zeros in page-locked memory, to be reused as `into` of `run`, `batch` and
 * `generate`: a device copies states straight into it, at about 50 GB/s over PCI Express 5, where
 * a plain matrix takes a further copy on the host. To lock a GiB takes about half a second, and
 * locked memory is not there for other programs. For a batch, `subarray` gives each sequence its rows.
 *
 * @throws ArgumentError if rows or cols is not a whole number from 1 on, or the matrix takes more
 * memory than the machine has; LibraryError without a CUDA driver; CudaError if it locks no more.
 */
export function lockedMatrix(rows: number, cols: number, options: LockedMatrixOptions = {}): LockedMatrix {
  const { precision, device }: Resolved<typeof lockedTable> = resolve(lockedTable, options, "lockedMatrix");
  for (const [name, value] of Object.entries({ rows, cols }))
    if (!Number.isSafeInteger(value) || value < 1) throw new ArgumentError(name, value, "a whole number, at least 1");
  const bytes = rows * cols * (precision === "float32" ? 4 : 8);
  const tooLarge = (why: string, cause?: unknown) =>
    ArgumentError.because(`a page-locked matrix of ${rows} x ${cols} ${precision} takes ${formatBytes(bytes)}; ${why}`, {
      field: "rows",
      value: rows,
      cause,
    });
  if (bytes > machineMemory()) throw tooLarge(`this machine has ${formatBytes(machineMemory())}`);
  const context = openDevice(device);
  try {
    const memory = context.pinned(precision === "float32" ? "f32" : "f64", rows * cols, { label: `${rows} x ${cols} matrix` });
    return new LockedMatrix(rows, cols, memory, context);
  } catch (error) {
    context.dispose();
    throw error instanceof RangeError ? tooLarge("no array is that long", error) : error;
  }
}
