// Who stored to and loaded from words last, and whether that may have happened at the same time as
// an access now. A thread's access is a tag, `time << 11 | who`; what a warp knows of the others'
// times says what comes before: see races.ts. Used for shared words, for the four bytes of a shared
// word that something narrower touched, and for what threads of one block do to global memory.
import type { Warp } from "./warp.js";

/** Besides thread numbers: 1024 + w for several lanes of warp w, and several warps. */
export const severalLanes = 1024;
const severalWarps = 1056;
const who = 2047;

/** An access that conflicts with one now: its tag, and whether it stored. */
export interface Conflict {
  readonly tag: number;
  readonly stored: boolean;
}

/** Bytes that are kept of the accesses to a word. */
export const accessBytes = 24;

export class Accesses {
  /** Tags; 0 if there is none. */
  readonly writers: Int32Array;
  readonly readers: Int32Array;
  private readonly readerWarps: Int32Array;
  /** Strong stores (atomic, volatile, relaxed or more), which conflict with others only. */
  private readonly strong: Int32Array;
  /** The instruction and step that stored last: what it stores at once does not conflict. */
  private readonly marks: Float64Array;

  constructor(words: number, buffer = new ArrayBuffer(accessBytes * words)) {
    const part = (k: number): Int32Array => new Int32Array(buffer, 8 * words + 4 * words * k, words);
    this.marks = new Float64Array(buffer, 0, words);
    this.writers = part(0);
    this.readers = part(1);
    this.readerWarps = part(2);
    this.strong = part(3);
  }

  get words(): number {
    return this.marks.length;
  }

  forget(first: number, count: number): void {
    for (const each of [this.writers, this.readers, this.strong, this.marks]) each.fill(0, first, first + count);
  }

  load(at: number, warp: Warp, lane: number): Conflict | undefined {
    const { ordered } = warp;
    const thread = 32 * warp.index + lane;
    if (this.writers[at]! >= ordered || this.strong[at]! >= ordered) {
      const stored = this.unorderedStore(at, warp, thread);
      if (stored !== 0) return { tag: stored, stored: true };
    }
    const reader = this.readers[at]!;
    const name = reader & who;
    if (reader < ordered || name === thread) {
      this.readers[at] = warp.tag + lane;
      return undefined;
    }
    // Of several warps the least time: their clocks differ.
    const time = Math.min(reader >>> 11, warp.time);
    if (name === severalWarps) {
      this.readers[at] = (time << 11) | severalWarps;
      this.readerWarps[at] = this.readerWarps[at]! | (1 << warp.index);
      return undefined;
    }
    const otherWarp = name < severalLanes ? name >> 5 : name - severalLanes;
    if (otherWarp === warp.index) this.readers[at] = (time << 11) | (severalLanes + warp.index);
    else {
      this.readers[at] = (time << 11) | severalWarps;
      this.readerWarps[at] = (1 << otherWarp) | (1 << warp.index);
    }
    return undefined;
  }

  /** A store by a lane of a warp. Gives the access that it conflicts with. */
  store(at: number, warp: Warp, lane: number, site: number): Conflict | undefined {
    const thread = 32 * warp.index + lane;
    const mark = warp.launch.steps * 2 ** 20 + site;
    const stored = this.unorderedStore(at, warp, thread);
    if (stored !== 0 && this.marks[at] !== mark) return { tag: stored, stored: true };
    const reader = this.readers[at]!;
    if (this.unorderedLoad(reader, warp, thread, at)) return { tag: reader, stored: false };
    this.writers[at] = warp.tag + lane;
    this.marks[at] = mark;
    return undefined;
  }

  /** A strong access: returns what it conflicts with. After a store, accesses check here again. */
  touchStrong(at: number, warp: Warp, lane: number, stores: boolean): Conflict | undefined {
    const thread = 32 * warp.index + lane;
    const writer = this.writers[at]!;
    if (this.unordered(writer, warp, thread, at)) return { tag: writer, stored: true };
    if (!stores) return undefined;
    const reader = this.readers[at]!;
    if (this.unorderedLoad(reader, warp, thread, at)) return { tag: reader, stored: false };
    if ((writer & who) !== thread) this.writers[at] = 0;
    this.readers[at] = 0;
    this.strong[at] = warp.tag + lane;
    return undefined;
  }

  /** The access that one conflicts with, and nothing noted. Strong ones do not conflict. */
  conflict(at: number, warp: Warp, lane: number, stores: boolean, strong: boolean): Conflict | undefined {
    const thread = 32 * warp.index + lane;
    const stored = this.unorderedStore(at, warp, thread, strong);
    if (stored !== 0) return { tag: stored, stored: true };
    return stores && this.unorderedLoad(this.readers[at]!, warp, thread, at) ? { tag: this.readers[at]!, stored: false } : undefined;
  }

  copy(to: number, from: Accesses, at: number): void {
    this.writers[to] = from.writers[at]!;
    this.readers[to] = from.readers[at]!;
    this.readerWarps[to] = from.readerWarps[at]!;
    this.marks[to] = from.marks[at]!;
    this.strong[to] = from.strong[at]!;
  }

  /** The tag of a store that an access now is not in order with; 0 if there is none. */
  private unorderedStore(at: number, warp: Warp, thread: number, strong = false): number {
    if (this.unordered(this.writers[at]!, warp, thread, at)) return this.writers[at]!;
    return !strong && this.unordered(this.strong[at]!, warp, thread, at) ? this.strong[at]! : 0;
  }

  /** As `unordered`, for loads: the warp's own are over if all its lanes have met since. */
  private unorderedLoad(tag: number, warp: Warp, thread: number, at: number): boolean {
    const name = tag & who;
    const own = name < severalLanes ? name >> 5 === warp.index : name - severalLanes === warp.index;
    return !(own && tag >>> 11 <= warp.met) && this.unordered(tag, warp, thread, at);
  }

  /** True if a tag's access may have happened at the same time as what `thread` does now. */
  private unordered(tag: number, warp: Warp, thread: number, at: number): boolean {
    const name = tag & who;
    const time = tag >>> 11;
    if (tag < warp.ordered || name === thread) return false;
    if (name < severalLanes) return warp.known[name >> 5]! < time;
    if (name < severalWarps) return warp.known[name - severalLanes]! < time;
    const mask = this.readerWarps[at]!;
    for (let v = 0; v < warp.known.length; v++) if ((mask >>> v) & 1 && v !== warp.index && warp.known[v]! < time) return true;
    return false;
  }
}

export const threadOf = (tag: number): number => tag & who;

export function nameOf({ block }: Warp, tag: number): string {
  const name = tag & who;
  if (name < severalLanes) return `thread ${block.threadName(name)}`;
  return name < severalWarps ? `other lanes of warp ${name - severalLanes}` : "other warps";
}
