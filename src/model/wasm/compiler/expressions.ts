// Expressions of C as instructions: each is read once, and gives the code that leaves its value.
import { atMemory, type Code, comparisons, constantCode, i32, local, op, operation, setLocal } from "./code.js";
import { type Declarations, givesNothing, type Known } from "./declarations.js";
import type { Cursor } from "./tokens.js";
import {
  type CType,
  common,
  conversion,
  double,
  int,
  isScalar,
  loadOf,
  nothing,
  promoted,
  type Scalar,
  single,
  sizeOf,
  storeOf,
  valueType,
  whole,
} from "./types.js";

/** Where a value stands that can be assigned to. */
export type Place = { readonly local: number } | { readonly address: Code; readonly offset: number };

/** What an expression gives. */
export interface Value {
  readonly type: CType;
  /** Leaves the value on the stack; of a record or an array, its address. */
  readonly code: Code;
  readonly constant?: number | bigint | undefined;
  readonly place?: Place | undefined;
  /** Does what the expression does without leaving its value. */
  readonly effect?: Code | undefined;
  /** Whether it is 0 or 1. */
  readonly isTruth?: boolean;
}

/** A variable of a function, or static data. */
export interface Variable {
  readonly type: CType;
  readonly place: Place;
}

/** What expressions take of the function that they stand in. */
export interface Frame {
  variable(name: string): Variable | undefined;
  /** A new local of WebAssembly. */
  newLocal(type: number): number;
}

