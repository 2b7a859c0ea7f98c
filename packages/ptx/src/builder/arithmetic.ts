// Arithmetic of a kernel: each method is one instruction of the table in operations.ts. Multiply
// and add stay two roundings unless `fma` is asked for.
import { Emitter } from "./emitter.js";
import type { Item } from "./instruction.js";
import { convertOpcode, type Operation, type OperationName, operations, type TypesOf } from "./operations.js";
import { type BitsType, type ConvertibleType, type RegisterType, typeBytes, wordOf } from "./types.js";
import { type Operand, type Value, Variable } from "./values.js";

/** Relations of `compare`. Of floats all but "ne" are false if an operand is NaN. */
export type ComparisonOperator = "eq" | "ne" | "lt" | "le" | "gt" | "ge";
/** To nearest even, towards zero, down, up; with a last "i" to a whole number that way. */
export type Rounding = "rn" | "rz" | "rm" | "rp" | "rni" | "rzi" | "rmi" | "rpi";
const wideOf = { u16: "u32", s16: "s32", u32: "u64", s32: "s64" } as const;
type WideOf<T extends keyof typeof wideOf> = (typeof wideOf)[T];
/** The relations that numbers of a type have. */
export type ComparisonOf<T> = T extends BitsType ? "eq" | "ne" : ComparisonOperator;
type HalfOf<T extends "f16x2" | "bf16x2"> = T extends "f16x2" ? "f16" : "bf16";

type Unary<Name extends OperationName> = <T extends TypesOf<Name>>(a: Value<T>) => Value<T>;
type Binary<Name extends OperationName> = <T extends TypesOf<Name>>(a: Value<T>, b: Operand<NoInfer<T>>) => Value<T>;
type Ternary<Name extends OperationName> = <T extends TypesOf<Name>>(
  a: Value<T>,
  b: Operand<NoInfer<T>>,
  c: Operand<NoInfer<T>>,
) => Value<T>;

/** k if b is the constant 2^k and the type unsigned: some assemblers do not know the trick. */
function powerOfTwo(type: RegisterType, b: unknown): number | undefined {
  if (typeof b !== "number" || !type.startsWith("u") || !(b >= 1 && b <= 2 ** 31) || (Math.trunc(b) & (b - 1)) !== 0) return undefined;
  return 31 - Math.clz32(b);
}

function isConvertible(to: RegisterType, from: RegisterType): boolean {
  const number = /^([us](16|32|64)|b?f16|f32|f64)$/;
  return number.test(from) && (to === "tf32" ? from === "f32" : number.test(to));
}

const halves: ReadonlySet<RegisterType> = new Set(["f16", "bf16", "f16x2", "bf16x2"]);

export class Arithmetic extends Emitter {
  private operate<T extends RegisterType, R extends RegisterType>(
    name: OperationName,
    type: T,
    result: R,
    operands: readonly Operand<RegisterType>[],
    more: readonly Item[] = [],
  ): Value<R> {
    const entry = operations[name] as Operation;
    if (!entry.types.includes(type)) throw this.fail(`${name} got a ${type}; it takes ${entry.types.join(", ")}`);
    const items = operands.map((operand, k) => {
      const item = this.item(type, operand as Operand<T>, name, k + 1);
      // No assembler takes a half for an immediate operand.
      return typeof item === "string" && halves.has(type) ? this.constant(type as "f16", operand as number) : item;
    });
    return this.emitValue(entry.text(type), result, [...items, ...more], { needs: entry.needs?.(type) });
  }

  private unary<Name extends OperationName>(name: Name): Unary<Name> {
    return (a) => this.operate(name, a.type, a.type, [a]);
  }

  private binary<Name extends OperationName>(name: Name): Binary<Name> {
    return (a, b) => this.operate(name, a.type, a.type, [a, b]);
  }

  private ternary<Name extends OperationName>(name: Name): Ternary<Name> {
    return (a, b, c) => this.operate(name, a.type, a.type, [a, b, c]);
  }

