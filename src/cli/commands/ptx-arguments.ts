// Arguments of `spillway ptx run` as they are typed: numbers, buffers, bytes and structs. It
// launches nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import {
  arrayOf,
  type Context,
  type DeviceBuffer,
  type Dtype,
  type EntryParameter,
  type FieldType,
  type Parameter,
  type StructType,
  struct,
} from "@spillway/gpu";
import { UsageError } from "../exit.js";

/**
 * A buffer that an argument asks for, and where: field 2 of a struct is "2", of one within it
 * "2.1", a buffer of its own is "".
 */
export interface ArgumentBuffer {
  readonly field: string;
  readonly dtype: Dtype;
  readonly buffer: DeviceBuffer;
}

type Upload = (field: string, dtype: Dtype, values: readonly number[]) => DeviceBuffer;

/** A value with its type; a number without a type takes it from the parameter. */
interface Typed {
  readonly type: FieldType;
  readonly value: (upload: Upload, field: string) => unknown;
}

/** An argument as it was typed. */
export type Argument = { readonly number: string } | Typed;

const dtypes: readonly Dtype[] = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"];

/** What an argument may be, for sentences. */
export const argumentHelp =
  'an argument is a number, a buffer: "f32[64]" of zeros, "f32[64]=1.5", "f32[3]=1,2,3", "f32[64]=range" (0, 1, 2, ...), ' +
  'or a struct by value: "{f32=1.5; i32[3]=1,2,3; *f32[64]=range; align=16}", "bytes[4]=00ff00ff"';

const mostElements = 2 ** 24;

class Reader {
  readonly #name: string;

  constructor(position: number) {
    this.#name = `argument ${position}`;
  }

  argument(text: string): Argument {
    const trimmed = text.trim();
    if (/^-?(0x[0-9a-f]+|\d+(\.\d*)?(e[+-]?\d+)?|\.\d+)$/i.test(trimmed)) return { number: trimmed };
    if (trimmed.startsWith("{")) return this.struct(trimmed);
    if (trimmed.startsWith("bytes[")) return this.bytes(trimmed);
    const { dtype, values } = this.list(trimmed) ?? this.refuse(`is ${quoted(text)}; ${argumentHelp}`);
    return bufferOf(dtype, values);
  }

  /** "f32[3]=1,2,3": a type, and values of it. Undefined if the text has another form. */
  list(text: string): { dtype: Dtype; values: readonly number[] } | undefined {
    const [, name, count, fill = "0"] = /^([a-z]+\d+)\[(\d+)\](?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined) return undefined;
    const dtype = this.dtype(name);
    const length = Number(count);
    if (length < 1 || length > mostElements) this.refuse(`has ${length} elements; it takes 1 to ${mostElements}`);
    const given = fill.trim() === "range" ? Array.from({ length }, (_, k) => k) : fill.split(",").map(numberOf);
    if (given.some(Number.isNaN) || (given.length !== 1 && given.length !== length))
      this.refuse(`is ${quoted(text)}; it takes one number for all elements, or ${length}`);
    if (/^[iu]/.test(dtype) && !given.every(Number.isSafeInteger)) this.refuse(`is ${quoted(text)}; ${dtype} takes whole numbers`);
    return { dtype, values: given.length === 1 ? new Array<number>(length).fill(given[0]!) : given };
  }

  dtype(name: string): Dtype {
    if (!dtypes.includes(name as Dtype)) this.refuse(`has elements of ${name}; they are ${dtypes.join(", ")}`);
    return name as Dtype;
  }

  bytes(text: string): Typed {
    const [, count = "", hex] =
      /^bytes\[(\d+)\](?:=([0-9a-f]*))?$/i.exec(text) ?? this.refuse(`is ${quoted(text)}; bytes are such as "bytes[2]=00ff"`);
    const length = Number(count);
    if (length < 1 || length > 32_764) this.refuse(`has ${length} bytes; it takes 1 to 32764`);
    if (hex !== undefined && hex.length !== 2 * length) this.refuse(`is ${quoted(text)}; it takes ${2 * length} hexadecimal digits`);
    const bytes = Uint8Array.from({ length }, (_, i) => Number.parseInt(hex?.slice(2 * i, 2 * i + 2) ?? "0", 16));
    return { type: `bytes[${length}]`, value: () => bytes };
  }

  struct(text: string): Typed {
    const parts = this.parts(text);
    const fields: Record<string, FieldType> = {};
    const values: { name: string; value: Typed["value"] }[] = [];
    let align = 1;
    for (const part of parts) {
      const [, alignment] = /^align=(\d+)$/.exec(part) ?? [];
      if (alignment !== undefined) {
        align = Number(alignment);
        continue;
      }
      const name = `field${values.length + 1}`;
      const { type, value } = this.field(part);
      fields[name] = type;
      values.push({ name, value });
    }
    return {
      type: this.checked(() => struct(fields, { align, name: text })),
      value: (upload, field) =>
        Object.fromEntries(values.map(({ name, value }, k) => [name, value(upload, `${field}${field && "."}${k + 1}`)])),
    };
  }

