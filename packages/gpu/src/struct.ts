// Structs that kernels take by value, laid out as C and CUDA C++ lay them out. It describes them;
// argument-writer.ts writes their values.
import { ArgumentError } from "@spillway/core/errors.js";
import { option, optional, record, resolve, type TableOf, text, whole } from "@spillway/core/options.js";
import { describe, quoted } from "@spillway/core/text.js";
import { bytesOf, type Dtype, isDtype } from "./dtypes.js";
import { alignUp, type FieldLayout, type Layout, layoutOfText, mostParameterBytes } from "./layout.js";

/**
 * What a field is: a number, a pointer to device memory, bytes, another struct, or an array
 * `[type, count]` of any of these.
 */
export type FieldType =
  | Dtype
  | `${Dtype}*`
  | `const ${Dtype}*`
  | `bytes[${number}]`
  | StructType
  | readonly [type: FieldType, count: number];

/** Fields by name, in the order of the declaration. */
export type Fields = Readonly<Record<string, FieldType>>;

/** Options of `struct`, for what the fields do not say. */
export interface StructOptions<Name extends string = string> {
  /** What errors call it; default its fields. */
  readonly name?: string;
  /** As `alignas(16)` before the struct's name: a power of two up to 4096. */
  readonly align?: number;
  /** As `#pragma pack(1)`: no field is aligned to more. 1, 2, 4, 8 or 16. */
  readonly pack?: number;
  /**
   * Where fields begin that do not begin where C would put them, in bytes. The fields after one of
   * these follow it.
   */
  readonly offsets?: { readonly [Field in Name]?: number };
}

const powerOfTwo = (atMost: number) =>
  whole({ atLeast: 1, atMost, takes: `a power of two up to ${atMost}`, accepts: (value) => (value & (value - 1)) === 0 });

/** The options of `struct`. */
export const structTable = {
  name: optional(text(), "What errors call it; left out, its fields."),
  align: option(powerOfTwo(4096), 1, "As alignas(16) before the struct's name."),
  pack: optional(powerOfTwo(16), "As #pragma pack(1): no field is aligned to more."),
  offsets: option(record(whole(), "an object of offsets by field"), {}, "Bytes at which fields begin that do not begin where C puts them."),
} satisfies TableOf<StructOptions>;

/** A struct as kernels take it. Made by `struct`, `vector`. */
export class StructType<F extends Fields = Fields> {
  readonly fields: F;
  readonly bytes: number;
  readonly alignment: number;
  /** Where each field begins, in bytes. */
  readonly offsets: { readonly [Name in keyof F]: number };
  /** @internal */
  readonly layout: Layout;
  readonly #text: string;

  /** @internal */
  constructor(fields: F, options: StructOptions<keyof F & string>) {
    const { name, align, pack, offsets } = resolve(structTable, options, "struct");
    for (const [field, offset] of Object.entries(offsets))
      if (!Object.hasOwn(fields, field)) throw ArgumentError.unknownField(`offsets.${field}`, offset, Object.keys(fields), "struct");
    let end = 0;
    let alignment = align;
    const layouts: FieldLayout[] = [];
    for (const [field, type] of Object.entries(fields)) {
      if (!/^[A-Za-z_]\w*$/.test(field))
        throw ArgumentError.because(`struct: a field is called ${quoted(field)}; it takes a name of C`, { field });
      const layout = layoutOfField(field, type);
      const own = Math.min(layout.alignment, pack ?? layout.alignment);
      const offset = offsets[field] ?? alignUp(end, own);
      if (!Number.isInteger(offset) || offset < end || offset > mostParameterBytes)
        throw new ArgumentError(`offsets.${field}`, offset, `${end}, the end of what is before it, or more`, { of: "struct" });
      layouts.push({ name: field, offset, layout });
      end = offset + layout.bytes;
      alignment = Math.max(alignment, own);
    }
    this.fields = fields;
    this.alignment = alignment;
    // A struct without fields has a byte in C++.
    this.bytes = alignUp(Math.max(1, end), alignment);
    if (this.bytes > mostParameterBytes)
      throw ArgumentError.because(`struct: ${this.bytes} bytes; the parameters of a kernel take ${mostParameterBytes} at most`);
    this.offsets = Object.fromEntries(layouts.map(({ name: field, offset }) => [field, offset])) as { [Name in keyof F]: number };
    this.#text = `{${layouts.map(({ name: field, offset, layout }) => `${field}: ${layout.text} @${offset}`).join(", ")}} of ${this.bytes} bytes`;
    const text = name ?? `{${layouts.map(({ name: field, layout }) => `${field}: ${layout.text}`).join(", ")}}`;
    this.layout = { kind: "struct", text, fields: layouts, bytes: this.bytes, alignment };
  }