  /** a + b, floats rounded to nearest even. A whole number plus the constant 0 is itself. */
  add<T extends TypesOf<"add">>(a: Value<T>, b: Operand<NoInfer<T>>): Value<T> {
    if (b === 0 && /^[us]/.test(a.type) && !(a instanceof Variable)) return a;
    return this.operate("add", a.type, a.type, [a, b]);
  }

  /** a - b, floats rounded to nearest even. */
  readonly sub: Binary<"sub"> = this.binary("sub");

  /** a * b: the low half for integers, rounded to nearest even for floats. */
  readonly mul: Binary<"mul"> = this.binary("mul");

  /** The high half of a product of integers. */
  readonly mulHi: Binary<"mulHi"> = this.binary("mulHi");

  /** The whole product of integers, twice as wide. */
  mulWide<T extends "u16" | "s16" | "u32" | "s32">(a: Value<T>, b: Operand<NoInfer<T>>): Value<WideOf<T>> {
    const items = [a, this.item(a.type, b as Operand<T>, "mulWide", 2)];
    return this.emitValue(`mul.wide.${a.type}`, wideOf[a.type], items);
  }

  /** a * b + c, the product twice as wide as its factors. */
  madWide<T extends "u16" | "s16" | "u32" | "s32">(a: Value<T>, b: Operand<NoInfer<T>>, c: Operand<WideOf<NoInfer<T>>>): Value<WideOf<T>> {
    const wide = wideOf[a.type];
    const items = [
      a,
      this.item(a.type, b as Operand<T>, "madWide", 2),
      this.item<RegisterType>(wide, c as Operand<RegisterType>, "madWide", 3),
    ];
    return this.emitValue(`mad.wide.${a.type}`, wide, items);
  }

  /** a * b + c of integers, low half. */
  readonly mad: Ternary<"mad"> = this.ternary("mad");

  /** a * b + c of floats, rounded once. */
  readonly fma: Ternary<"fma"> = this.ternary("fma");

  /** a / b: integers towards zero (unsigned by 2^k a shift), floats to nearest even. */
  div<T extends TypesOf<"div">>(a: Value<T>, b: Operand<NoInfer<T>>): Value<T> {
    const power = powerOfTwo(a.type, b);
    if (power !== undefined) return this.operate("shr", a.type, a.type, [a], [String(power)]);
    return this.operate("div", a.type, a.type, [a, b]);
  }

  /** What a / b leaves; unsigned by a constant power of two it is a mask. */
  rem<T extends TypesOf<"rem">>(a: Value<T>, b: Operand<NoInfer<T>>): Value<T> {
    const power = powerOfTwo(a.type, b);
    if (power !== undefined) return this.operate("and", a.type, a.type, [a, (2 ** power - 1) as Operand<T>]);
    return this.operate("rem", a.type, a.type, [a, b]);
  }

  /** The smaller of two; of floats the number if one is NaN. */
  readonly min: Binary<"min"> = this.binary("min");

  /** The larger of two; of floats the number if one is NaN. */
  readonly max: Binary<"max"> = this.binary("max");

  /** -a. */
  readonly neg: Unary<"neg"> = this.unary("neg");

  /** The absolute value. */
  readonly abs: Unary<"abs"> = this.unary("abs");

  /** The magnitude of `magnitude` with the sign of `sign`. */
  copysign<T extends TypesOf<"copysign">>(magnitude: Value<T>, sign: Operand<NoInfer<T>>): Value<T> {
    const item = this.item(magnitude.type, sign as Operand<T>, "the sign of copysign");
    return this.emitValue(operations.copysign.text(magnitude.type), magnitude.type, [item, magnitude]);
  }

  /** Bit by bit, or of predicates. */
  readonly and: Binary<"and"> = this.binary("and");

  /** Bit by bit, or of predicates. */
  readonly or: Binary<"or"> = this.binary("or");

  /** Bit by bit, or of predicates. */
  readonly xor: Binary<"xor"> = this.binary("xor");

