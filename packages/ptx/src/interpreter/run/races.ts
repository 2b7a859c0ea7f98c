// Finds two threads of a block at the same shared bytes, one of them storing, with nothing between
// that orders them. Order comes from barriers (of the block, named, of a warp, of a cluster,
// mbarrier) and from atomics, volatile, release and acquire accesses and fences. What lanes loaded
// before an instruction that a whole warp does together, as a shuffle, is in order with what others
// of them store after it. Each warp keeps a vector of the times it knows of the others (Fidge 1988,
// Mattern 1989). Where this is coarse it is so to the side of silence: lanes of a warp share a
// clock, and any strong access orders. Two stores of equal bytes are no race, nor are those of one
// instruction of a warp.
import { Accesses, type Conflict, nameOf, threadOf } from "./accesses.js";
import type { LaunchState } from "./launch-state.js";
import type { Spares } from "./spares.js";
import type { Warp } from "./warp.js";

/** A word whose bytes are tracked one by one, because a narrower access touched it. */
const split = 0x7fffffff;
const lastTime = 1_000_000;

export class Races {
  readonly words: Accesses;
  private readonly bytes = new Map<number, Accesses>();
  /** Whether the times of warps are kept: for shared memory, or only for global memory. */
  private readonly enabled: boolean;
  private readonly launch: LaunchState;

  constructor(words: number, launch: LaunchState, spares: Spares) {
    const { races, globalRaces } = launch.checks;
    this.words = spares.accessesOf(races ? words : 0);
    this.enabled = races || globalRaces;
    this.launch = launch;
  }

  forget(first: number, count: number): void {
    this.words.forget(first, count);
    if (this.bytes.size > 0) for (const word of this.bytes.keys()) if (word >= first && word < first + count) this.bytes.delete(word);
  }

  /** Orders everything that `warps` did before everything they do next. */
  join(warps: readonly Warp[], known: Int32Array | undefined): void {
    if (!this.enabled || warps.length === 0) return;
    const all = known ?? new Int32Array(warps[0]!.known.length);
    let latest = 0;
    for (const warp of warps) {
      for (let v = 0; v < all.length; v++) all[v] = Math.max(all[v]!, warp.known[v]!);
      all[warp.index] = Math.max(all[warp.index]!, warp.time);
      latest = Math.max(latest, warp.time);
    }
    for (const warp of warps) {
      warp.known.set(all);
      warp.time = latest + 1;
      this.retag(warp);
    }
  }

  /** Adds what a warp has done to `known`, for those who will wait. */
  contribute(warp: Warp, known: Int32Array): void {
    if (!this.enabled) return;
    for (let v = 0; v < known.length; v++) known[v] = Math.max(known[v]!, warp.known[v]!);
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
    for (let v = 0; v < warp.known.length; v++) if (v !== warp.index) warp.known[v] = Math.max(warp.known[v]!, block.released[v]!);
    // An atomic of another lane of the same warp orders as well.
    warp.known[warp.index] = Math.max(warp.known[warp.index]!, block.released[warp.index]!);
    this.retag(warp);
  }

  /** bar.warp.sync: orders the lanes of one warp. */
  warpBarrier(warp: Warp): void {
    if (!this.enabled) return;
    warp.known[warp.index] = warp.time;
    warp.time++;
    this.retag(warp);
  }

  /** All lanes did an instruction together: their earlier loads are over, their stores are not. */
  meet(warp: Warp): void {
    if (!this.enabled) return;
    warp.met = warp.time++;
    if (warp.time > lastTime) this.retag(warp);
    else warp.retag();
  }

  /** fence.proxy.async: shared memory that this warp wrote or knows of is open to products. */
  fenceProxy(warp: Warp): void {
    if (!this.enabled) return;
    const { proxied } = warp.block;
    for (let v = 0; v < proxied.length; v++) proxied[v] = Math.max(proxied[v]!, v === warp.index ? warp.time : warp.known[v]!);
    warp.time++;
    this.retag(warp);
  }

  /** A bulk copy's own writes need no such fence. */
  writesAsBulk(warp: Warp): void {
    const { proxied } = warp.block;
    proxied[warp.index] = Math.max(proxied[warp.index]!, warp.time);
  }

  /** Refuses a product's read of an unfenced word, or returns a stamp. @throws SimulationError */
  readByProduct(warp: Warp, site: number, word: number): number {
    if (!this.launch.checks.races) return 0;
    const writer = this.words.writers[word]!;
    const tags = writer === split ? this.bytes.get(word)!.writers : [writer];
    let stamp = 0;
    for (const tag of tags) {
      stamp = (stamp + tag) | 0;
      const name = threadOf(tag);
      if (tag === 0 || tag >>> 11 <= warp.block.proxied[name >> 5]!) continue;
      const what = `reads shared byte ${(word - warp.tagBase) * 4}, which thread ${warp.block.threadName(name)} wrote: no fence.proxy.async comes after that`;
      throw warp.error("race", what, 0, site);
    }
    return stamp;
  }

