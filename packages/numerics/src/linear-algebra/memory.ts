// Where the linear algebra gets its WebAssembly memory: asked for in one piece, refused with
// numbers before anything is allocated.
import { SpillwayError } from "@spillway/core/errors.js";
import { releaseInstance, type WasmInstance, wasmInstance, wasmMemoryLimit, wasmReserved } from "../wasm/index.js";

/** Something does not fit the memory that one WebAssembly instance can have. */
export class MemoryLimitError extends SpillwayError {
  override readonly name = "MemoryLimitError";
  /** Bytes. */
  readonly needed: number;
  readonly limit: number;
  constructor(what: string, needed: number, advice: string) {
    super("limit", `${what} takes ${gibibytes(needed)} of memory and the limit is ${gibibytes(wasmMemoryLimit)}: ${advice}`);
    this.needed = needed;
    this.limit = wasmMemoryLimit;
  }
}

/** An instance with named regions, each on a 64-byte boundary. */
export interface Regions<Name extends string> extends WasmInstance {
  readonly at: Readonly<Record<Name, number>>;
  /** The address behind the last region; the memory may go on. */
  readonly end: number;
}

/**
 * Makes an instance whose memory holds the given regions (bytes). @throws MemoryLimitError before
 * anything is allocated.
 */
export function allocateRegions<Name extends string>(
  what: string,
  sizes: Readonly<Record<Name, number>>,
  advice = "use fewer features",
): Regions<Name> {
  const at = {} as Record<Name, number>;
  let next = wasmReserved;
  for (const name of Object.keys(sizes) as Name[]) {
    at[name] = next;
    next += Math.ceil(sizes[name] / 64) * 64;
  }
  if (next > wasmMemoryLimit) throw new MemoryLimitError(what, next, advice);
  const { exports, memory } = wasmInstance(next - wasmReserved);
  return { exports, memory, at, end: next };
}

/** Gives the memory of regions back; no view of it is used afterwards. */
export function releaseRegions({ exports, memory }: Regions<string>): void {
  releaseInstance({ exports, memory });
}

/** A view of binary64 values in an instance's memory. */
export function float64View(instance: WasmInstance, address: number, length: number): Float64Array {
  return new Float64Array(instance.memory.buffer, address, length);
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
