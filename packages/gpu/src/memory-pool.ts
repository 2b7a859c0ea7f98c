// Where a context's device memory comes from: a pool of its own with allocation in stream order, or
// plain allocation if the device has no pools.
import type { ContextCore, DevicePool } from "./context-core.js";
import { OutOfMemoryError } from "./errors.js";
import { status } from "./status.js";

/** What a context's pool holds, in bytes. Without pools, `reserved` is what is used. */
export interface PoolStatistics {
  /** Whether allocation is in stream order, from a pool. */
  readonly streamOrdered: boolean;
  /** Held from the device, in use or ready for reuse. */
  readonly reserved: number;
  readonly reservedHigh: number;
  /** In use. */
  readonly used: number;
  readonly usedHigh: number;
  /** Allocations made, and given back, since the context was opened. */
  readonly allocations: number;
  readonly frees: number;
}

// CUmemPool_attribute, cuda.h.
const poolAttribute = { releaseThreshold: 4, reserved: 5, reservedHigh: 6, used: 7, usedHigh: 8 } as const;

/**
 * CUmemPoolProps: pinned allocations (1) without handles (0) on device `ordinal` (location type 1);
 * 88 bytes, cuda.h.
 */
function poolProperties(ordinal: number): Uint32Array {
  const properties = new Uint32Array(22);
  properties.set([1, 0, 1, ordinal]);
  return properties;
}

/**
 * CUmemAccessDesc: location type device (1), its ordinal, read and write (3) or nothing (0); 12
 * bytes, cuda.h.
 */
const accessDescription = (ordinal: number, access: 3 | 0) => Uint32Array.of(1, ordinal, access);

/** The device memory of a context. */
export class MemoryPool implements DevicePool {
  readonly #core: ContextCore;
  readonly #pool: bigint | undefined;
  #allocations = 0;
  #frees = 0;
  #used = 0;
  #usedHigh = 0;

  private constructor(core: ContextCore, pool: bigint | undefined) {
    this.#core = core;
    this.#pool = pool;
  }

  /** A pool that keeps what is given back for reuse, or plain allocation. @throws CudaError. */
  static create(core: ContextCore, poolsSupported: boolean): MemoryPool {
    const complete = poolsSupported && core.driver.has("cuMemPoolCreate") && core.driver.has("cuMemAllocFromPoolAsync");
    if (!complete) return new MemoryPool(core, undefined);
    const pool = core.long("cuMemPoolCreate", poolProperties(core.device));
    try {
      core.call("cuMemPoolSetAttribute", pool, poolAttribute.releaseThreshold, BigUint64Array.of(2n ** 64n - 1n));
    } catch (error) {
      core.function("cuMemPoolDestroy")(pool);
      throw error;
    }
    return new MemoryPool(core, pool);
  }

  get streamOrdered(): boolean {
    return this.#pool !== undefined;
  }

  /**
   * Bytes in the order of a stream; the address is good in that stream at once. @throws
   * OutOfMemoryError, CudaError.
   */
  allocate(bytes: number, stream: bigint): bigint {
    if (bytes === 0) return 0n;
    const core = this.#core;
    const address = new BigUint64Array(1);
    const call = this.#pool === undefined ? "cuMemAlloc" : "cuMemAllocFromPoolAsync";
    const code =
      this.#pool === undefined
        ? core.status("cuMemAlloc", address, bytes)
        : core.status("cuMemAllocFromPoolAsync", address, bytes, this.#pool, stream);
    if (code === status.outOfMemory) throw this.#outOfMemory(call, bytes);
    core.check(code, call);
    this.#allocations++;
    this.#used += bytes;
    this.#usedHigh = Math.max(this.#usedHigh, this.#used);
    return address[0]!;
  }

  /** Gives memory back in the order of a stream. @throws CudaError. */
  free(address: bigint, bytes: number, stream: bigint): void {
    if (bytes === 0) return;
    this.#frees++;
    this.#used -= bytes;
    if (this.#pool === undefined) this.#core.call("cuMemFree", address);
    else this.#core.call("cuMemFreeAsync", address, stream);
  }

  #outOfMemory(call: string, requested: number): OutOfMemoryError {
    const core = this.#core;
    const failure = core.describe(status.outOfMemory, call);
    const free = new BigUint64Array(1);
    const total = new BigUint64Array(1);
    const known = core.function("cuMemGetInfo")(free, total) === status.success;
    const memory = known ? { free: Number(free[0]), total: Number(total[0]) } : { free: undefined, total: undefined };
    return new OutOfMemoryError(failure, { requested, ...memory, holders: core.ledger.holders("buffer") });
  }

  /** @throws CudaError. */
  statistics(): PoolStatistics {
    const pool = this.#pool;
    const read = (attribute: "reserved" | "reservedHigh" | "used" | "usedHigh"): number => {
      if (pool === undefined) return attribute.endsWith("High") ? this.#usedHigh : this.#used;
      const value = new BigUint64Array(1);
      this.#core.call("cuMemPoolGetAttribute", pool, poolAttribute[attribute], value);
      return Number(value[0]);
    };
    return {
      streamOrdered: pool !== undefined,
      reserved: read("reserved"),
      reservedHigh: read("reservedHigh"),
      used: read("used"),
      usedHigh: read("usedHigh"),
      allocations: this.#allocations,
      frees: this.#frees,
    };
  }

  /** Gives what is kept for reuse back to the device, down to `keep` bytes. @throws CudaError. */
  trim(keep: number): void {
    if (this.#pool !== undefined) this.#core.call("cuMemPoolTrimTo", this.#pool, keep);
  }

  /**
   * Whether kernels of another device may reach this memory from now on. Plain allocations need
   * peer access instead. @throws CudaError.
   */
  setAccess(device: number, allowed: boolean): void {
    if (this.#pool !== undefined) this.#core.call("cuMemPoolSetAccess", this.#pool, accessDescription(device, allowed ? 3 : 0), 1);
  }

  /** @throws CudaError. */
  destroy(): void {
    if (this.#pool !== undefined) this.#core.call("cuMemPoolDestroy", this.#pool);
  }
}
