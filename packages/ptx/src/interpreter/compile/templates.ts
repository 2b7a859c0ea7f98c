// What the table of instructions is made of: reading operands of 16, 32 and 64 bits and writing
// results, and templates of instructions that differ only in an expression. Sixteen-bit values are
// kept zero-extended in a word.
import type { PtxOperand, ScalarType } from "../types.js";
import type { Emitter } from "./emitter.js";

export type Handler = (emitter: Emitter) => void;
/** Low and high word of 64 bits, as expressions. */
export type Halves = [low: string, high: string];

export const isSigned = (type: ScalarType): boolean => type.startsWith("s");
export const isWideInteger = (type: ScalarType): boolean => type === "b64" || type === "u64" || type === "s64";
export const isShort = (type: ScalarType): boolean => type === "b16" || type === "u16" || type === "s16";

export const words: readonly ScalarType[] = ["u32", "s32"];
export const wordsAndWide: readonly ScalarType[] = ["u32", "s32", "u64", "s64"];
export const integers: readonly ScalarType[] = ["u16", "s16", ...wordsAndWide];
export const bits: readonly ScalarType[] = ["b32", "b64"];

/** An operand of 16 or 32 bits as a number with its type's sign (u32 stays signed). */
export function typedWord(e: Emitter, operand: PtxOperand, type: ScalarType): string {
  const word = e.word(operand, type);
  if (type === "s16") return `(${word}<<16>>16)`;
  if (isShort(type)) return `(${word}&65535)`;
  return word;
}

/** A 16- or 32-bit result, wrapped. */
export function setTyped(e: Emitter, destination: PtxOperand, expression: string, type: ScalarType): void {
  e.setWord(destination, isShort(type) ? `(${expression})&65535` : expression, type);
}

export function lessThan64(a: Halves, b: Halves, signed: boolean): string {
  const highLess = signed ? `${a[1]}<${b[1]}` : `(${a[1]}>>>0)<(${b[1]}>>>0)`;
  return `(${highLess}||(${a[1]}===${b[1]}&&(${a[0]}>>>0)<(${b[0]}>>>0)))`;
}

/** An expression of an instruction's operands, of which 64-bit ones are two values each. */
type Expression<Result> = (values: readonly string[], signed: boolean, type: ScalarType) => Result;

interface IntegerRow {
  readonly types: readonly ScalarType[];
  /** One letter for each operand: "t" typed with its sign, "r" the type's raw bits, "w" a word. */
  readonly operands: string;
  readonly word: Expression<string>;
  /** Of 64 bits: two halves, or one call that leaves the other half in `wide.high`. */
  readonly wide?: Expression<string | Halves>;
  readonly predicate?: Expression<string>;
  /** The result is a word of this type, whatever the type of the operands. */
  readonly result?: ScalarType;
}

/** An instruction that computes one expression of its operands. */
export function integer({ types, operands, word, wide, predicate, result }: IntegerRow): Handler {
  return (e) => {
    const type = e.type(types);
    const isWide = isWideInteger(type);
    const to = e.operand(0);
    const values = [...operands].flatMap((letter, k) => {
      const operand = e.operand(k + 1);
      if (letter === "w") return e.word(operand);
      if (isWide) return e.halves(operand, type);
      if (type === "pred") return e.predicate(operand);
      return letter === "r" ? e.word(operand, type) : typedWord(e, operand, type);
    });
    const expression = (type === "pred" ? predicate! : isWide ? wide! : word)(values, isSigned(type), type);
    if (type === "pred") e.setPredicate(to, expression as string);
    else if (result !== undefined) e.setWord(to, expression as string, result);
    else if (!isWide) setTyped(e, to, expression as string, type);
    else if (typeof expression === "string") e.setHalves(to, e.temporary(expression), "wide.high", type);
    else e.setHalves(to, ...expression, type);
  };
}
