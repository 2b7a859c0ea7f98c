// Types of C, and the instructions of WebAssembly that load, store and convert their values.
import type { Code } from "./code.js";

export interface Whole {
  readonly kind: "whole";
  readonly bytes: 1 | 2 | 4 | 8;
  readonly signed: boolean;
}

export interface Real {
  readonly kind: "real";
  readonly bytes: 4 | 8;
}

export interface Pointer {
  readonly kind: "pointer";
  readonly to: CType;
}

export interface ArrayOf {
  readonly kind: "array";
  readonly of: CType;
  readonly count: number;
}

/** A struct or a union. */
export interface RecordType {
  readonly kind: "record";
  readonly bytes: number;
  readonly align: number;
  readonly fields: ReadonlyMap<string, Field>;
}

export interface Field {
  readonly type: CType;
  readonly offset: number;
}

export type CType = Whole | Real | Pointer | ArrayOf | RecordType | { readonly kind: "void" };

/** A value that stands in a local of WebAssembly. */
export type Scalar = Whole | Real | Pointer;

export const whole = (bytes: Whole["bytes"], signed: boolean): Whole => ({ kind: "whole", bytes, signed });
export const int = whole(4, true);
export const single: Real = { kind: "real", bytes: 4 };
export const double: Real = { kind: "real", bytes: 8 };
export const nothing = { kind: "void" } as const;

/** The types that have a name of their own before any program. */
export const namedTypes: ReadonlyMap<string, CType> = new Map<string, CType>([
  ["void", nothing],
  ["char", whole(1, true)],
  ["int", int],
  ["float", single],
  ["double", double],
  ["size_t", whole(4, false)],
  ...([8, 16, 32, 64] as const).flatMap((bits): [string, CType][] => [
    [`int${bits}_t`, whole((bits / 8) as Whole["bytes"], true)],
    [`uint${bits}_t`, whole((bits / 8) as Whole["bytes"], false)],
  ]),
]);

export function sizeOf(type: CType): number {
  if (type.kind === "array") return type.count * sizeOf(type.of);
  if (type.kind === "pointer") return 4;
  return type.kind === "void" ? 1 : type.bytes;
}

export function alignOf(type: CType): number {
  if (type.kind === "array") return alignOf(type.of);
  return type.kind === "record" ? type.align : sizeOf(type);
}

export const isScalar = (type: CType): type is Scalar => type.kind === "whole" || type.kind === "real" || type.kind === "pointer";

export const aligned = (at: number, by: number): number => Math.ceil(at / by) * by;

/** The type that a value has in WebAssembly. */
export function valueType(type: Scalar): number {
  if (type.kind === "real") return type.bytes === 4 ? 0x7d : 0x7c;
  return type.kind === "whole" && type.bytes === 8 ? 0x7e : 0x7f;
}

/** The instruction that loads a value from an address on the stack. */
export function loadOf(type: Scalar): number {
  if (type.kind === "real") return type.bytes === 4 ? 0x2a : 0x2b;
  if (type.kind === "pointer" || type.bytes === 4) return 0x28;
  if (type.bytes === 8) return 0x29;
  return (type.bytes === 1 ? 0x2c : 0x2e) + (type.signed ? 0 : 1);
}

/** The instruction that stores it. */
export function storeOf(type: Scalar): number {
  if (type.kind === "real") return type.bytes === 4 ? 0x38 : 0x39;
  if (type.kind === "pointer" || type.bytes === 4) return 0x36;
  return type.bytes === 8 ? 0x37 : type.bytes === 1 ? 0x3a : 0x3b;
}

/** What a whole number of fewer than 32 bits becomes in a sum. */
export const promoted = (type: Scalar): Scalar => (type.kind === "whole" && type.bytes < 4 ? int : type);

/** The type that both sides of an operator are converted to. */
export function common(a: Scalar, b: Scalar): Scalar {
  if (a.kind === "pointer") return a;
  if (b.kind === "pointer") return b;
  if (a.kind === "real" || b.kind === "real") {
    const bytes = Math.max(...[a, b].map((each) => (each.kind === "real" ? each.bytes : 4)));
    return bytes === 8 ? double : single;
  }
  const [one, other] = [promoted(a) as Whole, promoted(b) as Whole];
  if (one.bytes !== other.bytes) return one.bytes > other.bytes ? one : other;
  return one.signed ? other : one;
}

/** What turns a value on the stack into one of another type. */
export function conversion(from: Scalar, to: Scalar): Code {
  const source = from.kind === "pointer" ? whole(4, false) : from;
  const target = to.kind === "pointer" ? whole(4, false) : to;
  if (source.kind === "real") {
    if (target.kind === "real") return source.bytes === target.bytes ? [] : [target.bytes === 4 ? 0xb6 : 0xbb];
    // Saturating: C leaves it open what a number beyond the range becomes.
    const which = (target.bytes === 8 ? 4 : 0) + (source.bytes === 8 ? 2 : 0) + (target.signed ? 0 : 1);
    return [0xfc, which, ...narrowed(target)];
  }
  if (target.kind === "real")
    return [(target.bytes === 4 ? 0xb2 : 0xb7) + (source.bytes === 8 ? 2 : 0) + (source.signed || source.bytes < 4 ? 0 : 1)];
  if (target.bytes === 8) return source.bytes === 8 ? [] : [source.signed ? 0xac : 0xad];
  const wrapped = source.bytes === 8 ? [0xa7] : [];
  const fits = source.bytes < target.bytes || (source.bytes === target.bytes && source.signed === target.signed);
  return fits && source.bytes < 8 && (target.bytes === 4 || source.signed === target.signed) ? wrapped : [...wrapped, ...narrowed(target)];
}

function narrowed({ bytes, signed }: Whole): Code {
  if (bytes >= 4) return [];
  if (signed) return [bytes === 1 ? 0xc0 : 0xc1];
  return [0x41, ...(bytes === 1 ? [0xff, 0x01] : [0xff, 0xff, 0x03]), 0x71];
}
