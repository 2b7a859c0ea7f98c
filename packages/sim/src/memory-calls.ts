// Device memory, pools, page-locked memory, copies and fills of the simulated driver.
import { type DeviceContext, Pool } from "./device-context.js";
import type { HostPointer } from "./host-memory.js";
import { code, Refusal } from "./refusal.js";
import type { Calls, Simulator } from "./simulator.js";
import type { WorkStream } from "./stream.js";

// CUmemPool_attribute, cuda.h.
const poolAttribute = { releaseThreshold: 4, reserved: 5, reservedHigh: 6, used: 7, usedHigh: 8 } as const;

// CUmemorytype, cuda.h.
const memoryType = { host: 1, device: 2, unified: 4 } as const;

interface Side {
  readonly device: boolean;
  readonly address: bigint;
  readonly pitch: number;
}

const hex = (address: bigint) => `0x${address.toString(16)}`;

/** @throws Refusal if device memory is not within one allocation or module variable. */
function checkDevice(context: DeviceContext, address: bigint, bytes: number): void {
  if (bytes === 0) return;
  const problem = context.machine.ptx.problemAt(address, bytes);
  if (problem !== undefined) throw new Refusal(code.invalidValue, `${bytes} bytes at ${hex(address)}: ${problem}`);
}

/** CUDA_MEMCPY2D (cuda.h): per side x, y, type, host and device address, array, pitch; sizes. */
function readCopy2D(words: DataView): { source: Side; destination: Side; width: number; rows: number } {
  const long = (index: number) => words.getBigUint64(8 * index, true);
  const side = (at: number): Side => {
    const type = words.getUint32(8 * (at + 2), true);
    const device = type !== memoryType.host;
    if (type !== memoryType.host && type !== memoryType.device && type !== memoryType.unified)
      throw new Refusal(code.notSupported, `a 2-D copy of memory of type ${type} is not simulated; host (1) and device (2) memory is`);
    const pitch = long(at + 6);
    const start = (device ? long(at + 4) : long(at + 3)) + long(at) + long(at + 1) * pitch;
    return { device, address: start, pitch: Number(pitch) };
  };
  return { source: side(0), destination: side(7), width: Number(long(14)), rows: Number(long(15)) };
}

const addressIn = ({ host }: Simulator, pointer: HostPointer): bigint => (typeof pointer === "bigint" ? pointer : host.addressOf(pointer));

function isLocked(simulator: Simulator, pointer: HostPointer, bytes: number): boolean {
  const address = typeof pointer === "bigint" ? pointer : simulator.host.knownAddressOf(pointer);
  if (address === undefined) return false;
  for (const [start, lock] of simulator.locked) if (address >= start && address + BigInt(bytes) <= start + BigInt(lock.bytes)) return true;
  return false;
}

export function memoryCalls(simulator: Simulator) {
  const { host } = simulator;
  return {
    cuMemGetInfo: (free, total) => {
      host.giveLong(free, simulator.here.free);
      host.giveLong(total, simulator.here.capacity);
    },
    cuMemAlloc: (out, bytes) => host.giveLong(out, simulator.here.allocate(bytes)),
    cuMemFree: (address) => {
      if (address === 0n) return;
      const { here } = simulator;
      here.block(address);
      here.drain();
      here.release(address);
    },
    cuMemHostRegister: (pointer, bytes) => {
      host.bytes(pointer, bytes);
      if (simulator.locked.has(addressIn(simulator, pointer))) throw new Refusal(code.hostMemoryAlreadyRegistered);
      simulator.locked.set(addressIn(simulator, pointer), { bytes, context: simulator.here });
    },
    cuMemHostUnregister: (pointer) => {
      if (!simulator.locked.delete(addressIn(simulator, pointer))) throw new Refusal(code.hostMemoryNotRegistered);
    },
  } satisfies Partial<Calls>;
}

