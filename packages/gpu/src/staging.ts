// What asynchronous reads and waits need again and again, kept for the next: events, and
// page-locked memory that results come in by.
import { type ContextCore, eventFlags } from "./context-core.js";
import { describeCopy2D, hostSide } from "./copies.js";
import { type ArrayOf, arrayOf, type Dtype } from "./dtypes.js";
import { CudaError } from "./errors.js";
import type { LaunchHistory } from "./launch-history.js";
import { Holding } from "./ledger.js";
import { blocksOf, bytesOfParts, type HostPart, type PartBlock, rowsOf } from "./parts.js";
import { alignedMemory, isLocked, noteArrayUse } from "./pinned.js";
import type { DeviceSlice } from "./slice.js";
import { type AwaitedEvent, destroyEvent, waitFor } from "./waiting.js";

/** Bytes of a block: of small transfers, and of large ones. */
const blockSizes = [1 << 20, 4 << 20] as const;
/**
 * Blocks of one transfer: while some travel, others are copied on the host. To copy a MiB once more
 * takes less time than to page-lock it, which is half a millisecond on an H200's host.
 */
const mostBlocks = 8;
/** Blocks beyond so many bytes are not kept. */
const mostKept = mostBlocks * (blockSizes[0] + blockSizes[1]);
/** What lies between two parts comes along with them, up to so many bytes. */
const mostBetween = 1 << 16;
/** Pieces of fewer bytes are copied by this thread: another takes some microseconds to begin. */
const leastHandedOn = 1 << 16;

/** Called right before and after a copy is given to a stream. */
export interface CopyMarks {
  /** Called right before the copy is given. */
  before(): void;
  /** Called right after it is given, whether it is done or not. */
  after(): void;
}

/** The stream that orders copies. */
export interface StagedOn {
  readonly stream: bigint;
  readonly history: LaunchHistory | undefined;
  readonly marks?: CopyMarks | undefined;
}

/** Page-locked memory. */
interface Block {
  readonly bytes: Uint8Array;
  readonly holding: Holding;
}

/** How parts are copied. */
interface Transfer {
  /** Whether to the device. */
  readonly up: boolean;
  /** Bytes between two parts that may be copied with them. */
  readonly between: number;
  /** Whether every copy is given to the stream at once, or none. */
  readonly atOnce: boolean;
}

/** Copies a piece through a block; it calls `given` once the copy was given to the stream. */
type BlockWork = (block: Uint8Array, piece: PartBlock, given: () => void) => Promise<void>;

/** A context's events and page-locked blocks for asynchronous work. */
export class Staging {
  readonly #core: ContextCore;
  readonly #events: AwaitedEvent[] = [];
  readonly #blocks: Block[] = [];

  constructor(core: ContextCore) {
    this.#core = core;
  }

