// Comparisons and selections: setp, set, selp, slct, for integers, floats and halves, with the
// Boolean combinations they carry.
import { type PtxOperand, type ScalarType, scalarBytes } from "../types.js";
import type { Emitter } from "./emitter.js";
import { halfKind, readFloat } from "./float.js";
import { isSigned, isWideInteger, lessThan64, typedWord } from "./templates.js";

const signedWays = ["eq", "ne", "lt", "le", "gt", "ge"];
const unsignedWays = new Map([
  ["lo", "lt"],
  ["ls", "le"],
  ["hi", "gt"],
  ["hs", "ge"],
]);
const operators = new Map([
  ["eq", "==="],
  ["ne", "!=="],
  ["lt", "<"],
  ["le", "<="],
  ["gt", ">"],
  ["ge", ">="],
]);
const floatWays = [...signedWays, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
const combinations = ["and", "or", "xor"];

/** Comparisons of integers of a type; bits are only equal or not. */
function waysOf(type: ScalarType): readonly string[] {
  if (type.startsWith("b")) return ["eq", "ne"];
  return isSigned(type) ? signedWays : [...signedWays, ...unsignedWays.keys()];
}

function compareIntegers(e: Emitter, how: string, a: PtxOperand, b: PtxOperand, type: ScalarType): string {
  const comparison = unsignedWays.get(how) ?? how;
  const signed = isSigned(type);
  if (isWideInteger(type)) {
    const [x, y] = [e.halves(a, type), e.halves(b, type)];
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
  return `${view(a)}${operators.get(comparison)}${view(b)}`;
}

function compareNumbers(how: string, x: string, y: string): string {
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
  return tests[how]!;
}

/** Joins a test with the predicate in operand 3, as `.and`, `.or` or `.xor` says, to a bit. */
type Join = (test: string) => string;

function joinOf(e: Emitter): Join {
  const how = e.find(combinations);
  if (how === undefined) return (test) => `(${test}?1:0)`;
  const other = e.predicate(e.operand(3));
  const operator = how === "and" ? "&" : how === "or" ? "|" : "^";
  return (test) => `(${test}?1:0)${operator}${other}`;
}

/** Boolean expressions for the comparison of operands 1 and 2; half-precision pairs have two. */
function tests(e: Emitter, type: ScalarType): string[] {
  const [a, b] = [e.operand(1), e.operand(2)];
  const float = type.includes("f");
  const ways = float ? floatWays : waysOf(type);
  const how = e.one(ways, "it takes a comparison:");
  if (type === "f32" || type === "f64") {
    const [x, y] = [e.temporary(readFloat(e, a, type)), e.temporary(readFloat(e, b, type))];
    return [compareNumbers(how, x, y)];
  }
  if (!float) return [compareIntegers(e, how, a, b, type)];
  const kind = halfKind(type);
  const [x, y] = [e.word(a, type), e.word(b, type)];
  const flushes = kind === '"f16"' && e.has("ftz");
  const part = (word: string, shift: number): string => {
    const bits = shift === 0 ? `${word}&65535` : `${word}>>>16`;
    return e.temporary(`toNumber(${kind},${flushes ? `flush16(${bits})` : bits})`);
  };
  const shifts = type.endsWith("x2") ? [0, 16] : [0];
  return shifts.map((shift) => compareNumbers(how, part(x, shift), part(y, shift)));
}

const integerTypes: readonly ScalarType[] = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"];
const compared: readonly ScalarType[] = [...integerTypes, "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"];

export function setPredicate(e: Emitter): void {
  const type = e.type(compared);
  const found = tests(e, type);
  const to = e.operand(0);
  const join = joinOf(e);
  if (to.kind !== "pair") {
    e.setPredicate(to, join(found[0]!));
    return;
  }
  const first = e.temporary(join(found[0]!));
  const second = e.temporary(join(found[1] ?? `!(${found[0]!})`));
  e.setPredicate(to.first, first);
  e.setPredicate(to.second, second);
}

function resultsOf(type: ScalarType): readonly ScalarType[] {
  if (type.endsWith("x2")) return [type, "u32", "s32"];
  return type === "f16" || type === "bf16" ? [type, "u16", "s16", "u32", "s32"] : ["u32", "s32", "f32", "f16", "bf16"];
}

/** set: all ones or 1.0 for true, zero for false. */
export function setValue(e: Emitter): void {
  const [toType, type, ...more] = e.types();
  if (toType === undefined || type === undefined || more.length > 0 || !compared.includes(type)) throw e.unsupported("it takes two types");
  if (!resultsOf(type).includes(toType)) throw e.unsupported(`.${toType} is no result of comparing .${type}`);
  const found = tests(e, type);
  const join = joinOf(e);
  const bits = found.map(join);
  const to = e.operand(0);
  const one = toType.startsWith("f16") ? 15360 : 16256;
  const [low, high] = bits;
  if (toType === "f32") e.setFloat(to, `(${low})?1:0`, "f32");
  else if (toType.endsWith("x2")) e.setWord(to, `((${low})?${one}:0)|((${high})?${one}:0)<<16`, toType);
  else if (toType.includes("f")) e.setWord(to, `(${low})?${one}:0`, toType);
  else if (high !== undefined) e.setWord(to, `((${low})?65535:0)|((${high})?-65536:0)`, toType);
  else e.setWord(to, `(${low})?${toType.endsWith("16") ? 65535 : -1}:0`, toType);
}

/** Chooses between two operands by a condition, as bits or as floats. */
function choose(e: Emitter, condition: string, a: PtxOperand, b: PtxOperand, type: ScalarType): void {
  const to = e.operand(0);
  if (to.kind === "register" && e.prefersFloat(a, to.register, type) && e.prefersFloat(b, to.register, type)) {
    e.setFloat(to, `${condition}?${e.float(a, type)}:${e.float(b, type)}`, type);
  } else if (scalarBytes[type] === 8) {
    const [x, y] = [e.halves(a, type), e.halves(b, type)];
    const chosen = e.temporary(condition);
    const low = e.temporary(`${chosen}?${x[0]}:${y[0]}`);
    e.setHalves(to, low, `${chosen}?${x[1]}:${y[1]}`, type);
  } else e.setWord(to, `${condition}?${e.word(a, type)}:${e.word(b, type)}`, type);
}

const chosen: readonly ScalarType[] = [...integerTypes, "f32", "f64"];

export function select(e: Emitter): void {
  choose(e, e.predicate(e.operand(3)), e.operand(1), e.operand(2), e.type(chosen));
}

/** slct d, a, b, c: a if c is not negative. */
export function selectBySign(e: Emitter): void {
  const [type, of, ...more] = e.types();
  if (type === undefined || !chosen.includes(type) || more.length > 0 || (of !== "s32" && of !== "f32"))
    throw e.unsupported("it takes two types, and the second is .s32 or .f32");
  const c = e.operand(3);
  const condition = of === "s32" ? `${e.word(c, "s32")}>=0` : `${readFloat(e, c, "f32")}>=0`;
  choose(e, `(${condition})`, e.operand(1), e.operand(2), type);
}
