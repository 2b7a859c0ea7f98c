// How a value lies in memory: the meaning of a parameter's or a field's text. Structs are laid out
// in struct.ts; argument-writer.ts writes values.
import { bytesOf, type Dtype, isDtype } from "./dtypes.js";

/** A number by value. */
interface ScalarLayout {
  readonly kind: "scalar";
  readonly dtype: Dtype;
}

/** The address of device memory. */
interface PointerLayout {
  readonly kind: "pointer";
  readonly dtype: Dtype;
  /** Whether the kernel only reads through the pointer. */
  readonly readonly: boolean;
}

/** Bytes that nothing is known of. */
interface BytesLayout {
  readonly kind: "bytes";
}

/** So many of one kind, one after another. */
interface ArrayLayout {
  readonly kind: "array";
  readonly element: Layout;
  readonly count: number;
}

/** A field and where it begins. */
export interface FieldLayout {
  readonly name: string;
  readonly offset: number;
  readonly layout: Layout;
}

/** Fields at their offsets. */
interface StructLayout {
  readonly kind: "struct";
  readonly fields: readonly FieldLayout[];
}

/** How a value lies in memory. */
export type Layout = (ScalarLayout | PointerLayout | BytesLayout | ArrayLayout | StructLayout) & {
  /** As errors call it. */
  readonly text: string;
  readonly bytes: number;
  readonly alignment: number;
};

/**
 * The most that a kernel's parameters take. PTX ISA 9.0, "Kernel Function Parameters": 32,764
 * bytes.
 */
export const mostParameterBytes = 32_764;

/**
 * The layout of "f32", "f32*", "const f32*" or "bytes[48]"; undefined if a text is none of these.
 */
export function layoutOfText(text: string): Layout | undefined {
  const [, count] = /^bytes\[(\d{1,5})\]$/.exec(text) ?? [];
  if (count !== undefined) {
    const bytes = Number(count);
    return bytes < 1 || bytes > mostParameterBytes ? undefined : { kind: "bytes", text, bytes, alignment: 1 };
  }
  const [, constant, dtype, star] = /^(const )?([a-z0-9]+)(\*)?$/.exec(text) ?? [];
  if (dtype === undefined || !isDtype(dtype)) return undefined;
  if (star !== undefined) return { kind: "pointer", text, dtype, readonly: constant !== undefined, bytes: 8, alignment: 8 };
  if (constant !== undefined) return undefined;
  return { kind: "scalar", text, dtype, bytes: bytesOf(dtype), alignment: bytesOf(dtype) };
}

/** The least multiple of `to` that is not below `bytes`. */
export const alignUp = (bytes: number, to: number): number => Math.ceil(bytes / to) * to;
