// Integer instructions of 16, 32 and 64 bits as JavaScript. Sixteen-bit values are kept zero-extended in a word.
import { type Emitter, typeOf } from "./emitter.js";
import type { PtxOperand, ScalarType } from "../types.js";

export type Handler = (emitter: Emitter) => void;

export const isSigned = (type: ScalarType): boolean => type.startsWith("s");
export const isWideInteger = (type: ScalarType): boolean => type === "b64" || type === "u64" || type === "s64";
const isShort = (type: ScalarType): boolean => type === "b16" || type === "u16" || type === "s16";

/** An operand of 16 or 32 bits as a JavaScript number with the sign its type gives it (32 unsigned bits stay signed). */
export function typedWord(e: Emitter, operand: PtxOperand, type: ScalarType): string {
  const word = e.word(operand);
  if (type === "s16") return `(${word}<<16>>16)`;
  if (isShort(type)) return `(${word}&65535)`;
  return word;
}

/** A 16- or 32-bit result, wrapped. */
function setTyped(e: Emitter, destination: PtxOperand, expression: string, type: ScalarType): void {
  e.setWord(destination, isShort(type) ? `(${expression})&65535` : expression);
}

/** Sum of two 64-bit values with carries done by hand. */
function add64(e: Emitter, to: PtxOperand, a: [string, string], b: [string, string], carryIn?: string): string {
  const low = e.temporary(carryIn === undefined ? `(${a[0]}+${b[0]})|0` : `(${a[0]}+${b[0]}+${carryIn})|0`);
  const carry =
    carryIn === undefined ? `((${low}>>>0)<(${a[0]}>>>0)?1:0)` : e.temporary(`(${a[0]}>>>0)+(${b[0]}>>>0)+${carryIn}>4294967295?1:0`);
  const sum = e.temporary(`(${a[1]}>>>0)+(${b[1]}>>>0)+${carry}`);
  e.setHalves(to, low, `${sum}|0`);
  return sum;
}

function sub64(e: Emitter, to: PtxOperand, a: [string, string], b: [string, string]): void {
  const low = e.temporary(`(${a[0]}-${b[0]})|0`);
  const high = e.temporary(`(${a[1]}-${b[1]}-((${a[0]}>>>0)<(${b[0]}>>>0)?1:0))|0`);
  e.setHalves(to, low, high);
}

/** The carry flag, which `.cc` sets and `addc`, `subc`, `madc` read. */
const carryFlag: PtxOperand = { kind: "special", name: "carry" };

function carryOperand(e: Emitter): PtxOperand {
  return e.context.carry ?? carryFlag;
}

function add(e: Emitter, withCarry: boolean): void {
  const type = typeOf(e.instruction);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (e.has("cc") || withCarry) {
    const carryIn = withCarry ? e.word(carryOperand(e)) : "0";
    if (isWideInteger(type)) {
      const sum = add64(e, to, e.halves(a), e.halves(b), carryIn);
      if (e.has("cc")) e.setWord(carryOperand(e), `${sum}>4294967295?1:0`);
      return;
    }
    const sum = e.temporary(`(${e.word(a)}>>>0)+(${e.word(b)}>>>0)+${carryIn}`);
    e.setWord(to, `${sum}|0`);
    if (e.has("cc")) e.setWord(carryOperand(e), `${sum}>4294967295?1:0`);
    return;
  }
  if (isWideInteger(type)) add64(e, to, e.halves(a), e.halves(b));
  else if (e.has("sat")) e.setWord(to, `saturateInteger(${e.word(a)}+${e.word(b)},-2147483648,2147483647)`);
  else if (type === "u16x2" || type === "s16x2") {
    const [x, y] = [e.word(a), e.word(b)];
    e.setWord(to, `((${x}+${y})&65535)|((${x}&-65536)+(${y}&-65536))`);
  } else setTyped(e, to, `(${e.word(a)}+${e.word(b)})|0`, type);
}

