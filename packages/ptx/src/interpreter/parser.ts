// Reads a PTX text into a module with every name resolved. It checks the grammar; what instructions
// mean is resolved when they are compiled.
import { checkText } from "@spillway/core/checks.js";
import { Cursor } from "./lexer.js";
import { isStateSpace, parseScalarType, parseVariables, parseVectorLength } from "./parse-declarations.js";
import { OperandParser } from "./parse-operand.js";
import { loaded, parseRegisterParameter, passed, type RegisterParameter, stored } from "./parse-registers.js";
import { Scope } from "./scope.js";
import type { PtxFunction, PtxInstruction, PtxModule, PtxRegister, PtxVariable, SourceLocation, StateSpace } from "./types.js";

/** Reads PTX text. Throws PtxSyntaxError, with line, column and the offending text. */
export function parsePtx(source: string): PtxModule {
  checkText("source", source);
  return new Parser(source).module();
}

const linkages: readonly string[] = ["visible", "extern", "weak", "common"];
const mostText = 300;

class Parser {
  private readonly cursor: Cursor;
  private readonly operands: OperandParser;
  private readonly parsed: PtxModule = {
    version: [0, 0],
    target: [],
    addressSize: 64,
    variables: new Map(),
    functions: new Map(),
    files: new Map(),
  };
  private location: SourceLocation | undefined;
  /** The last `.loc` of each file, line and column. */
  private readonly locations = new Map<string, SourceLocation>();
  private scopes = 0;
  private returned: RegisterParameter[] = [];

  constructor(source: string) {
    this.cursor = new Cursor(source);
    this.operands = new OperandParser(this.cursor);
  }

  module(): PtxModule {
    const { cursor, parsed } = this;
    if (!cursor.isDotted("version")) throw cursor.fail("a PTX module starts with .version");
    while (cursor.token.kind !== "end") this.topLevel();
    return parsed;
  }

  private topLevel(): void {
    const { cursor, parsed } = this;
    if (cursor.accept(";")) return;
    if (cursor.token.kind !== "dotted") throw cursor.fail("expected a directive");
    if (cursor.acceptDotted("version")) {
      const [major, minor] = cursor.advance().text.split(".").map(Number);
      if (!Number.isInteger(major) || !Number.isInteger(minor)) throw cursor.fail("expected a version, as 9.0");
      parsed.version = [major!, minor!];
    } else if (cursor.acceptDotted("target")) {
      do parsed.target.push(cursor.name("a target, as sm_75"));
      while (cursor.accept(","));
    } else if (cursor.acceptDotted("address_size")) {
      const size = cursor.count("32 or 64");
      if (size !== 32 && size !== 64) throw cursor.fail("address_size is 32 or 64");
      parsed.addressSize = size;
    } else if (!this.debugDirective()) this.declaration();
  }

  /** `.file`, `.loc`, `.section`, `.pragma`, `.alias`; true if one was read. */
  private debugDirective(): boolean {
    const { cursor, parsed } = this;
    if (cursor.acceptDotted("file")) {
      const index = cursor.count("a file number");
      if (cursor.token.kind !== "string") throw cursor.fail("expected the name of a file");
      parsed.files.set(index, cursor.advance().text.slice(1, -1));
      while (cursor.accept(",")) cursor.count("a time or size");
    } else if (cursor.acceptDotted("loc")) {
      this.location = this.sourceLocation();
    } else if (cursor.acceptDotted("section")) {
      cursor.advance();
      for (let depth = 0; ; ) {
        if (cursor.is("{")) depth++;
        if (cursor.is("}")) depth--;
        cursor.advance();
        if (depth === 0) break;
      }
    } else if (cursor.acceptDotted("pragma")) {
      while (!cursor.accept(";")) cursor.advance();
    } else return false;
    return true;
  }

  /** The operands of `.loc`; of the calls that code was inlined at the outermost is kept. */
  private sourceLocation(): SourceLocation {
    const { cursor, locations } = this;
    const operands = (): { file: number; line: number; key: string } => {
      const [file, line, column] = [cursor.count("a file number"), cursor.count("a line"), cursor.count("a column")];
      return { file, line, key: `${file}:${line}:${column}` };
    };
    const { file, line, key } = operands();
    let location: SourceLocation = { file, line };
    while (cursor.accept(",")) {
      if (cursor.name("function_name or inlined_at") === "inlined_at") {
        const caller = operands();
        const { file, line } = locations.get(caller.key)?.outermost ?? caller;
        location = { ...location, outermost: { file, line } };
      } else {
        cursor.name("a label");
        if (cursor.accept("+")) cursor.count("an offset");
      }
    }
    locations.set(key, location);
    return location;
  }

