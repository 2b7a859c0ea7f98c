// Finds two threads at the same bytes of global memory, one of them storing, with nothing between
// that orders them: of one block by what orders its warps (races.ts), of two blocks by what orders
// blocks. Two stores of equal bytes are no race. Order between blocks comes as the PTX memory model
// has it: what one did before a fence and a strong store after it (or a release) is known to
// another after a strong load and a fence after that (or an acquire). A load is over for whoever
// saw a strong store that came after it, fences or none: data that carry their own flag rely on
// that. Where all this is coarse it is so to the side of silence: the warps of a block share a
// clock, any strong load sees every strong store, and of the readers of a word the last two are
// kept. Fences of the block alone (.cta) do not count.
import { Accesses, accessBytes, type Conflict, nameOf } from "./accesses.js";
import type { LaunchState } from "./launch-state.js";
import type { Spares } from "./spares.js";
import type { Warp } from "./warp.js";

/** Words, or bytes, of a page. */
const pageLength = 1024;

/** Who touched words or bytes last: block numbers from 1, 0 for none, and their times. */
export class Page {
  readonly writer: Int32Array;
  readonly written: Int32Array;
  readonly reader: Int32Array;
  readonly read: Int32Array;
  /** The last reader of another block than `reader`. */
  readonly otherReader: Int32Array;
  readonly otherRead: Int32Array;
  /** What threads of the block `writer` stored, and threads of the block `reader` loaded. */
  readonly threads: Accesses;
  private readonly all: Int32Array;

  constructor() {
    const buffer = new ArrayBuffer((accessBytes + 24) * pageLength);
    const part = (k: number): Int32Array => new Int32Array(buffer, (accessBytes + 4 * k) * pageLength, pageLength);
    this.threads = new Accesses(pageLength, buffer);
    this.writer = part(0);
    this.written = part(1);
    this.reader = part(2);
    this.read = part(3);
    this.otherReader = part(4);
    this.otherRead = part(5);
    this.all = new Int32Array(buffer);
  }

  clear(): void {
    this.all.fill(0);
  }
}

/** What another block did to a word: its number, from 1, and whether it stored. */
interface BlockConflict {
  readonly block: number;
  readonly stored: boolean;
}

type AnyConflict = BlockConflict | Conflict;

class Pages {
  private readonly touched = new Map<number, Page>();
  private lastNumber = -1;
  private lastPage!: Page;
  private readonly spares: Spares;

  constructor(spares: Spares) {
    this.spares = spares;
  }

  /** The page of a word or byte; its offset there is what is left over. */
  of(offset: number): Page {
    const number = Math.floor(offset / pageLength);
    if (number === this.lastNumber) return this.lastPage;
    let page = this.touched.get(number);
    if (page === undefined) {
      page = this.spares.page();
      this.touched.set(number, page);
    }
    this.lastNumber = number;
    this.lastPage = page;
    return page;
  }

  giveBack(): void {
    for (const page of this.touched.values()) this.spares.givePage(page);
    this.touched.clear();
    this.lastNumber = -1;
  }

  forgetThreads(block: number): void {
    for (const { writer, reader, threads } of this.touched.values())
      for (let at = 0; at < pageLength; at++) if (writer[at] === block || reader[at] === block) threads.forget(at, 1);
  }
}

/** What a block knows of the times of the others. */
export class BlockOrder {
  /** Its number, from 1. */
  readonly block: number;
  time = 1;
  /** Other blocks' times up to which their accesses precede all later ones of this block. */
  readonly known: Int32Array;
  /** What strong loads saw, which the next fence makes known. */
  readonly loaded: Int32Array;
  /** What the last fence covers, which strong stores after it publish. */
  readonly fenced: Int32Array;
  /** The times up to which the loads of other blocks are over. */
  readonly over: Int32Array;
  /** Whether something was touched or learned since the last strong store. */
  stirred = false;
  /** Whether something was touched or learned since the last fence. */
  changed = false;
  /** What all had published at the last check, and whether its own last fence is published. */
  looked = 0;
  published = true;

  constructor(block: number, blocks: number) {
    this.block = block;
    this.known = new Int32Array(blocks + 1);
    this.loaded = new Int32Array(blocks + 1);
    this.fenced = new Int32Array(blocks + 1);
    this.over = new Int32Array(blocks + 1);
  }
}

