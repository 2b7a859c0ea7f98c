// A device that was opened: the primary context, retained, and everything that is made in it.
import { DisposedByUsing } from "@spillway/core/disposal.js";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { checked, type InputOf, optional, type Resolved, resolve } from "@spillway/core/options.js";
import { DeviceBuffer } from "./buffer.js";
import type { CompileOptions } from "./compile-options.js";
import { ContextCore, type CoreOptions } from "./context-core.js";
import type { DeviceInfo } from "./device-info.js";
import type { Driver } from "./driver.js";
import { type ArrayOf, arrayOf, bytesOf, type Dtype, type DtypeOf, dtypeOf, type HostArray, holds } from "./dtypes.js";
import { CudaError, type CudaFailure } from "./errors.js";
import { DeviceEvent } from "./event.js";
import { Holding, type Leak } from "./ledger.js";
import { MemoryPool, type PoolStatistics } from "./memory-pool.js";
import { Module } from "./module.js";
import type { Compiled, Nvrtc } from "./nvrtc.js";
import {
  type EventOptions,
  eventTable,
  type LabelOptions,
  labelTable,
  type StreamOptions,
  streamTable,
  type UploadOptions,
  uploadTable,
} from "./options.js";
import { PinnedBuffer } from "./pinned.js";
import { compiledPtx, type ShippedPtxOptions, shippedPtx } from "./shipped.js";
import { DeviceSlice, type ReadonlyDeviceSlice, usable } from "./slice.js";
import { Staging } from "./staging.js";
import { losesContext, status } from "./status.js";
import { Stream } from "./stream.js";

/** Free and total memory of a device, in bytes, of all processes. */
export interface MemoryInfo {
  readonly free: number;
  readonly total: number;
}

const allocTable = {
  ...labelTable,
  /** Allocates in this stream's order; left out, the memory is good everywhere. */
  stream: optional(
    checked<Stream>("a stream", (value) => value instanceof Stream),
    "Allocates in this stream's order.",
  ),
};

/** How device memory is allocated. */
export interface AllocOptions extends LabelOptions, InputOf<typeof allocTable> {}

/** @internal What a context is opened with. */
export interface ContextOptions extends CoreOptions {
  /** The compiler for `compile`, found when it is first needed. */
  readonly nvrtc: () => Nvrtc;
  /** What the package's own kernels are loaded from. */
  readonly kernelSource: KernelSource;
}

/**
 * What the package's own kernels are loaded from: their shipped PTX, or what NVRTC makes of their
 * shipped source. The bits are the same.
 */
export type KernelSource = "ptx" | "nvrtc";

/** A device that was opened. */
export class Context extends DisposedByUsing {
  /** The device. */
  readonly info: DeviceInfo;
  /** @internal */
  readonly core: ContextCore;
  readonly #options: ContextOptions;
  readonly #staging: Staging;
  readonly #pool: MemoryPool;

  /** @internal Takes over a retained primary context. */
  constructor(driver: Driver, info: DeviceInfo, handle: bigint, options: ContextOptions) {
    super();
    this.info = info;
    this.#options = options;
    const core = new ContextCore(driver, info.ordinal, handle, options);
    this.core = core;
    this.#staging = new Staging(core);
    try {
      core.service = core.long("cuStreamCreateWithPriority", 1, 0);
      core.ledger.enter(new Holding("stream", "service", 0, () => core.call("cuStreamDestroy", core.service), true));
      const pool = MemoryPool.create(core, info.attributes.memoryPools !== 0);
      core.pool = pool;
      this.#pool = pool;
      core.ledger.enter(new Holding("memory pool", "memory pool", 0, () => pool.destroy(), true));
      core.ledger.enter(new Holding("context", `device ${info.ordinal}`, 0, () => undefined), this);
    } catch (error) {
      try {
        core.dispose();
      } catch {
        // The error under way says why the device did not open.
      }
      if (error instanceof CudaError && losesContext(error.statusCode))
        throw new CudaError(
          error,
          `an earlier fault lost the context of device ${info.ordinal}, which something here still holds: dispose that, and open the device again`,
        );
      throw error;
    }
  }