/** Subtraction; the flag holds the borrow, so that a chain runs as the ISA says. */
function sub(e: Emitter, withBorrow: boolean): void {
  const type = typeOf(e.instruction);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (e.has("cc") || withBorrow) {
    const borrow = withBorrow ? e.word(carryOperand(e)) : "0";
    if (isWideInteger(type)) {
      const [al, ah] = e.halves(a);
      const [bl, bh] = e.halves(b);
      const low = e.temporary(`(${al}>>>0)-(${bl}>>>0)-${borrow}`);
      const high = e.temporary(`(${ah}>>>0)-(${bh}>>>0)-(${low}<0?1:0)`);
      e.setHalves(to, `${low}|0`, `${high}|0`);
      if (e.has("cc")) e.setWord(carryOperand(e), `${high}<0?1:0`);
      return;
    }
    const difference = e.temporary(`(${e.word(a)}>>>0)-(${e.word(b)}>>>0)-${borrow}`);
    e.setWord(to, `${difference}|0`);
    if (e.has("cc")) e.setWord(carryOperand(e), `${difference}<0?1:0`);
    return;
  }
  if (isWideInteger(type)) sub64(e, to, e.halves(a), e.halves(b));
  else if (e.has("sat")) e.setWord(to, `saturateInteger(${e.word(a)}-${e.word(b)},-2147483648,2147483647)`);
  else setTyped(e, to, `(${e.word(a)}-${e.word(b)})|0`, type);
}

/** The product an instruction asks for (`.lo`, `.hi`, `.wide`), as one word or as two halves read in order. */
function product(e: Emitter, type: ScalarType): { word?: string; halves?: [string, string] } {
  const [a, b] = [e.operand(1), e.operand(2)];
  const signed = isSigned(type);
  if (isWideInteger(type)) {
    const [al, ah] = e.halves(a);
    const [bl, bh] = e.halves(b);
    return e.has("hi")
      ? { halves: [`mulHigh64(${al},${ah},${bl},${bh},${signed})`, "wide.high"] }
      : { halves: [`mul64(${al},${ah},${bl},${bh})`, "wide.high"] };
  }
  const [x, y] = [typedWord(e, a, type), typedWord(e, b, type)];
  if (isShort(type)) {
    const whole = `Math.imul(${x},${y})`;
    if (e.has("wide")) return { word: whole };
    return { word: e.has("hi") ? `((${whole}>>>16)&65535)` : `(${whole}&65535)` };
  }
  const high = `${signed ? "mulHigh" : "mulHighUnsigned"}(${x},${y})`;
  if (e.has("wide")) return { halves: [`Math.imul(${x},${y})`, high] };
  return { word: e.has("hi") ? high : `Math.imul(${x},${y})` };
}

function mul(e: Emitter): void {
  const { word, halves } = product(e, typeOf(e.instruction));
  if (halves !== undefined) {
    const low = e.temporary(halves[0]);
    const high = e.temporary(halves[1]);
    e.setHalves(e.operand(0), low, high);
  } else e.setWord(e.operand(0), word!);
}

function mad(e: Emitter, withCarry: boolean): void {
  const type = typeOf(e.instruction);
  const { word, halves } = product(e, type);
  const [to, c] = [e.operand(0), e.operand(3)];
  if (halves !== undefined) {
    const low = e.temporary(halves[0]);
    const high = e.temporary(halves[1]);
    const carryIn = withCarry ? e.word(carryOperand(e)) : e.has("cc") ? "0" : undefined;
    const sum = add64(e, to, [low, high], e.halves(c), carryIn);
    if (e.has("cc")) e.setWord(carryOperand(e), `${sum}>4294967295?1:0`);
  } else if (e.has("cc") || withCarry) {
    const sum = e.temporary(`(${word!}>>>0)+(${e.word(c)}>>>0)+${withCarry ? e.word(carryOperand(e)) : "0"}`);
    e.setWord(to, `${sum}|0`);
    if (e.has("cc")) e.setWord(carryOperand(e), `${sum}>4294967295?1:0`);
  } else if (e.has("sat")) e.setWord(to, `saturateInteger(${word!}+${e.word(c)},-2147483648,2147483647)`);
  else if (e.has("wide")) e.setWord(to, `(${word!}+${e.word(c)})|0`);
  else setTyped(e, to, `(${word!}+${e.word(c)})|0`, type);
}

