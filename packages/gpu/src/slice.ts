// A stretch of device memory with an element type: what copies and kernels take. It owns nothing:
// the memory is a buffer's or a module's.
import { ArgumentError } from "@spillway/core/errors.js";
import type { ContextCore } from "./context-core.js";
import { arrayOf, bytesOf, type Dtype } from "./dtypes.js";
import type { Holding } from "./ledger.js";

/** The memory that a slice lies in: whose it is, whether it still is, and which streams used it. */
export interface Memory {
  readonly core: ContextCore;
  /**
   * What must not be disposed for the memory to be there; undefined if the caller vouches for
   * it.
   */
  readonly holding: Holding | undefined;
  /** The stream that last used it, by handle; undefined before the first use. */
  stream: bigint | undefined;
  /** Whether several streams, or a graph, used it. */
  shared: boolean;
  /** Other contexts whose kernels were given it. */
  reachedBy?: Set<ContextCore>;
}

/** Notes that a stream works on the memory: it is given back after that work. */
export function noteUse(memory: Memory, stream: bigint): void {
  if (memory.stream === stream) return;
  if (memory.stream !== undefined) memory.shared = true;
  memory.stream = stream;
}

declare const writable: unique symbol;

/** A stretch that kernels may read and that "T*" parameters do not take. */
export interface ReadonlyDeviceSlice<T extends Dtype = Dtype> {
  readonly dtype: T;
  /** Elements. */
  readonly length: number;
  readonly byteLength: number;
  /** The device address of the first element; 0n if there are none. */
  readonly address: bigint;
  /**
   * Elements from `from` up to `to`, which is not among them; default up to the end. @throws
   * ArgumentError outside
   */
  slice(from: number, to?: number): ReadonlyDeviceSlice<T>;
  /** The same stretch, for reading only. */
  readonly(): ReadonlyDeviceSlice<T>;
}

/** @throws ArgumentError if a slice does not lie within its whole. */
function checkRange(from: number, to: number, length: number): void {
  if (!Number.isInteger(from) || !Number.isInteger(to) || from < 0 || to < from || to > length)
    throw ArgumentError.shape(`a slice of ${length} elements runs from 0 <= from <= to <= ${length}; got from ${from} to ${to}`, {
      field: "from",
      value: from,
      expected: `0 <= from <= to <= ${length}`,
    });
}

/** A stretch of device memory. */
export class DeviceSlice<T extends Dtype = Dtype> implements ReadonlyDeviceSlice<T> {
  declare readonly [writable]: true;
  readonly dtype: T;
  readonly length: number;
  readonly byteLength: number;
  readonly address: bigint;
  /** @internal */
  readonly memory: Memory;
  /** @internal */
  readonly writable: boolean;

  /** @internal */
  constructor(memory: Memory, dtype: T, address: bigint, length: number, mayWrite = true) {
    this.memory = memory;
    this.dtype = dtype;
    this.address = address;
    this.length = length;
    this.byteLength = length * bytesOf(dtype);
    this.writable = mayWrite;
  }

  /**
   * The elements from `from` up to but without `to`, in the same memory. @throws ArgumentError
   * if they are not within this one.
   */
  slice(from: number, to: number = this.length): DeviceSlice<T> {
    checkRange(from, to, this.length);
    return new DeviceSlice(this.memory, this.dtype, this.address + BigInt(from * bytesOf(this.dtype)), to - from, this.writable);
  }

  /** The same memory, which "T*" parameters and copies onto it refuse. */
  readonly(): ReadonlyDeviceSlice<T> {
    return new DeviceSlice(this.memory, this.dtype, this.address, this.length, false);
  }

  /**
   * The same bytes as elements of another type. @throws ArgumentError if they are no whole
   * number of elements, or misaligned.
   */
  as<U extends Dtype>(dtype: U): DeviceSlice<U> {
    const bytes = bytesOf(dtype);
    if (this.byteLength % bytes !== 0 || this.address % BigInt(bytes) !== 0n)
      throw ArgumentError.because(
        `${this.byteLength} bytes at address 0x${this.address.toString(16)} are no aligned elements of ${dtype} (${bytes} bytes each)`,
        { field: "dtype", value: dtype },
      );
    return new DeviceSlice(this.memory, dtype, this.address, this.byteLength / bytes, this.writable);
  }

  /** An array on the host, zeros, of this stretch's type and length. */
  hostArray(): ReturnType<typeof arrayOf<T>> {
    return arrayOf(this.dtype, this.length);
  }
}

/**
 * The slice itself, for use in a context. @throws ArgumentError, DisposedError if it is none, of
 * another context or disposed.
 */
export function usable<T extends Dtype>(core: ContextCore, slice: ReadonlyDeviceSlice<T>, toWrite: boolean): DeviceSlice<T> {
  if (!(slice instanceof DeviceSlice)) throw new ArgumentError("memory", slice, "a buffer or a slice of one");
  slice.memory.holding?.use();
  if (slice.memory.core !== core)
    throw ArgumentError.because(
      `memory of the context of device ${slice.memory.core.device} was given to another context, of device ${core.device}`,
      { field: "memory", expected: `memory of the context of device ${core.device}` },
    );
  if (toWrite && !slice.writable) throw ArgumentError.because("read-only device memory was given to be written", { field: "memory" });
  return slice as DeviceSlice<T>;
}
