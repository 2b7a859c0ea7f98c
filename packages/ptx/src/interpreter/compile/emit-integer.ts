// Integer instructions of 16, 32 and 64 bits as JavaScript. Sixteen-bit values are kept
// zero-extended in a word.
import type { PtxOperand, ScalarType } from "../types.js";
import type { Emitter } from "./emitter.js";

export type Handler = (emitter: Emitter) => void;

export const isSigned = (type: ScalarType): boolean => type.startsWith("s");
export const isWideInteger = (type: ScalarType): boolean => type === "b64" || type === "u64" || type === "s64";
const isShort = (type: ScalarType): boolean => type === "b16" || type === "u16" || type === "s16";
const isPair = (type: ScalarType): boolean => type === "u16x2" || type === "s16x2";

const words: readonly ScalarType[] = ["u32", "s32"];
const wordsAndWide: readonly ScalarType[] = ["u32", "s32", "u64", "s64"];
const integers: readonly ScalarType[] = ["u16", "s16", ...wordsAndWide];
const integersAndPairs: readonly ScalarType[] = [...integers, "u16x2", "s16x2"];
const bits: readonly ScalarType[] = ["b32", "b64"];
const logical: readonly ScalarType[] = ["pred", "b16", ...bits];

/**
 * An operand of 16 or 32 bits as a JavaScript number with the sign its type gives it (32 unsigned
 * bits stay signed).
 */
export function typedWord(e: Emitter, operand: PtxOperand, type: ScalarType): string {
  const word = e.word(operand, type);
  if (type === "s16") return `(${word}<<16>>16)`;
  if (isShort(type)) return `(${word}&65535)`;
  return word;
}

/** A 16- or 32-bit result, wrapped. */
function setTyped(e: Emitter, destination: PtxOperand, expression: string, type: ScalarType): void {
  e.setWord(destination, isShort(type) ? `(${expression})&65535` : expression, type);
}

/** Sum of two 64-bit values with carries done by hand. */
function add64(e: Emitter, to: PtxOperand, type: ScalarType, a: [string, string], b: [string, string], carryIn?: string): string {
  const low = e.temporary(carryIn === undefined ? `(${a[0]}+${b[0]})|0` : `(${a[0]}+${b[0]}+${carryIn})|0`);
  const carry =
    carryIn === undefined ? `((${low}>>>0)<(${a[0]}>>>0)?1:0)` : e.temporary(`(${a[0]}>>>0)+(${b[0]}>>>0)+${carryIn}>4294967295?1:0`);
  const sum = e.temporary(`(${a[1]}>>>0)+(${b[1]}>>>0)+${carry}`);
  e.setHalves(to, low, `${sum}|0`, type);
  return sum;
}

function sub64(e: Emitter, to: PtxOperand, type: ScalarType, a: [string, string], b: [string, string]): void {
  const low = e.temporary(`(${a[0]}-${b[0]})|0`);
  const high = e.temporary(`(${a[1]}-${b[1]}-((${a[0]}>>>0)<(${b[0]}>>>0)?1:0))|0`);
  e.setHalves(to, low, high, type);
}

/** The carry flag, which `.cc` sets and `addc`, `subc`, `madc` read. */
function carryOperand(e: Emitter): PtxOperand {
  return e.context.carry!;
}

/** Whether the instruction sets the flag, and the flag's value if it reads it. */
function carries(e: Emitter, reads: boolean): { sets: boolean; carryIn: string | undefined } {
  const sets = e.has("cc");
  return { sets, carryIn: reads ? e.predicate(carryOperand(e)) : sets ? "0" : undefined };
}

function add(e: Emitter, withCarry: boolean): void {
  const { sets, carryIn } = carries(e, withCarry);
  const type = e.type(sets ? wordsAndWide : withCarry ? integers : integersAndPairs);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (isWideInteger(type)) {
    const sum = add64(e, to, type, e.halves(a, type), e.halves(b, type), carryIn);
    if (sets) e.setPredicate(carryOperand(e), `${sum}>4294967295?1:0`);
    return;
  }
  const [x, y] = [e.word(a, type), e.word(b, type)];
  if (type === "s32" && !sets && e.has("sat")) e.setWord(to, `saturateInteger(${x}+${y}+${carryIn ?? 0},-2147483648,2147483647)`, type);
  else if (carryIn !== undefined) {
    const sum = e.temporary(`(${x}>>>0)+(${y}>>>0)+${carryIn}`);
    setTyped(e, to, `${sum}|0`, type);
    if (sets) e.setPredicate(carryOperand(e), `${sum}>4294967295?1:0`);
  } else if (isPair(type)) e.setWord(to, `((${x}+${y})&65535)|((${x}&-65536)+(${y}&-65536))`, type);
  else setTyped(e, to, `(${x}+${y})|0`, type);
}