  /** A stream. @throws ArgumentError, CudaError. */
  stream(options: StreamOptions = {}): Stream {
    const { priority, label } = resolve(streamTable, options, "stream");
    return Stream.create(this.core, this.#staging, priority, label);
  }

  /** The stream priorities that the device knows. @throws CudaError. */
  get priorities(): { readonly least: number; readonly greatest: number } {
    const least = new Int32Array(1);
    const greatest = new Int32Array(1);
    this.core.call("cuCtxGetStreamPriorityRange", least, greatest);
    return { least: least[0]!, greatest: greatest[0]! };
  }

  /** An event. @throws ArgumentError, CudaError. */
  event(options: EventOptions = {}): DeviceEvent {
    const { timing, label } = resolve(eventTable, options, "event");
    return DeviceEvent.create(this.core, timing, label);
  }

  /**
   * Device memory of `length` elements, whose contents are undefined. With `stream` it is allocated
   * in that stream's order, and is good in others after an event of it; without, it is good
   * everywhere.
   *
   * @throws OutOfMemoryError with what was asked, free and held; ArgumentError; CudaError.
   */
  alloc<T extends Dtype>(dtype: T, length: number, options: AllocOptions = {}): DeviceBuffer<T> {
    return this.#allocate(dtype, length, resolve(allocTable, options, "alloc"));
  }

  #allocate<T extends Dtype>(dtype: T, length: number, { label, stream }: Resolved<typeof allocTable>): DeviceBuffer<T> {
    stream?.use();
    if (stream?.capturing) throw new SpillwayError("lifecycle", `${stream.label} is being captured into a graph: allocate before`);
    return DeviceBuffer.allocate(this.core, dtype, length, label, stream?.handle);
  }

