// Finds two threads of a block at the same shared bytes, one of them storing, with nothing between that orders them. Order comes from
// barriers (of the block, named, of a warp, of a cluster, mbarrier) and from atomics, volatile, release and acquire accesses and fences.
// Each warp keeps a vector of the times it knows of the others (Fidge 1988, Mattern 1989); each shared word keeps its last writer and reader
// as `time << 11 | who`. Where this is coarse it is so to the side of silence: lanes of a warp share a clock, and any strong access orders.
import type { LaunchState } from "./launch-state.js";
import type { Warp } from "./warp.js";

/** Who, besides a thread number: several lanes of warp w are 1024 + w, several warps are `severalWarps`. */
const severalLanes = 1024;
const severalWarps = 1056;
const who = 2047;
/** A word whose four bytes are followed one by one, because something narrower than a word touched it. */
const split = 0x7fffffff;
const lastTime = 1_000_000;

export class Races {
  readonly writers: Int32Array;
  readonly readers: Int32Array;
  private readonly readerWarps: Int32Array;
  private readonly bytes = new Map<number, Int32Array>();
  private readonly enabled: boolean;
  private readonly launch: LaunchState;

  constructor(words: number, enabled: boolean, launch: LaunchState) {
    const length = enabled ? words : 0;
    this.writers = new Int32Array(length);
    this.readers = new Int32Array(length);
    this.readerWarps = new Int32Array(length);
    this.enabled = enabled;
    this.launch = launch;
  }

  /** Forgets the accesses to a block's words. */
  forget(first: number, count: number): void {
    if (!this.enabled) return;
    this.writers.fill(0, first, first + count);
    this.readers.fill(0, first, first + count);
    if (this.bytes.size > 0) for (const word of this.bytes.keys()) if (word >= first && word < first + count) this.bytes.delete(word);
  }

  /** Orders everything that `warps` did before everything they do next. */
  join(warps: readonly Warp[], known: Int32Array | undefined): void {
    if (!this.enabled || warps.length === 0) return;
    const all = known ?? new Int32Array(warps[0]!.seen.length);
    let latest = 0;
    for (const warp of warps) {
      for (let v = 0; v < all.length; v++) all[v] = Math.max(all[v]!, warp.seen[v]!);
      all[warp.index] = Math.max(all[warp.index]!, warp.time);
      latest = Math.max(latest, warp.time);
    }
    for (const warp of warps) {
      warp.seen.set(all);
      warp.time = latest + 1;
      this.retag(warp);
    }
  }

  /** Adds what a warp has done to `known`, for those who will wait. */
  contribute(warp: Warp, known: Int32Array): void {
    if (!this.enabled) return;
    for (let v = 0; v < known.length; v++) known[v] = Math.max(known[v]!, warp.seen[v]!);
    known[warp.index] = Math.max(known[warp.index]!, warp.time);
    warp.time++;
    this.retag(warp);
  }

  release(warp: Warp): void {
    if (!this.enabled) return;
    warp.block.releases++;
    this.contribute(warp, warp.block.released);
  }

  acquire(warp: Warp): void {
    const { block } = warp;
    if (!this.enabled || warp.releasesSeen === block.releases) return;
    warp.releasesSeen = block.releases;
    for (let v = 0; v < warp.seen.length; v++) if (v !== warp.index) warp.seen[v] = Math.max(warp.seen[v]!, block.released[v]!);
    // An atomic of another lane of the same warp orders as well.
    warp.seen[warp.index] = Math.max(warp.seen[warp.index]!, block.released[warp.index]!);
    this.retag(warp);
  }

  /** bar.warp.sync: orders the lanes of one warp. */
  warpBarrier(warp: Warp): void {
    if (!this.enabled) return;
    warp.seen[warp.index] = warp.time;
    warp.time++;
    this.retag(warp);
  }

  /** fence.proxy.async: what this warp wrote to shared memory, or knows that others wrote, may now be read by products. */
  fenceProxy(warp: Warp): void {
    if (!this.enabled) return;
    const { proxied } = warp.block;
    for (let v = 0; v < proxied.length; v++) proxied[v] = Math.max(proxied[v]!, v === warp.index ? warp.time : warp.seen[v]!);
    warp.time++;
    this.retag(warp);
  }

  /** A bulk copy's own writes need no such fence. */
  writesAsBulk(warp: Warp): void {
    const { proxied } = warp.block;
    proxied[warp.index] = Math.max(proxied[warp.index]!, warp.time);
  }

  /**
   * A shared word is read by a product: refused where it was written in the ordinary way and not fenced since. Gives a number that another write
   * changes. @throws SimulationError
   */
  readByProduct(warp: Warp, site: number, word: number): number {
    if (!this.enabled) return 0;
    const writer = this.writers[word]!;
    const tags = writer === split ? this.bytes.get(word)!.subarray(0, 4) : [writer];
    let stamp = 0;
    for (const tag of tags) {
      stamp = (stamp + tag) | 0;
      const name = tag & who;
      if (tag === 0 || tag >>> 11 <= warp.block.proxied[name >> 5]!) continue;
      const what = `reads shared byte ${(word - warp.tagBase) * 4}, which thread ${warp.block.threadName(name)} wrote: no fence.proxy.async comes after that`;
      throw this.launch.error("race", what, warp, 0, site);
    }
    return stamp;
  }

