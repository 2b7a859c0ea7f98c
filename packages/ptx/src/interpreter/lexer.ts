// Splits PTX text into tokens with their positions. It knows no grammar: it only tells numbers and
// directives from names. Every step moves on in the text, and none looks twice at what it passed,
// so any text takes time in proportion to its length.
import { PtxSyntaxError } from "./errors.js";

export type TokenKind = "name" | "dotted" | "integer" | "float" | "string" | "punctuation" | "end";

export interface Token {
  kind: TokenKind;
  /** The text; for `dotted` (a directive or modifier) without its leading dot. */
  text: string;
  start: number;
  end: number;
}

const word = /[A-Za-z0-9_$]*/y;
const dotted = /\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*/y;
const float = /0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+/y;
const integer = /0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9]\d*U?/y;
const space = /\s+/y;
const pairs = new Set(["<<", ">>", "<=", ">=", "==", "!=", "&&", "||"]);
const punctuation = new Set("{}()[],;:@!+-|=<>*~/&^%?.");

const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 36;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Tokens of a PTX text, read one at a time with one token of look-ahead kept by the parser. */
class Lexer {
  readonly source: string;
  private readonly lineStarts: number[] = [0];
  private position = 0;

  constructor(source: string) {
    this.source = source;
    for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) this.lineStarts.push(at + 1);
  }

  next(): Token {
    this.skipSpace();
    const { source, position } = this;
    if (position >= source.length) return { kind: "end", text: "end of text", start: position, end: position };
    const first = source.charCodeAt(position);
    const second = source.charCodeAt(position + 1);
    // A lone % is an operator.
    if (isLetter(first) || (first === 37 && (isLetter(second) || isDigit(second)))) return this.take("name", word, 1);
    if (isDigit(first) || (first === 46 && isDigit(second) && !this.followsWord())) return this.number();
    if (first === 46 && (isDigit(second) || isLetter(second))) {
      const token = this.take("dotted", dotted);
      token.text = token.text.slice(1);
      return token;
    }
    if (first === 34) return this.string();
    const two = source.slice(position, position + 2);
    const text = pairs.has(two) ? two : two[0]!;
    if (!punctuation.has(text[0]!)) throw this.error("no PTX token starts here", position, this.rest(position));
    this.position += text.length;
    return { kind: "punctuation", text, start: position, end: this.position };
  }

  /** Passes over white space, comments and lines that a preprocessor left. */
  private skipSpace(): void {
    const { source } = this;
    for (;;) {
      const code = source.charCodeAt(this.position);
      if (code === 47 && source[this.position + 1] === "*") {
        const close = source.indexOf("*/", this.position + 2);
        if (close < 0) throw this.error("a comment is not closed", this.position, "/*");
        this.position = close + 2;
      } else if (code === 35 || (code === 47 && source[this.position + 1] === "/")) {
        const end = source.indexOf("\n", this.position);
        this.position = end < 0 ? source.length : end;
      } else {
        space.lastIndex = this.position;
        if (!space.test(source)) return;
        this.position = space.lastIndex;
      }
    }
  }

  /** Whether the last token ends right here: a dot then continues it. */
  private followsWord(): boolean {
    const before = this.source.charCodeAt(this.position - 1);
    return isLetter(before) || isDigit(before);
  }

  private take(kind: TokenKind, pattern: RegExp, skipped = 0): Token {
    const start = this.position;
    pattern.lastIndex = start + skipped;
    if (!pattern.test(this.source)) throw this.error("no PTX token starts here", start, this.rest(start));
    this.position = pattern.lastIndex;
    return { kind, text: this.source.slice(start, this.position), start, end: this.position };
  }

  private number(): Token {
    const start = this.position;
    float.lastIndex = start;
    const token = float.test(this.source) ? this.take("float", float) : this.take("integer", integer);
    const after = this.source.charCodeAt(this.position);
    if (isLetter(after) || isDigit(after)) throw this.error("this is no number that PTX has", start, this.rest(start));
    return token;
  }

  private string(): Token {
    const start = this.position;
    let at = start + 1;
    while (at < this.source.length && this.source[at] !== '"') at += this.source[at] === "\\" ? 2 : 1;
    if (at >= this.source.length) throw this.error("a string is not closed", start, this.rest(start));
    this.position = at + 1;
    return { kind: "string", text: this.source.slice(start, this.position), start, end: this.position };
  }

  /** What an error shows of a position that is no token. */
  private rest(start: number): string {
    return this.source.slice(start, start + 20).split("\n")[0]!;
  }

  /** Line and column, from 1, of an offset. */
  locate(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.lineStarts[low]! + 1 };
  }

  error(problem: string, offset: number, offending: string): PtxSyntaxError {
    const { line, column } = this.locate(offset);
    return new PtxSyntaxError(problem, line, column, offending);
  }
}

/** How deep braces, parentheses and operators may be nested. */
const deepest = 500;

/** Reads tokens for the parser: look-ahead and expectations. It knows no grammar either. */
export class Cursor extends Lexer {
  token: Token = this.next();
  private ahead: Token | undefined;
  private depth = 0;

  /** Returns the token and advances. @throws PtxSyntaxError at the end, so no loop is endless */
  advance(): Token {
    const taken = this.token;
    if (taken.kind === "end") throw this.fail("the text ends too early");
    this.token = this.ahead ?? this.next();
    this.ahead = undefined;
    return taken;
  }

  peek(): Token {
    this.ahead ??= this.next();
    return this.ahead;
  }

  fail(problem: string, token: Token = this.token): PtxSyntaxError {
    return this.error(problem, token.start, token.text);
  }

  /** Reads what may hold itself. @throws PtxSyntaxError if it is nested too deep */
  nested<T>(read: () => T): T {
    if (++this.depth > deepest) throw this.fail(`nested more than ${deepest} deep`);
    const result = read();
    this.depth--;
    return result;
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

  atCount(): boolean {
    return this.token.kind === "integer";
  }

  /** An integer, as it is written, that is small enough to count with. */
  count(what: string): number {
    const token = this.token;
    if (token.kind !== "integer") throw this.fail(`expected ${what}`);
    const value = Number(token.text.replace(/U$/, "").replace(/^0(?=[0-7])/, "0o"));
    if (value > 0x7fffffff) throw this.fail(`${what} is at most 2147483647`);
    this.advance();
    return value;
  }
}
