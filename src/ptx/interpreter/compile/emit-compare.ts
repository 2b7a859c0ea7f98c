// Comparisons and selections: setp, set, selp, slct, for integers, floats and halves, with the Boolean combinations they carry.
import type { PtxOperand, ScalarType } from "../types.js";
import { readFloat } from "./emit-float.js";
import { halfKind } from "./emit-half.js";
import { isSigned, isWideInteger, lessThan64, typedWord } from "./emit-integer.js";
import { type Emitter, typeOf } from "./emitter.js";

const comparisons = ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

function compareIntegers(e: Emitter, how: string, a: PtxOperand, b: PtxOperand, type: ScalarType): string {
  const unsignedNames: Readonly<Record<string, string>> = { lo: "lt", ls: "le", hi: "gt", hs: "ge" };
  const comparison = unsignedNames[how] ?? how;
  const signed = isSigned(type) && unsignedNames[how] === undefined;
  if (isWideInteger(type)) {
    const [x, y] = [e.halves(a), e.halves(b)];
    if (comparison === "eq") return `(${x[0]}===${y[0]}&&${x[1]}===${y[1]})`;
    if (comparison === "ne") return `(${x[0]}!==${y[0]}||${x[1]}!==${y[1]})`;
    if (comparison === "lt") return lessThan64(x, y, signed);
    if (comparison === "gt") return lessThan64(y, x, signed);
    return comparison === "le" ? `!${lessThan64(y, x, signed)}` : `!${lessThan64(x, y, signed)}`;
  }
  const view = (operand: PtxOperand): string => {
    const word = typedWord(e, operand, type);
    return signed || comparison === "eq" || comparison === "ne" ? word : `(${word}>>>0)`;
  };
  const operator = { eq: "===", ne: "!==", lt: "<", le: "<=", gt: ">", ge: ">=" }[comparison];
  if (operator === undefined) throw e.unsupported("integers have no such comparison");
  return `${view(a)}${operator}${view(b)}`;
}

function compareNumbers(e: Emitter, how: string, x: string, y: string): string {
  const tests: Readonly<Record<string, string>> = {
    eq: `${x}===${y}`,
    ne: `(${x}<${y}||${x}>${y})`,
    lt: `${x}<${y}`,
    le: `${x}<=${y}`,
    gt: `${x}>${y}`,
    ge: `${x}>=${y}`,
    equ: `!(${x}<${y}||${x}>${y})`,
    neu: `${x}!==${y}`,
    ltu: `!(${x}>=${y})`,
    leu: `!(${x}>${y})`,
    gtu: `!(${x}<=${y})`,
    geu: `!(${x}<${y})`,
    num: `(${x}===${x}&&${y}===${y})`,
    nan: `(${x}!==${x}||${y}!==${y})`,
  };
  const test = tests[how];
  if (test === undefined) throw e.unsupported("floats have no such comparison");
  return test;
}

function combine(e: Emitter, test: string, other: PtxOperand | undefined): string {
  const bit = `(${test}?1:0)`;
  if (other === undefined) return bit;
  const second = e.predicate(other);
  if (e.has("and")) return `${bit}&${second}`;
  return e.has("or") ? `${bit}|${second}` : `${bit}^${second}`;
}

function comparison(e: Emitter): string {
  const how = e.instruction.modifiers.find((word) => comparisons.includes(word));
  if (how === undefined) throw e.unsupported("which comparison?");
  return how;
}

/** A Boolean expression for the comparison of operands 1 and 2, of which half-precision pairs have two. */
function tests(e: Emitter, how: string, type: ScalarType): string[] {
  const [a, b] = [e.operand(1), e.operand(2)];
  if (type === "f32" || type === "f64") {
    const [x, y] = [e.temporary(readFloat(e, a, type)), e.temporary(readFloat(e, b, type))];
    return [compareNumbers(e, how, x, y)];
  }
  if (!type.includes("f")) return [compareIntegers(e, how, a, b, type)];
  const kind = halfKind(type);
  const [x, y] = [e.word(a), e.word(b)];
  const part = (word: string, shift: number): string => {
    const bits = shift === 0 ? `${word}&65535` : `${word}>>>16`;
    return e.temporary(`toNumber(${kind},${e.has("ftz") ? `flush16(${bits})` : bits})`);
  };
  const shifts = type.endsWith("x2") ? [0, 16] : [0];
  return shifts.map((shift) => compareNumbers(e, how, part(x, shift), part(y, shift)));
}