/** 24-bit multiplication: the operands' upper bytes do not count; `.lo` and `.hi` name bits 0-31 and 16-47 of the product. */
function mul24(e: Emitter, addend: boolean): void {
  const signed = typeOf(e.instruction) === "s32";
  const extend = (operand: PtxOperand) => (signed ? `(${e.word(operand)}<<8>>8)` : `(${e.word(operand)}&16777215)`);
  const [a, b] = [e.temporary(extend(e.operand(1))), e.temporary(extend(e.operand(2)))];
  const low = `Math.imul(${a},${b})`;
  const high = `${signed ? "mulHigh" : "mulHighUnsigned"}(${a},${b})`;
  const value = e.has("hi") ? `((${high}<<16)|(${low}>>>16))` : low;
  e.setWord(e.operand(0), addend ? `(${value}+${e.word(e.operand(3))})|0` : value);
}

function divide(e: Emitter, remainder: boolean): void {
  const type = typeOf(e.instruction);
  const signed = isSigned(type);
  if (isWideInteger(type)) {
    const [al, ah] = e.halves(e.operand(1));
    const [bl, bh] = e.halves(e.operand(2));
    const low = e.temporary(`${remainder ? "rem64" : "div64"}(${al},${ah},${bl},${bh},${signed})`);
    e.setHalves(e.operand(0), low, "wide.high");
    return;
  }
  const name = remainder ? (signed ? "remainder" : "remainderUnsigned") : signed ? "divide" : "divideUnsigned";
  setTyped(e, e.operand(0), `${name}(${typedWord(e, e.operand(1), type)},${typedWord(e, e.operand(2), type)})`, type);
}

export function lessThan64(a: [string, string], b: [string, string], signed: boolean): string {
  const highLess = signed ? `${a[1]}<${b[1]}` : `(${a[1]}>>>0)<(${b[1]}>>>0)`;
  return `(${highLess}||(${a[1]}===${b[1]}&&(${a[0]}>>>0)<(${b[0]}>>>0)))`;
}

function pick(e: Emitter, smaller: boolean): void {
  const type = typeOf(e.instruction);
  const signed = isSigned(type);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (isWideInteger(type)) {
    const [x, y] = [e.halves(a), e.halves(b)];
    const first = e.temporary(smaller ? lessThan64(x, y, signed) : lessThan64(y, x, signed));
    const low = e.temporary(`${first}?${x[0]}:${y[0]}`);
    e.setHalves(to, low, `${first}?${x[1]}:${y[1]}`);
    return;
  }
  if (type === "u16x2" || type === "s16x2") {
    const [x, y] = [e.word(a), e.word(b)];
    const name = smaller ? "Math.min" : "Math.max";
    const [low, high] = signed
      ? [`${name}(${x}<<16>>16,${y}<<16>>16)`, `${name}(${x}>>16,${y}>>16)`]
      : [`${name}(${x}&65535,${y}&65535)`, `${name}(${x}>>>16,${y}>>>16)`];
    e.setWord(to, `(${low}&65535)|(${high}<<16)`);
    return;
  }
  const [x, y] = [typedWord(e, a, type), typedWord(e, b, type)];
  const value =
    signed || isShort(type) ? `Math.${smaller ? "min" : "max"}(${x},${y})` : `(${x}>>>0)${smaller ? "<" : ">"}(${y}>>>0)?${x}:${y}`;
  const relu = e.has("relu") ? `Math.max(0,${value})` : value;
  setTyped(e, to, relu, type);
}

function shift(e: Emitter, left: boolean): void {
  const type = typeOf(e.instruction);
  const [to, a] = [e.operand(0), e.operand(1)];
  const amount = e.word(e.operand(2));
  const constant = /^\d+$/.test(amount);
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a);
    const result = e.temporary(left ? `shl64(${low},${high},${amount})` : `shr64(${low},${high},${amount},${isSigned(type)})`);
    e.setHalves(to, result, "wide.high");
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
  const type = typeOf(e.instruction);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (isWideInteger(type)) {
    const [x, y] = [e.halves(a), e.halves(b)];
    e.setHalves(to, word(x[0], y[0]), word(x[1], y[1]));
  } else if (type === "pred") e.setWord(to, word(e.predicate(a), e.predicate(b)));
  else setTyped(e, to, word(e.word(a), e.word(b)), type);
}

