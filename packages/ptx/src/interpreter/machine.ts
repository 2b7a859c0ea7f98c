// The simulated device: memory that a host may allocate, copy and free, and programs of PTX to
// launch on it. It knows no driver API.
import { LaunchError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { makeSupport, type Support } from "./compile/support.js";
import { type ProgramMachine, PtxProgram } from "./program.js";
import { Access } from "./run/access.js";
import { BarrierObjects } from "./run/barrier-object.js";
import { type Allocation, DeviceMemory, shadow, windows } from "./run/memory.js";
import { type Checks, checksTable, type Limits, limitsTable } from "./run/options.js";
import { Spares } from "./run/spares.js";
import { moduleOf } from "./translations.js";

/** Memory, checks and limits of a machine. */
export interface MachineOptions {
  /** Bytes that programs may allocate. Default 256 MiB; below 2 GiB with `launchBytes`. */
  memoryBytes?: number;
  /** Bytes for the shared, local and parameter memory of running kernels. Default 128 MiB. */
  launchBytes?: number;
  /** Shared memory a block may have. Default 232,448, as on compute capability 9.0. */
  sharedBytesPerBlock?: number;
  /** Blocks of a grid that are on the device at once, unless it is cooperative. Default 8. */
  residentBlocks?: number;
  /** Checks to turn on or off. */
  checks?: Partial<Checks>;
  /** When a launch that does not end is ended. */
  limits?: Partial<Limits>;
}

const globalBase = BigInt(windows.global) << 32n;

/** A device without a driver: memory, and programs that run on it to their end. */
export class PtxMachine implements ProgramMachine {
  /** @internal */
  readonly memory: DeviceMemory;
  /** @internal */
  readonly access: Access;
  /** @internal */
  readonly support: Support;
  /** @internal */
  readonly spares = new Spares();
  readonly checks: Checks;
  readonly limits: Limits;
  readonly sharedBytesPerBlock: number;
  readonly residentBlocks: number;
  /** Simulated time, which `%globaltimer` tells: a step of a launch takes one nanosecond. */
  nanoseconds = 0;
  private launches = 0;

  /** @throws LaunchError on sizes not above 0 or from 2 GiB on; ArgumentError for unknown checks */
  constructor(options: MachineOptions = {}) {
    this.checks = resolve(checksTable, options.checks ?? {}, "checks of the simulated device");
    this.limits = resolve(limitsTable, options.limits ?? {}, "limits of the simulated device");
    this.sharedBytesPerBlock = options.sharedBytesPerBlock ?? 232_448;
    this.residentBlocks = options.residentBlocks ?? 8;
    this.memory = new DeviceMemory(options.memoryBytes ?? 2 ** 28, options.launchBytes ?? 2 ** 27, this.checks.initialised);
    this.access = new Access(this.memory);
    this.support = makeSupport(this.memory, this.access, new BarrierObjects(this.memory.views.G32 as Int32Array));
  }

  /** Bytes that are allocated, and those that may be. */
  get memoryInfo(): { used: number; free: number; total: number; allocations: number } {
    const { usedBytes, capacity, allocationCount } = this.memory;
    return { used: usedBytes, free: capacity - usedBytes, total: capacity, allocations: allocationCount };
  }

  /**
   * Reserves bytes, 256-byte aligned and with contents that count as unwritten; gives their device
   * address. `owner` is whose it is, if some launches may not reach it. Throws LaunchError.
   */
  allocate(bytes: number, name = "an allocation", owner?: object): bigint {
    return globalBase + BigInt(this.memory.allocate(bytes, "global", name, owner).base);
  }

  /** Gives an allocation back. @throws LaunchError if no allocation begins there */
  free(address: bigint): void {
    const allocation = this.memory.allocationAt(Number(address - globalBase));
    if (allocation === undefined || allocation.kind !== "global")
      throw new LaunchError(undefined, `0x${address.toString(16)} is not the start of an allocation`);
    this.memory.free(allocation);
  }

  /** What keeps a host from bytes of device memory: undefined if they lie in one allocation. */
  problemAt(address: bigint, bytes: number): string | undefined {
    const offset = Number(address - globalBase);
    const allocation = this.memory.liveAround(offset);
    if (allocation !== undefined && offset + bytes <= allocation.base + allocation.bytes) return undefined;
    return this.memory.describe(allocation === undefined ? offset : offset + bytes - 1).words;
  }

  private range(address: bigint, bytes: number): { offset: number; allocation: Allocation } {
    const problem = this.problemAt(address, bytes);
    if (problem !== undefined)
      throw new LaunchError(undefined, `a copy of ${bytes} bytes at 0x${address.toString(16)} leaves what is allocated: ${problem}`);
    const offset = Number(address - globalBase);
    return { offset, allocation: this.memory.liveAround(offset)! };
  }

  /** Names an allocation for errors. */
  rename(address: bigint, name: string): void {
    const allocation = this.memory.allocationAt(Number(address - globalBase));
    if (allocation !== undefined) allocation.name = name;
  }

  /** Copies host bytes to the device. */
  write(address: bigint, from: ArrayBufferView): void {
    const bytes = new Uint8Array(from.buffer, from.byteOffset, from.byteLength);
    if (bytes.length === 0) return;
    const { offset, allocation } = this.range(address, bytes.length);
    this.memory.write(offset, bytes, allocation.kind === "constant" ? shadow.constant : shadow.written);
  }

  /** Copies device bytes to the host, written or not. */
  read(address: bigint, bytes: number): Uint8Array {
    if (bytes === 0) return new Uint8Array(0);
    const { offset } = this.range(address, bytes);
    return this.memory.bytes.slice(offset, offset + bytes);
  }

  /** Sets bytes to a value. */
  fill(address: bigint, value: number, bytes: number): void {
    this.write(address, new Uint8Array(bytes).fill(value));
  }

  /** Copies within the device; bytes that nothing wrote stay so. */
  copy(to: bigint, from: bigint, bytes: number): void {
    if (bytes === 0) return;
    const source = this.range(from, bytes).offset;
    const target = this.range(to, bytes).offset;
    this.memory.bytes.copyWithin(target, source, source + bytes);
    this.memory.shadowBytes.copyWithin(target, source, source + bytes);
  }

  /** Reads PTX, with variables of `owner`. Throws PtxSyntaxError, UnsupportedPtxError. */
  load(ptx: string, owner?: object): PtxProgram {
    return new PtxProgram(this, moduleOf(ptx), owner);
  }

  /** @internal */
  nextGridId(): number {
    return ++this.launches;
  }
}