export function setPredicate(e: Emitter): void {
  const type = typeOf(e.instruction);
  const how = comparison(e);
  const found = tests(e, how, type);
  const to = e.operand(0);
  const other = e.has("and", "or", "xor") ? e.operand(3) : undefined;
  if (to.kind !== "pair") {
    e.setWord(to, combine(e, found[0]!, other));
    return;
  }
  const first = e.temporary(combine(e, found[0]!, other));
  const second = e.temporary(combine(e, found[1] ?? `!(${found[0]!})`, other));
  e.setWord(to.first, first);
  e.setWord(to.second, second);
}

/** set: all ones or 1.0 for true, zero for false. */
export function setValue(e: Emitter): void {
  const types = e.instruction.modifiers.filter((word) => /^(b|u|s|f|bf)(16|32|64)(x2)?$/.test(word)) as ScalarType[];
  const [toType, type] = types.length === 1 ? [types[0]!, types[0]!] : [types[0]!, types[1]!];
  const other = e.has("and", "or", "xor") ? e.operand(3) : undefined;
  const bits = tests(e, comparison(e), type).map((test) => combine(e, test, other));
  const to = e.operand(0);
  if (toType === "f32") e.setSingle(to, `(${bits[0]})?1:0`);
  else if (toType === "f16" || toType === "bf16") e.setWord(to, `(${bits[0]})?${toType === "f16" ? 15360 : 16256}:0`);
  else if (toType === "f16x2" || toType === "bf16x2") {
    const one = toType === "f16x2" ? 15360 : 16256;
    e.setWord(to, `((${bits[0]})?${one}:0)|((${bits[1]})?${one}:0)<<16`);
  } else if (bits.length === 2) e.setWord(to, `((${bits[0]})?65535:0)|((${bits[1]})?-65536:0)`);
  else if (toType === "u16" || toType === "s16" || toType === "b16") e.setWord(to, `(${bits[0]})?65535:0`);
  else e.setWord(to, `(${bits[0]})?-1:0`);
}

/** Chooses between two operands by a condition, as bits or as floats. */
function choose(e: Emitter, condition: string, a: PtxOperand, b: PtxOperand, type: ScalarType): void {
  const to = e.operand(0);
  if (to.kind === "register" && e.prefersFloat(a, to.register) && e.prefersFloat(b, to.register)) {
    if (e.isWide(to.register)) e.setDouble(to, `${condition}?${e.double(a)}:${e.double(b)}`);
    else e.setSingle(to, `${condition}?${e.single(a)}:${e.single(b)}`);
  } else if (type === "f64" || isWideInteger(type)) {
    const [x, y] = [e.halves(a), e.halves(b)];
    const chosen = e.temporary(condition);
    const low = e.temporary(`${chosen}?${x[0]}:${y[0]}`);
    e.setHalves(to, low, `${chosen}?${x[1]}:${y[1]}`);
  } else e.setWord(to, `${condition}?${e.word(a)}:${e.word(b)}`);
}

export function select(e: Emitter): void {
  choose(e, e.predicate(e.operand(3)), e.operand(1), e.operand(2), typeOf(e.instruction));
}

/** slct d, a, b, c: a where c is not negative. */
export function selectBySign(e: Emitter): void {
  const type = e.instruction.modifiers.find((word) => /^[busf](16|32|64)$/.test(word)) as ScalarType;
  const c = e.operand(3);
  const condition = typeOf(e.instruction) === "s32" ? `${e.word(c)}>=0` : `${readFloat(e, c, "f32")}>=0`;
  choose(e, `(${condition})`, e.operand(1), e.operand(2), type);
}
