// The slow way of an access: taken when the shadow says that something may be wrong, on first
// writes, and for addresses whose space is known only now. It finds the offset in the heap or says
// exactly what is wrong.
import type { SimulationErrorKind } from "../errors.js";
import { AsyncCopies } from "./async-copies.js";
import type { BarrierObjects } from "./barrier-object.js";
import type { LaunchState } from "./launch-state.js";
import { accessModes, type DeviceMemory, shadow, spaceCodes, windows } from "./memory.js";
import type { Warp } from "./warp.js";

const spaceNames = Object.keys(spaceCodes);
const { write, both, strong, later, followed, object } = accessModes;

export type Resolve = (
  warp: Warp,
  lane: number,
  site: number,
  space: number,
  high: number,
  low: number,
  offset: number,
  bytes: number,
  mode: number,
) => number;

function hexadecimal(high: number, low: number): string {
  return `0x${(BigInt(high >>> 0) * 4294967296n + BigInt(low >>> 0)).toString(16)}`;
}

/** The error of an access: its kind, and what follows the access in words. */
type FaultOf = (kind: SimulationErrorKind, rest: string) => Error;

function wordsOf(kind: number, bytes: number, space: number, high: number, low: number): string {
  const verb = kind === write ? "stores" : kind === both ? "updates" : "loads";
  return `${verb} ${bytes} bytes at ${spaceNames[space]} address ${hexadecimal(space === spaceCodes.shared ? 0 : high, low)}`;
}

export class Access {
  readonly memory: DeviceMemory;

  constructor(memory: DeviceMemory) {
    this.memory = memory;
  }

  readonly resolve: Resolve = (warp, lane, site, space, high, low, offset, bytes, mode) => {
    const sum = (high >>> 0) * 4294967296 + (low >>> 0) + offset;
    const top = Math.floor(sum / 4294967296) | 0;
    const bottom = sum | 0;
    const kind = mode & 3;
    const { launch } = warp;
    const words = () => wordsOf(kind, bytes, space, top, bottom);
    const fault: FaultOf = (what, rest) => warp.error(what, words() + rest, lane, site);
    let heapOffset: number;
    let shared = -1;
    let own = false;
    if (space === spaceCodes.shared || (space === spaceCodes.generic && top === windows.shared)) {
      const rank = bottom >>> 24;
      const target = rank === 0 ? warp.block : warp.block.cluster.blocks[rank - 1];
      const within = rank === 0 ? bottom : bottom & 0xffffff;
      if (target === undefined || within >>> 0 >= target.at.sharedBytes || (within >>> 0) + bytes > target.at.sharedBytes) {
        if (!launch.checks.bounds) return this.nowhere(bytes);
        throw fault("outOfBounds", `; the block has ${warp.sharedBytes} bytes of shared memory`);
      }
      if (target.running === 0 && target !== warp.block)
        throw fault("useAfterFree", `; block of rank ${target.at.clusterRank} of the cluster has exited`);
      heapOffset = target.at.sharedBase + within;
      own = true;
      if (target === warp.block) shared = within;
      else target.remote = { warp, lane, site, words, publications: target.cluster.publications };
    } else if (space === spaceCodes.local || (space === spaceCodes.generic && top === windows.local)) {
      if (bottom >>> 0 >= warp.localBytes || (bottom >>> 0) + bytes > warp.localBytes) {
        if (!launch.checks.bounds) return this.nowhere(bytes);
        throw fault("outOfBounds", `; a thread has ${warp.localBytes} bytes of local memory`);
      }
      heapOffset = warp.localBase + lane * warp.localBytes + bottom;
      own = true;
    } else {
      if (top !== windows.global || bottom < 0 || bottom + bytes > this.memory.bytes.length) {
        if (!launch.checks.bounds) return this.nowhere(bytes);
        throw fault("outOfBounds", `, which is ${sum === 0 ? "the null pointer" : "in no allocation"}`);
      }
      heapOffset = bottom;
    }
    if (heapOffset % bytes !== 0) {
      if (launch.checks.alignment) throw fault("misaligned", `, which is no multiple of ${bytes}`);
      heapOffset -= heapOffset % bytes;
    }
    const unwritten = this.check(heapOffset, bytes, kind, launch, fault);
    if (unwritten === undefined) return this.nowhere(bytes);
    if (unwritten !== 0) {
      const first = heapOffset + 31 - Math.clz32(unwritten & -unwritten);
      if (!own) this.refuseOwn(heapOffset, launch, fault);
      if (!own || (mode & followed) === 0) throw launch.unwritten(warp, lane, site, first, words());
      launch.values.note(warp, { site, lane, bytes: unwritten, offset: first, words });
    }
    if (shared >= 0 && launch.checks.races) {
      if ((mode & strong) === 0) this.race(warp, lane, site, shared, bytes, kind, (mode & later) !== 0);
      else if ((mode & object) !== object) launch.races.touchStrong(warp, lane, site, shared, bytes, kind !== 0);
    }
    return heapOffset;
  };

  /** Refuses a global address in a launch's shared or local memory: beyond an allocation. */
  private refuseOwn(heapOffset: number, { checks }: LaunchState, fault: FaultOf): void {
    const own = checks.bounds ? this.memory.liveAround(heapOffset)?.kind : undefined;
    if (own === "shared" || own === "local") throw fault("outOfBounds", `, ${this.memory.describe(heapOffset).words}`);
  }