export function poolCalls(simulator: Simulator) {
  const { host } = simulator;
  return {
    cuMemPoolCreate: (out, properties) => {
      const ordinal = host.view(properties, 16).getInt32(12, true);
      const context = simulator.device(ordinal);
      const pool = new Pool(context);
      context.pools.add(pool);
      host.giveLong(out, simulator.enter(pool));
    },
    cuMemPoolDestroy: (handle) => {
      const pool = simulator.leave(handle, Pool);
      pool.context.drain();
      pool.trim(0);
      if (pool.used === 0) pool.context.pools.delete(pool);
    },
    cuMemPoolSetAttribute: (handle, attribute, value) => {
      const pool = simulator.find(handle, Pool);
      const given = host.view(value, 8).getBigUint64(0, true);
      if (attribute === poolAttribute.releaseThreshold) pool.threshold = given;
      else if (attribute === poolAttribute.reservedHigh && given === 0n) pool.reservedHigh = pool.reserved;
      else if (attribute === poolAttribute.usedHigh && given === 0n) pool.usedHigh = pool.used;
    },
    cuMemPoolGetAttribute: (handle, attribute, out) => {
      const pool = simulator.find(handle, Pool);
      const values: Readonly<Record<number, number | bigint>> = {
        [poolAttribute.releaseThreshold]: pool.threshold,
        [poolAttribute.reserved]: pool.reserved,
        [poolAttribute.reservedHigh]: pool.reservedHigh,
        [poolAttribute.used]: pool.used,
        [poolAttribute.usedHigh]: pool.usedHigh,
      };
      const value = values[attribute];
      // The others are switches of four bytes, which are on.
      if (value === undefined) host.giveWord(out, 1);
      else host.giveLong(out, value);
    },
    // CUmemAccessDesc: kind of location, its number, and 3 for reading and writing or 0.
    cuMemPoolSetAccess: (handle, descriptions, count) => {
      const { access } = simulator.find(handle, Pool);
      const words = host.view(descriptions, 12 * count);
      for (let at = 0; at < 12 * count; at += 12) {
        const { ordinal } = simulator.device(words.getInt32(at + 4, true));
        if (words.getUint32(at + 8, true) === 0) access.delete(ordinal);
        else access.add(ordinal);
      }
    },
    cuMemPoolTrimTo: (handle, keep) => simulator.find(handle, Pool).trim(keep),
    cuMemAllocFromPoolAsync: (out, bytes, pool, handle) => {
      if (simulator.stream(handle).capture)
        throw new Refusal(code.streamCaptureUnsupported, "allocation within a capture is not simulated");
      const from = simulator.find(pool, Pool);
      host.giveLong(out, from.context.allocate(bytes, from));
    },
    cuMemFreeAsync: (address, handle) => {
      const stream = simulator.stream(handle);
      if (stream.capture) throw new Refusal(code.streamCaptureUnsupported, "giving memory back within a capture is not simulated");
      const block = simulator.here.block(address);
      block.leaving = true;
      const { here } = simulator;
      simulator.give(stream, "free", () => void here.release(address));
    },
  } satisfies Partial<Calls>;
}

