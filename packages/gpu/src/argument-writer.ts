// Writes a launch's values into host memory by their layouts. Every value is checked before it is
// written: the driver would take anything.

import { bfloat16Bits, halfBits } from "@spillway/core/half.js";
import { suggestion } from "@spillway/core/near-names.js";
import { describe, quoted } from "@spillway/core/text.js";
import type { ContextCore } from "./context-core.js";
import type { Dtype } from "./dtypes.js";
import type { FieldLayout, Layout } from "./layout.js";
import { DeviceSlice, noteUse } from "./slice.js";

/** Host memory that begins at a multiple of eight bytes. */
export class HostBytes {
  readonly view: DataView;
  readonly #longs: BigUint64Array;

  constructor(memory: ArrayBuffer, offset: number, bytes: number) {
    this.view = new DataView(memory, offset, bytes);
    this.#longs = new BigUint64Array(memory, offset, bytes >>> 3);
  }

  /**
   * Writes 64 bits. V8 makes no quick code of a DataView's, which would take a tenth of a launch.
   */
  setLong(at: number, value: bigint): void {
    if (at % 8 === 0) this.#longs[at / 8] = value;
    else this.view.setBigUint64(at, value, true);
  }
}

/** The stream that a launch is given to. */
export interface LaunchStream {
  readonly core: ContextCore;
  readonly handle: bigint;
}

/** Why a value is not taken: where in the argument, such as `.scale[2]`, and what to say of it. */
export interface Refused {
  readonly path: string;
  readonly reason: string;
}

const integerRange: Partial<Record<Dtype, readonly [number, number]>> = {
  i8: [-128, 127],
  u8: [0, 255],
  i16: [-32768, 32767],
  u16: [0, 65535],
  i32: [-2147483648, 2147483647],
  u32: [0, 4294967295],
};

/**
 * Above this a finite number becomes infinite in 32 bits: the middle between the largest f32 and
 * the next, which does not exist.
 */
const largestFloat = 3.4028235677973366e38;

const beyondFloat = (value: number): boolean => (value > largestFloat || value < -largestFloat) && Number.isFinite(value);

/** What a type takes, in words. */
function taken(dtype: Dtype, value: unknown): string {
  if (dtype === "bool") return "true or false";
  if (dtype === "f32" && typeof value === "number") return "a number that f32 can hold";
  if (/f/.test(dtype)) return "a number";
  const range = integerRange[dtype];
  if (range) return `a whole number from ${range[0]} to ${range[1]}`;
  return `a whole number ${dtype === "i64" ? "from -2^63 to 2^63 - 1" : "from 0 to 2^64 - 1"}, a bigint or a safe integer`;
}

/** Writes a number; false if the type does not take it. */
function storeScalar(host: HostBytes, at: number, dtype: Dtype, value: unknown): boolean {
  const { view } = host;
  if (dtype === "bool") {
    if (typeof value !== "boolean") return false;
    view.setUint8(at, value ? 1 : 0);
    return true;
  }
  if (dtype === "i64" || dtype === "u64") return storeLong(host, at, dtype === "i64", value);
  if (typeof value !== "number") return false;
  switch (dtype) {
    case "f32":
      if (beyondFloat(value)) return false;
      view.setFloat32(at, value, true);
      return true;
    case "i32":
      if ((value | 0) !== value) return false;
      view.setInt32(at, value, true);
      return true;
    case "u32":
      if (value >>> 0 !== value) return false;
      view.setUint32(at, value, true);
      return true;
    case "f64":
      view.setFloat64(at, value, true);
      return true;
    case "f16":
    case "bf16":
      view.setUint16(at, dtype === "f16" ? halfBits(value) : bfloat16Bits(value), true);
      return true;
    default: {
      const [least, most] = integerRange[dtype]!;
      if (!Number.isInteger(value) || value < least || value > most) return false;
      if (dtype === "i8" || dtype === "u8") view.setInt8(at, value);
      else view.setInt16(at, value, true);
      return true;
    }
  }
}

function storeLong(host: HostBytes, at: number, signed: boolean, value: unknown): boolean {
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value) || (!signed && value < 0)) return false;
    host.view.setUint32(at, value >>> 0, true);
    host.view.setInt32(at + 4, Math.floor(value / 4294967296), true);
    return true;
  }
  if (typeof value !== "bigint" || value !== (signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value))) return false;
  host.setLong(at, BigInt.asUintN(64, value));
  return true;
}

/** A value as an error tells it. */
function shown(value: unknown): string {
  const plain = typeof value !== "object" || value === null || Array.isArray(value) || value.constructor === Object;
  return plain ? describe(value) : (value.constructor?.name ?? "an object");
}

