// Page-locked host memory, which the device copies at full speed without blocking the event loop.
// It is ordinary JavaScript memory that is registered with the driver. Nothing can point into freed
// memory: after `dispose` the array is empty.
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import type { ContextCore } from "./context-core.js";
import { type ArrayOf, arrayOf, bytesOf, type Dtype, type HostArray } from "./dtypes.js";
import { Owned } from "./owned.js";

const pageBytes = 4096;

/** CU_MEMHOSTREGISTER_PORTABLE: page-locked for every context. */
const portable = 1;

/** The first page-aligned byte of new memory that `bytes` bytes follow. */
export function alignedMemory(core: ContextCore, bytes: number): { buffer: ArrayBuffer; offset: number } {
  const buffer = new ArrayBuffer(bytes + pageBytes);
  const address = core.driver.addressOf(new Uint8Array(buffer));
  return { buffer, offset: Number((BigInt(pageBytes) - (address % BigInt(pageBytes))) % BigInt(pageBytes)) };
}

interface PinnedState {
  readonly core: ContextCore;
  /** Streams of each context whose copies may still be under way. */
  readonly streams: Map<ContextCore, Set<bigint>>;
  readonly bytes: Uint8Array;
}

/** The state of each page-locked buffer, by its memory. */
const lockedMemory = new WeakMap<ArrayBufferLike, PinnedState>();

/** Whether the array lies in a page-locked buffer, of this context or another. */
export const isLocked = ({ buffer }: HostArray): boolean => lockedMemory.has(buffer);

function noteUse({ streams }: PinnedState, core: ContextCore, stream: bigint): void {
  getOrMake(streams, core, () => new Set()).add(stream);
}

/** Notes a copy of a stream with an array, which its page-locked buffer's `dispose` waits for. */
export function noteArrayUse(core: ContextCore, { buffer }: HostArray, stream: bigint): void {
  const state = lockedMemory.get(buffer);
  if (state) noteUse(state, core, stream);
}

/** Waits for copies. The service stream comes after all that streams which are gone were given. */
function waitForCopies({ streams }: PinnedState): void {
  for (const [core, users] of streams)
    if (!core.disposed && !core.loss)
      for (const stream of users) core.call("cuStreamSynchronize", core.streams.has(stream) ? stream : core.service);
  streams.clear();
}

function unlock(state: PinnedState): void {
  const { core, bytes } = state;
  waitForCopies(state);
  core.call("cuMemHostUnregister", bytes);
  lockedMemory.delete(bytes.buffer);
  // A transfer detaches the memory: its views become empty instead of dangling.
  structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] });
}

/** Page-locked host memory. */
export class PinnedBuffer<T extends Dtype = Dtype> extends Owned {
  readonly dtype: T;
  readonly length: number;
  readonly #array: ArrayOf<T>;
  readonly #state: PinnedState;

  private constructor(dtype: T, length: number, array: ArrayOf<T>, state: PinnedState, label: string) {
    super(state.core, "pinned buffer", label, () => unlock(state), state.bytes.byteLength);
    this.dtype = dtype;
    this.length = length;
    this.#array = array;
    this.#state = state;
    lockedMemory.set(state.bytes.buffer, state);
  }

  /** @internal */
  static lock<T extends Dtype>(core: ContextCore, dtype: T, length: number, label = `pinned ${dtype}[${length}]`): PinnedBuffer<T> {
    if (!Number.isSafeInteger(length) || length < 1)
      throw ArgumentError.because(`a pinned buffer's length is a whole number of elements, at least 1; got ${length}`, {
        field: "length",
        value: length,
        expected: "a whole number, at least 1",
      });
    const { buffer, offset } = alignedMemory(core, length * bytesOf(dtype));
    const bytes = new Uint8Array(buffer, offset, length * bytesOf(dtype));
    core.call("cuMemHostRegister", bytes, bytes.byteLength, portable);
    return new PinnedBuffer(dtype, length, arrayOf(dtype, length, buffer, offset), { core, streams: new Map(), bytes }, label);
  }

  /** The memory. Its length is 0 after `dispose`. */
  get array(): ArrayOf<T> {
    return this.#array;
  }

  /** Bytes. */
  get byteLength(): number {
    return this.#state.bytes.byteLength;
  }

  /** @internal Notes a copy of a stream, which `dispose` waits for. */
  noteUse(stream: bigint): void {
    noteUse(this.#state, this.core, stream);
  }

  /**
   * @internal Waits for the copies that `noteUse` recorded, to here and from here.
   */
  waitForCopies(): void {
    this.holding.use();
    waitForCopies(this.#state);
  }
}
