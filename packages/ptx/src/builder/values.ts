// Values, pointers and constants: what operations take and give. A value carries its type in
// TypeScript, a pointer its state space and element too.

import { bfloat16Bits, halfBits } from "@spillway/core/half.js";
import { PtxBuildError } from "./errors.js";
import { type MemoryType, type RegisterType, registerTypes, typeBytes } from "./types.js";

/** A virtual register. `T` is its PTX type: operations on other types do not compile. */
export class Value<T extends RegisterType = RegisterType> {
  readonly type: T;
  /** Its number among the registers of its kernel. */
  readonly id: number;
  readonly name: string;

  /** @internal Values are made by operations. */
  constructor(type: T, id: number, index: number) {
    this.type = type;
    this.id = id;
    this.name = `%${registerTypes[type].prefix}${index}`;
  }
}

/** A register that may be assigned more than once. */
export class Variable<T extends RegisterType = RegisterType> extends Value<T> {
  readonly mutable = true;
}

type Literal<T extends RegisterType> = T extends "pred" ? never : T extends "u64" | "s64" | "b64" ? number | bigint : number;

/** A value, or a number of its type. */
export type Operand<T extends RegisterType> = Value<T> | Literal<T>;

/** State spaces that pointers point into. */
export type Space = "global" | "shared" | "local" | "const";

/** The register type of addresses: 64 bits, and 32 in shared memory. */
export type AddressType<S extends Space> = S extends "shared" ? "u32" : "u64";

/** An address in one state space, with the element there; instructions add `bytes` to it. */
export class Pointer<S extends Space = Space, T extends MemoryType = MemoryType> {
  readonly space: S;
  readonly element: T;
  readonly base: Value<AddressType<S>>;
  readonly bytes: number;

  /** To `base` plus `bytes`; `PtxKernel.pointer`, `at` and the arrays of a kernel make them. */
  constructor(space: S, element: T, base: Value<AddressType<S>>, bytes = 0) {
    this.space = space;
    this.element = element;
    this.base = base;
    this.bytes = bytes;
  }

  /** The pointer so many elements further, at no cost. */
  plus(elements: number): Pointer<S, T> {
    return this.plusBytes(elements * typeBytes(this.element));
  }

  /** The pointer so many bytes further, at no cost. @throws PtxBuildError on a fraction */
  plusBytes(bytes: number): Pointer<S, T> {
    if (!Number.isInteger(bytes)) throw new PtxBuildError(`an offset of ${bytes} bytes; it takes a whole number`);
    return new Pointer(this.space, this.element, this.base, this.bytes + bytes);
  }

  /** The same address as that of another element. */
  as<U extends MemoryType>(element: U): Pointer<S, U> {
    return new Pointer(this.space, element, this.base, this.bytes);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

const hex = (bits: number | bigint, digits: number): string => bits.toString(16).toUpperCase().padStart(digits, "0");

/** A constant as PTX, floats by their bits. Throws PtxBuildError if the type cannot hold it. */
export function literal(type: RegisterType | MemoryType, value: number | bigint): string {
  switch (type) {
    case "f32":
      scratch.setFloat32(0, Number(value));
      return `0f${hex(scratch.getUint32(0), 8)}`;
    case "f64":
      scratch.setFloat64(0, Number(value));
      return `0d${hex(scratch.getBigUint64(0), 16)}`;
    case "f16":
      return `0x${hex(halfBits(Number(value)), 4)}`;
    case "bf16":
      return `0x${hex(bfloat16Bits(Number(value)), 4)}`;
    case "f16x2":
      return `0x${hex(halfBits(Number(value)), 4).repeat(2)}`;
    case "bf16x2":
      return `0x${hex(bfloat16Bits(Number(value)), 4).repeat(2)}`;
    case "pred":
      throw new PtxBuildError("a predicate has no constants");
    default: {
      const bits = 8 * typeBytes(type);
      if (typeof value === "number" && !Number.isSafeInteger(value))
        throw new PtxBuildError(`the constant ${value} for .${type}; it takes a whole number`);
      const least = type.startsWith("u") ? 0 : -(2 ** (bits - 1));
      // One more than the largest, which a double holds where the largest of 64 bits is none.
      const end = type.startsWith("s") ? 2 ** (bits - 1) : 2 ** bits;
      if (value < least || value >= end)
        throw new PtxBuildError(`the constant ${value} for .${type}; it takes ${BigInt(least)} to ${BigInt(end) - 1n}`);
      return value.toString();
    }
  }
}