  #takeEvent(): AwaitedEvent {
    const kept = this.#events.pop();
    if (kept) return kept;
    const core = this.#core;
    const handle = core.long("cuEventCreate", eventFlags.blockingSync | eventFlags.disableTiming);
    const event: AwaitedEvent = { handle, waits: 0, destroyed: false };
    core.ledger.enter(new Holding("event", "waiting", 0, () => destroyEvent(core, event), true));
    return event;
  }

  /**
   * Resolves when all that the stream was given before this call is done. @throws CudaError, also
   * of that work.
   */
  async whenDone({ stream, history }: StagedOn): Promise<void> {
    const event = this.#takeEvent();
    try {
      this.#core.callOn(history, "cuEventRecord", event.handle, stream);
      await waitFor(this.#core, event, history);
    } finally {
      this.#events.push(event);
    }
  }

  /**
   * A copy of device memory as it is after all that the stream was given before this call. Copies
   * of up to 32 MiB come through blocks that are kept; larger ones into the result itself,
   * page-locked for the while.
   *
   * @throws CudaError, also of the work before.
   */
  async download<T extends Dtype>(slice: DeviceSlice<T>, on: StagedOn): Promise<ArrayOf<T>> {
    if (slice.byteLength > mostBlocks * blockSizes[1]) return this.#directly(slice, on);
    const array = arrayOf(slice.dtype, slice.length);
    await this.toHost(slice, [{ start: 0, array }], on, true);
    return array;
  }

  /**
   * As `Stream.toHost`, of parts that were checked. With `atOnce` every copy is given to the stream
   * before this returns.
   */
  async toHost(slice: DeviceSlice, parts: readonly HostPart[], on: StagedOn, atOnce = false): Promise<void> {
    const core = this.#core;
    for (const bytes of stretchesOf(parts)) if (bytes.byteLength >= blockSizes[1]) core.driver.willWrite?.(bytes);
    await this.#transfer(slice, parts, on, { up: false, between: mostBetween, atOnce }, async (block, { from, to, pieces }, given) => {
      core.callOn(on.history, "cuMemcpyDtoHAsync", block, slice.address + BigInt(from), to - from, on.stream);
      given();
      await this.whenDone(on);
      await this.#copy(pieces.map(({ at, bytes }) => [bytes, block.subarray(at, at + bytes.byteLength)]));
    });
  }

  /** As `Stream.fromHost`, of parts that were checked. */
  async fromHost(slice: DeviceSlice, parts: readonly HostPart[], on: StagedOn): Promise<void> {
    await this.#transfer(slice, parts, on, { up: true, between: 0, atOnce: false }, async (block, { from, to, pieces }, given) => {
      await this.#copy(pieces.map(({ at, bytes }) => [block.subarray(at, at + bytes.byteLength), bytes]));
      this.#core.callOn(on.history, "cuMemcpyHtoDAsync", slice.address + BigInt(from), block, to - from, on.stream);
      given();
      await this.whenDone(on);
    });
  }

  /** Copies page-locked parts as they lie, and the others through blocks by `work`. */
  async #transfer(slice: DeviceSlice, parts: readonly HostPart[], on: StagedOn, how: Transfer, work: BlockWork): Promise<void> {
    on.marks?.before();
    const direct = parts.filter(({ array }) => isLocked(array));
    this.#copyRows(slice, direct, on, how.up);
    const others = direct.length > 0 ? parts.filter(({ array }) => !isLocked(array)) : parts;
    const staged = await this.#throughBlocks(others, on, how, work);
    if (!staged) this.#copyRows(slice, others, on, how.up);
    if (!staged || direct.length > 0) await this.whenDone(on);
  }

  /** Copies parts as they lie: page-locked ones while this returns, others before. */
  #copyRows(slice: DeviceSlice, parts: readonly HostPart[], { stream, history }: StagedOn, up: boolean): void {
    const core = this.#core;
    for (const { start, first, width, rows, devicePitch, hostPitch } of rowsOf(parts)) {
      noteArrayUse(core, first, stream);
      const address = slice.address + BigInt(start);
      const there = { host: false, address, pitchBytes: devicePitch };
      const here = hostSide(core.driver, first, hostPitch);
      if (rows > 1)
        core.callOn(
          history,
          "cuMemcpy2DAsync",
          up ? describeCopy2D(here, there, width, rows) : describeCopy2D(there, here, width, rows),
          stream,
        );
      else if (up) core.callOn(history, "cuMemcpyHtoDAsync", address, first, width, stream);
      else core.callOn(history, "cuMemcpyDtoHAsync", first, address, width, stream);
    }
  }

  /**
   * Has blocks of parts done, as many at a time as there are pieces of page-locked memory for them.
   * False if there are none, or with `atOnce` too few: then nothing was done.
   */
  async #throughBlocks(
    parts: readonly HostPart[],
    { stream, marks }: StagedOn,
    { between, atOnce }: Transfer,
    work: BlockWork,
  ): Promise<boolean> {
    const core = this.#core;
    const bytes = bytesOfParts(parts);
    const size = bytes > mostBlocks * blockSizes[0] ? blockSizes[1] : blockSizes[0];
    const pieces = blocksOf(parts, size, between);
    let toGive = pieces.length;
    const given = () => {
      if (--toGive === 0) marks?.after();
    };
    if (toGive === 0) {
      marks?.after();
      return true;
    }
    const blocks: Block[] = [];
    try {
      const wanted = Math.min(pieces.length, mostBlocks);
      for (let block = this.#takeBlock(size); block; block = blocks.length < wanted ? this.#takeBlock(size) : undefined) blocks.push(block);
      if (blocks.length === 0 || (atOnce && blocks.length < pieces.length)) return false;
      let next = 0;
      const serve = async ({ bytes }: Block): Promise<void> => {
        try {
          while (next < pieces.length) await work(bytes, pieces[next++]!, given);
        } catch (error) {
          next = pieces.length;
          throw error;
        }
      };
      const ends = await Promise.allSettled(blocks.map(serve));
      const failed = ends.find((end) => end.status === "rejected");
      if (!failed) return true;
      // What a failed piece gave to the stream may still be under way.
      if (!core.loss && !core.disposed) core.function("cuStreamSynchronize")(stream);
      throw failed.reason;
    } finally {
      for (const block of blocks) this.#giveBack(block);
    }
  }

  /** Copies on the host: long pieces on other threads, if the driver does that. */
  async #copy(pairs: readonly (readonly [Uint8Array, Uint8Array])[]): Promise<void> {
    const { driver } = this.#core;
    const copies = pairs.map(async ([to, from]) => {
      const copying = from.byteLength >= leastHandedOn ? driver.copyHost?.(to, from) : undefined;
      if (copying) await copying;
      else to.set(from);
    });
    // The memory is in use until the last copy has ended.
    const failed = (await Promise.allSettled(copies)).find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
  }

  /** A block of a size, or nothing as `#lock`. */
  #takeBlock(size: number): Block | undefined {
    const kept = this.#blocks.findIndex((block) => block.bytes.byteLength === size);
    return kept < 0 ? this.#lock("staging", size) : this.#blocks.splice(kept, 1)[0];
  }

  #giveBack(block: Block): void {
    if (block.holding.disposed) return;
    const bytes = this.#blocks.reduce((sum, kept) => sum + kept.bytes.byteLength, block.bytes.byteLength);
    if (bytes > mostKept) this.#core.release(block.holding);
    else this.#blocks.push(block);
  }

  async #directly<T extends Dtype>(slice: DeviceSlice<T>, on: StagedOn): Promise<ArrayOf<T>> {
    const core = this.#core;
    const { dtype, length, address, byteLength } = slice;
    const block = this.#lock("download", byteLength);
    const bytes = block?.bytes ?? new Uint8Array(byteLength);
    try {
      on.marks?.before();
      core.callOn(on.history, "cuMemcpyDtoHAsync", bytes, address, byteLength, on.stream);
      on.marks?.after();
      await this.whenDone(on);
    } finally {
      if (block) core.release(block.holding);
    }
    return arrayOf(dtype, length, bytes.buffer as ArrayBuffer, bytes.byteOffset);
  }

  /**
   * Page-locked memory, or nothing if the driver gives none: then the copy itself waits, and is
   * as right.
   */
  #lock(label: string, length: number): Block | undefined {
    const core = this.#core;
    const { buffer, offset } = alignedMemory(core, length);
    const bytes = new Uint8Array(buffer, offset, length);
    try {
      core.call("cuMemHostRegister", bytes, length, 0);
    } catch (error) {
      if (error instanceof CudaError && !core.loss) return undefined;
      throw error;
    }
    const holding = new Holding("pinned buffer", label, length, () => core.call("cuMemHostUnregister", bytes), true);
    core.ledger.enter(holding);
    return { bytes, holding };
  }
}

/**
 * Memory from part to part, as long as they follow one another in one buffer; page-locked ones left
 * out.
 */
function* stretchesOf(parts: readonly HostPart[]): Generator<Uint8Array> {
  for (let k = 0; k < parts.length; ) {
    const { buffer, byteOffset: from } = parts[k]!.array;
    let end = from;
    for (; parts[k]?.array.buffer === buffer && parts[k]!.array.byteOffset >= end; k++)
      end = parts[k]!.array.byteOffset + parts[k]!.array.byteLength;
    if (!isLocked(parts[k - 1]!.array)) yield new Uint8Array(buffer, from, end - from);
  }
}
