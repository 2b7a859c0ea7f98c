// Splits PTX text into tokens with their places. It knows no grammar; numbers and directives are told from names, nothing more.
import { PtxSyntaxError } from "./errors.js";

export type TokenKind = "name" | "dotted" | "integer" | "float" | "string" | "punctuation" | "end";

export interface Token {
  kind: TokenKind;
  /** The text; for `dotted` (a directive or modifier) without its leading dot. */
  text: string;
  start: number;
  end: number;
}

const pattern =
  /(?<space>(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*)+)|(?<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(?<integer>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)|(?<dotted>\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)|(?<name>[A-Za-z_$%][A-Za-z0-9_$]*)|(?<string>"(?:[^"\\]|\\.)*")|(?<punctuation><<|>>|[{}()[\],;:@!+\-|=<>*~/&^%?.])/y;

/** Tokens of a PTX text, read one at a time with one token of look-ahead kept by the parser. */
export class Lexer {
  readonly source: string;
  private readonly lineStarts: number[] = [0];
  private position = 0;

  constructor(source: string) {
    this.source = source;
    for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) this.lineStarts.push(at + 1);
  }

  next(): Token {
    for (;;) {
      if (this.position >= this.source.length) return { kind: "end", text: "end of text", start: this.position, end: this.position };
      pattern.lastIndex = this.position;
      const match = pattern.exec(this.source);
      if (match === null) {
        const offending = this.source.slice(this.position, this.position + 20).split("\n")[0]!;
        throw this.error("no PTX token starts here", this.position, offending);
      }
      const start = this.position;
      this.position = pattern.lastIndex;
      const groups = match.groups!;
      if (groups["space"] !== undefined) continue;
      const end = this.position;
      const text = match[0];
      if (groups["dotted"] !== undefined) return { kind: "dotted", text: text.slice(1), start, end };
      if (groups["name"] !== undefined) return { kind: "name", text, start, end };
      if (groups["integer"] !== undefined) return { kind: "integer", text, start, end };
      if (groups["float"] !== undefined) return { kind: "float", text, start, end };
      if (groups["string"] !== undefined) return { kind: "string", text, start, end };
      return { kind: "punctuation", text, start, end };
    }
  }

  /** Line and column, from 1, of an offset. */
  place(offset: number): { line: number; column: number } {
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
    const { line, column } = this.place(offset);
    return new PtxSyntaxError(problem, line, column, offending);
  }
}