function raise(target: Int32Array, by: Int32Array): void {
  for (let k = 0; k < target.length; k++) if (by[k]! > target[k]!) target[k] = by[k]!;
}

/** True if another block's access at its time `when` is after what is known of its times. */
function isUnordered(other: number, when: number, block: number, times: Int32Array): boolean {
  return other !== 0 && other !== block && times[other]! < when;
}

export class GlobalRaces {
  private readonly launch: LaunchState;
  private readonly blocks: number;
  private readonly words: Pages;
  /** Bytes that accesses narrower than a word touched, and the words that have such. */
  private readonly bytes: Pages;
  private readonly splitWords = new Set<number>();
  private readonly published: Int32Array;
  private readonly finished: Int32Array;
  private publications = 0;

  constructor(blocks: number, launch: LaunchState, spares: Spares) {
    this.launch = launch;
    this.blocks = blocks;
    this.words = new Pages(spares);
    this.bytes = new Pages(spares);
    this.published = new Int32Array(blocks + 1);
    this.finished = new Int32Array(blocks + 1);
  }

  /** After the launch: leaves what it worked in to the next. */
  giveBack(): void {
    this.words.giveBack();
    this.bytes.giveBack();
  }

  /** What a block of that offset in the grid's order begins with. */
  enter(block: number): BlockOrder {
    return new BlockOrder(block + 1, this.blocks);
  }

  /** Makes what strong loads saw known, and what was done so far fit to be published. */
  fence(order: BlockOrder): void {
    if (!order.changed) return;
    order.changed = false;
    raise(order.known, order.loaded);
    order.fenced.set(order.known);
    order.fenced[order.block] = order.time++;
    order.published = false;
  }

  /** A strong store: what the last fence covers may be learned by whoever loads strongly. */
  publish(order: BlockOrder, release: boolean): void {
    if (release) this.fence(order);
    if (order.stirred) {
      order.stirred = false;
      raise(this.finished, order.over);
      this.finished[order.block] = order.time++;
      this.publications++;
    }
    if (order.published) return;
    order.published = true;
    raise(this.published, order.fenced);
    this.publications++;
  }

  observe(order: BlockOrder, acquire: boolean): void {
    if (order.looked !== this.publications) {
      order.looked = this.publications;
      raise(order.loaded, this.published);
      raise(order.over, this.finished);
      order.changed = true;
      order.stirred = true;
    }
    if (acquire) raise(order.known, order.loaded);
  }

  /** Forgets which threads of a block did what, as their times begin anew. */
  forgetThreads({ block }: BlockOrder): void {
    this.words.forgetThreads(block);
    this.bytes.forgetThreads(block);
  }

  /** A load or store at an offset in the heap. Throws SimulationError if it races. */
  touch(warp: Warp, lane: number, site: number, offset: number, bytes: number, stores: boolean): void {
    const order = warp.block.order!;
    order.changed = true;
    order.stirred = true;
    const word = offset >>> 2;
    if (bytes < 4) {
      const conflict = this.blockConflict(order, this.words.of(word), word % pageLength, stores);
      const threads = () => this.threadsOf(warp, this.words.of(word), word % pageLength);
      const other = conflict ?? threads().conflict(word % pageLength, warp, lane, stores, false);
      if (other !== undefined) this.refuse(warp, lane, site, offset, bytes, stores, other);
      this.splitWords.add(word);
      this.each(warp, lane, site, offset, bytes, stores);
      return;
    }
    for (let k = word; k < (offset + bytes) >>> 2; k++) {
      const conflict = this.note(this.words.of(k), k % pageLength, warp, lane, site, stores);
      if (conflict !== undefined) this.refuse(warp, lane, site, 4 * k, 4, stores, conflict);
      if (this.splitWords.size > 0 && this.splitWords.has(k)) this.each(warp, lane, site, 4 * k, 4, stores);
    }
  }