/** Subtraction; the flag holds the borrow, so a chain runs as the ISA says. */
function sub(e: Emitter, withBorrow: boolean): void {
  const { sets, carryIn: borrow } = carries(e, withBorrow);
  const type = e.type(sets ? wordsAndWide : integers);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (isWideInteger(type)) {
    const [x, y] = [e.halves(a, type), e.halves(b, type)];
    if (borrow === undefined) {
      sub64(e, to, type, x, y);
      return;
    }
    const low = e.temporary(`(${x[0]}>>>0)-(${y[0]}>>>0)-${borrow}`);
    const high = e.temporary(`(${x[1]}>>>0)-(${y[1]}>>>0)-(${low}<0?1:0)`);
    e.setHalves(to, `${low}|0`, `${high}|0`, type);
    if (sets) e.setPredicate(carryOperand(e), `${high}<0?1:0`);
    return;
  }
  const [x, y] = [e.word(a, type), e.word(b, type)];
  if (type === "s32" && !sets && e.has("sat")) e.setWord(to, `saturateInteger(${x}-${y}-${borrow ?? 0},-2147483648,2147483647)`, type);
  else if (borrow !== undefined) {
    const difference = e.temporary(`(${x}>>>0)-(${y}>>>0)-${borrow}`);
    setTyped(e, to, `${difference}|0`, type);
    if (sets) e.setPredicate(carryOperand(e), `${difference}<0?1:0`);
  } else setTyped(e, to, `(${x}-${y})|0`, type);
}

type Part = "lo" | "hi" | "wide";

/** Which part of a product is asked for. */
function partOf(e: Emitter, parts: readonly Part[]): Part {
  const part = e.reading.find(parts) as Part | undefined;
  if (part === undefined) throw e.unsupported(`it takes ${parts.map((each) => `.${each}`).join(" or ")}`);
  return part;
}

/** The type of twice as many bits. */
const doubled: Partial<Record<ScalarType, ScalarType>> = { u16: "u32", s16: "s32", u32: "u64", s32: "s64" };

/** A part of a product, as one word or as two halves read in order. */
function product(e: Emitter, type: ScalarType, part: Part): { word?: string; halves?: [string, string] } {
  const [a, b] = [e.operand(1), e.operand(2)];
  const signed = isSigned(type);
  if (isWideInteger(type)) {
    const [al, ah] = e.halves(a, type);
    const [bl, bh] = e.halves(b, type);
    return part === "hi"
      ? { halves: [`mulHigh64(${al},${ah},${bl},${bh},${signed})`, "wide.high"] }
      : { halves: [`mul64(${al},${ah},${bl},${bh})`, "wide.high"] };
  }
  const [x, y] = [typedWord(e, a, type), typedWord(e, b, type)];
  if (isShort(type)) {
    const whole = `Math.imul(${x},${y})`;
    if (part === "wide") return { word: whole };
    return { word: part === "hi" ? `((${whole}>>>16)&65535)` : `(${whole}&65535)` };
  }
  const high = `${signed ? "mulHigh" : "mulHighUnsigned"}(${x},${y})`;
  if (part === "wide") return { halves: [`Math.imul(${x},${y})`, high] };
  return { word: part === "hi" ? high : `Math.imul(${x},${y})` };
}

/** The type of the operands, the part of the product, and the type of the result. */
function productTypes(e: Emitter): { type: ScalarType; part: Part; result: ScalarType } {
  const part = partOf(e, ["lo", "hi", "wide"]);
  const type = e.type(part === "wide" ? ["u16", "s16", "u32", "s32"] : integers);
  return { type, part, result: part === "wide" ? doubled[type]! : type };
}

function mul(e: Emitter): void {
  const { type, part, result } = productTypes(e);
  const { word, halves } = product(e, type, part);
  if (halves !== undefined) {
    const low = e.temporary(halves[0]);
    const high = e.temporary(halves[1]);
    e.setHalves(e.operand(0), low, high, result);
  } else e.setWord(e.operand(0), word!, result);
}

