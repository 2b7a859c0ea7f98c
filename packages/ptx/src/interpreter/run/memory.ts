// The memory of the simulated device: one heap for global, constant, parameter, shared and local
// bytes, each byte with a shadow that says whether it may be touched. It hands out addresses and
// keeps what was freed by name; it knows no threads.
import { LaunchError } from "@spillway/core/errors.js";

/**
 * Shadow values: no live allocation; allocated and never written; written; written and constant;
 * the target of a copy that was not waited for; memory of another device that the running launch
 * may not reach.
 */
export const shadow = { none: 0, unwritten: 1, written: 2, constant: 3, arriving: 4, foreign: 5 } as const;

/** High words of addresses, which tell the space; low words of global ones are heap offsets. */
export const windows = { shared: 1, local: 2, function: 3, global: 7 } as const;

/** Numbers of the state spaces of accesses. */
export const spaceCodes = { generic: 0, global: 1, shared: 2, local: 3, const: 4, param: 5 } as const;

/**
 * What an access does. `strong` accesses (atomics, and what is volatile, relaxed or stronger) race
 * with those that are not alone; those of an `object`, as a barrier in shared memory, with none.
 * The values of loads that are `followed` are so if nothing wrote the bytes; see unwritten.ts. What
 * is stored `later` counts as other bytes than those there.
 */
export const accessModes = { read: 0, write: 1, both: 2, strong: 4, later: 8, followed: 16, object: 36 } as const;

/** Bytes around every allocation that belong to none: an access beyond an end is then noticed. */
const guardBytes = 256;

/** Bytes that kernels may take by malloc. */
const heapBytes = 2 ** 23;

/** Bytes that are taken before the search starts anew: so long freed memory stays unused. */
const lapBytes = 2 ** 24;

/** What an allocation takes of the memory. */
const guardedBytes = (bytes: number): number => Math.ceil(Math.max(bytes, 1) / 256) * 256 + guardBytes;

export type AllocationKind = "heap" | "global" | "constant" | "parameter" | "shared" | "local";

export interface Allocation {
  base: number;
  bytes: number;
  kind: AllocationKind;
  /** What it is for, in messages. */
  name: string;
  /** Whose memory it is, if several devices share the machine. */
  owner?: object | undefined;
}

interface Gap {
  start: number;
  end: number;
}

/** The heap and its shadow as compiled code reads and writes them. */
const viewsOf = (heap: ArrayBuffer, marks: ArrayBuffer) => ({
  G8: new Uint8Array(heap),
  GI8: new Int8Array(heap),
  G16: new Uint16Array(heap),
  GI16: new Int16Array(heap),
  G32: new Int32Array(heap),
  GF: new Float32Array(heap),
  GD: new Float64Array(heap),
  S8: new Uint8Array(marks),
  S16: new Uint16Array(marks),
  S32: new Int32Array(marks),
  SD: new Float64Array(marks),
});

export class DeviceMemory {
  readonly bytes: Uint8Array;
  readonly shadowBytes: Uint8Array;
  /** Bytes that allocations of the program (not of launches) may take. */
  readonly capacity: number;
  readonly views: ReturnType<typeof viewsOf>;
  private readonly gaps: Gap[];
  private cursor = 0;
  private sinceStart = 0;
  private readonly live = new Map<number, Allocation>();
  private readonly freed: Allocation[] = [];
  private used = 0;
  private heapUsed = 0;
  private readonly tracksWrites: boolean;

  /** `capacity` bytes for allocations, and `reserve` for memory of running kernels. */
  constructor(capacity: number, reserve: number, tracksWrites: boolean) {
    const total = Math.ceil((capacity + reserve) / 65536) * 65536;
    if (!(capacity > 0) || total >= 2 ** 31)
      throw new LaunchError(undefined, `device memory of ${capacity} bytes: it takes 1 byte to just below 2 GiB`);
    this.capacity = capacity;
    this.tracksWrites = tracksWrites;
    const heap = new ArrayBuffer(total);
    const marks = new ArrayBuffer(total);
    this.bytes = new Uint8Array(heap);
    this.shadowBytes = new Uint8Array(marks);
    this.views = viewsOf(heap, marks);
    this.gaps = [{ start: guardBytes, end: total }];
  }

  get usedBytes(): number {
    return this.used;
  }

  get allocationCount(): number {
    return this.live.size;
  }

  /** Searches from the last allocation: freed memory is reused late. Launches use the other end. */
  private reserve(bytes: number, kind: AllocationKind): number {
    const wanted = guardedBytes(bytes);
    if (kind === "shared" || kind === "local" || kind === "parameter") {
      const k = this.gaps.findLastIndex((gap) => gap.end - gap.start >= wanted);
      if (k < 0) return -1;
      const gap = this.gaps[k]!;
      gap.end -= wanted;
      if (gap.start === gap.end) this.gaps.splice(k, 1);
      return gap.end;
    }
    this.sinceStart += wanted;
    if (this.sinceStart > lapBytes) {
      this.sinceStart = wanted;
      this.cursor = 0;
    }
    for (let tried = 0; tried < this.gaps.length; tried++) {
      const k = (this.cursor + tried) % this.gaps.length;
      const gap = this.gaps[k]!;
      if (gap.end - gap.start < wanted) continue;
      const base = gap.start;
      gap.start += wanted;
      this.cursor = k;
      if (gap.start === gap.end) this.gaps.splice(k, 1);
      return base;
    }
    return -1;
  }