  /** A strong access: other blocks' accesses are ordered with it, or checked when they happen. */
  touchStrong(warp: Warp, lane: number, site: number, offset: number, bytes: number, stores: boolean): void {
    const first = offset >>> 2;
    if (bytes < 4) this.splitWords.add(first);
    for (let word = first; 4 * word < offset + bytes; word++) {
      const at = word % pageLength;
      const threads = this.threadsOf(warp, this.words.of(word), at);
      const conflict = bytes < 4 ? threads.conflict(at, warp, lane, stores, true) : threads.touchStrong(at, warp, lane, stores);
      if (conflict !== undefined) throw this.error(warp, lane, site, 4 * word, stores, conflict);
      if (this.splitWords.size === 0 || !this.splitWords.has(word)) continue;
      for (let byte = Math.max(offset, 4 * word); byte < Math.min(offset + bytes, 4 * word + 4); byte++) {
        const [page, k] = [this.bytes.of(byte), byte % pageLength];
        const other = this.threadsOf(warp, page, k).touchStrong(k, warp, lane, stores);
        if (other !== undefined) throw this.error(warp, lane, site, byte, stores, other);
      }
    }
  }

  /** What threads of the warp's block did there: what another block's did is forgotten. */
  private threadsOf(warp: Warp, { writer, reader, threads }: Page, at: number): Accesses {
    const { block } = warp.block.order!;
    if (writer[at] !== block) threads.writers[at] = 0;
    if (reader[at] !== block) threads.readers[at] = 0;
    return threads;
  }

  private each(warp: Warp, lane: number, site: number, first: number, bytes: number, stores: boolean): void {
    for (let offset = first; offset < first + bytes; offset++) {
      const conflict = this.note(this.bytes.of(offset), offset % pageLength, warp, lane, site, stores);
      if (conflict !== undefined) this.refuse(warp, lane, site, offset, 1, stores, conflict);
    }
  }

  /** What another block did that an access now conflicts with. */
  private blockConflict({ block, known, over }: BlockOrder, page: Page, at: number, stores: boolean): BlockConflict | undefined {
    const { writer, written, reader, read, otherReader, otherRead } = page;
    if (isUnordered(writer[at]!, written[at]!, block, known)) return { block: writer[at]!, stored: true };
    if (!stores) return undefined;
    if (isUnordered(reader[at]!, read[at]!, block, over)) return { block: reader[at]!, stored: false };
    if (isUnordered(otherReader[at]!, otherRead[at]!, block, over)) return { block: otherReader[at]!, stored: false };
    return undefined;
  }

  private note(page: Page, at: number, warp: Warp, lane: number, site: number, stores: boolean): AnyConflict | undefined {
    const order = warp.block.order!;
    const { block, time } = order;
    const { writer, written, reader, read, otherReader, otherRead } = page;
    const conflict = this.blockConflict(order, page, at, stores);
    if (conflict !== undefined) return conflict;
    const threads = this.threadsOf(warp, page, at);
    const other = stores ? threads.store(at, warp, lane, site) : threads.load(at, warp, lane);
    if (other !== undefined) return other;
    if (stores) {
      writer[at] = block;
      written[at] = time;
      return undefined;
    }
    if (reader[at] !== block) {
      otherReader[at] = reader[at]!;
      otherRead[at] = read[at]!;
      reader[at] = block;
    }
    read[at] = time;
    return undefined;
  }

  private refuse(warp: Warp, lane: number, site: number, offset: number, bytes: number, stores: boolean, conflict: AnyConflict): void {
    this.launch.stores.refuse(conflict, stores, offset, bytes, () => this.error(warp, lane, site, offset, stores, conflict));
  }

  private error(warp: Warp, lane: number, site: number, offset: number, stores: boolean, conflict: AnyConflict): Error {
    const { words } = this.launch.access.memory.describe(offset);
    const [name, order] =
      "block" in conflict
        ? [this.blockName(warp, conflict.block), "nothing orders the two: a fence before a flag is stored, and one after it is loaded, do"]
        : [nameOf(warp, conflict.tag), "no barrier is between"];
    const did = `this thread ${stores ? "stores" : "loads"} what ${name} ${conflict.stored ? "stored" : "loaded"}`;
    return warp.error("race", `race on global memory, ${words}: ${did}, and ${order}`, lane, site);
  }

  private blockName(warp: Warp, block: number): string {
    const { x, y } = warp.block.at.gridSize;
    const [number, row] = [block - 1, Math.floor((block - 1) / x)];
    return `block (${number % x},${row % y},${Math.floor(row / y)})`;
  }
}
