// What asynchronous reads and waits need again and again, kept for the next: events, and
// page-locked memory that results come in by.
import { type ContextCore, eventFlags } from "./context-core.js";
import { type ArrayOf, arrayOf, type Dtype } from "./dtypes.js";
import { CudaError } from "./errors.js";
import type { LaunchHistory } from "./launch-history.js";
import { Holding } from "./ledger.js";
import { alignedMemory } from "./pinned.js";
import type { DeviceSlice } from "./slice.js";
import { type AwaitedEvent, destroyEvent, waitFor } from "./waiting.js";

/** Bytes of the least block. */
const leastBlock = 1 << 20;
/**
 * Copies of up to so many bytes come through a block: to copy a MiB once more takes less time than
 * to page-lock it, which is half a millisecond on an H200's host.
 */
const mostThroughBlock = 8 << 20;
/** Blocks beyond so many bytes are not kept. */
const mostKept = 32 << 20;

/** Called right before and after a copy is given to a stream. */
export interface CopyMarks {
  /** Called right before the copy is given. */
  before(): void;
  /** Called right after it is given, whether it is done or not. */
  after(): void;
}

/** Page-locked memory. */
interface Block {
  readonly bytes: Uint8Array;
  readonly holding: Holding;
}

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
    const handle = new BigUint64Array(1);
    core.call("cuEventCreate", handle, eventFlags.blockingSync | eventFlags.disableTiming);
    const event: AwaitedEvent = { handle: handle[0]!, waits: 0, doomed: false };
    core.ledger.enter(new Holding("event", "waiting", 0, () => destroyEvent(core, event), true));
    return event;
  }

  /**
   * Resolves when all that the stream was given before this call is done. @throws CudaError, also
   * of that work.
   */
  async whenDone(stream: bigint, history: LaunchHistory | undefined): Promise<void> {
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
   * of up to 8 MiB come through a block that is kept; larger ones into the result itself,
   * page-locked for the while.
   *
   * @throws CudaError, also of the work before.
   */
  async download<T extends Dtype>(
    slice: DeviceSlice<T>,
    stream: bigint,
    history: LaunchHistory | undefined,
    marks?: CopyMarks,
  ): Promise<ArrayOf<T>> {
    const { byteLength } = slice;
    if (byteLength === 0) return arrayOf(slice.dtype, 0);
    return byteLength <= mostThroughBlock
      ? this.#throughBlock(slice, stream, history, marks)
      : this.#directly(slice, stream, history, marks);
  }

  async #throughBlock<T extends Dtype>(
    slice: DeviceSlice<T>,
    stream: bigint,
    history: LaunchHistory | undefined,
    marks: CopyMarks | undefined,
  ): Promise<ArrayOf<T>> {
    const block = this.#takeBlock(slice.byteLength);
    if (!block) return this.#directly(slice, stream, history, marks);
    try {
      marks?.before();
      this.#core.callOn(history, "cuMemcpyDtoHAsync", block.bytes, slice.address, slice.byteLength, stream);
      marks?.after();
      await this.whenDone(stream, history);
      return arrayOf(slice.dtype, slice.length, block.bytes.slice(0, slice.byteLength).buffer as ArrayBuffer);
    } finally {
      this.#giveBack(block);
    }
  }

  /** A block of the least power of two that holds so many bytes, or nothing as `#lock`. */
  #takeBlock(bytes: number): Block | undefined {
    const size = Math.max(leastBlock, 2 ** (32 - Math.clz32(bytes - 1)));
    const kept = this.#blocks.findIndex((block) => block.bytes.byteLength === size);
    return kept < 0 ? this.#lock("staging", size) : this.#blocks.splice(kept, 1)[0];
  }

  #giveBack(block: Block): void {
    if (block.holding.disposed) return;
    const bytes = this.#blocks.reduce((sum, kept) => sum + kept.bytes.byteLength, block.bytes.byteLength);
    if (bytes > mostKept) this.#core.release(block.holding);
    else this.#blocks.push(block);
  }

  async #directly<T extends Dtype>(
    slice: DeviceSlice<T>,
    stream: bigint,
    history: LaunchHistory | undefined,
    marks: CopyMarks | undefined,
  ): Promise<ArrayOf<T>> {
    const core = this.#core;
    const { dtype, length, address, byteLength } = slice;
    const block = this.#lock("download", byteLength);
    const bytes = block?.bytes ?? new Uint8Array(byteLength);
    try {
      marks?.before();
      core.callOn(history, "cuMemcpyDtoHAsync", bytes, address, byteLength, stream);
      marks?.after();
      await this.whenDone(stream, history);
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
