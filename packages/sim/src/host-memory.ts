// Host memory as the simulated driver sees it: an address for every ArrayBuffer that it was shown,
// and the bytes at an address. Nothing is kept alive by it.
import { getOrMake } from "@spillway/core/maps.js";
import { code, Refusal } from "./refusal.js";

/** A range of its own in the address space for each buffer, far above device addresses. */
const windowBits = 40n;
const firstWindow = 1 << 10;
/** Offset of buffers in their window: code that wrongly relies on alignment then fails. */
const offset = 64n;

/** Host memory as driver calls name it. */
export type HostPointer = bigint | ArrayBufferView;

const nul = 0;

export class HostMemory {
  readonly #windows = new WeakMap<ArrayBufferLike, bigint>();
  readonly #buffers = new Map<number, WeakRef<ArrayBufferLike>>();
  readonly #forgotten = new FinalizationRegistry<number>((window) => this.#buffers.delete(window));
  readonly #texts = new Map<string, Uint8Array>();
  #next = firstWindow;

  addressOf(view: ArrayBufferView): bigint {
    let base = this.#windows.get(view.buffer);
    if (base === undefined) {
      const window = this.#next++;
      base = (BigInt(window) << windowBits) + offset;
      this.#windows.set(view.buffer, base);
      this.#buffers.set(window, new WeakRef(view.buffer));
      this.#forgotten.register(view.buffer, window);
    }
    return base + BigInt(view.byteOffset);
  }

  /** The address of memory that was shown before; other memory gets none and may be collected. */
  knownAddressOf(view: ArrayBufferView): bigint | undefined {
    const base = this.#windows.get(view.buffer);
    return base === undefined ? undefined : base + BigInt(view.byteOffset);
  }

  /** The bytes at an address. @throws Refusal if that is no host memory that is known. */
  bytes(pointer: HostPointer, length: number): Uint8Array {
    if (typeof pointer !== "bigint") {
      if (pointer.byteLength < length)
        throw new Refusal(code.invalidValue, `${length} bytes of host memory were named; the array has ${pointer.byteLength}`);
      return new Uint8Array(pointer.buffer, pointer.byteOffset, length);
    }
    const buffer = this.#buffers.get(Number(pointer >> windowBits))?.deref();
    const at = Number(pointer & ((1n << windowBits) - 1n)) - Number(offset);
    if (buffer === undefined || at < 0 || at + length > buffer.byteLength)
      throw new Refusal(code.invalidValue, `there is no host memory of ${length} bytes at 0x${pointer.toString(16)}`);
    return new Uint8Array(buffer, at, length);
  }

  /** As `bytes`, for reading numbers. @throws Refusal. */
  view(pointer: HostPointer, length: number): DataView {
    const bytes = this.bytes(pointer, length);
    return new DataView(bytes.buffer, bytes.byteOffset, length);
  }

  /** All bytes from an address to the end of its buffer. @throws Refusal. */
  rest(pointer: HostPointer): Uint8Array {
    if (typeof pointer !== "bigint") return new Uint8Array(pointer.buffer, pointer.byteOffset, pointer.byteLength);
    const first = this.bytes(pointer, 0);
    return new Uint8Array(first.buffer, first.byteOffset);
  }

  /** Text from an address to its NUL. @throws Refusal. */
  text(pointer: HostPointer): string {
    const bytes = this.rest(pointer);
    const end = bytes.indexOf(nul);
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  }

  addressOfText(text: string): bigint {
    return this.addressOf(getOrMake(this.#texts, text, () => new TextEncoder().encode(`${text}\0`)));
  }

  giveWord(out: HostPointer, value: number): void {
    this.view(out, 4).setInt32(0, value, true);
  }

  giveLong(out: HostPointer, value: bigint | number): void {
    this.view(out, 8).setBigUint64(0, BigInt(value), true);
  }

  giveFloat(out: HostPointer, value: number): void {
    this.view(out, 4).setFloat32(0, value, true);
  }

  /** Text with its NUL, cut to what fits. */
  giveText(out: HostPointer, capacity: number, text: string): void {
    const bytes = new TextEncoder().encode(text).subarray(0, Math.max(0, capacity - 1));
    const target = this.bytes(out, capacity);
    target.fill(0);
    target.set(bytes);
  }
}