  field(text: string): Typed {
    if (text.startsWith("{")) return this.struct(text);
    if (text.startsWith("bytes[")) return this.bytes(text);
    if (text.startsWith("*")) {
      const { dtype, values } =
        this.list(text.slice(1)) ?? this.refuse(`has a field ${quoted(text)}; a pointer is such as "*f32[64]=range"`);
      return bufferOf(dtype, values);
    }
    const several = this.list(text);
    if (several) {
      const { dtype, values } = several;
      return { type: [dtype, values.length], value: () => values };
    }
    const [, name, number] = /^([a-z]+\d+)=(.*)$/.exec(text) ?? this.refuse(`has a field ${quoted(text)}; ${argumentHelp}`);
    const dtype = this.dtype(name!);
    const value = this.number(dtype, number!.trim());
    return { type: dtype, value: () => value };
  }

  /** The fields between the outer braces. */
  parts(text: string): string[] {
    const parts: string[] = [""];
    let depth = 0;
    for (const [at, character] of [...text].entries()) {
      if (character === "{" && depth++ === 0) continue;
      if (character === "}" && --depth === 0 && at === text.length - 1)
        return parts.map((part) => part.trim()).filter((part) => part !== "");
      if (depth < 1) break;
      if (character === ";" && depth === 1) parts.push("");
      else parts[parts.length - 1] += character;
    }
    return this.refuse(`is ${quoted(text)}; its braces do not match`);
  }

  number(dtype: Dtype, text: string): number | bigint {
    if (/^[iu]64$/.test(dtype)) return this.checked(() => wholeOf(text));
    const value = numberOf(text);
    if (Number.isNaN(value)) this.refuse(`is ${quoted(text)}; it takes a number`);
    return value;
  }

  /** What `make` gives. @throws UsageError in place of what it throws */
  checked<T>(make: () => T): T {
    try {
      return make();
    } catch (error) {
      return this.refuse(`is refused: ${(error as Error).message}`);
    }
  }

  refuse(what: string): never {
    throw new UsageError(`${this.#name} ${what}`);
  }
}

const numberOf = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));

/** @throws ArgumentError if it is no whole number. */
function wholeOf(text: string): bigint {
  if (!/^-?(0x[0-9a-f]+|\d+)$/i.test(text)) throw ArgumentError.because(`${quoted(text)} is no whole number`);
  return text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text);
}

const bufferOf = (dtype: Dtype, values: readonly number[]): Typed => ({
  type: `${dtype}*`,
  value: (upload, field) => upload(field, dtype, values),
});

/** @throws UsageError saying what an argument may be. */
export function parseArgument(text: string, position: number): Argument {
  return new Reader(position).argument(text);
}

/**
 * The parameter of an entry as launches declare it. @throws UsageError if the argument is none for
 * it.
 */
export function declareParameter(parameter: EntryParameter, argument: Argument, position: number): Parameter {
  const { type, bytes } = parameter;
  if (!("number" in argument)) {
    const isPointer = typeof argument.type === "string" && argument.type.endsWith("*");
    if (isPointer && bytes !== 8) throw new UsageError(`argument ${position} is a buffer; the parameter is .${type}`);
    return argument.type as Parameter & (string | StructType);
  }
  const scalar = type.replace(/^[bu]/, "u").replace(/^s/, "i");
  if (bytes > 8 || bytes * 8 !== Number(/\d+/.exec(type)?.[0]) || !dtypes.includes(scalar as Dtype))
    throw new UsageError(
      `parameter ${position} is .${type} of ${bytes} bytes, which has no number: it takes a struct or bytes; ${argumentHelp}`,
    );
  return scalar as Dtype;
}

/** The value that a launch takes; buffers are put on the device and noted. @throws UsageError */
export function argumentValue(
  context: Context,
  argument: Argument,
  parameter: Parameter,
  position: number,
  buffers: (found: ArgumentBuffer) => void,
): unknown {
  if ("number" in argument) return new Reader(position).number(parameter as Dtype, argument.number);
  return argument.value((field, dtype, values) => {
    const buffer = upload(context, dtype, values);
    buffers({ field, dtype, buffer });
    return buffer;
  }, "");
}

/** Halves are given by their bits, as they are printed. */
function upload(context: Context, dtype: Dtype, values: readonly number[]): DeviceBuffer {
  const array = arrayOf(dtype, values.length);
  const long = array instanceof BigInt64Array || array instanceof BigUint64Array;
  for (const [i, value] of values.entries()) (array as (number | bigint)[] | typeof array)[i] = long ? BigInt(value) : value;
  return context.upload(array, { dtype });
}