  private retag(warp: Warp): void {
    if (warp.time > lastTime) {
      const { block } = warp;
      this.forget(block.tagBase, (block.sharedBytes + 3) >> 2);
      block.released.fill(0);
      block.proxied.fill(0);
      for (const each of block.warps) {
        each.time = 1;
        each.seen.fill(0);
        each.tag = (1 << 11) | (32 * each.index);
        each.ordered = 0;
      }
    }
    warp.tag = (warp.time << 11) | (32 * warp.index);
    let least = Number.MAX_SAFE_INTEGER;
    for (let v = 0; v < warp.seen.length; v++) least = Math.min(least, warp.seen[v]!);
    warp.ordered = (least + 1) << 11;
  }

  /** True if what a tag stands for may have happened at the same time as what `warp` does now in `thread`. */
  private unordered(tag: number, warp: Warp, thread: number, word: number): boolean {
    const name = tag & who;
    const time = tag >>> 11;
    if (tag < warp.ordered || name === thread) return false;
    if (name < severalLanes) return warp.seen[name >> 5]! < time;
    if (name < severalWarps) return warp.seen[name - severalLanes]! < time;
    const mask = this.readerWarps[word]!;
    for (let v = 0; v < warp.seen.length; v++) if ((mask >>> v) & 1 && v !== warp.index && warp.seen[v]! < time) return true;
    return false;
  }

  private report(warp: Warp, lane: number, site: number, word: number, tag: number, mine: string, theirs: string): Error {
    const { block } = warp;
    const address = (word - warp.tagBase) * 4;
    const name = tag & who;
    const other =
      name < severalLanes
        ? `thread ${block.threadName(name)}`
        : name < severalWarps
          ? `other lanes of warp ${name - severalLanes}`
          : "other warps";
    return this.launch.error(
      "race",
      `race on shared byte ${address}: this thread ${mine} what ${other} ${theirs} with no barrier between`,
      warp,
      lane,
      site,
    );
  }

  read(warp: Warp, lane: number, site: number, word: number): void {
    const writer = this.writers[word]!;
    if (writer === split) {
      for (let k = 0; k < 4; k++) this.touchByte(warp, lane, site, word, k, false);
      return;
    }
    const thread = 32 * warp.index + lane;
    if (this.unordered(writer, warp, thread, word)) throw this.report(warp, lane, site, word, writer, "reads", "wrote");
    const mine = warp.tag + lane;
    const reader = this.readers[word]!;
    const name = reader & who;
    if (reader < warp.ordered || name === thread) {
      this.readers[word] = mine;
      return;
    }
    if (name === severalWarps) {
      this.readerWarps[word] = this.readerWarps[word]! | (1 << warp.index);
      return;
    }
    const otherWarp = name < severalLanes ? name >> 5 : name - severalLanes;
    const time = Math.min(reader >>> 11, warp.time);
    if (otherWarp === warp.index) this.readers[word] = (time << 11) | (severalLanes + warp.index);
    else {
      this.readers[word] = (time << 11) | severalWarps;
      this.readerWarps[word] = (1 << otherWarp) | (1 << warp.index);
    }
  }

  write(warp: Warp, lane: number, site: number, word: number): void {
    const writer = this.writers[word]!;
    if (writer === split) {
      for (let k = 0; k < 4; k++) this.touchByte(warp, lane, site, word, k, true);
      return;
    }
    const thread = 32 * warp.index + lane;
    if (this.unordered(writer, warp, thread, word)) throw this.report(warp, lane, site, word, writer, "writes", "wrote");
    const reader = this.readers[word]!;
    if (this.unordered(reader, warp, thread, word)) throw this.report(warp, lane, site, word, reader, "writes", "read");
    this.writers[word] = warp.tag + lane;
  }

  /** An access narrower than a word, `address` in the block's shared window. */
  narrow(warp: Warp, lane: number, site: number, address: number, bytes: number, writes: boolean): void {
    if (!this.enabled) return;
    const word = (address >>> 2) + warp.tagBase;
    if (this.writers[word] !== split) {
      const tags = new Int32Array(8);
      tags.fill(this.writers[word]!, 0, 4);
      tags.fill(this.readers[word]!, 4, 8);
      this.bytes.set(word, tags);
      this.writers[word] = split;
    }
    for (let k = 0; k < bytes; k++) this.touchByte(warp, lane, site, word, (address & 3) + k, writes);
  }

  private touchByte(warp: Warp, lane: number, site: number, word: number, byte: number, writes: boolean): void {
    const tags = this.bytes.get(word)!;
    const thread = 32 * warp.index + lane;
    const writer = tags[byte]!;
    const verb = writes ? "writes" : "reads";
    if (this.unordered(writer, warp, thread, word)) throw this.report(warp, lane, site, word, writer, verb, "wrote");
    const reader = tags[4 + byte]!;
    if (writes) {
      if (this.unordered(reader, warp, thread, word)) throw this.report(warp, lane, site, word, reader, verb, "read");
      tags[byte] = warp.tag + lane;
    } else if (!this.unordered(reader, warp, thread, word)) tags[4 + byte] = warp.tag + lane;
  }
}
