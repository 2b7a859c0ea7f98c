// The primary context of a simulated device: what was made in it, its streams, how much memory it
// holds, and the fault that ended it.
import type { Machine } from "./machine.js";
import { code, faultStatus, Refusal } from "./refusal.js";
import { WorkStream } from "./stream.js";

/** Where allocations are counted: a pool, which keeps what is given back, or none. */
export class Pool {
  readonly context: DeviceContext;
  used = 0;
  usedHigh = 0;
  reserved = 0;
  reservedHigh = 0;
  /** Bytes that are kept when streams are waited for. */
  threshold = 0n;
  /** The numbers of the devices that were let reach its memory. */
  readonly access = new Set<number>();

  constructor(context: DeviceContext) {
    this.context = context;
  }

  take(bytes: number): void {
    this.used += bytes;
    this.usedHigh = Math.max(this.usedHigh, this.used);
    this.reserved = Math.max(this.reserved, this.used);
    this.reservedHigh = Math.max(this.reservedHigh, this.reserved);
  }

  trim(keep: number): void {
    this.reserved = Math.max(this.used, Math.min(this.reserved, keep));
  }
}

export interface Block {
  readonly bytes: number;
  readonly pool: Pool | undefined;
  /** Whether giving it back is under way, in the order of a stream. */
  leaving: boolean;
}

/** What went wrong in a context, which every later call in it answers. */
export interface Fault {
  readonly status: number;
  readonly reason: Error;
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

export class DeviceContext {
  readonly ordinal: number;
  readonly handle: bigint;
  readonly machine: Machine;
  readonly capacity: number;
  readonly streams = new Set<WorkStream>();
  readonly pools = new Set<Pool>();
  readonly blocks = new Map<bigint, Block>();
  /** Contexts whose memory it may reach. */
  readonly peers = new Set<DeviceContext>();
  /** CU_STREAM_LEGACY, also of handle 0: it waits for all others and runs at once. */
  readonly legacy: WorkStream;
  /** CU_STREAM_PER_THREAD: Node's driver calls come from one thread. */
  readonly perThread: WorkStream;
  /** How often it was retained and not released. */
  retained = 0;
  /** Bytes of plain allocations and of modules' variables. */
  direct = 0;
  fault: Fault | undefined;

  constructor(ordinal: number, handle: bigint, machine: Machine, capacity: number) {
    this.ordinal = ordinal;
    this.handle = handle;
    this.machine = machine;
    this.capacity = capacity;
    this.legacy = new WorkStream(this);
    this.perThread = new WorkStream(this);
    this.streams.add(this.perThread);
  }

  get free(): number {
    let taken = this.direct;
    for (const pool of this.pools) taken += pool.reserved;
    return Math.max(0, this.capacity - taken);
  }

  /** Ends the context: what was given and has not run never will. */
  fail(error: unknown): void {
    this.fault ??= { status: faultStatus(error), reason: asError(error instanceof Refusal ? (error.reason ?? error) : error) };
    for (const stream of this.streams) stream.abandon();
  }

  /** Whether its kernels may reach memory of a pool, or plain memory of a context. */
  readonly reaches = (owner: object): boolean =>
    owner instanceof Pool
      ? owner.context === this || owner.access.has(this.ordinal)
      : owner === this || this.peers.has(owner as DeviceContext);

  /** Gives every stream a turn, so that work does not pile up; no kernels on several devices. */
  goOn(): void {
    for (const stream of this.streams) {
      if (stream.next !== "kernel" || this.machine.simulation.devices === 1) stream.step();
      if (stream.destroyed && stream.idle) this.streams.delete(stream);
    }
  }

  drain(): void {
    for (const stream of this.streams) stream.drain();
  }

  /** Waits for all work, then pools give memory back. @throws Refusal if the work failed. */
  synchronise(): void {
    this.drain();
    if (this.fault) throw new Refusal(this.fault.status, this.fault.reason);
    for (const pool of this.pools) if (BigInt(pool.reserved) > pool.threshold) pool.trim(Number(pool.threshold));
  }

  /** Allocates bytes, if necessary after all pending work. @throws Refusal if memory is full. */
  #reserve(bytes: number, pool: Pool | undefined): void {
    const fits = () => bytes <= this.free + (pool === undefined ? 0 : pool.reserved - pool.used);
    if (fits()) return;
    this.drain();
    for (const each of this.pools) each.trim(0);
    if (!fits()) throw new Refusal(code.outOfMemory);
  }

  /** @throws Refusal if there is too little memory. */
  allocate(bytes: number, pool?: Pool): bigint {
    if (!(bytes > 0)) throw new Refusal(code.invalidValue, `an allocation takes at least 1 byte; got ${bytes}`);
    this.#reserve(bytes, pool);
    let address: bigint;
    try {
      address = this.machine.ptx.allocate(bytes, this.machine.nameOfNext(), pool ?? this);
    } catch (error) {
      throw new Refusal(code.outOfMemory, asError(error));
    }
    if (pool) pool.take(bytes);
    else this.direct += bytes;
    this.blocks.set(address, { bytes, pool, leaving: false });
    return address;
  }

  /** @throws Refusal if no allocation begins there. */
  block(address: bigint): Block {
    const block = this.blocks.get(address);
    if (block === undefined || block.leaving)
      throw new Refusal(code.invalidValue, `0x${address.toString(16)} is not the start of an allocation of this context`);
    return block;
  }

  release(address: bigint): void {
    const block = this.blocks.get(address);
    if (block === undefined) return;
    this.blocks.delete(address);
    if (block.pool) block.pool.used -= block.bytes;
    else this.direct -= block.bytes;
    this.machine.ptx.free(address);
  }

  close(): void {
    for (const stream of this.streams) stream.abandon();
    for (const address of [...this.blocks.keys()]) this.release(address);
  }
}
