// Constant expressions of PTX, ISA 9.0 section 4.5: C's operators on 64-bit integers with and
// without a sign, and arithmetic on doubles. If the ISA is silent it does what ptxas does;
// `test/ptx/fixtures/literals.json` holds what that is.
import type { Cursor, Token } from "./lexer.js";
import { type PtxOperand, type ScalarType, scalarBytes } from "./types.js";

/** A 64-bit integer in its sign's range, or a float: `double` or the binary32 of `0f`. */
export type Constant =
  | { kind: "integer"; value: bigint; unsigned: boolean }
  | { kind: "float"; value: number; bits: bigint; double: boolean };

/** A constant as an operand holds it. */
export type PtxNumber = PtxOperand & { kind: "integer" | "float" };

type Integer = Constant & { kind: "integer" };

/** Binary operators by how tightly they bind, the loosest first. */
const levels: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", "<=", ">", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];
const tightness = new Map(levels.flatMap((operators, level) => operators.map((operator): [string, number] => [operator, level])));

const view = new DataView(new ArrayBuffer(8));
const leastNormal = 2.2250738585072014e-308;

function integer(value: bigint, unsigned: boolean): Integer {
  return { kind: "integer", value: unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value), unsigned };
}

function double(value: number): Constant {
  view.setFloat64(0, value);
  return { kind: "float", value, bits: view.getBigUint64(0), double: true };
}

/**
 * The bits of a constant where a type is expected; undefined if it is no constant of that type.
 * Integers go to integer types and untyped bits, wrapped. Floats go to floats: a double to f32 is
 * rounded, and the bits that `0f` writes are those of an f64 with nothing above. Halves take none.
 */
export function bitsAs(constant: PtxNumber, type: ScalarType): bigint | undefined {
  if (constant.kind === "integer") {
    if (type === "pred") return constant.value === 0n ? 0n : 1n;
    return /^[bus]\d+$/.test(type) ? BigInt.asUintN(8 * scalarBytes[type], constant.value) : undefined;
  }
  if (!constant.double) return ["f32", "b32", "f64"].includes(type) ? constant.bits : undefined;
  if (type === "f64" || type === "b64") return constant.bits;
  return type === "f32" ? singleBits(constant.value, constant.bits) : undefined;
}

/** A double as binary32. A NaN keeps its sign and the upper bits of its payload. */
function singleBits(value: number, bits: bigint): bigint {
  if (Number.isNaN(value)) return ((bits >> 32n) & 0x80000000n) | 0x7fc00000n | ((bits >> 29n) & 0x3fffffn);
  view.setFloat32(0, value);
  return BigInt(view.getUint32(0));
}

/** Whether a constant begins here. A parenthesis may; whether it does the caller knows. */
export function atConstant({ token }: Cursor): boolean {
  const { kind, text } = token;
  return kind === "integer" || kind === "float" || text === "WARP_SZ" || (kind === "punctuation" && "-+~(".includes(text));
}

/** Reads an expression. @throws PtxSyntaxError */
export function parseConstant(cursor: Cursor, what: string): Constant {
  return cursor.nested(() => {
    const condition = binary(cursor, what, 0);
    if (!cursor.is("?")) return condition;
    const mark = cursor.advance();
    const yes = parseConstant(cursor, what);
    cursor.expect(":");
    const no = parseConstant(cursor, what);
    if (condition.kind === "float" || yes.kind === "float" || no.kind === "float") throw cursor.fail("? takes integers", mark);
    return condition.value !== 0n ? yes : no;
  });
}

/** Reads an integer. @throws PtxSyntaxError */
export function parseInteger(cursor: Cursor, what: string): bigint {
  const { token } = cursor;
  const number = parseConstant(cursor, what);
  if (number.kind !== "integer") throw cursor.fail(`${what} must be an integer`, token);
  return number.value;
}

function binary(cursor: Cursor, what: string, loosest: number): Constant {
  let left = unary(cursor, what);
  for (;;) {
    const level = cursor.token.kind === "punctuation" ? tightness.get(cursor.token.text) : undefined;
    if (level === undefined || level < loosest) return left;
    const operator = cursor.advance();
    const right = binary(cursor, what, level + 1);
    if (left.kind === "integer" && right.kind === "integer") left = ofIntegers(cursor, operator, left, right);
    else if (left.kind === "float" && right.kind === "float") left = ofFloats(cursor, operator, left, right);
    else throw cursor.fail(`${operator.text} takes two integers or two floats`, operator);
  }
}

const comparisons: Readonly<Record<string, (a: number | bigint, b: number | bigint) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
const integerArithmetic: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  "|": (a, b) => a | b,
  "^": (a, b) => a ^ b,
  "&": (a, b) => a & b,
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};
const floatArithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};
const truth = (holds: boolean): Integer => integer(holds ? 1n : 0n, false);

