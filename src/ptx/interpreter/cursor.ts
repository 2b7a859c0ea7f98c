// Reads tokens for the parser: look-ahead, expectations, and the numbers and constant expressions of PTX. It knows no declarations.
import type { PtxSyntaxError } from "./errors.js";
import { Lexer, type Token } from "./lexer.js";

/** A number as PTX writes it: an integer of 64 bits, or the bits of a binary32 or binary64. */
export type PtxNumber = { kind: "integer"; value: bigint } | { kind: "float"; value: number; bits: bigint; double: boolean };

const floatBits = new DataView(new ArrayBuffer(8));

export class Cursor {
  readonly lexer: Lexer;
  token: Token;
  private ahead: Token | undefined;
  /** End of the last token taken: where the text of a statement stops. */
  lastEnd = 0;

  constructor(source: string) {
    this.lexer = new Lexer(source);
    this.token = this.lexer.next();
  }

  advance(): Token {
    const taken = this.token;
    this.lastEnd = taken.end;
    this.token = this.ahead ?? this.lexer.next();
    this.ahead = undefined;
    return taken;
  }

  peek(): Token {
    this.ahead ??= this.lexer.next();
    return this.ahead;
  }

  fail(problem: string, token: Token = this.token): PtxSyntaxError {
    return this.lexer.error(problem, token.start, token.text);
  }

  is(text: string): boolean {
    return this.token.text === text && this.token.kind === "punctuation";
  }

  isDotted(text: string): boolean {
    return this.token.text === text && this.token.kind === "dotted";
  }

  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.advance();
    return true;
  }

  acceptDotted(text: string): boolean {
    if (!this.isDotted(text)) return false;
    this.advance();
    return true;
  }

  expect(text: string): Token {
    if (!this.is(text)) throw this.fail(`expected "${text}"`);
    return this.advance();
  }

  name(what: string): string {
    if (this.token.kind !== "name") throw this.fail(`expected ${what}`);
    return this.advance().text;
  }

  /** An integer constant that is small enough to count with. */
  count(what: string): number {
    const value = this.integer(what);
    if (value < 0n || value > 0x7fffffffn) throw this.fail(`${what} out of range`);
    return Number(value);
  }

  integer(what: string): bigint {
    const number = this.number(what);
    if (number.kind !== "integer") throw this.fail(`${what} must be an integer`);
    return number.value;
  }

  atNumber(): boolean {
    const { kind, text } = this.token;
    return kind === "integer" || kind === "float" || (kind === "punctuation" && (text === "-" || text === "~" || text === "("));
  }

  /** A constant expression: numbers, parentheses, unary - ~ !, and the binary operators of C on 64-bit integers. */
  number(what: string): PtxNumber {
    return this.binary(what, 0);
  }

  private static readonly levels: readonly (readonly string[])[] = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];

  private binary(what: string, level: number): PtxNumber {
    const operators = Cursor.levels[level];
    if (operators === undefined) return this.unary(what);
    let left = this.binary(what, level + 1);
    while (this.token.kind === "punctuation" && operators.includes(this.token.text)) {
      const operator = this.advance();
      const right = this.binary(what, level + 1);
      if (left.kind !== "integer" || right.kind !== "integer") throw this.fail("a constant expression takes integers", operator);
      left = { kind: "integer", value: this.combine(operator, left.value, right.value) };
    }
    return left;
  }

  private combine(operator: Token, left: bigint, right: bigint): bigint {
    if ((operator.text === "/" || operator.text === "%") && right === 0n) throw this.fail("division by zero in a constant", operator);
    switch (operator.text) {
      case "|":
        return left | right;
      case "^":
        return left ^ right;
      case "&":
        return left & right;
      case "<<":
        return BigInt.asIntN(64, left << (right & 63n));
      case ">>":
        return left >> (right & 63n);
      case "+":
        return left + right;
      case "-":
        return left - right;
      case "*":
        return left * right;
      case "/":
        return left / right;
      default:
        return left % right;
    }
  }

  private unary(what: string): PtxNumber {
    if (this.accept("(")) {
      const inner = this.number(what);
      this.expect(")");
      return inner;
    }
    if (this.is("-") || this.is("~") || this.is("!")) {
      const operator = this.advance();
      const inner = this.unary(what);
      if (inner.kind === "float") {
        if (operator.text !== "-") throw this.fail("this operator takes an integer", operator);
        return float(-inner.value, inner.double);
      }
      const value = operator.text === "-" ? -inner.value : operator.text === "~" ? ~inner.value : inner.value === 0n ? 1n : 0n;
      return { kind: "integer", value };
    }
    if (this.token.kind === "integer") {
      const text = this.advance().text.replace(/U$/, "");
      return { kind: "integer", value: /^0[0-7]+$/.test(text) ? BigInt(`0o${text.slice(1)}`) : BigInt(text) };
    }
    if (this.token.kind === "float") return this.floating(this.advance().text);
    throw this.fail(`expected ${what}`);
  }

  private floating(text: string): PtxNumber {
    const single = /^0[fF]/.test(text);
    if (!single && !/^0[dD]/.test(text)) return float(Number(text), true);
    const bits = BigInt(`0x${text.slice(2)}`);
    floatBits.setBigUint64(0, bits);
    if (single) floatBits.setUint32(0, Number(bits));
    return { kind: "float", value: single ? floatBits.getFloat32(0) : floatBits.getFloat64(0), bits, double: !single };
  }
}

function float(value: number, double: boolean): PtxNumber {
  if (double) floatBits.setFloat64(0, value);
  else floatBits.setFloat32(0, value);
  return { kind: "float", value, bits: double ? floatBits.getBigUint64(0) : BigInt(floatBits.getUint32(0)), double };
}