/** Signs by how close they bind, the loosest first. */
const levels: readonly (readonly string[])[] = [
  ...[["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]],
];

const assignments = new Set(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]);

export class Expressions {
  readonly #cursor: Cursor;
  readonly #declarations: Declarations;
  readonly #frame: Frame;

  constructor(cursor: Cursor, declarations: Declarations, frame: Frame) {
    this.#cursor = cursor;
    this.#declarations = declarations;
    this.#frame = frame;
  }

  /** An expression for what it does. */
  effect(): Code {
    const out: (number | string)[] = [];
    do {
      const value = this.assignment();
      out.push(...(value.effect ?? (value.type.kind === "void" ? value.code : [...value.code, op.drop])));
    } while (this.#cursor.takes(","));
    return out;
  }

  /** An expression for its value, as a type. */
  as(type: Scalar): Code {
    return this.converted(this.assignment(), type).code;
  }

  /** An expression that is not 0. */
  condition(): Code {
    return this.truth(this.assignment());
  }

  /** A constant expression. */
  known(): Known {
    const { type, constant } = this.#conditional();
    if (constant === undefined) this.#cursor.fail("this is no constant");
    return { type, constant: constant! };
  }

  /** A value of a scalar type; arrays are the address of their first element. */
  scalar(value: Value): Value & { readonly type: Scalar } {
    const { type } = value;
    if (type.kind === "array") return { ...value, type: { kind: "pointer", to: type.of }, place: undefined };
    if (!isScalar(type)) this.#cursor.fail("a number or a pointer is missing");
    return value as Value & { readonly type: Scalar };
  }

  converted(value: Value, type: Scalar): Value & { readonly type: Scalar } {
    const from = this.scalar(value);
    const constant = from.constant === undefined ? undefined : held(from.constant, from.type, type);
    if (constant !== undefined) return this.#constant(constant, type);
    return { type, code: [...from.code, ...conversion(from.type, type)] };
  }

  truth(value: Value): Code {
    const { type, code, isTruth } = this.scalar(value);
    if (isTruth) return code;
    if (type.kind === "real") return [...code, ...constantCode(0, type), operation("!=", type)!];
    return valueType(type) === 0x7e ? [...code, op.isZero64, op.isZero] : code;
  }

  assignment(): Value {
    const target = this.#conditional();
    const sign = this.#cursor.peek().text;
    if (!assignments.has(sign) || this.#cursor.peek().kind !== "sign") return target;
    this.#cursor.next();
    const { type } = target;
    const given = this.assignment();
    if (!isScalar(type)) {
      const effect = copied(target, given);
      return { ...target, code: [...effect, ...target.code], effect };
    }
    if (sign === "=") return this.#stored(target, this.converted(given, type).code);
    return this.#changed(target, (there) => this.converted(this.#binary(sign.slice(0, -1), there, given), type).code);
  }

  /** Stores a value at the target's place. */
  #stored({ place, type }: Value, code: Code): Value {
    if (!place || !isScalar(type)) return this.#cursor.fail("this is not assigned to");
    if ("local" in place) {
      const effect = [...code, ...setLocal(place.local)];
      return { type, code: [...effect, ...local(place.local)], effect };
    }
    const value = this.#frame.newLocal(valueType(type));
    const store = atMemory(storeOf(type), sizeOf(type), place.offset);
    const kept = [...place.address, ...code, ...setLocal(value), ...local(value), ...store, ...local(value)];
    return { type, code: kept, effect: [...place.address, ...code, ...store] };
  }

  /** Stores what becomes of the value that stands there; its place is found once. */
  #changed(target: Value, change: (there: Value) => Code): Value {
    const { place, type } = target;
    if (!place || "local" in place) return this.#stored(target, change(target));
    const address = this.#frame.newLocal(0x7f);
    const there = this.#at(type, { address: local(address), offset: place.offset });
    const found = [...place.address, ...setLocal(address)];
    const { code, effect } = this.#stored(there, change(there));
    return { type, code: [...found, ...code], effect: [...found, ...effect!] };
  }

  /** What stands at a place. */
  #at(type: CType, place: Place): Value {
    if ("local" in place) return { type, code: local(place.local), place };
    const { address, offset } = place;
    if (!isScalar(type)) return { type, code: offset === 0 ? address : [...address, ...i32(offset), op.add], place };
    return { type, code: [...address, ...atMemory(loadOf(type), sizeOf(type), offset)], place };
  }

  #constant(constant: number | bigint, type: Scalar): Value & { readonly type: Scalar } {
    return { type, code: constantCode(constant, type), constant };
  }

  #conditional(): Value {
    const condition = this.#level(0);
    if (!this.#cursor.takes("?")) return condition;
    const yes = this.scalar(this.assignment());
    this.#cursor.expect(":");
    const no = this.scalar(this.#conditional());
    const type = common(yes.type, no.type);
    const [one, other] = [this.converted(yes, type), this.converted(no, type)];
    return { type, code: [...this.truth(condition), op.if, valueType(type), ...one.code, op.else, ...other.code, op.end] };
  }

  #level(depth: number): Value {
    const signs = levels[depth];
    if (!signs) return this.#unary();
    let out = this.#level(depth + 1);
    for (;;) {
      const { kind, text } = this.#cursor.peek();
      if (kind !== "sign" || !signs.includes(text)) return out;
      this.#cursor.next();
      out = this.#binary(text, out, this.#level(depth + 1));
    }
  }

  #binary(sign: string, left: Value, right: Value): Value {
    if (sign === "&&" || sign === "||") {
      const [one, other] = [this.truth(left), [...this.truth(right), op.isZero, op.isZero]];
      const [yes, no] = sign === "&&" ? [other, i32(0)] : [i32(1), other];
      return { type: int, code: [...one, op.if, 0x7f, ...yes, op.else, ...no, op.end], isTruth: true };
    }
    const [a, b] = [this.scalar(left), this.scalar(right)];
    if (a.type.kind === "pointer" && (sign === "+" || sign === "-") && b.type.kind !== "pointer") return this.#moved(a, sign, b);
    if (sign === "+" && b.type.kind === "pointer") return this.#moved(b, sign, a);
    if (a.type.kind === "pointer" && b.type.kind === "pointer" && sign === "-")
      return { type: int, code: [...a.code, ...b.code, op.sub, ...i32(sizeOf(a.type.to)), op.divide] };
    const isShift = sign === "<<" || sign === ">>";
    const type = isShift ? promoted(a.type) : common(a.type, b.type);
    const [one, other] = [this.converted(a, type), this.converted(b, type)];
    const instruction = operation(sign, type) ?? this.#cursor.fail(`"${sign}" is not for these`);
    const known = folded(sign, one.constant, other.constant, type);
    if (known !== undefined) return this.#constant(known, type);
    const code = [...one.code, ...other.code, instruction];
    return comparisons.has(sign) ? { type: int, code, isTruth: true } : { type, code };
  }

  /** A pointer that is moved by so many elements. */
  #moved(pointer: Value & { readonly type: Scalar }, sign: "+" | "-", by: Value): Value {
    const { type } = pointer;
    const bytes = type.kind === "pointer" ? sizeOf(type.to) : 1;
    const steps = this.converted(by, int);
    const away = steps.constant === undefined ? undefined : Number(steps.constant) * bytes * (sign === "-" ? -1 : 1);
    if (away !== undefined && pointer.constant !== undefined) return this.#constant(Number(pointer.constant) + away, type);
    if (away !== undefined) return { type, code: [...pointer.code, ...i32(away), op.add] };
    const scaled = bytes === 1 ? steps.code : [...steps.code, ...i32(bytes), op.multiply];
    return { type, code: [...pointer.code, ...scaled, sign === "+" ? op.add : op.sub] };
  }

  #unary(): Value {
    const cursor = this.#cursor;
    if (cursor.peek().text === "(" && this.#declarations.startsType(1)) return this.#cast();
    if (cursor.takes("-")) {
      const value = this.scalar(this.#unary());
      const type = promoted(value.type);
      const { code, constant } = this.converted(value, type);
      if (constant !== undefined) return this.#constant(-constant, type);
      if (type.kind === "real") return { type, code: [...code, type.bytes === 4 ? 0x8c : 0x9a] };
      return { type, code: [...constantCode(0, type), ...code, operation("-", type)!] };
    }
    if (cursor.takes("~")) {
      const value = this.scalar(this.#unary());
      const type = promoted(value.type);
      return { type, code: [...this.converted(value, type).code, ...constantCode(-1, type), operation("^", type)!] };
    }
    if (cursor.takes("!")) return { type: int, code: [...this.truth(this.#unary()), op.isZero], isTruth: true };
    if (cursor.takes("*")) return this.#through(this.scalar(this.#unary()));
    if (cursor.takes("&")) {
      const { type, place } = this.#unary();
      if (!place || "local" in place) return cursor.fail("this has no address");
      const code = place.offset === 0 ? place.address : [...place.address, ...i32(place.offset), op.add];
      return { type: { kind: "pointer", to: type }, code };
    }
    for (const sign of ["++", "--"] as const)
      if (cursor.takes(sign)) {
        const target = this.#unary();
        return this.#changed(target, (there) => this.#stepped(there, sign));
      }
    return this.#postfix();
  }

  #cast(): Value {
    this.#cursor.expect("(");
    const type = this.#declarations.typeName();
    this.#cursor.expect(")");
    const value = this.#unary();
    if (type.kind === "void")
      return { type: nothing, code: value.effect ?? (value.type.kind === "void" ? value.code : [...value.code, op.drop]) };
    if (!isScalar(type)) return this.#cursor.fail("a cast to no number and no pointer");
    return this.converted(value, type);
  }

  #stepped(there: Value, sign: "++" | "--"): Code {
    const one = this.#constant(1, int);
    return this.converted(this.#binary(sign[0]!, there, one), there.type as Scalar).code;
  }

  /** What a pointer points to. */
  #through({ type, code }: Value): Value {
    if (type.kind !== "pointer") return this.#cursor.fail("this is no pointer");
    return this.#at(type.to, { address: code, offset: 0 });
  }

  #postfix(): Value {
    const cursor = this.#cursor;
    let out = this.#primary();
    for (;;) {
      if (cursor.takes("[")) {
        const index = this.assignment();
        cursor.expect("]");
        out = this.#element(this.scalar(out), index);
      } else if (cursor.takes(".")) out = this.#field(out);
      else if (cursor.takes("->")) out = this.#field(this.#through(out));
      else if (cursor.takes("++")) out = this.#steppedAfter(out, "++");
      else if (cursor.takes("--")) out = this.#steppedAfter(out, "--");
      else return out;
    }
  }

  #element(array: Value & { readonly type: Scalar }, index: Value): Value {
    const { type } = array;
    if (type.kind !== "pointer") return this.#cursor.fail("this has no elements");
    const place = this.converted(index, int);
    const offset = place.constant === undefined ? -1 : Number(place.constant) * sizeOf(type.to);
    if (offset >= 0) return this.#at(type.to, { address: array.code, offset });
    return this.#through(this.#moved(array, "+", index));
  }

  #field({ type, place }: Value): Value {
    const name = this.#cursor.name();
    const field = type.kind === "record" ? type.fields.get(name) : undefined;
    if (!field || !place || "local" in place) return this.#cursor.fail(`there is no field ${name}`);
    return this.#at(field.type, { address: place.address, offset: place.offset + field.offset });
  }

  #steppedAfter(target: Value, sign: "++" | "--"): Value {
    const type = target.type as Scalar;
    const before = this.#frame.newLocal(valueType(type));
    const { effect } = this.#changed(target, (there) => [
      ...[...there.code, ...setLocal(before)],
      ...this.#stepped({ type, code: local(before) }, sign),
    ]);
    return { type, code: [...effect!, ...local(before)], effect };
  }

  #primary(): Value {
    const cursor = this.#cursor;
    if (cursor.takes("(")) {
      const value = this.assignment();
      cursor.expect(")");
      return value;
    }
    const { kind, text } = cursor.next();
    if (kind === "number") return this.#number(text);
    if (kind === "text") return this.#ofGlobal(this.#declarations.text(text));
    if (kind !== "name") return cursor.fail("an expression is missing");
    const variable = this.#frame.variable(text);
    if (variable) return this.#at(variable.type, variable.place);
    const global = this.#declarations.globals.get(text);
    if (global) return this.#ofGlobal(global);
    const constant = this.#declarations.constants.get(text);
    if (constant !== undefined) return this.#constant(constant, int);
    if (cursor.takes("(")) return this.#call(text);
    return cursor.fail(`${text} is not declared`);
  }

  /** Static data; an array's address is a constant. */
  #ofGlobal({ type, at }: { readonly type: CType; readonly at: number }): Value {
    const value = this.#at(type, { address: i32(at), offset: 0 });
    return type.kind === "array" ? { ...value, constant: at } : value;
  }

  #call(name: string): Value {
    const called = this.#declarations.functions.get(name);
    if (!called) return this.#cursor.fail(`${name} is not declared`);
    const code: (number | string)[] = [];
    for (const [k, { type }] of called.parameters.entries()) {
      if (k > 0) this.#cursor.expect(",");
      code.push(...this.as(type));
    }
    this.#cursor.expect(")");
    return { type: givesNothing(called) ? nothing : called.returns, code: [...code, op.call, name] };
  }

  #number(text: string): Value {
    if (/^(?:'\\[^"'\\]|0\d)/.test(text) && !/[.eE]/.test(text)) return this.#cursor.fail(`${text} is not taken as a number`);
    if (text.startsWith("'")) return this.#constant(text.charCodeAt(text.length - 2), int);
    const isHex = /^0x/i.test(text);
    if (isHex ? /p/i.test(text) : /[.eE]/.test(text)) {
      const type = /f$/i.test(text) ? single : double;
      const value = isHex ? hexadecimal(text) : Number.parseFloat(text);
      return this.#constant(type === single ? Math.fround(value) : value, type);
    }
    const [, digits, suffix] = /^(0x[\da-f]+|\d+)([ul]*)$/i.exec(text) ?? this.#cursor.fail(`${text} is no number`);
    const value = BigInt(digits!);
    const isUnsigned = /u/i.test(suffix!);
    const isWide = /ll/i.test(suffix!) || value >= 1n << (isUnsigned || isHex ? 32n : 31n);
    if (isWide) return this.#constant(value, whole(8, !(isUnsigned || value >= 1n << 63n)));
    return this.#constant(Number(value), isUnsigned || value >= 1n << 31n ? whole(4, false) : int);
  }
}

