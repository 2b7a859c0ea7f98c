// A kernel's parameters as TypeScript types: what "const f32*" or "i32" stands for, and which arguments a launch then takes.
import { bytesOf, type Dtype, isDtype } from "./dtypes.js";
import { LaunchError } from "./errors.js";
import type { DeviceSlice, ReadonlyDeviceSlice } from "./slice.js";

/** A parameter: a number by value, a pointer to device memory, or a pointer through which the kernel only reads. */
export type Parameter = Dtype | `${Dtype}*` | `const ${Dtype}*`;

/** What a launch takes for a parameter. null is a null pointer. */
export type ArgumentFor<P extends Parameter> = P extends `const ${infer T extends Dtype}*`
  ? ReadonlyDeviceSlice<T> | null
  : P extends `${infer T extends Dtype}*`
    ? DeviceSlice<T> | null
    : P extends "i64" | "u64"
      ? bigint | number
      : P extends "bool"
        ? boolean
        : number;

/** The arguments of a launch, in the order of the parameters. */
export type ArgumentsFor<Parameters extends readonly Parameter[]> = {
  -readonly [Index in keyof Parameters]: ArgumentFor<Parameters[Index]>;
};

/** A parameter taken apart. */
export interface ParsedParameter {
  readonly text: Parameter;
  readonly dtype: Dtype;
  readonly pointer: boolean;
  /** Whether the kernel only reads through the pointer. */
  readonly readonly: boolean;
  /** Bytes that it takes. */
  readonly bytes: number;
}

/** @throws LaunchError where a text is no parameter. */
export function parseParameters(kernel: string, texts: readonly string[]): readonly ParsedParameter[] {
  return texts.map((text, index) => {
    const match = /^(const )?([a-z0-9]+)(\*)?$/.exec(text);
    const [, constant, dtype = "", star] = match ?? [];
    if (!match || !isDtype(dtype) || (constant !== undefined && star === undefined))
      throw new LaunchError(kernel, `parameter ${index} is ${JSON.stringify(text)}; a parameter is such as "i32", "f32*" or "const f32*"`);
    const pointer = star !== undefined;
    return { text: text as Parameter, dtype, pointer, readonly: constant !== undefined, bytes: pointer ? 8 : bytesOf(dtype) };
  });
}