function mad(e: Emitter, withCarry: boolean): void {
  const { sets, carryIn } = carries(e, withCarry);
  const { type, part, result } = productTypes(e);
  if (carryIn !== undefined && (part === "wide" || (sets && isShort(type))))
    throw e.unsupported("carries take .lo or .hi of 32 or 64 bits");
  const { word, halves } = product(e, type, part);
  const [to, c] = [e.operand(0), e.operand(3)];
  if (halves !== undefined) {
    const low = e.temporary(halves[0]);
    const high = e.temporary(halves[1]);
    const sum = add64(e, to, result, [low, high], e.halves(c, result), carryIn);
    if (sets) e.setPredicate(carryOperand(e), `${sum}>4294967295?1:0`);
    return;
  }
  const addend = e.word(c, result);
  if (carryIn !== undefined) {
    const sum = e.temporary(`(${word!}>>>0)+(${addend}>>>0)+${carryIn}`);
    setTyped(e, to, `${sum}|0`, result);
    if (sets) e.setPredicate(carryOperand(e), `${sum}>4294967295?1:0`);
  } else if (type === "s32" && part === "hi" && e.has("sat"))
    e.setWord(to, `saturateInteger(${word!}+${addend},-2147483648,2147483647)`, result);
  else setTyped(e, to, `(${word!}+${addend})|0`, result);
}

/**
 * 24-bit multiplication: the operands' upper bytes do not count; `.lo` and `.hi` name bits 0-31 and
 * 16-47 of the product.
 */
function mul24(e: Emitter, addend: boolean): void {
  const part = partOf(e, ["lo", "hi"]);
  const type = e.type(words);
  const extend = (operand: PtxOperand) => (type === "s32" ? `(${e.word(operand, type)}<<8>>8)` : `(${e.word(operand, type)}&16777215)`);
  const [a, b] = [e.temporary(extend(e.operand(1))), e.temporary(extend(e.operand(2)))];
  const low = `Math.imul(${a},${b})`;
  const high = `${type === "s32" ? "mulHigh" : "mulHighUnsigned"}(${a},${b})`;
  const value = part === "hi" ? `((${high}<<16)|(${low}>>>16))` : low;
  if (!addend) {
    e.setWord(e.operand(0), value, type);
    return;
  }
  const c = e.word(e.operand(3), type);
  const saturates = type === "s32" && part === "hi" && e.has("sat");
  e.setWord(e.operand(0), saturates ? `saturateInteger(${value}+${c},-2147483648,2147483647)` : `(${value}+${c})|0`, type);
}

function divide(e: Emitter, remainder: boolean): void {
  const type = e.type(integers);
  const signed = isSigned(type);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (isWideInteger(type)) {
    const [al, ah] = e.halves(a, type);
    const [bl, bh] = e.halves(b, type);
    const low = e.temporary(`${remainder ? "rem64" : "div64"}(${al},${ah},${bl},${bh},${signed})`);
    e.setHalves(to, low, "wide.high", type);
    return;
  }
  const name = remainder ? (signed ? "remainder" : "remainderUnsigned") : signed ? "divide" : "divideUnsigned";
  setTyped(e, to, `${name}(${typedWord(e, a, type)},${typedWord(e, b, type)})`, type);
}

export function lessThan64(a: [string, string], b: [string, string], signed: boolean): string {
  const highLess = signed ? `${a[1]}<${b[1]}` : `(${a[1]}>>>0)<(${b[1]}>>>0)`;
  return `(${highLess}||(${a[1]}===${b[1]}&&(${a[0]}>>>0)<(${b[0]}>>>0)))`;
}

