// Device memory that is owned: allocated in stream order, given back after the streams that used
// it.
import { ArgumentError } from "@spillway/core/errors.js";
import type { ContextCore } from "./context-core.js";
import { bytesOf, type Dtype } from "./dtypes.js";
import { Holding } from "./ledger.js";
import { DeviceSlice, type Memory } from "./slice.js";

/** @throws ArgumentError if a length is no count of elements. */
function checkLength(length: number): void {
  if (!Number.isSafeInteger(length) || length < 0)
    throw ArgumentError.because(`a buffer's length is a whole number of elements, at least 0; got ${length}`, {
      field: "length",
      value: length,
      expected: "a whole number, at least 0",
    });
}

/** Gives memory back after all work of the streams that used it. */
function free(memory: Memory, address: bigint, bytes: number): void {
  const core = memory.core;
  const last = memory.stream;
  for (const other of memory.reachedBy ?? [])
    if (!other.disposed && !other.loss) for (const user of other.streams) other.holdUp(core, user);
  const stream = last !== undefined && core.streams.has(last) ? last : core.service;
  if (memory.shared && bytes > 0) core.orderAfter(stream, [core.service, ...core.streams]);
  core.pool.free(address, bytes, stream);
}

/** Device memory, of elements of one type. It is also its own whole slice. */
export class DeviceBuffer<T extends Dtype = Dtype> extends DeviceSlice<T> implements Disposable {
  readonly #holding: Holding;

  /** @internal */
  private constructor(memory: Memory, holding: Holding, dtype: T, address: bigint, length: number) {
    super(memory, dtype, address, length);
    this.#holding = holding;
    memory.core.ledger.enter(holding, this);
  }

  /**
   * @internal Memory whose contents are undefined. In the order of `stream` it is good there at
   * once; without one it is good everywhere when this returns.
   */
  static allocate<T extends Dtype>(core: ContextCore, dtype: T, length: number, label?: string, stream?: bigint): DeviceBuffer<T> {
    checkLength(length);
    const bytes = length * bytesOf(dtype);
    const address = core.pool.allocate(bytes, stream ?? core.service);
    const memory: { -readonly [Key in keyof Memory]: Memory[Key] } = { core, holding: undefined, stream, shared: false };
    const holding = new Holding("buffer", label ?? `${dtype}[${length}]`, bytes, () => free(memory, address, bytes));
    memory.holding = holding;
    const buffer = new DeviceBuffer(memory, holding, dtype, address, length);
    if (bytes > 0) core.driver.nameMemory?.(address, holding.label);
    if (stream === undefined && bytes > 0 && core.pool.streamOrdered) {
      try {
        core.call("cuStreamSynchronize", core.service);
      } catch (error) {
        buffer.discard();
        throw error;
      }
    }
    return buffer;
  }

  /** The name given at its making, or its type and length. */
  get label(): string {
    return this.#holding.label;
  }

  /** Whether it was disposed, by itself or with its context. */
  get disposed(): boolean {
    return this.#holding.disposed;
  }

  /**
   * Gives the memory back, after the work that streams were already given. A second call does
   * nothing.
   *
   * @throws CudaError if the driver refuses and the context is not lost.
   */
  dispose(): void {
    this.memory.core.release(this.#holding);
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal Disposes on the way of another error. */
  discard(): void {
    this.memory.core.releaseQuietly(this.#holding);
  }
}