  private retag(warp: Warp): void {
    if (warp.time > lastTime) {
      const { block } = warp;
      this.forget(block.at.tagBase, (block.at.sharedBytes + 3) >> 2);
      this.launch.globalRaces?.forgetThreads(block.order!);
      block.released.fill(0);
      block.proxied.fill(0);
      for (const each of block.warps) {
        each.time = 1;
        each.met = 0;
        each.known.fill(0);
        each.retag();
        each.ordered = 0;
      }
    }
    warp.retag();
    let least = Number.MAX_SAFE_INTEGER;
    for (let v = 0; v < warp.known.length; v++) least = Math.min(least, warp.known[v]!);
    warp.ordered = (least + 1) << 11;
  }

  private report(warp: Warp, lane: number, site: number, word: number, { tag, stored }: Conflict, writes: boolean): Error {
    const address = (word - warp.tagBase) * 4;
    const what = `race on shared byte ${address}: this thread ${writes ? "writes" : "reads"} what ${nameOf(warp, tag)} ${stored ? "wrote" : "read"} with no barrier between`;
    return warp.error("race", what, lane, site);
  }

  /** Refuses a conflict of a word, or with `byte` of that byte alone. */
  private refuse(warp: Warp, lane: number, site: number, word: number, conflict: Conflict, writes: boolean, byte?: number): void {
    const offset = warp.sharedBase + 4 * (word - warp.tagBase) + (byte ?? 0);
    const error = (): Error => this.report(warp, lane, site, word, conflict, writes);
    this.launch.stores.refuse(conflict, writes, offset, byte === undefined ? 4 : 1, error);
  }

  read(warp: Warp, lane: number, site: number, word: number): void {
    if (this.words.writers[word] === split) {
      for (let k = 0; k < 4; k++) this.touchByte(warp, lane, site, word, k, false);
      return;
    }
    const conflict = this.words.load(word, warp, lane);
    if (conflict !== undefined) this.refuse(warp, lane, site, word, conflict, false);
  }

  /** Reads of `count` words in a row. */
  readAll(warp: Warp, lane: number, site: number, first: number, count: number): void {
    const { words } = this;
    for (let word = first; word < first + count; word++)
      if (words.writers[word]! >= warp.ordered || words.readers[word] !== warp.lanesTag) this.read(warp, lane, site, word);
  }

  /** A store; `arrives`: what it stores comes later, and counts as other bytes than those there. */
  write(warp: Warp, lane: number, site: number, word: number, arrives = false): void {
    if (this.words.writers[word] === split) {
      for (let k = 0; k < 4; k++) this.touchByte(warp, lane, site, word, k, true);
      return;
    }
    const conflict = this.words.store(word, warp, lane, site);
    if (conflict === undefined) return;
    if (arrives) throw this.report(warp, lane, site, word, conflict, true);
    this.refuse(warp, lane, site, word, conflict, true);
  }

  /** A strong access of `bytes` bytes, `address` in the block's shared window. */
  touchStrong(warp: Warp, lane: number, site: number, address: number, bytes: number, stores: boolean): void {
    const first = (address >>> 2) + warp.tagBase;
    if (bytes < 4) this.split(first);
    for (let word = first; word < first + bytes / 4; word++) {
      const each = this.words.writers[word] === split ? this.bytes.get(word)! : undefined;
      const [from, count] = each === undefined ? [word, 1] : bytes < 4 ? [address & 3, bytes] : [0, 4];
      for (let at = from; at < from + count; at++) {
        const conflict = (each ?? this.words).touchStrong(at, warp, lane, stores);
        if (conflict !== undefined) throw this.report(warp, lane, site, word, conflict, stores);
      }
    }
  }

  /** An access narrower than a word, `address` in the block's shared window. */
  narrow(warp: Warp, lane: number, site: number, address: number, bytes: number, writes: boolean): void {
    const word = (address >>> 2) + warp.tagBase;
    this.split(word);
    for (let k = 0; k < bytes; k++) this.touchByte(warp, lane, site, word, (address & 3) + k, writes);
  }

  /** Follows a word's bytes one by one from now on. */
  private split(word: number): void {
    if (this.words.writers[word] === split) return;
    const each = new Accesses(4);
    for (let k = 0; k < 4; k++) each.copy(k, this.words, word);
    this.bytes.set(word, each);
    this.words.writers[word] = split;
  }

  private touchByte(warp: Warp, lane: number, site: number, word: number, byte: number, writes: boolean): void {
    const each = this.bytes.get(word)!;
    const conflict = writes ? each.store(byte, warp, lane, site) : each.load(byte, warp, lane);
    if (conflict !== undefined) this.refuse(warp, lane, site, word, conflict, writes, byte);
  }
}