function pick(e: Emitter, smaller: boolean): void {
  const type = e.type(integersAndPairs);
  const signed = isSigned(type);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  const relu = (type === "s32" || type === "s16x2") && e.has("relu");
  if (isWideInteger(type)) {
    const [x, y] = [e.halves(a, type), e.halves(b, type)];
    const first = e.temporary(smaller ? lessThan64(x, y, signed) : lessThan64(y, x, signed));
    const low = e.temporary(`${first}?${x[0]}:${y[0]}`);
    e.setHalves(to, low, `${first}?${x[1]}:${y[1]}`, type);
    return;
  }
  const name = smaller ? "Math.min" : "Math.max";
  if (isPair(type)) {
    const [x, y] = [e.word(a, type), e.word(b, type)];
    const of = (p: string, q: string): string => (relu ? `Math.max(0,${name}(${p},${q}))` : `${name}(${p},${q})`);
    const [low, high] = signed
      ? [of(`${x}<<16>>16`, `${y}<<16>>16`), of(`${x}>>16`, `${y}>>16`)]
      : [of(`${x}&65535`, `${y}&65535`), of(`${x}>>>16`, `${y}>>>16`)];
    e.setWord(to, `(${low}&65535)|(${high}<<16)`, type);
    return;
  }
  const [x, y] = [typedWord(e, a, type), typedWord(e, b, type)];
  const value = signed || isShort(type) ? `${name}(${x},${y})` : `(${x}>>>0)${smaller ? "<" : ">"}(${y}>>>0)?${x}:${y}`;
  setTyped(e, to, relu ? `Math.max(0,${value})` : value, type);
}

function shift(e: Emitter, left: boolean): void {
  const type = e.type(left ? ["b16", ...bits] : ["b16", ...bits, ...integers]);
  const [to, a] = [e.operand(0), e.operand(1)];
  const amount = e.word(e.operand(2), "b32");
  const constant = /^\d+$/.test(amount);
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a, type);
    const result = e.temporary(left ? `shl64(${low},${high},${amount})` : `shr64(${low},${high},${amount},${isSigned(type)})`);
    e.setHalves(to, result, "wide.high", type);
    return;
  }
  const x = typedWord(e, a, type);
  if (isSigned(type) && !left)
    setTyped(e, to, constant ? `${x}>>${Math.min(Number(amount), 31)}` : `${x}>>((${amount}>>>0)>31?31:${amount})`, type);
  else {
    const shifted = left ? `${x}<<${amount}` : `(${x}>>>${amount})|0`;
    setTyped(e, to, constant ? (Number(amount) > 31 ? "0" : shifted) : `(${amount}>>>0)>31?0:${shifted}`, type);
  }
}

function logic(e: Emitter, word: (a: string, b: string) => string): void {
  const type = e.type(logical);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (isWideInteger(type)) {
    const [x, y] = [e.halves(a, type), e.halves(b, type)];
    e.setHalves(to, word(x[0], y[0]), word(x[1], y[1]), type);
  } else if (type === "pred") e.setPredicate(to, word(e.predicate(a), e.predicate(b)));
  else setTyped(e, to, word(e.word(a, type), e.word(b, type)), type);
}

function not(e: Emitter): void {
  const type = e.type(logical);
  const [to, a] = [e.operand(0), e.operand(1)];
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a, type);
    e.setHalves(to, `~${low}`, `~${high}`, type);
  } else if (type === "pred") e.setPredicate(to, `${e.predicate(a)}^1`);
  else setTyped(e, to, `~${e.word(a, type)}`, type);
}

/** cnot: 1 for zero, 0 for anything else. */
function isZero(e: Emitter): void {
  const type = e.type(["b16", ...bits]);
  const [to, a] = [e.operand(0), e.operand(1)];
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a, type);
    e.setHalves(to, e.temporary(`(${low}|${high})===0?1:0`), "0", type);
  } else e.setWord(to, `${typedWord(e, a, type)}===0?1:0`, type);
}

function negate(e: Emitter, absolute: boolean): void {
  const type = e.type(["s16", "s32", "s64"]);
  const [to, a] = [e.operand(0), e.operand(1)];
  if (!isWideInteger(type)) {
    const x = typedWord(e, a, type);
    setTyped(e, to, absolute ? `(${x}<0?-${x}:${x})|0` : `(-${x})|0`, type);
    return;
  }
  const [low, high] = e.halves(a, type);
  const flip = e.temporary(absolute ? `${high}>>31` : "-1");
  sub64(e, to, type, [`(${low}^${flip})`, `(${high}^${flip})`], [flip, flip]);
}