function ofIntegers(cursor: Cursor, operator: Token, left: Integer, right: Integer): Integer {
  const { text } = operator;
  const unsigned = left.unsigned || right.unsigned;
  const [a, b] = unsigned ? [BigInt.asUintN(64, left.value), BigInt.asUintN(64, right.value)] : [left.value, right.value];
  if ((text === "/" || text === "%") && b === 0n) throw cursor.fail("division by zero in a constant", operator);
  if (text === "||") return truth(a !== 0n || b !== 0n);
  if (text === "&&") return truth(a !== 0n && b !== 0n);
  if (text === "<<") return integer(left.value << (right.value & 63n), left.unsigned);
  if (text === ">>") return integer(left.value >> (right.value & 63n), left.unsigned);
  if (text === "%") return integer(BigInt.asUintN(64, a) % BigInt.asUintN(64, b), true);
  return comparisons[text] ? truth(comparisons[text](a, b)) : integer(integerArithmetic[text]!(a, b), unsigned);
}

function ofFloats(cursor: Cursor, operator: Token, left: Constant & { kind: "float" }, right: Constant & { kind: "float" }): Constant {
  const { text } = operator;
  refuseSingle(cursor, operator, left);
  refuseSingle(cursor, operator, right);
  const [a, b] = [left.value, right.value];
  if (text === "/" && b === 0) throw cursor.fail("division by zero in a constant", operator);
  if (floatArithmetic[text]) return double(floatArithmetic[text](a, b));
  if (comparisons[text]) return truth(comparisons[text](a, b));
  throw cursor.fail(`${text} takes integers`, operator);
}

function refuseSingle(cursor: Cursor, operator: Token, { double }: Constant & { kind: "float" }): void {
  if (!double) throw cursor.fail(`a number of bits (0f...) stands alone: it takes no ${operator.text}`, operator);
}

function unary(cursor: Cursor, what: string): Constant {
  const { token } = cursor;
  if (token.kind === "integer") return integerOf(cursor, cursor.advance());
  if (token.kind === "float") return floatOf(cursor, cursor.advance());
  if (token.kind === "name" && token.text === "WARP_SZ") {
    cursor.advance();
    return integer(32n, false);
  }
  if (cursor.accept("(")) return cursor.nested(() => parenthesised(cursor, what));
  if (token.kind !== "punctuation" || !"+-~!".includes(token.text)) throw cursor.fail(`expected ${what}`);
  const operator = cursor.advance();
  const inner = cursor.nested(() => unary(cursor, what));
  if (inner.kind === "integer") {
    if (operator.text === "~") return integer(~inner.value, true);
    if (operator.text === "!") return integer(inner.value === 0n ? 1n : 0n, false);
    return operator.text === "-" ? integer(-inner.value, inner.unsigned) : inner;
  }
  refuseSingle(cursor, operator, inner);
  if (operator.text === "~" || operator.text === "!") throw cursor.fail(`${operator.text} takes an integer`, operator);
  return operator.text === "-" ? double(-inner.value) : inner;
}

/** What follows an opening parenthesis: an expression, or a cast and what it is of. */
function parenthesised(cursor: Cursor, what: string): Constant {
  if (cursor.token.kind !== "dotted") {
    const inner = parseConstant(cursor, what);
    cursor.expect(")");
    return inner;
  }
  const type = cursor.advance();
  if (type.text !== "u64" && type.text !== "s64") throw cursor.fail("a cast is to .s64 or .u64", type);
  cursor.expect(")");
  const inner = unary(cursor, what);
  if (inner.kind !== "integer") throw cursor.fail("a cast takes an integer", type);
  return integer(inner.value, type.text === "u64");
}

function integerOf(cursor: Cursor, token: Token): Integer {
  const digits = token.text.replace(/U$/, "");
  const based = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  // A longer text is not read into one number.
  const value = based.length > 66 ? 1n << 64n : BigInt(based);
  if (value >= 1n << 64n) throw cursor.fail("an integer of more than 64 bits", token);
  return integer(value, digits !== token.text || value >= 1n << 63n);
}

function floatOf(cursor: Cursor, token: Token): Constant {
  const { text } = token;
  const bits = /^0[dDfF]/.test(text) ? BigInt(`0x${text.slice(2)}`) : undefined;
  if (bits === undefined) {
    const value = Number(text);
    // Zero is a value, and so is what rounds to a normal number.
    if (!Number.isFinite(value) || (value < leastNormal && /^[0.]*[1-9]/.test(text)))
      throw cursor.fail("a number that binary64 does not hold; write its bits as 0d...", token);
    return double(value);
  }
  const isDouble = /^0[dD]/.test(text);
  if (isDouble) view.setBigUint64(0, bits);
  else view.setUint32(0, Number(bits));
  return { kind: "float", value: isDouble ? view.getFloat64(0) : view.getFloat32(0), bits, double: isDouble };
}