  /** Device memory of zeros, good everywhere. @throws as `alloc`. */
  zeros<T extends Dtype>(dtype: T, length: number, options: LabelOptions = {}): DeviceBuffer<T> {
    const { label } = resolve(labelTable, options, "zeros");
    return this.#filled(this.#allocate(dtype, length, { label, stream: undefined }), (address, bytes, stream) =>
      this.core.call("cuMemsetD8Async", address, 0, bytes, stream),
    );
  }

  /**
   * Device memory with a copy of an array, good everywhere. The type is the array's unless `dtype`
   * names another of the same array (f16 of a Uint16Array).
   *
   * @throws as `alloc`; ArgumentError if the array cannot hold the type.
   */
  upload<A extends HostArray, T extends Dtype = DtypeOf<A>>(array: A, options: UploadOptions<T> = {}): DeviceBuffer<T> {
    const { dtype = dtypeOf(array), label } = resolve(uploadTable, options, "upload");
    if (!holds(dtype, array))
      throw ArgumentError.because(`an array of ${dtypeOf(array)} cannot be uploaded as ${dtype}`, { field: "dtype", value: dtype });
    return this.#filled(this.#allocate(dtype as T, array.length, { label, stream: undefined }), (address, bytes, stream) =>
      this.core.call("cuMemcpyHtoDAsync", address, array, bytes, stream),
    );
  }

  #filled<T extends Dtype>(buffer: DeviceBuffer<T>, fill: (address: bigint, bytes: number, stream: bigint) => void): DeviceBuffer<T> {
    if (buffer.byteLength === 0) return buffer;
    try {
      fill(buffer.address, buffer.byteLength, this.core.service);
      this.core.call("cuStreamSynchronize", this.core.service);
      return buffer;
    } catch (error) {
      buffer.discard();
      throw error;
    }
  }

  /**
   * A copy of device memory after all work of all streams, for which it waits, holding up the event
   * loop. @throws CudaError.
   */
  read<T extends Dtype>(slice: ReadonlyDeviceSlice<T>): ArrayOf<T> {
    const source = usable(this.core, slice, false);
    this.sync();
    const result = arrayOf(source.dtype, source.length);
    if (source.byteLength === 0) return result;
    this.core.call("cuMemcpyDtoHAsync", result, source.address, source.byteLength, this.core.service);
    this.core.call("cuStreamSynchronize", this.core.service);
    return result;
  }

  /** Page-locked host memory of `length` elements, zeros. @throws ArgumentError, CudaError. */
  pinned<T extends Dtype>(dtype: T, length: number, options: LabelOptions = {}): PinnedBuffer<T> {
    return PinnedBuffer.lock(this.core, dtype, length, resolve(labelTable, options, "pinned").label);
  }

  /**
   * Device memory at an address that this context did not allocate: another thread's, which shares
   * the primary context, or another library's. The caller sees to it that it is there while it is
   * used.
   */
  borrow<T extends Dtype>(dtype: T, address: bigint, length: number): DeviceSlice<T> {
    if (address < 0n || address % BigInt(bytesOf(dtype)) !== 0n)
      throw ArgumentError.because(`0x${address.toString(16)} is no address of ${dtype}`, { field: "address", value: address });
    return new DeviceSlice({ core: this.core, holding: undefined, stream: undefined, shared: false }, dtype, address, length);
  }

  /** Loads PTX (text), a cubin or a fatbin. @throws ModuleLoadError with the driver's log. */
  load(image: string | Uint8Array, options: LabelOptions = {}): Module {
    return Module.load(this.core, this.info, image, resolve(labelTable, options, "load").label);
  }

  /**
   * The PTX of kernels that come with the package (`shippedManifest`) for this device, as shipped
   * or, with `kernelSource: "nvrtc"` here or of the context, compiled from their source.
   *
   * @throws ArgumentError naming what is shipped; CompileError with the compiler's log.
   */
  shippedPtx(name: string, options: Pick<ShippedPtxOptions, "entries"> & { readonly kernelSource?: KernelSource } = {}): string {
    const { kernelSource = this.#options.kernelSource, ...rest } = options;
    const which = { ...rest, computeCapability: this.info.computeCapability };
    return kernelSource === "nvrtc" ? compiledPtx(this.compiler, name, which) : shippedPtx(name, which);
  }

  /**
   * The compiler of `compile`, found now if it was not yet. @throws LibraryError if there is
   * no NVRTC.
   */
  get compiler(): Nvrtc {
    return this.#options.nvrtc();
  }

  /**
   * Compiles CUDA C++ by NVRTC for this device and loads it. Results are kept on disk.
   *
   * @throws CompileError with the compiler's log; LibraryError if there is no NVRTC;
   * ModuleLoadError.
   */
  compile(source: string, options: CompileOptions = {}): Module {
    const compiled = this.#options.nvrtc().compile(source, this.#forThis(options));
    return this.#loadCompiled(compiled, options);
  }

  /** As `compile`, on another thread: the event loop goes on. */
  async compileAsync(source: string, options: CompileOptions = {}): Promise<Module> {
    const compiled = await this.#options.nvrtc().compileAsync(source, this.#forThis(options));
    return this.#loadCompiled(compiled, options);
  }

  #loadCompiled({ image, ptx, loweredNames }: Compiled, options: CompileOptions): Module {
    return Module.load(this.core, this.info, image, options.name ?? "compiled", { ptx, loweredNames });
  }

  #forThis(options: CompileOptions): CompileOptions {
    const [major, minor] = this.info.computeCapability;
    const kind = this.core.driver.takesPtxOnly ? "compute" : "sm";
    return { ...options, architecture: options.architecture ?? `${kind}_${major}${minor}` };
  }

  /**
   * Waits for all work of all streams, holding up the event loop. @throws CudaError, also of that
   * work.
   */
  sync(): void {
    this.core.call("cuCtxSynchronize");
  }

  /** Free and total memory of the device. @throws CudaError. */
  memoryInfo(): MemoryInfo {
    const free = new BigUint64Array(1);
    const total = new BigUint64Array(1);
    this.core.call("cuMemGetInfo", free, total);
    return { free: Number(free[0]), total: Number(total[0]) };
  }

  /** What the context's memory pool holds. @throws CudaError. */
  poolStatistics(): PoolStatistics {
    return this.#pool.statistics();
  }

  /**
   * Gives memory that is kept for reuse back to the device, down to `keepBytes`. @throws CudaError.
   */
  trimPool(keepBytes = 0): void {
    this.core.call("cuCtxSynchronize");
    this.#pool.trim(keepBytes);
  }

  /** What was made here and not yet disposed, oldest first, with where it was made. */
  held(): readonly Leak[] {
    return this.core.ledger
      .list()
      .filter(({ kind, internal }) => !internal && kind !== "context")
      .map(({ kind, label, bytes, site }) => ({ kind, label, bytes, site }));
  }

  /** Whether kernels here can reach memory of another device. @throws CudaError. */
  canAccess(other: Context): boolean {
    return this.core.word("cuDeviceCanAccessPeer", this.info.ordinal, other.info.ordinal) !== 0;
  }

  /**
   * Lets kernels here read and write memory of another device's context, which they then take as
   * arguments. The other way needs a call of its own. A second call does nothing. @throws
   * CudaError.
   */
  enableAccess(other: Context): void {
    if (other.info.ordinal === this.info.ordinal) return;
    const code = this.core.status("cuCtxEnablePeerAccess", other.core.handle, 0);
    if (code !== status.peerAccessAlreadyEnabled) this.core.check(code, "cuCtxEnablePeerAccess");
    other.#pool.setAccess(this.info.ordinal, true);
    this.core.peers.add(other.core);
  }

  /** Ends `enableAccess`. @throws CudaError. */
  disableAccess(other: Context): void {
    if (other.info.ordinal === this.info.ordinal) return;
    this.core.peers.delete(other.core);
    this.core.call("cuCtxDisablePeerAccess", other.core.handle);
    other.#pool.setAccess(this.info.ordinal, false);
  }

  /** The error that made the context unusable, if one did. */
  get loss(): CudaFailure | undefined {
    return this.core.loss;
  }

  /** Whether it was disposed of. */
  get disposed(): boolean {
    return this.core.disposed;
  }

  /**
   * Waits for the device's work, gives back everything made here, and releases the context. A
   * second call does nothing, and a lost context is released without an error.
   *
   * @throws CudaError, or AggregateError, if the driver refused something; all the rest was
   * given back.
   */
  dispose(): void {
    this.core.dispose();
  }
}
