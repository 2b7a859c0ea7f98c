// Reads tokens for the parser: look-ahead and expectations. It knows no declarations and no
// arithmetic.
import type { PtxSyntaxError } from "./errors.js";
import { Lexer, type Token } from "./lexer.js";

/** How deep braces, parentheses and operators may stand in one another. */
const deepest = 500;

export class Cursor {
  readonly lexer: Lexer;
  token: Token;
  private ahead: Token | undefined;
  private depth = 0;

  constructor(source: string) {
    this.lexer = new Lexer(source);
    this.token = this.lexer.next();
  }

  /** Takes the token and goes on. @throws PtxSyntaxError at the end, so no loop is endless */
  advance(): Token {
    const taken = this.token;
    if (taken.kind === "end") throw this.fail("the text ends too early");
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