/** Counting and searching bits: one 32-bit result from a word or from two halves. */
function scan(
  e: Emitter,
  allowed: readonly ScalarType[],
  word: (x: string, signed: boolean) => string,
  halves: (low: string, high: string, signed: boolean) => string,
): void {
  const type = e.type(allowed);
  const [to, a] = [e.operand(0), e.operand(1)];
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a, type);
    e.setWord(to, halves(low, high, isSigned(type)), "u32");
  } else e.setWord(to, word(e.word(a, type), isSigned(type)), "u32");
}

function findTop(e: Emitter): void {
  const amount = e.has("shiftamt");
  scan(
    e,
    wordsAndWide,
    (x, signed) => `findTop(${x},${signed},${amount})`,
    (low, high, signed) => `findTop64(${low},${high},${signed},${amount})`,
  );
}

function reverse(e: Emitter): void {
  const type = e.type(bits);
  const [to, a] = [e.operand(0), e.operand(1)];
  if (!isWideInteger(type)) {
    e.setWord(to, `reverseBits(${e.word(a, type)})`, type);
    return;
  }
  const [low, high] = e.halves(a, type);
  const reversed = e.temporary(`reverseBits(${high})`);
  const top = e.temporary(`reverseBits(${low})`);
  e.setHalves(to, reversed, top, type);
}

function extractField(e: Emitter): void {
  const type = e.type(wordsAndWide);
  const [to, a] = [e.operand(0), e.operand(1)];
  const [position, length] = [e.word(e.operand(2)), e.word(e.operand(3))];
  const signed = isSigned(type);
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a, type);
    const result = e.temporary(`extractBits64(${low},${high},${position},${length},${signed})`);
    e.setHalves(to, result, "wide.high", type);
  } else e.setWord(to, `extractBits(${e.word(a, type)},${position},${length},${signed})`, type);
}

function insertField(e: Emitter): void {
  const type = e.type(bits);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  const [position, length] = [e.word(e.operand(3)), e.word(e.operand(4))];
  if (isWideInteger(type)) {
    const [field, into] = [e.halves(a, type), e.halves(b, type)];
    const result = e.temporary(`insertBits64(${field.join(",")},${into.join(",")},${position},${length})`);
    e.setHalves(to, result, "wide.high", type);
  } else e.setWord(to, `insertBits(${e.word(a, type)},${e.word(b, type)},${position},${length})`, type);
}

/** A function of three words. */
function three(e: Emitter, name: string, type: ScalarType, ...rest: (string | boolean)[]): void {
  const operands = [1, 2, 3].map((k) => e.word(e.operand(k), type));
  e.setWord(e.operand(0), `${name}(${[...operands, ...rest].join(",")})`, type);
}

function lop3(e: Emitter): void {
  const type = e.type(["b32"]);
  const [a, b, c] = [1, 2, 3].map((k) => e.word(e.operand(k), type));
  const table = e.word(e.operand(4));
  const result = e.temporary(`lop3(${a},${b},${c},${table})`);
  const to = e.operand(0);
  if (to.kind !== "pair") {
    e.setWord(to, result, type);
    return;
  }
  const how = e.reading.find(["and", "or"]);
  if (how === undefined) throw e.unsupported("two results take .and or .or");
  e.setWord(to.first, result, type);
  e.setPredicate(to.second, `(${result}!==0?1:0)${how === "and" ? "&" : "|"}${e.predicate(e.operand(5))}`);
}

/** dp4a and dp2a: four products of bytes, or two of a half-word and a byte. */
function dotProduct(e: Emitter, halves: boolean): void {
  const upper = halves ? [partOf(e, ["lo", "hi"]) === "hi"] : [];
  const [aType, bType, ...more] = e.reading.types();
  if (aType === undefined || bType === undefined || more.length > 0 || !words.includes(aType) || !words.includes(bType))
    throw e.unsupported("it takes two types, .u32 or .s32 each");
  const type = aType === "u32" && bType === "u32" ? "u32" : "s32";
  const [a, b, c] = [e.word(e.operand(1), aType), e.word(e.operand(2), bType), e.word(e.operand(3), type)];
  const signs = [aType === "s32", bType === "s32", ...upper];
  e.setWord(e.operand(0), `${halves ? "dotHalves" : "dotBytes"}(${[a, b, c, ...signs].join(",")})`, type);
}

