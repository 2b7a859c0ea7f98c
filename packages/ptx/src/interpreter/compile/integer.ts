// Instructions of integers of 16, 32 and 64 bits, with carries.
import type { PtxOperand, ScalarType } from "../types.js";
import type { Emitter } from "./emitter.js";
import {
  bits,
  type Halves,
  type Handler,
  integer,
  integers,
  isShort,
  isSigned,
  isWideInteger,
  lessThan64,
  setTyped,
  typedWord,
  words,
  wordsAndWide,
} from "./templates.js";

const isPair = (type: ScalarType): boolean => type === "u16x2" || type === "s16x2";
const integersAndPairs: readonly ScalarType[] = [...integers, "u16x2", "s16x2"];

/** How amounts beyond the width count: wrapped, or as the width itself. */
const wraps = (e: Emitter): boolean => e.either("clamp", "wrap") === "wrap";

function add64(e: Emitter, to: PtxOperand, type: ScalarType, a: readonly string[], b: readonly string[]): void {
  const low = e.temporary(`(${a[0]}+${b[0]})|0`);
  const sum = e.temporary(`(${a[1]}>>>0)+(${b[1]}>>>0)+((${low}>>>0)<(${a[0]}>>>0)?1:0)`);
  e.setHalves(to, low, `${sum}|0`, type);
}

function sub64(e: Emitter, to: PtxOperand, type: ScalarType, a: readonly string[], b: readonly string[]): void {
  const low = e.temporary(`(${a[0]}-${b[0]})|0`);
  const high = e.temporary(`(${a[1]}-${b[1]}-((${a[0]}>>>0)<(${b[0]}>>>0)?1:0))|0`);
  e.setHalves(to, low, high, type);
}

/**
 * What an instruction has to do with the carry flag, which `.cc` sets and `addc`, `subc`, `madc`
 * read: whether it sets it, and its value at first. After a subtraction it holds the borrow.
 */
function carries(e: Emitter, reads: boolean): { sets: boolean; first: string | undefined } {
  const sets = e.has("cc");
  return { sets, first: reads ? e.predicate(e.context.carry!) : sets ? "0" : undefined };
}

/** Sum or difference of one or two words with the carry flag. */
function chain(
  e: Emitter,
  to: PtxOperand,
  type: ScalarType,
  sign: "+" | "-",
  a: readonly string[],
  b: readonly string[],
  sets: boolean,
  first: string,
): void {
  let carry = first;
  const words = a.map((word, k) => {
    const whole = e.temporary(`(${word}>>>0)${sign}(${b[k]}>>>0)${sign}${carry}`);
    carry = `(${whole}${sign === "-" ? "<0" : ">4294967295"}?1:0)`;
    return `${whole}|0`;
  });
  if (words.length === 2) e.setWords(to, words, type);
  else setTyped(e, to, words[0]!, type);
  if (sets) e.setPredicate(e.context.carry!, carry);
}

function sum(sign: "+" | "-", withCarry: boolean): Handler {
  return (e) => {
    const { sets, first } = carries(e, withCarry);
    const type = e.type(sets ? wordsAndWide : withCarry || sign === "-" ? integers : integersAndPairs);
    const [to, a, b] = [e.operand(0), e.words(e.operand(1), type), e.words(e.operand(2), type)];
    const [x, y] = [a[0], b[0]];
    if (type === "s32" && !sets && e.has("sat"))
      e.setWord(to, `saturateInteger(${x}${sign}${y}${sign}${first ?? 0},-2147483648,2147483647)`, type);
    else if (first !== undefined) chain(e, to, type, sign, a, b, sets, first);
    else if (isWideInteger(type)) (sign === "+" ? add64 : sub64)(e, to, type, a, b);
    else if (isPair(type)) e.setWord(to, `((${x}+${y})&65535)|((${x}&-65536)+(${y}&-65536))`, type);
    else setTyped(e, to, `(${x}${sign}${y})|0`, type);
  };
}

type Part = "lo" | "hi" | "wide";

const doubled: Partial<Record<ScalarType, ScalarType>> = { u16: "u32", s16: "s32", u32: "u64", s32: "s64" };