  private declaration(): void {
    const { cursor, parsed } = this;
    let external = false;
    while (cursor.token.kind === "dotted" && linkages.includes(cursor.token.text))
      external = cursor.advance().text === "extern" || external;
    if (cursor.isDotted("entry") || cursor.isDotted("func")) {
      this.function();
      return;
    }
    const space = cursor.token.text;
    if (cursor.token.kind !== "dotted" || !isStateSpace(space)) throw cursor.fail("expected a variable or a function");
    cursor.advance();
    for (const variable of parseVariables(cursor, space, external, false)) {
      const known = parsed.variables.get(variable.name);
      if (known === undefined || known.external) parsed.variables.set(variable.name, variable);
      else throw cursor.fail(`"${variable.name}" is declared twice`);
    }
    cursor.expect(";");
  }

  private function(): void {
    const { cursor, parsed } = this;
    const { line } = cursor.locate(cursor.token.start);
    // The lines of the function before are not this one's.
    this.location = undefined;
    const kind = cursor.advance().text as "entry" | "func";
    if (kind === "func") cursor.acceptDotted("noreturn");
    const registers: PtxRegister[] = [];
    const scope = new Scope(undefined, "", registers);
    const inRegisters = (allowed: boolean): [PtxVariable[], RegisterParameter[]] => {
      const found: RegisterParameter[] = [];
      return [cursor.is("(") ? this.parameters(scope, allowed ? found : undefined) : [], found];
    };
    const [returns, returned] = kind === "func" ? inRegisters(true) : [[], []];
    const name = cursor.name("the name of a function");
    const [parameters, taken] = inRegisters(kind === "func");
    const fn: PtxFunction = {
      name,
      kind,
      parameters,
      returns,
      registers,
      variables: [],
      statements: [],
      branchTargets: new Map(),
      directives: new Map(),
      defined: false,
      line,
    };
    while (cursor.token.kind === "dotted") {
      if (this.debugDirective()) continue;
      const directive = cursor.advance().text;
      const values: number[] = [];
      if (cursor.atCount())
        do values.push(cursor.count("a number"));
        while (cursor.accept(","));
      fn.directives.set(directive, values);
    }
    const known = parsed.functions.get(name);
    if (known?.defined && cursor.is("{")) throw cursor.fail(`"${name}" is defined twice`);
    if (known === undefined || cursor.is("{")) parsed.functions.set(name, fn);
    if (cursor.accept(";")) return;
    fn.defined = true;
    const origin = { line, column: 1, text: `.func ${name}` };
    this.returned = returned;
    fn.statements.push(...taken.flatMap((each) => loaded(each, registers, origin)));
    this.body(fn, scope);
    fn.statements.push(...returned.flatMap((each) => stored(each, registers, origin)));
    this.operands.resolve(parsed.variables, parsed.functions);
  }

  /** Reads parameters; those in registers go to `inRegisters`, if the function may have any. */
  private parameters(scope: Scope, inRegisters: RegisterParameter[] | undefined): PtxVariable[] {
    const { cursor } = this;
    const variables: PtxVariable[] = [];
    cursor.expect("(");
    while (!cursor.is(")")) {
      if (inRegisters !== undefined && cursor.acceptDotted("reg")) {
        const parameter = parseRegisterParameter(cursor, scope);
        inRegisters.push(parameter);
        variables.push(parameter.variable);
      } else if (cursor.acceptDotted("param")) {
        const [variable] = parseVariables(cursor, "param", false, true);
        scope.variables.set(variable!.name, variable!);
        variables.push(variable!);
      } else
        throw cursor.fail(
          inRegisters === undefined ? "parameters are in the param space" : "parameters are in the param space or in registers",
        );
      if (!cursor.accept(",")) break;
    }
    cursor.expect(")");
    return variables;
  }

  private body(fn: PtxFunction, scope: Scope): void {
    const { cursor } = this;
    const open = cursor.expect("{");
    while (!cursor.is("}")) {
      if (cursor.token.kind === "end") throw cursor.fail("a brace is not closed", open);
      this.statement(fn, scope);
    }
    cursor.advance();
  }