function sumOfDifferences(e: Emitter): void {
  const type = e.type(integers);
  const [to, c] = [e.operand(0), e.operand(3)];
  if (isWideInteger(type)) {
    const [a, b] = [e.halves(e.operand(1), type), e.halves(e.operand(2), type)];
    const less = e.temporary(lessThan64(a, b, isSigned(type)));
    const [xl, xh, yl, yh] = [
      `(${less}?${b[0]}:${a[0]})`,
      `(${less}?${b[1]}:${a[1]})`,
      `(${less}?${a[0]}:${b[0]})`,
      `(${less}?${a[1]}:${b[1]})`,
    ];
    const low = e.temporary(`(${xl}-${yl})|0`);
    const high = e.temporary(`(${xh}-${yh}-((${xl}>>>0)<(${yl}>>>0)?1:0))|0`);
    add64(e, to, type, [low, high], e.halves(c, type));
    return;
  }
  const unsigned = isSigned(type) || isShort(type) ? "" : ">>>0";
  const [a, b] = [`(${typedWord(e, e.operand(1), type)}${unsigned})`, `(${typedWord(e, e.operand(2), type)}${unsigned})`];
  setTyped(e, to, `(${a}<${b}?${b}-${a}:${a}-${b})+${e.word(c, type)}|0`, type);
}

/** How amounts beyond the width count: wrapped, or as the width itself. */
function wraps(e: Emitter): boolean {
  const how = e.reading.find(["wrap", "clamp"]);
  if (how === undefined) throw e.unsupported("it takes .clamp or .wrap");
  return how === "wrap";
}

function permute(e: Emitter): void {
  e.type(["b32"]);
  three(e, "permuteBytes", "b32", JSON.stringify(e.reading.find(["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) ?? ""));
}

function funnelShift(e: Emitter): void {
  e.type(["b32"]);
  const direction = e.reading.find(["l", "r"]);
  if (direction === undefined) throw e.unsupported("it takes .l or .r");
  three(e, "funnelShift", "b32", direction === "l", wraps(e));
}

export const integerHandlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["add", (e) => add(e, false)],
  ["addc", (e) => add(e, true)],
  ["sub", (e) => sub(e, false)],
  ["subc", (e) => sub(e, true)],
  ["mul", mul],
  ["mad", (e) => mad(e, false)],
  ["madc", (e) => mad(e, true)],
  ["mul24", (e) => mul24(e, false)],
  ["mad24", (e) => mul24(e, true)],
  ["sad", sumOfDifferences],
  ["div", (e) => divide(e, false)],
  ["rem", (e) => divide(e, true)],
  ["min", (e) => pick(e, true)],
  ["max", (e) => pick(e, false)],
  ["neg", (e) => negate(e, false)],
  ["abs", (e) => negate(e, true)],
  ["shl", (e) => shift(e, true)],
  ["shr", (e) => shift(e, false)],
  ["and", (e) => logic(e, (a, b) => `${a}&${b}`)],
  ["or", (e) => logic(e, (a, b) => `${a}|${b}`)],
  ["xor", (e) => logic(e, (a, b) => `${a}^${b}`)],
  ["not", not],
  ["cnot", isZero],
  [
    "popc",
    (e) =>
      scan(
        e,
        bits,
        (x) => `popcount(${x})`,
        (low, high) => `popcount(${low})+popcount(${high})`,
      ),
  ],
  [
    "clz",
    (e) =>
      scan(
        e,
        bits,
        (x) => `Math.clz32(${x})`,
        (low, high) => `clz64(${low},${high})`,
      ),
  ],
  ["bfind", findTop],
  [
    "fns",
    (e) => {
      e.type(["b32"]);
      three(e, "findNthSet", "b32");
    },
  ],
  ["brev", reverse],
  ["bfe", extractField],
  ["bfi", insertField],
  [
    "bmsk",
    (e) => {
      const type = e.type(["b32"]);
      e.setWord(e.operand(0), `bitMask(${e.word(e.operand(1), type)},${e.word(e.operand(2), type)},${wraps(e)})`, type);
    },
  ],
  [
    "szext",
    (e) => {
      const type = e.type(words);
      e.setWord(e.operand(0), `extendBits(${e.word(e.operand(1), type)},${e.word(e.operand(2))},${isSigned(type)},${wraps(e)})`, type);
    },
  ],
  ["shf", funnelShift],
  ["prmt", permute],
  ["lop3", lop3],
  ["dp4a", (e) => dotProduct(e, false)],
  ["dp2a", (e) => dotProduct(e, true)],
]);
