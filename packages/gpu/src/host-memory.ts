// Host memory by functions of the C library: copies on threads of Node's pool, and advice about
// pages.
import { ArgumentError } from "@spillway/core/errors.js";
import { signatures } from "./c-functions.js";
import { ForeignLibrary, keptStacks } from "./ffi.js";

const functions = signatures({
  memcpy: "memcpy(out dest, pointer src, size n)",
  madvise: "madvise(pointer addr, size length, i32 advice)",
});

const pageBytes = 4096;
/**
 * Further copies wait for these. A call costs 6 us of this thread, and 30 us if koffi must map a
 * stack for it.
 */
const mostUnderWay = keptStacks - 8;
/** MADV_HUGEPAGE of Linux. */
const hugePages = 14;

/** What the C library does with host memory. */
export class HostMemory {
  readonly #library = new ForeignLibrary(null, functions);
  /** Memory of copies under way, which must not be collected. */
  readonly #inUse = new Set<readonly [Uint8Array, Uint8Array]>();
  /** Starts copies that wait. */
  readonly #waiting: (() => void)[] = [];
  readonly #copies = this.#library.has("memcpy");
  readonly #advises = process.platform === "linux" && this.#library.has("madvise");

  /** As `Driver.copyHost`. */
  copy(destination: Uint8Array, source: Uint8Array): Promise<void> | undefined {
    if (!this.#copies || destination.byteLength < source.byteLength) return undefined;
    // Memory that shrinks would leave its addresses.
    if ([destination, source].some(({ buffer }) => "resizable" in buffer && buffer.resizable === true)) return undefined;
    return this.#copy([destination, source]);
  }

  async #copy(both: readonly [Uint8Array, Uint8Array]): Promise<void> {
    const [destination, source] = both;
    const bytes = source.byteLength;
    if (this.#inUse.size >= mostUnderWay) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inUse.add(both);
    try {
      if (destination.byteLength < bytes || source.byteLength !== bytes)
        throw ArgumentError.because("an array was transferred while a copy of it, or to it, was waited for", { field: "arrays" });
      await this.#library.callAsync("memcpy", destination, source, source.byteLength);
    } finally {
      this.#inUse.delete(both);
      this.#waiting.shift()?.();
    }
  }

  /** As `Driver.willWrite`. */
  willWrite(memory: Uint8Array): void {
    if (!this.#advises) return;
    const first = (pageBytes - Number(this.#library.addressOf(memory) % BigInt(pageBytes))) % pageBytes;
    const bytes = memory.byteLength - first - ((memory.byteLength - first) % pageBytes);
    // Advice that is not taken, such as on a kernel without large pages, changes nothing.
    if (bytes > 0) this.#library.resolve("madvise")(memory.subarray(first), bytes, hugePages);
  }
}
