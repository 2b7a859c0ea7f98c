// A kernel's parameters as TypeScript types: the meaning of "const f32*", "i32" or a struct, and
// which arguments a launch then takes.
import { LaunchError } from "@spillway/core/errors.js";
import { describe } from "@spillway/core/text.js";
import type { Dtype } from "./dtypes.js";
import { type Layout, layoutOfText } from "./layout.js";
import type { DeviceSlice, ReadonlyDeviceSlice } from "./slice.js";
import { type Fields, type FieldType, StructType } from "./struct.js";

/**
 * A parameter as a generator of PTX describes it: its PTX type, and for a pointer the PTX type of
 * its elements.
 */
export interface PtxParameter {
  readonly type: string;
  readonly element?: string;
}

/**
 * A parameter: a number by value, a pointer to device memory, a pointer through which the kernel
 * only reads, a struct by value, described or as so many bytes; or what a generated kernel says of
 * it.
 */
export type Parameter = Dtype | `${Dtype}*` | `const ${Dtype}*` | `bytes[${number}]` | StructType | PtxParameter;

/** What a launch takes for a field of a struct. Arrays of numbers may be typed arrays. */
export type ValueFor<F extends FieldType> = F extends readonly [infer Of extends FieldType, number]
  ? ArrayLike<ValueFor<Of>>
  : F extends Exclude<FieldType, readonly unknown[]>
    ? ArgumentFor<F>
    : never;

/** What a launch takes for a parameter. null is a null pointer. */
export type ArgumentFor<P extends Parameter> = P extends `const ${infer T extends Dtype}*`
  ? ReadonlyDeviceSlice<T> | null
  : P extends `${infer T extends Dtype}*`
    ? DeviceSlice<T> | null
    : P extends "i64" | "u64"
      ? bigint | number
      : P extends "bool"
        ? boolean
        : P extends Dtype
          ? number
          : P extends `bytes[${number}]`
            ? ArrayBufferView
            : P extends StructType<infer F extends Fields>
              ? { readonly [Name in keyof F]: ValueFor<F[Name]> }
              : DeviceSlice | null | number | bigint;

/** The arguments of a launch, in the order of the parameters. */
export type ArgumentsFor<Parameters extends readonly Parameter[]> = {
  -readonly [Index in keyof Parameters]: ArgumentFor<Parameters[Index]>;
};

const dtypesOfPtx: Readonly<Record<string, Dtype>> = {
  b8: "u8",
  s8: "i8",
  b16: "u16",
  s16: "i16",
  b32: "u32",
  s32: "i32",
  b64: "u64",
  s64: "i64",
  f16x2: "f16",
  bf16x2: "bf16",
  tf32: "f32",
};

/**
 * The text of a parameter that is described in PTX types. Two halves by value are a word of their
 * bits.
 */
function textOf({ type, element }: PtxParameter): string {
  const dtype = (name: string): string => (Object.hasOwn(dtypesOfPtx, name) ? dtypesOfPtx[name]! : name);
  if (element !== undefined) return `${dtype(element)}*`;
  return /^b?f16x2$/.test(type) ? "u32" : dtype(type);
}

function layoutOf(parameter: unknown): Layout | undefined {
  if (parameter instanceof StructType) return parameter.layout;
  if (typeof parameter === "string") return layoutOfText(parameter);
  if (typeof parameter !== "object" || parameter === null || typeof (parameter as PtxParameter).type !== "string") return undefined;
  return layoutOfText(textOf(parameter as PtxParameter));
}

/** The layouts of parameters. @throws LaunchError if one is no parameter. */
export function parseParameters(kernel: string, parameters: readonly unknown[]): readonly Layout[] {
  return parameters.map((parameter, index) => {
    const layout = layoutOf(parameter);
    if (layout !== undefined) return layout;
    throw new LaunchError(
      kernel,
      `parameter ${index} is ${describe(parameter)}; a parameter is such as "i32", "f32*", "const f32*", "bytes[48]" or struct({ x: "f32" })`,
      { field: `parameters[${index}]`, value: parameter, expected: '"i32", "f32*", "const f32*", "bytes[48]" or a struct' },
    );
  });
}
