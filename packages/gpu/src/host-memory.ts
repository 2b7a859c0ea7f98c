// Host memory by functions of the C library: copies on threads of Node's pool, and advice about pages.
import { signature } from "./driver-calls.js";
import { ForeignLibrary } from "./ffi.js";

const functions = {
  // void *memcpy(void *dest, const void *src, size_t n)
  memcpy: signature("memcpy", "out", "pointer", "size"),
  // int madvise(void *addr, size_t length, int advice)
  madvise: signature("madvise", "pointer", "size", "i32"),
};

const pageBytes = 4096;
/** Further copies are left to the caller: koffi takes 256 calls at a time from all of the process. */
const mostUnderWay = 64;
/** MADV_HUGEPAGE of Linux. */
const hugePages = 14;

/** What the C library does with host memory. */
export class HostMemory {
  readonly #library = new ForeignLibrary(null);
  /** Memory of copies under way, which must not be collected. */
  readonly #inUse = new Set<readonly [Uint8Array, Uint8Array]>();
  readonly #copies = this.#library.has("memcpy", functions.memcpy);
  readonly #advises = process.platform === "linux" && this.#library.has("madvise", functions.madvise);

  /** As `Driver.copyHost`. */
  copy(destination: Uint8Array, source: Uint8Array): Promise<void> | undefined {
    if (!this.#copies || this.#inUse.size >= mostUnderWay || destination.byteLength < source.byteLength) return undefined;
    // Memory that shrinks would leave its addresses.
    if ([destination, source].some(({ buffer }) => "resizable" in buffer && buffer.resizable === true)) return undefined;
    const both = [destination, source] as const;
    this.#inUse.add(both);
    const copied = this.#library.callAsync("memcpy", functions.memcpy, [destination, source, source.byteLength]);
    return copied.then(
      () => void this.#inUse.delete(both),
      (error: unknown) => {
        this.#inUse.delete(both);
        throw error;
      },
    );
  }

  /** As `Driver.willWrite`. */
  willWrite(memory: Uint8Array): void {
    if (!this.#advises) return;
    const first = (pageBytes - Number(this.#library.addressOf(memory) % BigInt(pageBytes))) % pageBytes;
    const bytes = memory.byteLength - first - ((memory.byteLength - first) % pageBytes);
    // Advice that is not taken, such as on a kernel without large pages, changes nothing.
    if (bytes > 0) this.#library.resolve("madvise", functions.madvise)(memory.subarray(first), bytes, hugePages);
  }
}
