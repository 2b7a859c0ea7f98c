// A kernel's arguments in host memory: a table of addresses and then a slot of eight bytes for each value, filled again for each launch.
// Every value is checked before it is written: the driver would take anything.
import type { ContextCore } from "./context-core.js";
import { LaunchError } from "./errors.js";
import { bfloat16Bits, halfBits } from "./half.js";
import type { ParsedParameter } from "./parameters.js";
import { DeviceSlice, noteUse } from "./slice.js";

/** How the writer treats a parameter. */
const kinds = {
  pointer: 0,
  i8: 1,
  u8: 2,
  i16: 3,
  u16: 4,
  i32: 5,
  u32: 6,
  i64: 7,
  u64: 8,
  f16: 9,
  bf16: 10,
  f32: 11,
  f64: 12,
  bool: 13,
} as const;

const integerRange: Readonly<Record<number, readonly [number, number]>> = {
  [kinds.i8]: [-128, 127],
  [kinds.u8]: [0, 255],
  [kinds.i16]: [-32768, 32767],
  [kinds.u16]: [0, 65535],
  [kinds.i32]: [-2147483648, 2147483647],
  [kinds.u32]: [0, 4294967295],
};

/** Above this a finite number becomes infinite in 32 bits: the middle between the largest f32 and the next, which does not exist. */
const largestFloat = 3.4028235677973366e38;

/** Bytes of the table and the values of that many parameters. */
export function argumentBytes(count: number): number {
  return 16 * Math.max(1, count);
}

/** Where a kernel's arguments are written. */
export class ArgumentBlock {
  /** The address of the table, for `kernelParams`. */
  readonly address: bigint;
  readonly #kernel: string;
  readonly #parameters: readonly ParsedParameter[];
  readonly #kinds: Uint8Array;
  /** For each parameter, the parameters whose product is the least number of elements it needs; empty: any. */
  readonly #lengths: readonly (readonly number[])[];
  readonly #base: number;
  readonly #u64: BigUint64Array;
  readonly #i64: BigInt64Array;
  readonly #f64: Float64Array;
  readonly #f32: Float32Array;
  readonly #i32: Int32Array;
  readonly #u32: Uint32Array;

  /** Uses `memory` from byte `offset`, which stands at `address`. */
  constructor(
    kernel: string,
    parameters: readonly ParsedParameter[],
    lengths: readonly (readonly number[])[],
    memory: ArrayBuffer,
    offset: number,
    address: bigint,
  ) {
    const count = parameters.length;
    const bytes = argumentBytes(count);
    this.address = address;
    this.#kernel = kernel;
    this.#parameters = parameters;
    this.#lengths = lengths;
    this.#kinds = Uint8Array.from(parameters, ({ pointer, dtype }) => (pointer ? kinds.pointer : kinds[dtype]));
    this.#base = count;
    this.#u64 = new BigUint64Array(memory, offset, bytes / 8);
    this.#i64 = new BigInt64Array(memory, offset, bytes / 8);
    this.#f64 = new Float64Array(memory, offset, bytes / 8);
    this.#f32 = new Float32Array(memory, offset, bytes / 4);
    this.#i32 = new Int32Array(memory, offset, bytes / 4);
    this.#u32 = new Uint32Array(memory, offset, bytes / 4);
    for (let i = 0; i < count; i++) this.#u64[i] = address + BigInt(8 * (count + i));
  }

  get count(): number {
    return this.#base;
  }

