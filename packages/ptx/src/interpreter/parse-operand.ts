// Reads the operands of an instruction and finds what their names mean. Names that are not known
// yet (labels) are resolved when the function has been read.
import { isSpecialRegister, isVector } from "./compile/special.js";
import { atConstant, parseConstant, parseInteger } from "./constant.js";
import type { Cursor, Token } from "./lexer.js";
import { axes, elementOf, type Scope } from "./scope.js";
import type { PtxOperand, PtxVariable } from "./types.js";

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

  parse(scope: Scope, lists: boolean): PtxOperand {
    const first = this.simple(scope, lists);
    if (!this.cursor.accept("|")) return first;
    return { kind: "pair", first, second: this.simple(scope, lists) };
  }

  private group(scope: Scope, close: string): PtxOperand[] {
    const elements: PtxOperand[] = [];
    while (!this.cursor.is(close)) {
      elements.push(this.cursor.nested(() => this.parse(scope, false)));
      if (!this.cursor.accept(",")) break;
    }
    this.cursor.expect(close);
    return elements;
  }

  private simple(scope: Scope, lists: boolean): PtxOperand {
    const { cursor } = this;
    if (cursor.accept("{")) return { kind: "vector", elements: this.group(scope, "}") };
    if (cursor.accept("[")) return cursor.nested(() => this.address(scope));
    if (cursor.is("!") && cursor.peek().kind === "name" && cursor.peek().text !== "WARP_SZ") {
      cursor.advance();
      return { kind: "not", operand: this.named(scope) };
    }
    if (cursor.is("-") && scope.register(cursor.peek().text) !== undefined) {
      cursor.advance();
      return { kind: "minus", operand: this.named(scope) };
    }
    if (lists && cursor.accept("(")) return { kind: "list", elements: this.group(scope, ")") };
    if (atConstant(cursor) || cursor.is("!")) {
      const number = parseConstant(cursor, "a number");
      if (number.kind === "integer") return { kind: "integer", value: number.value };
      return { kind: "float", value: number.value, bits: number.bits, double: number.double };
    }
    if (cursor.token.kind !== "name") throw cursor.fail("expected an operand");
    return this.named(scope);
  }

  private address(scope: Scope): PtxOperand {
    const { cursor } = this;
    const base = this.simple(scope, false);
    const offset = this.offset();
    cursor.expect("]");
    return { kind: "address", base, offset };
  }

  private offset(): number {
    const { cursor } = this;
    if (cursor.is("-")) throw cursor.fail("an offset is added: write +- for one below zero");
    if (!cursor.is("+")) return 0;
    const token = cursor.advance();
    const offset = Number(BigInt.asIntN(64, parseInteger(cursor, "an offset")));
    if (!Number.isSafeInteger(offset)) throw cursor.fail(`an offset of ${offset}, beyond any memory`, token);
    return offset;
  }

  private named(scope: Scope): PtxOperand {
    const { cursor } = this;
    const token = cursor.advance();
    const name = token.text;
    if (name === "_") return { kind: "sink" };
    const suffixed = cursor.token.kind === "dotted" && cursor.token.start === token.end;
    const register = scope.register(name);
    if (Array.isArray(register)) {
      if (!suffixed) return { kind: "vector", elements: register.map((element) => ({ kind: "register", register: element })) };
      const element = elementOf(register, cursor.token.text);
      if (element === undefined) throw cursor.fail(`"${name}" has ${register.length} elements`);
      cursor.advance();
      return { kind: "register", register: element };
    }
    if (register !== undefined) {
      const operand: PtxOperand = { kind: "register", register };
      return suffixed ? { kind: "part", operand, part: cursor.advance().text } : operand;
    }
    if (name.startsWith("%")) {
      const full = suffixed ? `${name}.${cursor.advance().text}` : name;
      if (isVector(full.slice(1)))
        return { kind: "vector", elements: axes.map((axis) => ({ kind: "special", name: `${full.slice(1)}.${axis}` })) };
      if (!isSpecialRegister(full.slice(1))) throw cursor.fail("no such register is declared here", token);
      return { kind: "special", name: full.slice(1) };
    }
    const offset = this.offset();
    const variable = scope.find((each) => each.variables.get(name));
    if (variable !== undefined) return { kind: "variable", variable, offset };
    const operand: PtxOperand = { kind: "label", label: name };
    this.pending.push({ operand, name, offset, scope, token });
    return operand;
  }

  resolve(variables: ReadonlyMap<string, PtxVariable>, functions: ReadonlyMap<string, unknown>): void {
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