function not(e: Emitter): void {
  const type = typeOf(e.instruction);
  const [to, a] = [e.operand(0), e.operand(1)];
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a);
    e.setHalves(to, `~${low}`, `~${high}`);
  } else if (type === "pred") e.setWord(to, `${e.predicate(a)}^1`);
  else setTyped(e, to, `~${e.word(a)}`, type);
}

function negate(e: Emitter, absolute: boolean): void {
  const type = typeOf(e.instruction);
  const [to, a] = [e.operand(0), e.operand(1)];
  if (!isWideInteger(type)) {
    const x = typedWord(e, a, type);
    setTyped(e, to, absolute ? `(${x}<0?-${x}:${x})|0` : `(-${x})|0`, type);
    return;
  }
  const [low, high] = e.halves(a);
  const flip = e.temporary(absolute ? `${high}>>31` : "-1");
  sub64(e, to, [`(${low}^${flip})`, `(${high}^${flip})`], [flip, flip]);
}

/** Counting and searching bits: one 32-bit result from a word or from two halves. */
function scan(
  e: Emitter,
  word: (x: string, signed: boolean) => string,
  halves: (low: string, high: string, signed: boolean) => string,
): void {
  const type = typeOf(e.instruction);
  const a = e.operand(1);
  if (isWideInteger(type)) {
    const [low, high] = e.halves(a);
    e.setWord(e.operand(0), halves(low, high, isSigned(type)));
  } else e.setWord(e.operand(0), word(e.word(a), isSigned(type)));
}

function bitField(e: Emitter, insert: boolean): void {
  const type = typeOf(e.instruction);
  const first = insert ? 3 : 2;
  const [position, length] = [e.word(e.operand(first)), e.word(e.operand(first + 1))];
  const signed = isSigned(type);
  if (isWideInteger(type)) {
    const [low, high] = e.halves(e.operand(1));
    const into = insert ? e.halves(e.operand(2)) : undefined;
    const call = into
      ? `insertBits64(${low},${high},${into[0]},${into[1]},${position},${length})`
      : `extractBits64(${low},${high},${position},${length},${signed})`;
    const result = e.temporary(call);
    e.setHalves(e.operand(0), result, "wide.high");
  } else if (insert) e.setWord(e.operand(0), `insertBits(${e.word(e.operand(1))},${e.word(e.operand(2))},${position},${length})`);
  else e.setWord(e.operand(0), `extractBits(${e.word(e.operand(1))},${position},${length},${signed})`);
}

function three(e: Emitter, name: string, ...rest: (string | boolean)[]): void {
  const [a, b, c] = [e.word(e.operand(1)), e.word(e.operand(2)), e.word(e.operand(3))];
  e.setWord(e.operand(0), `${name}(${[a, b, c, ...rest].join(",")})`);
}

function lop3(e: Emitter): void {
  const [a, b, c] = [e.word(e.operand(1)), e.word(e.operand(2)), e.word(e.operand(3))];
  const table = e.word(e.operand(4));
  const result = e.temporary(`lop3(${a},${b},${c},${table})`);
  const to = e.operand(0);
  if (to.kind !== "pair") {
    e.setWord(to, result);
    return;
  }
  e.setWord(to.first, result);
  const other = e.predicate(e.operand(5));
  e.setWord(to.second, e.has("and") ? `(${result}!==0?1:0)&${other}` : `(${result}!==0?1:0)|${other}`);
}

function dotProduct(e: Emitter, name: string): void {
  const types = e.instruction.modifiers.filter((word) => word === "u32" || word === "s32");
  const signs = [types[0] === "s32", types[1] === "s32"];
  if (name === "dotHalves") three(e, name, ...signs, e.has("hi"));
  else three(e, name, ...signs);
}