const refused = (layout: Layout, value: unknown, takes: string): Refused => ({
  path: "",
  reason: ` (${quoted(layout.text)}) is ${shown(value)}; it takes ${takes}`,
});

type LayoutOf<Kind extends Layout["kind"]> = Layout & { readonly kind: Kind };

function storePointer(host: HostBytes, at: number, layout: LayoutOf<"pointer">, value: unknown, stream: LaunchStream): Refused | undefined {
  if (value === null) {
    host.setLong(at, 0n);
    return undefined;
  }
  if (!(value instanceof DeviceSlice)) return refused(layout, value, "a buffer, a slice of one, or null");
  const { memory } = value;
  const { core, handle } = stream;
  if (memory.holding?.disposed) memory.holding.use();
  if (memory.core !== core) {
    if (!core.peers.has(memory.core)) {
      const reason = ` is memory of another context (device ${memory.core.device}) than its stream's (device ${core.device})`;
      return { path: "", reason };
    }
    memory.shared = true;
    memory.reachedBy ??= new Set();
    memory.reachedBy.add(core);
  } else if (memory.stream !== handle) noteUse(memory, handle);
  if (value.dtype !== layout.dtype) return { path: "", reason: ` holds ${value.dtype}; the parameter is ${quoted(layout.text)}` };
  if (!layout.readonly && !value.writable)
    return { path: "", reason: ` is read-only memory, and through ${quoted(layout.text)} the kernel writes` };
  host.setLong(at, value.address);
  return undefined;
}

function storeBytes(host: HostBytes, at: number, layout: Layout, value: unknown): Refused | undefined {
  if (!ArrayBuffer.isView(value)) return refused(layout, value, `a Uint8Array of ${layout.bytes} bytes`);
  if (value.byteLength !== layout.bytes)
    return { path: "", reason: ` (${quoted(layout.text)}) has ${value.byteLength} bytes; it takes ${layout.bytes}` };
  const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const { buffer, byteOffset } = host.view;
  new Uint8Array(buffer, byteOffset + at, layout.bytes).set(bytes);
  return undefined;
}

const within = (part: string, refusal: Refused): Refused => ({ path: part + refusal.path, reason: refusal.reason });

/**
 * Writes a value at a byte of host memory. Device memory in it is noted as used by the stream.
 *
 * @returns why the value is not taken, or undefined. @throws DisposedError
 */
export function store(host: HostBytes, at: number, layout: Layout, value: unknown, stream: LaunchStream): Refused | undefined {
  if (layout.kind === "pointer") return storePointer(host, at, layout, value, stream);
  if (layout.kind === "scalar")
    return storeScalar(host, at, layout.dtype, value) ? undefined : refused(layout, value, taken(layout.dtype, value));
  if (layout.kind === "bytes") return storeBytes(host, at, layout, value);
  return layout.kind === "array" ? storeArray(host, at, layout, value, stream) : storeStruct(host, at, layout, value, stream);
}

function storeArray(host: HostBytes, at: number, layout: LayoutOf<"array">, value: unknown, stream: LaunchStream): Refused | undefined {
  const { element, count, text } = layout;
  if (!Array.isArray(value) && !(ArrayBuffer.isView(value) && "length" in value)) return refused(layout, value, `an array of ${count}`);
  const values = value as ArrayLike<unknown>;
  if (values.length !== count) return { path: "", reason: ` (${quoted(text)}) has ${values.length} elements; it takes ${count}` };
  for (let i = 0; i < count; i++) {
    const refusal = store(host, at + i * element.bytes, element, values[i], stream);
    if (refusal) return within(`[${i}]`, refusal);
  }
  return undefined;
}

function storeStruct(host: HostBytes, at: number, layout: LayoutOf<"struct">, value: unknown, stream: LaunchStream): Refused | undefined {
  const { fields } = layout;
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value) || value instanceof DeviceSlice)
    return refused(layout, value, `an object with ${named(fields)}`);
  for (let i = 0; i < fields.length; i++) {
    const { name, offset, layout: own } = fields[i]!;
    const refusal = store(host, at + offset, own, (value as Readonly<Record<string, unknown>>)[name], stream);
    if (refusal) return within(`.${name}`, refusal);
  }
  for (const name in value) if (!fields.some((field) => field.name === name)) return unknownField(layout, fields, name);
  return undefined;
}

const named = (fields: readonly FieldLayout[]): string =>
  fields.length === 0 ? "no fields" : `the fields ${fields.map(({ name }) => name).join(", ")}`;

function unknownField(layout: Layout, fields: readonly FieldLayout[], name: string): Refused {
  const near = suggestion(
    name,
    fields.map((field) => field.name),
  );
  return { path: "", reason: ` (${quoted(layout.text)}) has a field ${quoted(name)}${near}; it takes ${named(fields)}` };
}
