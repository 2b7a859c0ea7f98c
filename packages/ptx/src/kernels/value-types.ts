// Short names of the values that kernels are made of.
import type { Pointer, Value, Variable } from "../builder/index.js";

export type Index = Value<"u32">;
export type Single = Value<"f32">;
export type Word = Value<"b32">;
export type Condition = Value<"pred">;
export type Sum = Variable<"f32">;
export type Singles = Pointer<"global", "f32">;
export type SharedSingles = Pointer<"shared", "f32">;
export type Double = Value<"f64">;
export type Doubles = Pointer<"global", "f64">;
export type Bytes = Pointer<"global", "b8">;