export function copyCalls(simulator: Simulator) {
  const { host, machine } = simulator;

  /** Bytes that a copy reads: page-locked ones as they are when it runs, others as now. */
  const sourceBytes = (pointer: HostPointer, bytes: number, stream: WorkStream): Uint8Array => {
    const now = host.bytes(pointer, bytes);
    return isLocked(simulator, pointer, bytes) || stream.capture ? now : now.slice();
  };

  /** Does work at once if its result is in memory that is not page-locked, as CUDA does. */
  const drainUnlocked = (pointer: HostPointer, bytes: number, stream: WorkStream): number | undefined => {
    if (isLocked(simulator, pointer, bytes) || stream.capture) return undefined;
    stream.drain();
    return stream.context.fault?.status;
  };

  const copy = (stream: WorkStream, bytes: number, run: () => void): void =>
    simulator.give(stream, "copy", () => {
      run();
      machine.spend(bytes);
    });

  const within = (to: bigint, from: bigint, bytes: number, handle: bigint): void => {
    const stream = simulator.stream(handle);
    checkDevice(stream.context, to, bytes);
    checkDevice(stream.context, from, bytes);
    copy(stream, bytes, () => machine.ptx.copy(to, from, bytes));
  };

  return {
    cuMemcpyHtoDAsync: (to, from, bytes, handle) => {
      const stream = simulator.stream(handle);
      checkDevice(stream.context, to, bytes);
      const source = sourceBytes(from, bytes, stream);
      copy(stream, bytes, () => machine.ptx.write(to, source));
    },
    cuMemcpyDtoHAsync: (to, from, bytes, handle) => {
      const stream = simulator.stream(handle);
      checkDevice(stream.context, from, bytes);
      const target = host.bytes(to, bytes);
      copy(stream, bytes, () => target.set(machine.ptx.read(from, bytes)));
      return drainUnlocked(to, bytes, stream);
    },
    cuMemcpyDtoDAsync: within,
    cuMemcpyPeerAsync: (to, toContext, from, fromContext, bytes, handle) => {
      simulator.context(toContext);
      simulator.context(fromContext);
      within(to, from, bytes, handle);
    },
    cuMemcpy2DAsync: (description, handle) => {
      const stream = simulator.stream(handle);
      const { source, destination, width, rows } = readCopy2D(host.view(description, 128));
      for (const [side, name] of [
        [source, "source"],
        [destination, "destination"],
      ] as const)
        if (rows > 1 && side.pitch < width)
          throw new Refusal(code.invalidValue, `the ${name}'s pitch of ${side.pitch} bytes is below the width of ${width}`);
      const span = ({ pitch }: Side) => (rows - 1) * pitch + width;
      if (width === 0 || rows === 0) return undefined;
      for (const side of [source, destination]) if (side.device) checkDevice(stream.context, side.address, span(side));
      const from = source.device ? undefined : sourceBytes(source.address, span(source), stream);
      const to = destination.device ? undefined : host.bytes(destination.address, span(destination));
      copy(stream, width * rows, () => {
        for (let row = 0; row < rows; row++) {
          const at = { source: row * source.pitch, destination: row * destination.pitch };
          const [reads, writes] = [source.address + BigInt(at.source), destination.address + BigInt(at.destination)];
          if (from && to) to.set(from.subarray(at.source, at.source + width), at.destination);
          else if (from) machine.ptx.write(writes, from.subarray(at.source, at.source + width));
          else if (to) to.set(machine.ptx.read(reads, width), at.destination);
          else machine.ptx.copy(writes, reads, width);
        }
      });
      return destination.device ? undefined : drainUnlocked(destination.address, span(destination), stream);
    },
  } satisfies Partial<Calls>;
}

export function fillCalls(simulator: Simulator) {
  const { machine } = simulator;

  const fill = (address: bigint, value: number, count: number, width: number, handle: bigint): void => {
    const stream = simulator.stream(handle);
    const bytes = count * width;
    if (address % BigInt(width) !== 0n) throw new Refusal(code.invalidValue, `${hex(address)} is no multiple of ${width}`);
    checkDevice(stream.context, address, bytes);
    simulator.give(stream, "fill", () => {
      const pattern = new Uint8Array(bytes);
      if (value !== 0) for (let i = 0; i < bytes; i++) pattern[i] = value >>> (8 * (i % width));
      machine.ptx.write(address, pattern);
      machine.spend(bytes);
    });
  };

  return {
    cuMemsetD8Async: (address, value, count, handle) => fill(address, value, count, 1, handle),
    cuMemsetD16Async: (address, value, count, handle) => fill(address, value, count, 2, handle),
    cuMemsetD32Async: (address, value, count, handle) => fill(address, value, count, 4, handle),
  } satisfies Partial<Calls>;
}