function sumOfDifferences(e: Emitter): void {
  const type = typeOf(e.instruction);
  const [to, c] = [e.operand(0), e.operand(3)];
  if (isWideInteger(type)) {
    const [a, b] = [e.halves(e.operand(1)), e.halves(e.operand(2))];
    const less = e.temporary(lessThan64(a, b, isSigned(type)));
    const [xl, xh, yl, yh] = [
      `(${less}?${b[0]}:${a[0]})`,
      `(${less}?${b[1]}:${a[1]})`,
      `(${less}?${a[0]}:${b[0]})`,
      `(${less}?${a[1]}:${b[1]})`,
    ];
    const low = e.temporary(`(${xl}-${yl})|0`);
    const high = e.temporary(`(${xh}-${yh}-((${xl}>>>0)<(${yl}>>>0)?1:0))|0`);
    add64(e, to, [low, high], e.halves(c));
    return;
  }
  const unsigned = isSigned(type) || isShort(type) ? "" : ">>>0";
  const [a, b] = [`(${typedWord(e, e.operand(1), type)}${unsigned})`, `(${typedWord(e, e.operand(2), type)}${unsigned})`];
  setTyped(e, to, `(${a}<${b}?${b}-${a}:${a}-${b})+${e.word(c)}|0`, type);
}

export const integerHandlers: Readonly<Record<string, Handler>> = {
  add: (e) => add(e, false),
  addc: (e) => add(e, true),
  sub: (e) => sub(e, false),
  subc: (e) => sub(e, true),
  mul,
  mad: (e) => mad(e, false),
  madc: (e) => mad(e, true),
  mul24: (e) => mul24(e, false),
  mad24: (e) => mul24(e, true),
  sad: sumOfDifferences,
  div: (e) => divide(e, false),
  rem: (e) => divide(e, true),
  min: (e) => pick(e, true),
  max: (e) => pick(e, false),
  neg: (e) => negate(e, false),
  abs: (e) => negate(e, true),
  shl: (e) => shift(e, true),
  shr: (e) => shift(e, false),
  and: (e) => logic(e, (a, b) => `${a}&${b}`),
  or: (e) => logic(e, (a, b) => `${a}|${b}`),
  xor: (e) => logic(e, (a, b) => `${a}^${b}`),
  not,
  cnot: (e) => {
    const type = typeOf(e.instruction);
    if (isWideInteger(type)) {
      const [low, high] = e.halves(e.operand(1));
      const zero = e.temporary(`(${low}|${high})===0?1:0`);
      e.setHalves(e.operand(0), zero, "0");
    } else e.setWord(e.operand(0), `${typedWord(e, e.operand(1), type)}===0?1:0`);
  },
  popc: (e) =>
    scan(
      e,
      (x) => `popcount(${x})`,
      (low, high) => `popcount(${low})+popcount(${high})`,
    ),
  clz: (e) =>
    scan(
      e,
      (x) => `Math.clz32(${x})`,
      (low, high) => `clz64(${low},${high})`,
    ),
  bfind: (e) =>
    scan(
      e,
      (x, signed) => `findTop(${x},${signed},${e.has("shiftamt")})`,
      (low, high, signed) => `findTop64(${low},${high},${signed},${e.has("shiftamt")})`,
    ),
  fns: (e) => three(e, "findNthSet"),
  brev: (e) => {
    if (!isWideInteger(typeOf(e.instruction))) {
      e.setWord(e.operand(0), `reverseBits(${e.word(e.operand(1))})`);
      return;
    }
    const [low, high] = e.halves(e.operand(1));
    const reversed = e.temporary(`reverseBits(${high})`);
    const top = e.temporary(`reverseBits(${low})`);
    e.setHalves(e.operand(0), reversed, top);
  },
  bfe: (e) => bitField(e, false),
  bfi: (e) => bitField(e, true),
  bmsk: (e) => e.setWord(e.operand(0), `bitMask(${e.word(e.operand(1))},${e.word(e.operand(2))},${e.has("wrap")})`),
  szext: (e) =>
    e.setWord(
      e.operand(0),
      `extendBits(${e.word(e.operand(1))},${e.word(e.operand(2))},${isSigned(typeOf(e.instruction))},${e.has("wrap")})`,
    ),
  shf: (e) => three(e, "funnelShift", e.has("l"), e.has("wrap")),
  prmt: (e) => {
    const mode = e.instruction.modifiers.find((word) => ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"].includes(word)) ?? "";
    three(e, "permuteBytes", JSON.stringify(mode));
  },
  lop3,
  dp4a: (e) => dotProduct(e, "dotBytes"),
  dp2a: (e) => dotProduct(e, "dotHalves"),
};
