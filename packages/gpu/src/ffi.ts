// C libraries called through koffi, which is loaded when the first library is. Nothing here knows
// what a library is for.
import { createRequire } from "node:module";
import type koffi from "koffi";
import type { ArgumentKind, ArgumentsOf, Signatures } from "./c-functions.js";
import { MissingCallError } from "./driver.js";
import { LibraryError } from "./library-search.js";

type Koffi = typeof koffi;
type NativeFunction = ReturnType<ReturnType<Koffi["load"]>["func"]>;

/**
 * koffi's type of each kind. Handles and addresses pass as `void*`, which takes a bigint faster
 * than an integer type does; the widths are the same on the 64-bit platforms that CUDA has.
 */
const koffiTypes: Record<ArgumentKind, string> = {
  i32: "int32_t",
  u32: "uint32_t",
  u16: "uint16_t",
  u8: "uint8_t",
  u64: "uint64_t",
  size: "size_t",
  handle: "void *",
  address: "void *",
  pointer: "void *",
  out: "void *",
  text: "str",
  bytes128: "SpillwayBytes128",
};

/**
 * NVRTC recurses deeply on nested source: koffi's own stacks for asynchronous calls are 128 KiB, on
 * which it crashed. They can be set only before koffi loads its first library. SystemBlas, which
 * may do that, sets the same; another package may have done it already.
 */
const stackBytes = 8 << 20;

/** Stacks of asynchronous calls that koffi keeps for the next: it takes no larger number. */
export const keptStacks = 32;

let loaded: Koffi | undefined;

function loadKoffi(): Koffi {
  if (loaded) return loaded;
  try {
    loaded = createRequire(import.meta.url)("koffi") as Koffi;
  } catch (error) {
    throw new LibraryError("koffi, the package that calls C libraries,", [{ path: "koffi", reason: firstLine(error) }]);
  }
  try {
    loaded.config({ async_stack_size: stackBytes, resident_async_pools: keptStacks });
  } catch {
    // Too late: `deepAsyncStacks` says so.
  }
  loaded.struct("SpillwayBytes128", { bytes: loaded.array("uint8_t", 128) });
  return loaded;
}

/** The first line of an error's message. */
export function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0]!;
}

/** A function of a library: arguments in, its 32-bit status out. */
type ForeignFunction<Calls extends Signatures, Name extends keyof Calls> = (...values: ArgumentsOf<Calls[Name]["arguments"]>) => number;

/** A C library whose functions return a 32-bit status. */
export class ForeignLibrary<Calls extends Signatures> {
  readonly path: string;
  readonly #calls: Calls;
  readonly #koffi: Koffi;
  readonly #library: ReturnType<Koffi["load"]>;
  readonly #functions = new Map<keyof Calls, NativeFunction | undefined>();

  /** Loads the library at a path; of the path null, what the process has loaded. */
  constructor(path: string | null, calls: Calls) {
    this.#koffi = loadKoffi();
    this.#library = this.#koffi.load(path);
    this.#calls = calls;
    this.path = path ?? process.execPath;
  }

  /** The function, declared on first use; undefined if the library has none of its symbols. */
  #find(name: keyof Calls): NativeFunction | undefined {
    if (this.#functions.has(name)) return this.#functions.get(name);
    const { symbols, arguments: kinds } = this.#calls[name]!;
    const types = kinds.map((kind) => koffiTypes[kind]);
    let found: NativeFunction | undefined;
    for (const symbol of symbols) {
      try {
        found = this.#library.func(symbol, "int32_t", types);
        break;
      } catch {
        // An older library has an older version of the symbol, or none.
      }
    }
    this.#functions.set(name, found);
    return found;
  }

  #native(name: keyof Calls & string): NativeFunction {
    const found = this.#find(name);
    if (!found) throw new MissingCallError(name, this.path);
    return found;
  }

  has(name: keyof Calls): boolean {
    return this.#find(name) !== undefined;
  }

  /** @throws MissingCallError if the library has none of the symbols. */
  resolve<Name extends keyof Calls & string>(name: Name): ForeignFunction<Calls, Name> {
    return this.#native(name);
  }

  /** Whether `callAsync` runs on a stack that deep recursion does not overflow. */
  get deepAsyncStacks(): boolean {
    return (this.#koffi.config().async_stack_size ?? 0) >= stackBytes;
  }

  /** The status of a call on a thread of Node's pool. @throws MissingCallError */
  async callAsync<Name extends keyof Calls & string>(name: Name, ...values: ArgumentsOf<Calls[Name]["arguments"]>): Promise<number> {
    const native = this.#native(name);
    return new Promise((resolve, reject) => {
      native.async(...values, (error: unknown, status: number) => (error ? reject(error) : resolve(status)));
    });
  }

  addressOf(view: ArrayBufferView): bigint {
    return BigInt(this.#koffi.address(view));
  }

  textAt(address: bigint): string {
    return this.#koffi.decode.string(address);
  }
}
