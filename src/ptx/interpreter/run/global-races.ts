// Finds two blocks at the same bytes of global memory, one of them storing, with nothing between that orders them. Order between blocks comes as
// the PTX memory model has it: what one did before a fence and a strong store after it (or a release) is known to another after a strong load
// and a fence after that (or an acquire). A load is over for whoever saw a strong store that came after it, fences or none: data that carry
// their own flag rely on that. Where all this is coarse it is so to the side of silence: the warps of a block share a clock, any strong load sees
// every strong store, and of the readers of a word the last two are kept. Fences of the block alone (.cta) do not count.
import type { LaunchState } from "./launch-state.js";
import type { Warp } from "./warp.js";

const pageWords = 1024;

/** Who touched the words of a stretch of memory last: block numbers from 1, 0 for none, and the times of those blocks. */
interface Page {
  readonly writer: Int32Array;
  readonly written: Int32Array;
  readonly reader: Int32Array;
  readonly read: Int32Array;
  /** The last reader of another block than `reader`. */
  readonly otherReader: Int32Array;
  readonly otherRead: Int32Array;
}

function emptyPage(): Page {
  const words = () => new Int32Array(pageWords);
  return { writer: words(), written: words(), reader: words(), read: words(), otherReader: words(), otherRead: words() };
}

/** What a block knows of the times of the others. */
export class BlockOrder {
  /** Its number, from 1. */
  readonly block: number;
  time = 1;
  /** The times of other blocks up to which their accesses come before whatever this block does next. */
  readonly known: Int32Array;
  /** What strong loads saw, which the next fence makes known. */
  readonly seen: Int32Array;
  /** What the last fence covers, which strong stores after it publish. */
  readonly fenced: Int32Array;
  /** The times up to which the loads of other blocks are over. */
  readonly over: Int32Array;
  /** Whether something was touched or learned since the last strong store. */
  stirred = false;
  /** Whether something was touched or learned since the last fence. */
  changed = false;
  /** The state of what all published when this block looked last, and whether it published what its last fence covers. */
  looked = 0;
  published = true;

  constructor(block: number, blocks: number) {
    this.block = block;
    this.known = new Int32Array(blocks + 1);
    this.seen = new Int32Array(blocks + 1);
    this.fenced = new Int32Array(blocks + 1);
    this.over = new Int32Array(blocks + 1);
  }
}

function raise(target: Int32Array, by: Int32Array): void {
  for (let k = 0; k < target.length; k++) if (by[k]! > target[k]!) target[k] = by[k]!;
}

export class GlobalRaces {
  private readonly launch: LaunchState;
  private readonly blocks: number;
  private readonly pages = new Map<number, Page>();
  /** Bytes that accesses narrower than a word touched, as pages of one byte each, by address; and the words that have such. */
  private readonly bytes = new Map<number, Page>();
  private readonly splitWords = new Set<number>();
  private readonly published: Int32Array;
  private readonly finished: Int32Array;
  private publications = 0;
  private lastNumber = -1;
  private lastPage: Page = emptyPage();

  constructor(blocks: number, launch: LaunchState) {
    this.launch = launch;
    this.blocks = blocks;
    this.published = new Int32Array(blocks + 1);
    this.finished = new Int32Array(blocks + 1);
  }

  /** What a block of that place in the grid's order begins with. */
  enter(block: number): BlockOrder {
    return new BlockOrder(block + 1, this.blocks);
  }

  /** Makes what strong loads saw known, and what was done so far fit to be published. */
  fence(order: BlockOrder): void {
    if (!order.changed) return;
    order.changed = false;
    raise(order.known, order.seen);
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

  /** A strong load. */
  observe(order: BlockOrder, acquire: boolean): void {
    if (order.looked !== this.publications) {
      order.looked = this.publications;
      raise(order.seen, this.published);
      raise(order.over, this.finished);
      order.changed = true;
      order.stirred = true;
    }
    if (acquire) raise(order.known, order.seen);
  }

  private page(word: number): Page {
    const number = Math.floor(word / pageWords);
    if (number === this.lastNumber) return this.lastPage;
    let page = this.pages.get(number);
    if (page === undefined) {
      page = emptyPage();
      this.pages.set(number, page);
    }
    this.lastNumber = number;
    this.lastPage = page;
    return page;
  }

  /** A load or store of `bytes` bytes at a place in the heap. Throws SimulationError where it races. */
  touch(warp: Warp, lane: number, site: number, place: number, bytes: number, stores: boolean): void {
    const order = warp.block.order!;
    order.changed = true;
    order.stirred = true;
    if (bytes < 4) {
      this.word(warp, order, lane, site, this.page(place >>> 2), (place >>> 2) % pageWords, place, stores, false);
      this.splitWords.add(place >>> 2);
      for (let k = 0; k < bytes; k++) this.byte(warp, order, lane, site, place + k, stores);
      return;
    }
    for (let word = place >>> 2; word < (place + bytes) >>> 2; word++) {
      this.word(warp, order, lane, site, this.page(word), word % pageWords, 4 * word, stores, true);
      if (this.splitWords.size > 0 && this.splitWords.has(word))
        for (let k = 0; k < 4; k++) this.byte(warp, order, lane, site, 4 * word + k, stores);
    }
  }

  private byte(warp: Warp, order: BlockOrder, lane: number, site: number, place: number, stores: boolean): void {
    let page = this.bytes.get(place);
    if (page === undefined) {
      const one = () => new Int32Array(1);
      page = { writer: one(), written: one(), reader: one(), read: one(), otherReader: one(), otherRead: one() };
      this.bytes.set(place, page);
    }
    this.word(warp, order, lane, site, page, 0, place, stores, true);
  }

  private word(
    warp: Warp,
    order: BlockOrder,
    lane: number,
    site: number,
    page: Page,
    at: number,
    place: number,
    stores: boolean,
    notes: boolean,
  ): void {
    const { block, known, over, time } = order;
    const { writer, written, reader, read, otherReader, otherRead } = page;
    const unordered = (other: number, when: number, times: Int32Array) => other !== 0 && other !== block && times[other]! < when;
    const verb = stores ? "stores" : "loads";
    if (unordered(writer[at]!, written[at]!, known)) throw this.report(warp, lane, site, place, verb, writer[at]!, "stored");
    if (stores) {
      if (unordered(reader[at]!, read[at]!, over)) throw this.report(warp, lane, site, place, verb, reader[at]!, "loaded");
      if (unordered(otherReader[at]!, otherRead[at]!, over)) throw this.report(warp, lane, site, place, verb, otherReader[at]!, "loaded");
      if (!notes) return;
      writer[at] = block;
      written[at] = time;
    } else if (notes) {
      if (reader[at] !== block) {
        otherReader[at] = reader[at]!;
        otherRead[at] = read[at]!;
        reader[at] = block;
      }
      read[at] = time;
    }
  }

  private report(warp: Warp, lane: number, site: number, place: number, mine: string, other: number, theirs: string): Error {
    const { x, y } = warp.block.gridSize;
    const [number, row] = [other - 1, Math.floor((other - 1) / x)];
    const name = `(${number % x},${row % y},${Math.floor(row / y)})`;
    const { words } = this.launch.access.describe(place);
    return this.launch.error(
      "race",
      `race on global memory, ${words}: this thread ${mine} what block ${name} ${theirs}, and nothing orders the two: a fence before a flag is stored, and one after it is loaded, do`,
      warp,
      lane,
      site,
    );
  }
}