  allocate(bytes: number, kind: AllocationKind, name: string, owner?: object): Allocation {
    if (!Number.isInteger(bytes) || bytes < 0)
      throw new LaunchError(undefined, `an allocation of ${bytes} bytes: it takes a whole number from 0`);
    if (kind === "global" && this.used + bytes > this.capacity)
      throw new LaunchError(undefined, `out of device memory: ${bytes} bytes asked, ${this.capacity - this.used} of ${this.capacity} free`);
    const base = this.reserve(bytes, kind);
    if (base < 0)
      throw new LaunchError(
        undefined,
        `out of device memory: no ${bytes} bytes in one piece for ${name}; give the device more memoryBytes`,
      );
    const allocation: Allocation = { base, bytes, kind, name, owner };
    this.live.set(base, allocation);
    if (kind === "global") this.used += bytes;
    this.shadowBytes.fill(this.tracksWrites ? shadow.unwritten : shadow.written, base, base + bytes);
    return allocation;
  }

  /** Allocates in the heap of kernels: 8 MiB, CUDA's default. Undefined if it does not fit. */
  allocateInKernel(bytes: number): number | undefined {
    if (this.heapUsed + bytes > heapBytes || !this.gaps.some(({ start, end }) => end - start >= guardedBytes(bytes))) return undefined;
    this.heapUsed += bytes;
    return this.allocate(bytes, "heap", "memory from malloc").base;
  }

  free(allocation: Allocation): void {
    if (this.live.get(allocation.base) !== allocation)
      throw new LaunchError(undefined, `${allocation.name} is not allocated, or was freed already`);
    this.live.delete(allocation.base);
    if (allocation.kind === "global") this.used -= allocation.bytes;
    if (allocation.kind === "heap") this.heapUsed -= allocation.bytes;
    this.shadowBytes.fill(shadow.none, allocation.base, allocation.base + allocation.bytes);
    this.freed.push(allocation);
    if (this.freed.length > 1000) this.freed.splice(0, 500);
    this.giveBack(allocation.base, allocation.base + guardedBytes(allocation.bytes));
  }

  private giveBack(start: number, end: number): void {
    const at = this.gaps.findIndex((gap) => gap.start > start);
    const index = at < 0 ? this.gaps.length : at;
    const before = this.gaps[index - 1];
    const after = this.gaps[index];
    const joinsBefore = before !== undefined && before.end === start;
    const joinsAfter = after !== undefined && after.start === end;
    if (joinsBefore && joinsAfter) {
      before.end = after.end;
      this.gaps.splice(index, 1);
      if (this.cursor >= index) this.cursor = Math.max(0, this.cursor - 1);
    } else if (joinsBefore) before.end = end;
    else if (joinsAfter) after.start = start;
    else {
      this.gaps.splice(index, 0, { start, end });
      if (this.cursor >= index && this.gaps.length > 1) this.cursor = Math.min(this.cursor + 1, this.gaps.length - 1);
    }
  }

  /** The live allocation that begins at an offset; undefined if none does. */
  allocationAt(base: number): Allocation | undefined {
    return this.live.get(base);
  }

  liveAround(offset: number): Allocation | undefined {
    for (const each of this.live.values()) if (offset >= each.base && offset < each.base + each.bytes) return each;
    return undefined;
  }

  /** Where a byte lies, in words. Memory of launches counts only if asked for. */
  describe(offset: number, ofLaunches = false): { freed: boolean; words: string } {
    const counts = ({ kind }: Allocation) => ofLaunches || (kind !== "shared" && kind !== "local");
    const inside = this.liveAround(offset);
    if (inside !== undefined && counts(inside))
      return { freed: false, words: `byte ${offset - inside.base} of ${inside.name} (${inside.bytes} bytes)` };
    for (let k = this.freed.length - 1; k >= 0; k--) {
      const each = this.freed[k]!;
      if (offset >= each.base && offset < each.base + each.bytes)
        return { freed: true, words: `byte ${offset - each.base} of ${each.name} (${each.bytes} bytes), which was freed` };
    }
    let nearest: Allocation | undefined;
    for (const each of this.live.values()) {
      if (counts(each) && each.base + each.bytes <= offset && (nearest === undefined || each.base > nearest.base)) nearest = each;
    }
    if (nearest === undefined) return { freed: false, words: "in no allocation" };
    const past = offset - (nearest.base + nearest.bytes);
    return { freed: false, words: `${past} bytes past the end of ${nearest.name} (${nearest.bytes} bytes)` };
  }

  /** Marks memory of owners that are not reached as foreign; gives what undoes it. */
  hide(reaches: (owner: object) => boolean): () => void {
    const hidden: { readonly base: number; readonly marks: Uint8Array }[] = [];
    for (const { base, bytes, owner } of this.live.values()) {
      if (owner === undefined || reaches(owner)) continue;
      hidden.push({ base, marks: this.shadowBytes.slice(base, base + bytes) });
      this.shadowBytes.fill(shadow.foreign, base, base + bytes);
    }
    return () => {
      for (const { base, marks } of hidden) this.shadowBytes.set(marks, base);
    };
  }

  write(offset: number, from: Uint8Array, mark: number = shadow.written): void {
    this.bytes.set(from, offset);
    this.shadowBytes.fill(mark, offset, offset + from.length);
  }

  /** Forgets what was written, as a block does that takes over memory of another. */
  forget(offset: number, bytes: number): void {
    this.shadowBytes.fill(this.tracksWrites ? shadow.unwritten : shadow.written, offset, offset + bytes);
  }
}