  /** @throws LaunchError where the number of arguments is another. */
  checkCount(given: number): void {
    if (given !== this.#base) {
      const takes = this.#parameters.map(({ text }) => text).join(", ");
      throw new LaunchError(this.#kernel, `${given} arguments were given; it takes ${this.#base}: (${takes})`);
    }
  }

  /** Writes an argument. @throws LaunchError where the parameter does not take it. */
  write(index: number, value: unknown, core: ContextCore, stream: bigint): void {
    const slot = this.#base + index;
    const kind = this.#kinds[index]!;
    if (kind === kinds.pointer) {
      if (value === null) this.#u64[slot] = 0n;
      else this.#writePointer(index, slot, value, core, stream);
    } else if (kind === kinds.f32) {
      if (typeof value !== "number") throw this.#refusal(index, value, "a number");
      if ((value > largestFloat || value < -largestFloat) && Number.isFinite(value))
        throw this.#refusal(index, value, "a number that f32 can hold");
      this.#f32[2 * slot] = value;
    } else if (kind === kinds.i32) {
      if (typeof value !== "number" || (value | 0) !== value) throw this.#refusal(index, value);
      this.#i32[2 * slot] = value;
    } else if (kind === kinds.u32) {
      if (typeof value !== "number" || value >>> 0 !== value) throw this.#refusal(index, value);
      this.#u32[2 * slot] = value;
    } else this.#writeOther(index, slot, kind, value);
  }

  #writePointer(index: number, slot: number, value: unknown, core: ContextCore, stream: bigint): void {
    if (!(value instanceof DeviceSlice)) throw this.#refusal(index, value, "a buffer, a slice of one, or null");
    const parameter = this.#parameters[index]!;
    const memory = value.memory;
    if (memory.holding?.disposed) memory.holding.use();
    if (memory.core !== core)
      throw new LaunchError(
        this.#kernel,
        `argument ${index} is memory of another context (device ${memory.core.device}) than its stream's (device ${core.device})`,
      );
    if (value.dtype !== parameter.dtype)
      throw new LaunchError(this.#kernel, `argument ${index} holds ${value.dtype}; the parameter is ${JSON.stringify(parameter.text)}`);
    if (!parameter.readonly && !value.writable)
      throw new LaunchError(
        this.#kernel,
        `argument ${index} is read-only memory, and through ${JSON.stringify(parameter.text)} the kernel writes`,
      );
    if (memory.stream !== stream) noteUse(memory, stream);
    this.#u64[slot] = value.address;
  }

  #writeOther(index: number, slot: number, kind: number, value: unknown): void {
    if (kind === kinds.f64) {
      if (typeof value !== "number") throw this.#refusal(index, value, "a number");
      this.#f64[slot] = value;
    } else if (kind === kinds.bool) {
      if (typeof value !== "boolean") throw this.#refusal(index, value, "true or false");
      this.#u32[2 * slot] = value ? 1 : 0;
    } else if (kind === kinds.f16 || kind === kinds.bf16) {
      if (typeof value !== "number") throw this.#refusal(index, value, "a number");
      this.#u32[2 * slot] = kind === kinds.f16 ? halfBits(value) : bfloat16Bits(value);
    } else if (kind === kinds.i64 || kind === kinds.u64) this.#writeLong(index, slot, kind === kinds.i64, value);
    else {
      const [least, most] = integerRange[kind]!;
      if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) throw this.#refusal(index, value);
      this.#i32[2 * slot] = value;
    }
  }

  #writeLong(index: number, slot: number, signed: boolean, value: unknown): void {
    if (typeof value === "number") {
      if (!Number.isSafeInteger(value) || (!signed && value < 0)) throw this.#refusal(index, value);
      this.#u32[2 * slot] = value >>> 0;
      this.#i32[2 * slot + 1] = Math.floor(value / 4294967296);
      return;
    }
    if (typeof value !== "bigint") throw this.#refusal(index, value);
    const fits = signed ? value >= -(2n ** 63n) && value < 2n ** 63n : value >= 0n && value < 2n ** 64n;
    if (!fits) throw this.#refusal(index, value);
    if (signed) this.#i64[slot] = value;
    else this.#u64[slot] = value;
  }

  /** Holds the lengths of buffers against the arguments that say how many elements the kernel touches. @throws LaunchError. */
  checkLengths(values: ArrayLike<unknown>): void {
    for (let index = 0; index < this.#lengths.length; index++) {
      const factors = this.#lengths[index]!;
      const slice = values[index];
      if (factors.length === 0 || slice === null) continue;
      let elements = 1;
      for (let i = 0; i < factors.length; i++) elements *= Number(values[factors[i]!]);
      if ((slice as DeviceSlice).length < elements) {
        const said = factors.map((factor) => `argument ${factor}`).join(" times ");
        throw new LaunchError(
          this.#kernel,
          `argument ${index} has ${(slice as DeviceSlice).length} elements; the kernel touches ${elements} (${said})`,
        );
      }
    }
  }

  #refusal(index: number, value: unknown, takes?: string): LaunchError {
    const { text, dtype } = this.#parameters[index]!;
    const range = integerRange[kinds[dtype]];
    const limits =
      dtype === "i64" ? "from -2^63 to 2^63 - 1, a bigint or a safe integer" : "from 0 to 2^64 - 1, a bigint or a safe integer";
    const expected = takes ?? `a whole number ${range ? `from ${range[0]} to ${range[1]}` : limits}`;
    const got = typeof value === "object" && value !== null ? (value.constructor?.name ?? "an object") : String(value);
    return new LaunchError(
      this.#kernel,
      `argument ${index} (${JSON.stringify(text)}) is ${got}${typeof value === "bigint" ? "n" : ""}; it takes ${expected}`,
    );
  }
}