  /** Every bit turned round, or a predicate. */
  readonly not: Unary<"not"> = this.unary("not");

  /** a shifted left by a number of bits. */
  shl<T extends TypesOf<"shl">>(a: Value<T>, count: Operand<"u32">): Value<T> {
    return this.operate("shl", a.type, a.type, [a], [this.item("u32", count, "the count of shl")]);
  }

  /** a shifted right: zeros come in for unsigned types, the sign for signed ones. */
  shr<T extends TypesOf<"shr">>(a: Value<T>, count: Operand<"u32">): Value<T> {
    return this.operate("shr", a.type, a.type, [a], [this.item("u32", count, "the count of shr")]);
  }

  /** Square root, rounded to nearest even. */
  readonly sqrt: Unary<"sqrt"> = this.unary("sqrt");

  /** 1 / a, rounded to nearest even. */
  readonly rcp: Unary<"rcp"> = this.unary("rcp");

  /** The hardware's approximations; subnormals count as zero. Errors: PTX ISA 9.0, 9.7.3. */
  approximate<T extends RegisterType>(name: "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh", a: Value<T>): Value<T> {
    return this.operate(`${name}Approx`, a.type, a.type, [a]);
  }

  /** a / b within 2 ulp. */
  divApprox(a: Value<"f32">, b: Operand<"f32">): Value<"f32"> {
    return this.operate("divApprox", "f32", "f32", [a, b]);
  }

  /** Bits that are one. */
  popc(a: Value<"b32"> | Value<"b64">): Value<"u32"> {
    return this.operate("popc", a.type, "u32", [a]);
  }

  /** Zero bits above the first one. */
  clz(a: Value<"b32"> | Value<"b64">): Value<"u32"> {
    return this.operate("clz", a.type, "u32", [a]);
  }

  /** The bits in opposite order. */
  brev<T extends "b32" | "b64">(a: Value<T>): Value<T> {
    return this.operate("brev", a.type, a.type, [a]);
  }

  /** `count` bits of a from bit `from` up, sign-extended for signed types. */
  bitField<T extends TypesOf<"bfe">>(a: Value<T>, from: Operand<"u32">, count: Operand<"u32">): Value<T> {
    const more = [this.item("u32", from, "the start of bitField"), this.item("u32", count, "the count of bitField")];
    return this.operate("bfe", a.type, a.type, [a], more);
  }

  /** `into` with its `count` bits from bit `from` up replaced by the lowest ones of a. */
  bitInsert<T extends TypesOf<"bfi">>(a: Value<T>, into: Operand<NoInfer<T>>, from: Operand<"u32">, count: Operand<"u32">): Value<T> {
    const more = [this.item("u32", from, "the start of bitInsert"), this.item("u32", count, "the count of bitInsert")];
    return this.operate("bfi", a.type, a.type, [a, into], more);
  }

  /** Four bytes chosen from the eight of a and b by the nibbles of `choice`. */
  bytePermute(a: Value<"b32">, b: Operand<"b32">, choice: Operand<"b32">): Value<"b32"> {
    return this.operate("prmt", "b32", "b32", [a, b, choice]);
  }

  /** Any bitwise function of three words: bit (4a + 2b + c) of `table` is the result. */
  logic(a: Value<"b32">, b: Operand<"b32">, c: Operand<"b32">, table: number): Value<"b32"> {
    return this.operate("lop3", "b32", "b32", [a, b, c], [String(table & 255)]);
  }

  /** A comparison; with a NaN only "ne" is true. Bits without a meaning are equal or not. */
  compare<T extends TypesOf<"compare">>(how: ComparisonOf<NoInfer<T>>, a: Value<T>, b: Operand<NoInfer<T>>): Value<"pred"> {
    if (a.type.startsWith("b") && how !== "eq" && how !== "ne") throw this.fail(`compare of ${a.type} got ${how}; it takes eq or ne`);
    const float = a.type === "f32" || a.type === "f64";
    const word = how === "ne" && float ? "neu" : how;
    const items = [a, this.item(a.type, b as Operand<T>, "compare", 2)];
    return this.emitValue(`setp.${word}.${a.type}`, "pred", items);
  }

