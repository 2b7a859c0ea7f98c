// The types that values of the builder carry: which there are, their size, and how their registers
// are declared. No operations.
import { ArgumentError } from "@spillway/core/errors.js";

/** What a register may hold: `b..` untyped bits, `..x2` two halves in one word. */
export type RegisterType =
  | "pred"
  | "b16"
  | "u16"
  | "s16"
  | "b32"
  | "u32"
  | "s32"
  | "b64"
  | "u64"
  | "s64"
  | "f16"
  | "bf16"
  | "f16x2"
  | "bf16x2"
  | "tf32"
  | "f32"
  | "f64";

/** What memory may hold; bytes and 16-bit integers are widened to 32 bits when loaded. */
export type MemoryType = Exclude<RegisterType, "pred"> | "b8" | "u8" | "s8";

/** The register type that a load of a memory type gives. */
export type Loaded<T extends MemoryType> = T extends "b8" | "u8" | "u16"
  ? "u32"
  : T extends "s8" | "s16"
    ? "s32"
    : T extends RegisterType
      ? T
      : never;

/** Whole numbers that registers hold. */
export type IntegerType = "u16" | "s16" | "u32" | "s32" | "u64" | "s64";
/** Binary32 and binary64. */
export type FloatType = "f32" | "f64";
export type HalfType = "f16" | "bf16" | "f16x2" | "bf16x2";
export type NumberType = IntegerType | FloatType | HalfType;
/** Bits without a meaning. */
export type BitsType = "b16" | "b32" | "b64";
/** One number, which cvt makes of another. */
export type ConvertibleType = IntegerType | FloatType | "f16" | "bf16";

interface TypeFacts {
  readonly bytes: number;
  readonly declared: string;
  readonly prefix: string;
}

/** Facts of every register type, in the order in which registers are declared. */
export const registerTypes: Readonly<Record<RegisterType, TypeFacts>> = {
  pred: { bytes: 0, declared: "pred", prefix: "p" },
  b16: { bytes: 2, declared: "b16", prefix: "h" },
  u16: { bytes: 2, declared: "u16", prefix: "uh" },
  s16: { bytes: 2, declared: "s16", prefix: "sh" },
  f16: { bytes: 2, declared: "b16", prefix: "fh" },
  bf16: { bytes: 2, declared: "b16", prefix: "bh" },
  b32: { bytes: 4, declared: "b32", prefix: "b" },
  u32: { bytes: 4, declared: "u32", prefix: "u" },
  s32: { bytes: 4, declared: "s32", prefix: "s" },
  f16x2: { bytes: 4, declared: "b32", prefix: "ff" },
  bf16x2: { bytes: 4, declared: "b32", prefix: "bb" },
  tf32: { bytes: 4, declared: "b32", prefix: "tf" },
  f32: { bytes: 4, declared: "f32", prefix: "f" },
  b64: { bytes: 8, declared: "b64", prefix: "bd" },
  u64: { bytes: 8, declared: "u64", prefix: "ud" },
  s64: { bytes: 8, declared: "s64", prefix: "sd" },
  f64: { bytes: 8, declared: "f64", prefix: "fd" },
};

/** Bytes of one element in memory. */
export function typeBytes(type: RegisterType | MemoryType): number {
  if (type === "b8" || type === "u8" || type === "s8") return 1;
  if (!Object.hasOwn(registerTypes, type)) throw new ArgumentError("type", type, Object.keys(registerTypes).join(", "));
  return registerTypes[type].bytes;
}

/** The type that a load gives; see Loaded. */
export function loadedType<T extends MemoryType>(type: T): Loaded<T> {
  if (type === "b8" || type === "u8" || type === "u16") return "u32" as Loaded<T>;
  return (type === "s8" || type === "s16" ? "s32" : type) as Loaded<T>;
}

/** The type that a load, a store, a mov or a parameter names: halves, pairs and tf32 go as bits. */
export function wordOf(type: RegisterType | MemoryType): string {
  if (type === "f16" || type === "bf16") return "b16";
  return type === "f16x2" || type === "bf16x2" || type === "tf32" ? "b32" : type;
}
