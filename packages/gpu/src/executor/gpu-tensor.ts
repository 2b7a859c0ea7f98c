// A matrix on a device whose operations stay there, one after the other in the order of the
// executor's stream. `KernelExecutor` does the same without an object for each matrix.
import { DisposedByUsing } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { DeviceBuffer } from "../buffer.js";
import type { ExecutorOptions, ProductSource } from "./matmul.js";
import { checkSizes } from "./standard-kernels.js";
import type { TensorKernels } from "./tensor-kernels.js";

/** A matrix of binary32, rows x columns, row-major, on a device. */
export class GpuTensor extends DisposedByUsing {
  readonly rows: number;
  readonly columns: number;
  readonly buffer: DeviceBuffer<"f32">;
  /** What computed it, if it is a product. */
  readonly source: ProductSource | undefined;
  readonly #kernels: TensorKernels;

  /** @internal Takes over the buffer; `KernelExecutor.tensor` makes one. */
  constructor(kernels: TensorKernels, buffer: DeviceBuffer<"f32">, rows: number, columns: number, source?: ProductSource) {
    super();
    this.#kernels = kernels;
    this.buffer = buffer;
    this.rows = rows;
    this.columns = columns;
    this.source = source;
  }

  /**
   * This times another, rows x its columns, a tensor of its own. @throws ArgumentError if the
   * shapes do not go together; as `KernelExecutor.matmul`.
   */
  matmul(other: GpuTensor, options: ExecutorOptions = {}): GpuTensor {
    if (other.rows !== this.columns)
      throw ArgumentError.shape(
        `a product takes as many rows on the right as columns on the left; got ${this.shape} times ${other.shape}`,
        {
          field: "other",
          expected: `${this.columns} rows`,
        },
      );
    const { context, stream } = this.#kernels.device;
    checkSizes("matmul", { m: this.rows, n: other.columns });
    const out = context.alloc("f32", this.rows * other.columns, { stream });
    try {
      const source = this.#kernels.matmul(this.buffer, other.buffer, out, this.rows, this.columns, other.columns, options);
      return new GpuTensor(this.#kernels, out, this.rows, other.columns, source);
    } catch (error) {
      out.dispose();
      throw error;
    }
  }

  /** Adds a row (1 x columns) to every row, in place. @throws ArgumentError if it is none. */
  addRow(row: GpuTensor): this {
    if (row.rows !== 1 || row.columns !== this.columns)
      throw ArgumentError.shape(`a row of ${this.shape} is 1 x ${this.columns}; got ${row.shape}`, {
        field: "row",
        expected: `1 x ${this.columns}`,
      });
    this.#kernels.broadcastAdd(this.buffer, row.buffer, this.rows, this.columns);
    return this;
  }

  /** max(x, 0), in place. */
  relu(): this {
    this.#kernels.relu(this.buffer);
    return this;
  }

  /** 1 / (1 + exp(-x)), in place. */
  sigmoid(): this {
    this.#kernels.sigmoid(this.buffer);
    return this;
  }

  /** tanh(x), in place. */
  tanh(): this {
    this.#kernels.tanh(this.buffer);
    return this;
  }

  /** Softmax of each row, in place. */
  softmax(): this {
    this.#kernels.softmax(this.buffer, this.rows, this.columns);
    return this;
  }

  /** "3 x 4". */
  get shape(): string {
    return `${this.rows} x ${this.columns}`;
  }

  /** A copy on the host, row-major. @throws CudaError, also of the work before. */
  toArray(): Promise<Float32Array> {
    return this.#kernels.device.download(this.buffer);
  }

  /**
   * Gives the memory back, after the work that it was given to. A second call does nothing. @throws
   * CudaError.
   */
  dispose(): void {
    this.buffer.dispose();
  }
}