/** A part of a product, as one word or as two halves read in order. */
function product(e: Emitter, type: ScalarType, part: Part): { word?: string; halves?: Halves } {
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
  const part = e.one(["lo", "hi", "wide"], "it takes", " or ");
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

function mad(withCarry: boolean): Handler {
  return (e) => {
    const { sets, first } = carries(e, withCarry);
    const { type, part, result } = productTypes(e);
    if (first !== undefined && (part === "wide" || (sets && isShort(type))))
      throw e.unsupported("carries take .lo or .hi of 32 or 64 bits");
    const { word, halves } = product(e, type, part);
    const [to, c] = [e.operand(0), e.operand(3)];
    const factors = halves === undefined ? [word!] : halves.map((half) => e.temporary(half));
    const addend = e.words(c, result);
    if (first !== undefined) chain(e, to, result, "+", factors, addend, sets, first);
    else if (halves !== undefined) add64(e, to, result, factors, addend);
    else if (type === "s32" && part === "hi" && e.has("sat"))
      e.setWord(to, `saturateInteger(${word!}+${addend[0]},-2147483648,2147483647)`, result);
    else setTyped(e, to, `(${word!}+${addend[0]})|0`, result);
  };
}

/** 24-bit factors; `.lo` and `.hi` name bits 0-31 and 16-47 of the product. */
function mul24(addend: boolean): Handler {
  return (e) => {
    const part = e.either("lo", "hi");
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
  };
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
  const how = e.either("and", "or", "two results take");
  e.setWord(to.first, result, type);
  e.setPredicate(to.second, `(${result}!==0?1:0)${how === "and" ? "&" : "|"}${e.predicate(e.operand(5))}`);
}

/** dp4a and dp2a: four products of bytes, or two of a half-word and a byte. */
function dotProduct(halves: boolean): Handler {
  return (e) => {
    const upper = halves ? [e.either("lo", "hi") === "hi"] : [];
    const [aType, bType, ...more] = e.types();
    if (aType === undefined || bType === undefined || more.length > 0 || !words.includes(aType) || !words.includes(bType))
      throw e.unsupported("it takes two types, .u32 or .s32 each");
    const type = aType === "u32" && bType === "u32" ? "u32" : "s32";
    const [a, b, c] = [e.word(e.operand(1), aType), e.word(e.operand(2), bType), e.word(e.operand(3), type)];
    const signs = [aType === "s32", bType === "s32", ...upper];
    e.setWord(e.operand(0), `${halves ? "dotHalves" : "dotBytes"}(${[a, b, c, ...signs].join(",")})`, type);
  };
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

function extreme(smaller: boolean): Handler {
  const name = smaller ? "Math.min" : "Math.max";
  return (e) => {
    const type = e.type(integersAndPairs);
    const signed = isSigned(type);
    const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
    const relu = (type === "s32" || type === "s16x2") && e.has("relu");
    const limited = (value: string): string => (relu ? `Math.max(0,${value})` : value);
    if (isWideInteger(type)) {
      const [x, y] = [e.halves(a, type), e.halves(b, type)];
      const first = e.temporary(smaller ? lessThan64(x, y, signed) : lessThan64(y, x, signed));
      const low = e.temporary(`${first}?${x[0]}:${y[0]}`);
      e.setHalves(to, low, `${first}?${x[1]}:${y[1]}`, type);
    } else if (isPair(type)) {
      const [x, y] = [e.word(a, type), e.word(b, type)];
      const [low, high] = (signed ? ["<<16>>16", ">>16"] : ["&65535", ">>>16"]).map((part) => limited(`${name}(${x}${part},${y}${part})`));
      e.setWord(to, `(${low}&65535)|(${high}<<16)`, type);
    } else {
      const [x, y] = [typedWord(e, a, type), typedWord(e, b, type)];
      const value = signed || isShort(type) ? `${name}(${x},${y})` : `(${x}>>>0)${smaller ? "<" : ">"}(${y}>>>0)?${x}:${y}`;
      setTyped(e, to, limited(value), type);
    }
  };
}

/** shl and shr: amounts beyond the width shift everything out. */
function shift(left: boolean): Handler {
  return integer({
    types: left ? ["b16", ...bits] : ["b16", ...bits, ...integers],
    operands: "tw",
    word: ([x, amount], signed) => {
      const constant = /^\d+$/.test(amount!);
      if (signed && !left) return constant ? `${x}>>${Math.min(Number(amount), 31)}` : `${x}>>((${amount}>>>0)>31?31:${amount})`;
      const shifted = left ? `${x}<<${amount}` : `(${x}>>>${amount})|0`;
      return constant ? (Number(amount) > 31 ? "0" : shifted) : `(${amount}>>>0)>31?0:${shifted}`;
    },
    wide: (values, signed) => (left ? `shl64(${values})` : `shr64(${values},${signed})`),
  });
}

function logic(operator: "&" | "|" | "^"): Handler {
  const word = ([a, b]: readonly string[]): string => `${a}${operator}${b}`;
  const wide = ([al, ah, bl, bh]: readonly string[]): Halves => [`${al}${operator}${bl}`, `${ah}${operator}${bh}`];
  return integer({ types: ["pred", "b16", ...bits], operands: "rr", word, wide, predicate: word });
}

function negate(absolute: boolean): Handler {
  return (e) => {
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
  };
}

/** Counting and searching bits: a word from a word or from two halves. */
const scan = (types: readonly ScalarType[], word: (x: string) => string, wide: (low: string, high: string) => string): Handler =>
  integer({ types, operands: "r", word: ([x]) => word(x!), wide: ([low, high]) => wide(low!, high!), result: "u32" });

function call(name: string, types: readonly ScalarType[], operands: string, flags: (e: Emitter) => readonly unknown[] = () => []): Handler {
  return (e) =>
    integer({ types, operands, word: (values, signed) => `${name}(${[...values, ...(operands === "rw" ? [signed] : []), ...flags(e)]})` })(
      e,
    );
}

function findTop(e: Emitter): void {
  const amount = e.has("shiftamt");
  const arguments_ = (values: readonly string[], signed: boolean): string => `(${values},${signed},${amount})`;
  integer({
    types: wordsAndWide,
    operands: "r",
    word: (values, signed) => `findTop${arguments_(values, signed)}`,
    wide: (values, signed) => `findTop64${arguments_(values, signed)}`,
    result: "u32",
  })(e);
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

export const integerForms = {
  add: sum("+", false),
  addc: sum("+", true),
  sub: sum("-", false),
  subc: sum("-", true),
  mul,
  mad: mad(false),
  madc: mad(true),
  mul24: mul24(false),
  mad24: mul24(true),
  sad: sumOfDifferences,
  div: integer({
    types: integers,
    operands: "tt",
    word: (values, signed) => `${signed ? "divide" : "divideUnsigned"}(${values})`,
    wide: (values, signed) => `div64(${values},${signed})`,
  }),
  rem: integer({
    types: integers,
    operands: "tt",
    word: (values, signed) => `${signed ? "remainder" : "remainderUnsigned"}(${values})`,
    wide: (values, signed) => `rem64(${values},${signed})`,
  }),
  min: extreme(true),
  max: extreme(false),
  neg: negate(false),
  abs: negate(true),
  shl: shift(true),
  shr: shift(false),
  and: logic("&"),
  or: logic("|"),
  xor: logic("^"),
  not: integer({
    types: ["pred", "b16", ...bits],
    operands: "r",
    word: ([a]) => `~${a}`,
    wide: ([low, high]) => [`~${low}`, `~${high}`],
    predicate: ([a]) => `${a}^1`,
  }),
  cnot: integer({
    types: ["b16", ...bits],
    operands: "t",
    word: ([x]) => `${x}===0?1:0`,
    wide: ([low, high]) => [`(${low}|${high})===0?1:0`, "0"],
  }),
  popc: scan(
    bits,
    (x) => `popcount(${x})`,
    (low, high) => `popcount(${low})+popcount(${high})`,
  ),
  clz: scan(
    bits,
    (x) => `Math.clz32(${x})`,
    (low, high) => `clz64(${low},${high})`,
  ),
  bfind: findTop,
  fns: call("findNthSet", ["b32"], "rrr"),
  brev: reverse,
  bfe: integer({
    types: wordsAndWide,
    operands: "rww",
    word: (values, signed) => `extractBits(${values},${signed})`,
    wide: (values, signed) => `extractBits64(${values},${signed})`,
  }),
  bfi: integer({ types: bits, operands: "rrww", word: (values) => `insertBits(${values})`, wide: (values) => `insertBits64(${values})` }),
  bmsk: call("bitMask", ["b32"], "rr", (e) => [wraps(e)]),
  szext: call("extendBits", words, "rw", (e) => [wraps(e)]),
  shf: call("funnelShift", ["b32"], "rrr", (e) => [e.either("l", "r") === "l", wraps(e)]),
  prmt: call("permuteBytes", ["b32"], "rrr", (e) => [JSON.stringify(e.find(["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) ?? "")]),
  lop3,
  dp4a: dotProduct(false),
  dp2a: dotProduct(true),
} satisfies Readonly<Record<string, Handler>>;