/** Copies a record. */
export function copied(to: Value, from: Value): Code {
  return [...to.code, ...from.code, ...i32(sizeOf(to.type)), 0xfc, 0x0a, 0, 0];
}

/** A constant as another type has it; undefined if that is left to the machine. */
function held(constant: number | bigint, from: Scalar, to: Scalar): number | bigint | undefined {
  if (to.kind === "real") return from.kind === "pointer" ? undefined : to.bytes === 4 ? Math.fround(Number(constant)) : Number(constant);
  if (from.kind === "real" && !Number.isSafeInteger(Math.trunc(Number(constant)))) return undefined;
  const value = BigInt(from.kind === "real" ? Math.trunc(Number(constant)) : constant);
  const bits = to.kind === "pointer" ? 32 : 8 * to.bytes;
  const wrapped = to.kind === "whole" && to.signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  return bits === 64 ? wrapped : Number(wrapped);
}

/** A hexadecimal constant with a power of two. */
function hexadecimal(text: string): number {
  const [, lead, fraction = "", power] = /^0x([\da-f]*)\.?([\da-f]*)p([+-]?\d+)/i.exec(text)!;
  return Number(BigInt(`0x${lead}${fraction}`)) * 2 ** (Number(power) - 4 * fraction.length);
}

/** Constants of 32 bits, and quotients, that initialisers and lengths are made of. */
function folded(sign: string, a: number | bigint | undefined, b: number | bigint | undefined, type: Scalar): number | undefined {
  if (typeof a !== "number" || typeof b !== "number" || type.kind === "pointer" || (type.kind === "whole" && !type.signed))
    return undefined;
  if (type.kind === "real") return sign === "/" && type.bytes === 8 ? a / b : undefined;
  const value = sign === "+" ? a + b : sign === "-" ? a - b : sign === "*" ? a * b : undefined;
  return value !== undefined && type.bytes === 4 && value === (value | 0) ? value : undefined;
}