  /** yes if the predicate holds, else no. */
  select<T extends TypesOf<"select">>(predicate: Value<"pred">, yes: Value<T>, no: Operand<NoInfer<T>>): Value<T> {
    return this.operate("select", yes.type, yes.type, [yes, no], [predicate]);
  }

  /** cvt: between floats to nearest even, to integers towards zero, or as said; f32 to tf32. */
  convert<T extends ConvertibleType | "tf32">(to: T, a: Value<ConvertibleType>, rounding?: Rounding): Value<T> {
    if (!isConvertible(to, a.type)) throw this.fail(`convert to ${to} got a ${a.type}; it takes ${to === "tf32" ? "f32" : "one number"}`);
    const given: RegisterType = a.type;
    if (given === to && !rounding?.endsWith("i")) return this.copy(a) as Value<RegisterType> as Value<T>;
    if (to === "f32" && a.type === "bf16") return this.emitValue("mov.b32", to, [{ vector: ["0", a] }]);
    const { opcode, needs } = convertOpcode(to, a.type, rounding);
    return this.emitValue(opcode, to, [a], { needs });
  }

  /** Two floats rounded to a pair of halves; `low` goes to the lower 16 bits. */
  convertPair<T extends "f16x2" | "bf16x2">(to: T, low: Value<"f32">, high: Value<"f32">): Value<T> {
    return this.emitValue(`cvt.rn.${to}.f32`, to, [high, low], { needs: { sm: 80, version: [7, 0] } });
  }

  /** The same bits as another type of the same size. */
  reinterpret<T extends RegisterType>(to: T, a: Value): Value<T> {
    if (typeBytes(to) !== typeBytes(a.type) || to === "pred" || a.type === "pred")
      throw this.fail(`reinterpret got a ${a.type}; ${to} takes ${typeBytes(to)} bytes`);
    return this.emitValue(`mov.b${8 * typeBytes(to)}`, to, [a]);
  }

  /** Two halves in one word, the first in the lower bits. */
  pack<T extends "f16x2" | "bf16x2">(to: T, low: Value<HalfOf<T>>, high: Value<HalfOf<T>>): Value<T> {
    return this.emitValue("mov.b32", to, [{ vector: [low as Value, high as Value] }]);
  }

  /** The halves of a pair, the lower first. */
  unpack<T extends "f16x2" | "bf16x2">(pair: Value<T>): [low: Value<HalfOf<T>>, high: Value<HalfOf<T>>] {
    const half = pair.type.slice(0, -2) as HalfOf<T>;
    const [low, high] = [this.newValue(half), this.newValue(half)];
    this.emit("mov.b32", { vector: [low as Value, high as Value] }, [pair]);
    return [low, high];
  }

  /** 64 bits from two words of one type, the lower first. */
  join<T extends "b64" | "u64" | "s64" | "f64", W extends "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32">(
    to: T,
    low: Value<W>,
    high: Value<NoInfer<W>>,
  ): Value<T> {
    if (typeBytes(low.type) !== 4 || high.type !== low.type)
      throw this.fail(`join got ${low.type} and ${high.type}; it takes two words of one type`);
    return this.emitValue("mov.b64", to, [{ vector: [low, high] }]);
  }

  /** The two words of 64 bits, the lower first. */
  split<T extends "b32" | "u32" | "s32" | "f32">(
    to: T,
    a: Value<"b64"> | Value<"u64"> | Value<"s64"> | Value<"f64">,
  ): [Value<T>, Value<T>] {
    const [low, high] = [this.newValue(to), this.newValue(to)];
    this.emit("mov.b64", { vector: [low, high] }, [a]);
    return [low, high];
  }

  /** A copy of a register, as of a variable that is about to change. */
  copy<T extends RegisterType>(a: Value<T>): Value<T> {
    return this.emitValue(`mov.${wordOf(a.type)}`, a.type, [a]);
  }
}