  /** Its fields with their offsets: two structs of one layout have the same text. */
  toString(): string {
    return this.#text;
  }
}

const fieldTakes = '"f32", "const f32*", "bytes[16]", a struct, or ["f32", 3]';

function layoutOfField(field: string, type: FieldType): Layout {
  if (type instanceof StructType) return type.layout;
  if (Array.isArray(type)) {
    const [of, count] = type as readonly [FieldType, number];
    if (type.length !== 2 || !Number.isInteger(count) || count < 1 || count > mostParameterBytes)
      throw ArgumentError.because(
        `struct: field ${quoted(field)} is ${describe(type)}; an array is [type, count] with a whole number from 1`,
        { field, value: type, expected: "[type, count] with a whole number from 1" },
      );
    const element = layoutOfField(field, of);
    return { kind: "array", text: `${element.text}[${count}]`, element, count, bytes: count * element.bytes, alignment: element.alignment };
  }
  const layout = typeof type === "string" ? layoutOfText(type) : undefined;
  if (layout === undefined)
    throw ArgumentError.because(`struct: field ${quoted(field)} is ${describe(type)}; a field is such as ${fieldTakes}`, {
      field,
      value: type,
      expected: fieldTakes,
    });
  return layout;
}

/**
 * A struct that kernels take by value. Fields lie in their order, each at a multiple of its
 * alignment; the whole is filled up to a multiple of the largest. With
 * `struct({ scale: "f32", data: "const f32*", shape: ["i32", 3] })` a launch takes
 * `{ scale: 2, data: buffer, shape: [4, 5, 6] }`.
 *
 * @throws ArgumentError naming the field or option that is none.
 */
export function struct<const F extends Fields>(fields: F, options: StructOptions<keyof F & string> = {}): StructType<F> {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields))
    throw new ArgumentError("fields", fields, "an object of types by name", { of: "struct" });
  return new StructType(fields, options);
}

const vectorNames: Partial<Record<Dtype, string>> = {
  i8: "char",
  u8: "uchar",
  i16: "short",
  u16: "ushort",
  i32: "int",
  u32: "uint",
  i64: "longlong",
  u64: "ulonglong",
  f16: "half",
  bf16: "__nv_bfloat16",
  f32: "float",
  f64: "double",
};

/** The fields of a vector of so many numbers. */
export interface Axes {
  1: "x";
  2: "x" | "y";
  3: "x" | "y" | "z";
  4: "x" | "y" | "z" | "w";
}

/**
 * A vector type of CUDA with fields x, y, z, w: `vector("f32", 4)` is float4, aligned to 16 bytes.
 * Those of two and four are aligned to their size, 16 bytes at most; CUDA C++ Programming Guide,
 * "Built-in Vector Types".
 *
 * @throws ArgumentError for another type or count.
 */
export function vector<T extends Dtype, N extends keyof Axes>(dtype: T, count: N): StructType<{ readonly [Axis in Axes[N]]: T }> {
  const name = isDtype(dtype) ? vectorNames[dtype] : undefined;
  if (name === undefined || ![1, 2, 3, 4].includes(count))
    throw ArgumentError.because(
      `there is no vector of ${describe(count)} x ${describe(dtype)}; there are 1 to 4 of ${Object.keys(vectorNames).join(", ")}`,
    );
  const fields = Object.fromEntries(["x", "y", "z", "w"].slice(0, count).map((field) => [field, dtype]));
  const align = count === 3 ? 1 : Math.min(16, count * bytesOf(dtype));
  return struct(fields, { name: `${name}${count}`, align }) as unknown as StructType<{ readonly [Axis in Axes[N]]: T }>;
}

/** CUDA's dim3: three u32. */
export const dim3: StructType<{ readonly x: "u32"; readonly y: "u32"; readonly z: "u32" }> = struct(
  { x: "u32", y: "u32", z: "u32" },
  { name: "dim3" },
);
