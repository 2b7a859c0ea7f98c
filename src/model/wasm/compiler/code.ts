// Instructions of WebAssembly as bytes. A call names its function until all functions are known.
import { signed, unsigned } from "../binary.js";
import type { Scalar } from "./types.js";

/** Bytes of instructions; a text is the number of the function of that name. */
export type Code = readonly (number | string)[];

export const op = {
  ...{ block: 0x02, loop: 0x03, if: 0x04, else: 0x05, end: 0x0b, br: 0x0c, brIf: 0x0d, return: 0x0f, call: 0x10, drop: 0x1a },
  ...{ getLocal: 0x20, setLocal: 0x21, teeLocal: 0x22, getGlobal: 0x23, setGlobal: 0x24, isZero: 0x45, isZero64: 0x50 },
  ...{ add: 0x6a, sub: 0x6b, multiply: 0x6c, divide: 0x6d, empty: 0x40 },
} as const;

export const i32 = (value: number): Code => [0x41, ...signed(BigInt(value | 0))];

/** The bytes of a constant. */
export function constantCode(value: number | bigint, type: Scalar): Code {
  if (type.kind === "real") {
    const view = new DataView(new ArrayBuffer(type.bytes));
    if (type.bytes === 4) view.setFloat32(0, Number(value), true);
    else view.setFloat64(0, Number(value), true);
    return [type.bytes === 4 ? 0x43 : 0x44, ...new Uint8Array(view.buffer)];
  }
  if (type.kind === "whole" && type.bytes === 8) return [0x42, ...signed(BigInt.asIntN(64, BigInt(value)))];
  return i32(Number(BigInt.asIntN(32, BigInt(value))));
}

export const local = (which: number): Code => [op.getLocal, ...unsigned(which)];
export const setLocal = (which: number): Code => [op.setLocal, ...unsigned(which)];

/** An instruction that goes to memory. */
export const atMemory = (instruction: number, bytes: number, offset: number): Code => [
  instruction,
  31 - Math.clz32(bytes),
  ...unsigned(offset),
];

type Sign = "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" | "==" | "!=" | "<" | ">" | "<=" | ">=";

const wholes: Readonly<Record<Sign, readonly [number, number]>> = {
  ...{ "+": [0x6a, 0x6a], "-": [0x6b, 0x6b], "*": [0x6c, 0x6c], "/": [0x6d, 0x6e], "%": [0x6f, 0x70] },
  ...{ "&": [0x71, 0x71], "|": [0x72, 0x72], "^": [0x73, 0x73], "<<": [0x74, 0x74], ">>": [0x75, 0x76] },
  ...{ "==": [0x46, 0x46], "!=": [0x47, 0x47], "<": [0x48, 0x49], ">": [0x4a, 0x4b], "<=": [0x4c, 0x4d], ">=": [0x4e, 0x4f] },
};

const reals: Readonly<Partial<Record<Sign, number>>> = {
  ...{ "+": 0x92, "-": 0x93, "*": 0x94, "/": 0x95, "==": 0x5b, "!=": 0x5c, "<": 0x5d, ">": 0x5e, "<=": 0x5f, ">=": 0x60 },
};

export const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", ">", "<=", ">="]);

/** The instruction of an operator on two values of a type; undefined if the type has none. */
export function operation(sign: string, type: Scalar): number | undefined {
  const isComparison = comparisons.has(sign);
  if (type.kind === "real") {
    const found = reals[sign as Sign];
    return found === undefined || type.bytes === 4 ? found : found + (isComparison ? 6 : 14);
  }
  const found = wholes[sign as Sign]?.[type.kind === "whole" && type.signed ? 0 : 1];
  return found === undefined || type.kind === "pointer" || type.bytes < 8 ? found : found + (isComparison ? 11 : 18);
}
