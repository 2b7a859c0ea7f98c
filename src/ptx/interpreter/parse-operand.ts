// Reads the operands of an instruction and finds what their names mean. Names that are not known yet (labels, later symbols) are settled
// when the function has been read.
import { isSpecialRegister } from "./compile/special.js";
import type { Cursor } from "./cursor.js";
import type { Token } from "./lexer.js";
import type { PtxOperand, PtxRegister, PtxVariable } from "./types.js";

/** One pair of braces in a function body: its registers, variables and labels, and the braces around it. */
export class Scope {
  readonly parent: Scope | undefined;
  /** Made part of a label's name, so that labels of two inlined copies of one piece of assembly stay apart. */
  readonly identity: string;
  readonly registers = new Map<string, PtxRegister>();
  /** Registers declared with `.v2` or `.v4`, by their elements. */
  readonly vectors = new Map<string, PtxRegister[]>();
  readonly variables = new Map<string, PtxVariable>();
  readonly labels = new Set<string>();

  constructor(parent: Scope | undefined, identity: string) {
    this.parent = parent;
    this.identity = identity;
  }

  find<T>(look: (scope: Scope) => T | undefined): T | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      const found = look(scope);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The unique name of a label visible from here. */
  label(name: string): string | undefined {
    return this.find((scope) => (scope.labels.has(name) ? scope.identity + name : undefined));
  }
}

/** A name whose meaning waits for the end of the function. */
export interface Pending {
  operand: PtxOperand;
  name: string;
  offset: number;
  scope: Scope;
  token: Token;
}

export class OperandParser {
  readonly cursor: Cursor;
  readonly pending: Pending[] = [];

  constructor(cursor: Cursor) {
    this.cursor = cursor;
  }

  parse(scope: Scope): PtxOperand {
    const first = this.simple(scope);
    if (!this.cursor.accept("|")) return first;
    return { kind: "pair", first, second: this.simple(scope) };
  }

  private group(scope: Scope, close: string): PtxOperand[] {
    const elements: PtxOperand[] = [];
    while (!this.cursor.is(close)) {
      elements.push(this.parse(scope));
      if (!this.cursor.accept(",")) break;
    }
    this.cursor.expect(close);
    return elements;
  }

  private simple(scope: Scope): PtxOperand {
    const { cursor } = this;
    if (cursor.accept("{")) return { kind: "vector", elements: this.group(scope, "}") };
    if (cursor.accept("[")) return this.address(scope);
    if (cursor.accept("!")) return { kind: "not", operand: this.simple(scope) };
    if (cursor.is("(") && ["name", "punctuation"].includes(cursor.peek().kind)) {
      cursor.advance();
      return { kind: "list", elements: this.group(scope, ")") };
    }
    if (cursor.atNumber()) {
      const number = cursor.number("a number");
      return number.kind === "integer" ? number : { kind: "float", value: number.value, bits: number.bits, double: number.double };
    }
    if (cursor.token.kind !== "name") throw cursor.fail("expected an operand");
    return this.named(scope);
  }

  private address(scope: Scope): PtxOperand {
    const { cursor } = this;
    const base = this.simple(scope);
    let offset = 0n;
    while (cursor.is("+") || cursor.is("-")) {
      const sign = cursor.advance().text === "-" ? -1n : 1n;
      offset += sign * cursor.integer("an address offset");
    }
    cursor.expect("]");
    return { kind: "address", base, offset: Number(offset) };
  }

  private named(scope: Scope): PtxOperand {
    const { cursor } = this;
    const token = cursor.advance();
    const name = token.text;
    if (name === "_") return { kind: "sink" };
    if (name === "WARP_SZ") return { kind: "integer", value: 32n };
    const suffixed = cursor.token.kind === "dotted" && cursor.token.start === token.end;
    const full = suffixed ? `${name}.${cursor.token.text}` : name;
    const register = scope.find((each) => each.registers.get(full));
    if (register !== undefined) {
      if (suffixed) cursor.advance();
      return { kind: "register", register };
    }
    const vector = scope.find((each) => each.vectors.get(name));
    if (vector !== undefined) return { kind: "vector", elements: vector.map((element) => ({ kind: "register", register: element })) };
    if (name.startsWith("%")) {
      if (suffixed) cursor.advance();
      if (!isSpecialRegister(full.slice(1))) throw cursor.fail("no such register is declared here", token);
      return { kind: "special", name: full.slice(1) };
    }
    let offset = 0;
    if ((cursor.is("+") || cursor.is("-")) && cursor.peek().kind === "integer") {
      const sign = cursor.advance().text === "-" ? -1 : 1;
      offset = sign * cursor.count("an offset");
    }
    const variable = scope.find((each) => each.variables.get(name));
    if (variable !== undefined) return { kind: "variable", variable, offset };
    const operand: PtxOperand = { kind: "label", label: name };
    this.pending.push({ operand, name, offset, scope, token });
    return operand;
  }

  /** Settles every pending name of the function just read. */
  settle(variables: ReadonlyMap<string, PtxVariable>, functions: ReadonlySet<string>): void {
    for (const { operand, name, offset, scope, token } of this.pending.splice(0)) {
      const label = scope.label(name);
      const variable = scope.find((each) => each.variables.get(name)) ?? variables.get(name);
      if (label !== undefined) Object.assign(operand, { kind: "label", label });
      else if (variable !== undefined) Object.assign(operand, { kind: "variable", variable, offset });
      else if (functions.has(name)) Object.assign(operand, { kind: "function", name });
      else throw this.cursor.fail("nothing of this name is declared", token);
    }
  }
}