  private statement(fn: PtxFunction, scope: Scope): void {
    const { cursor } = this;
    if (cursor.accept(";")) return;
    if (cursor.is("{")) {
      cursor.nested(() => this.body(fn, new Scope(scope, `${++this.scopes}:`, fn.registers)));
      return;
    }
    if (cursor.token.kind === "dotted") {
      if (!this.debugDirective()) this.localDeclaration(fn, scope);
      return;
    }
    if (cursor.token.kind === "name" && cursor.peek().text === ":") {
      const label = cursor.advance().text;
      cursor.advance();
      if (cursor.acceptDotted("branchtargets") || cursor.acceptDotted("calltargets")) this.targets(fn, scope, label);
      else if (cursor.acceptDotted("callprototype")) {
        while (!cursor.accept(";")) cursor.advance();
        scope.labels.add(label);
      } else {
        if (scope.labels.has(label)) throw cursor.fail(`label "${label}" is there twice`);
        scope.labels.add(label);
        fn.statements.push({ label: scope.identity + label });
      }
      return;
    }
    const instruction = this.instruction(scope);
    const { opcode, modifiers: _, operands, ...origin } = instruction;
    if (opcode === "call") {
      const name = operands.find(({ kind }) => kind === "label");
      const callee = name?.kind === "label" ? this.parsed.functions.get(name.label) : undefined;
      fn.statements.push(...passed(instruction, fn, callee, cursor));
      return;
    }
    if (opcode === "ret") fn.statements.push(...this.returned.flatMap((each) => stored(each, fn.registers, origin)));
    fn.statements.push(instruction);
  }

  private targets(fn: PtxFunction, scope: Scope, label: string): void {
    const { cursor } = this;
    const names: string[] = [];
    do names.push(scope.identity + cursor.name("a label"));
    while (cursor.accept(","));
    cursor.expect(";");
    scope.labels.add(label);
    fn.branchTargets.set(scope.identity + label, names);
  }

  private localDeclaration(fn: PtxFunction, scope: Scope): void {
    const { cursor } = this;
    if (cursor.acceptDotted("reg")) {
      this.registers(scope);
      cursor.expect(";");
      return;
    }
    const external = cursor.acceptDotted("extern");
    const space = cursor.token.text;
    if (cursor.token.kind !== "dotted" || !isStateSpace(space)) throw cursor.fail("expected a declaration or an instruction");
    cursor.advance();
    for (const variable of parseVariables(cursor, space as StateSpace, external, false)) {
      for (const value of variable.initial.values()) {
        const named = value.kind === "symbol" ? scope.find((each) => each.variables.get(value.name)) : undefined;
        if (named !== undefined) Object.assign(value, { variable: named });
      }
      scope.variables.set(variable.name, variable);
      fn.variables.push(variable);
    }
    cursor.expect(";");
  }

  private registers(scope: Scope): void {
    const { cursor } = this;
    const vector = parseVectorLength(cursor);
    const type = parseScalarType(cursor);
    do {
      const { token } = cursor;
      const name = cursor.name("the name of a register");
      let count: number | undefined;
      if (cursor.accept("<")) {
        count = cursor.count("a number of registers");
        cursor.expect(">");
      }
      if (!scope.declare(name, { type, vector, count })) throw cursor.fail("this register is declared twice", token);
    } while (cursor.accept(","));
  }

  private instruction(scope: Scope): PtxInstruction {
    const { cursor } = this;
    const start = cursor.token.start;
    const { line, column } = cursor.locate(start);
    let guard: PtxInstruction["guard"];
    if (cursor.accept("@")) {
      const negated = cursor.accept("!");
      const token = cursor.token;
      const register = scope.register(token.text);
      if (register === undefined || Array.isArray(register) || register.type !== "pred")
        throw cursor.fail("a guard is a predicate register");
      cursor.advance();
      guard = { register, negated };
    }
    const opcode = cursor.name("an instruction");
    const modifiers: string[] = [];
    while (cursor.token.kind === "dotted") modifiers.push(cursor.advance().text);
    const operands: PtxInstruction["operands"] = [];
    while (!cursor.is(";") && !cursor.is("}")) {
      operands.push(this.operands.parse(scope, opcode === "call"));
      if (!cursor.accept(",")) break;
    }
    const end = cursor.expect(";").start;
    const text = plainText(cursor.source.slice(start, end));
    const location = this.location;
    return { opcode, modifiers, operands, line, column, text, ...(guard && { guard }), ...(location && { location }) };
  }
}

function plainText(source: string): string {
  const text = source.includes("/") ? source.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, " ") : source;
  return (text.length > mostText ? `${text.slice(0, mostText)}...` : text).replace(/\s+/g, " ").trim();
}