  /** Checks shadow memory. Returns a load's unwritten bytes as bits; undefined if it is skipped. */
  private check(heapOffset: number, bytes: number, kind: number, { checks }: LaunchState, fault: FaultOf): number | undefined {
    const { shadowBytes } = this.memory;
    let unwritten = 0;
    for (let k = 0; k < bytes; k++) {
      const mark = shadowBytes[heapOffset + k]!;
      if (mark === shadow.none || mark === shadow.foreign) {
        if (!checks.bounds) return undefined;
        const { freed, words } = this.memory.describe(heapOffset + k);
        if (mark === shadow.foreign) throw fault("foreign", `, ${words}: memory of another device, which this one was not let reach`);
        throw fault(freed ? "useAfterFree" : "outOfBounds", `, ${words}`);
      }
      if (mark === shadow.arriving && checks.races) throw fault("race", ", which a cp.async still copies to: nothing waited for it");
      if (kind !== 0 && mark === shadow.constant) throw fault("readOnly", ", which is constant memory");
      if (kind !== write && mark === shadow.unwritten) unwritten |= 1 << k;
    }
    if (kind !== 0 && unwritten === 0) for (let k = 0; k < bytes; k++) shadowBytes[heapOffset + k] = shadow.written;
    return unwritten;
  }

  private race(warp: Warp, lane: number, site: number, address: number, bytes: number, kind: number, arrives: boolean): void {
    const { launch } = warp;
    if (bytes < 4) {
      launch.races.narrow(warp, lane, site, address, bytes, kind !== 0);
      return;
    }
    for (let k = 0; k < bytes; k += 4) {
      const word = ((address + k) >>> 2) + warp.tagBase;
      if (kind === 0) launch.races.read(warp, lane, site, word);
      else launch.races.write(warp, lane, site, word, arrives);
    }
  }

  /** An access that is known to be outside its variable. */
  readonly outside = (warp: Warp, lane: number, site: number, what: string, bytes: number): number => {
    if (warp.launch.checks.bounds) throw warp.error("outOfBounds", what, lane, site);
    return this.nowhere(bytes);
  };

  /** Zeros at the start of the heap, for accesses that a switched-off check lets pass. */
  private nowhere(bytes: number): number {
    this.memory.bytes.fill(0, 0, bytes);
    return 0;
  }

  /** The bytes of shared memory that a copy will store to. */
  private target(warp: Warp, lane: number, site: number, address: number, bytes: number): number {
    return this.resolve(warp, lane, site, spaceCodes.shared, 0, 0, address, bytes, write | later);
  }

  private source(warp: Warp, lane: number, site: number, address: number, bytes: number): Uint8Array {
    const from = this.resolve(warp, lane, site, spaceCodes.global, 0, 0, address, bytes, 0);
    warp.launch.globalRaces?.touch(warp, lane, site, from, bytes, false);
    return this.memory.bytes.subarray(from, from + bytes);
  }

  /** cp.async: `used` bytes and zeros up to `bytes`, which arrive when they are waited for. */
  readonly copyLater = (warp: Warp, lane: number, site: number, to: number, from: number, bytes: number, used: number): void => {
    const offset = this.target(warp, lane, site, to, bytes);
    const copied = new Uint8Array(bytes);
    const unit = unitOf(bytes);
    for (let k = 0; k < Math.min(used, bytes); k += unit)
      copied.set(this.source(warp, lane, site, from + k, unit).subarray(0, used - k), k);
    warp.copies ??= new AsyncCopies(this.memory, warp);
    warp.copies.begin(lane, site, offset, copied);
    warp.launch.progress++;
  };

  /** cp.async.bulk to shared memory: bytes arrive and count while a thread waits at `barrier`. */
  readonly copyBulk =
    (objects: BarrierObjects) =>
    (warp: Warp, lane: number, site: number, to: number, from: number, bytes: number, barrier: number): void => {
      if (bytes % 16 !== 0 || bytes < 16)
        throw warp.error("illegalInstruction", `a bulk copy of ${bytes} bytes: it takes a multiple of 16`, lane, site);
      const { sharedBytes } = warp;
      if (bytes > sharedBytes)
        throw warp.error("outOfBounds", `a bulk copy of ${bytes} bytes to a block with ${sharedBytes} of shared memory`, lane, site);
      const copied = new Uint8Array(bytes);
      const offset = this.target(warp, lane, site, to, 16);
      for (let k = 0; k < bytes; k += 16) {
        if (k > 0) this.target(warp, lane, site, to + k, 16);
        copied.set(this.source(warp, lane, site, from + k, 16), k);
      }
      this.memory.shadowBytes.fill(shadow.arriving, offset, offset + bytes);
      warp.launch.races.writesAsBulk(warp);
      warp.publish(true);
      warp.launch.progress++;
      objects.defer(barrier, () => {
        this.memory.write(offset, copied);
        objects.complete(warp, lane, site, barrier, bytes);
      });
    };

  /** cp.async.bulk from shared to global memory, which is done at once. */
  readonly copyOut = (warp: Warp, lane: number, site: number, to: number, from: number, bytes: number): void => {
    const unit = unitOf(bytes);
    for (let k = 0; k < bytes; k += unit) {
      const target = this.resolve(warp, lane, site, spaceCodes.global, 0, 0, to + k, unit, write);
      warp.launch.globalRaces?.touch(warp, lane, site, target, unit, true);
      const source = this.resolve(warp, lane, site, spaceCodes.shared, 0, 0, from + k, unit, 0);
      this.memory.bytes.copyWithin(target, source, source + unit);
    }
    warp.launch.progress++;
  };
}

/** Bytes that a copy looks at together. */
const unitOf = (bytes: number): number => (bytes % 16 === 0 ? 16 : bytes % 8 === 0 ? 8 : 4);
