// The body of a function of C as one of WebAssembly: numbers and pointers are its locals; arrays,
// records, and what has its address taken stand in a frame in memory.
import { unsigned } from "../binary.js";
import { atMemory, type Code, constantCode, i32, local, op, operation, setLocal } from "./code.js";
import type { CFunction, Declarations } from "./declarations.js";
import { copied, Expressions, type Frame, type Variable } from "./expressions.js";
import type { Cursor } from "./tokens.js";
import { aligned, type CType, int, isScalar, type Scalar, sizeOf, storeOf, valueType } from "./types.js";

/** Code that goes before a body and may change parameters. */
export interface Prologue {
  /** The types of its own locals, the first behind the parameters. */
  readonly locals: readonly number[];
  readonly code: Code;
}

/** A function as it stands in a module. */
export interface Body {
  /** The types of the locals behind the parameters. */
  readonly locals: readonly number[];
  readonly code: Code;
  /** Bytes of its frame. */
  readonly frame: number;
}

export class FunctionBody implements Frame {
  readonly #cursor: Cursor;
  readonly #declarations: Declarations;
  readonly #expressions: Expressions;
  readonly #function: CFunction;
  readonly #prologue: Code;
  readonly #locals: number[];
  readonly #frameLocal: number;
  /** Names whose address is taken somewhere. */
  readonly #addressed: ReadonlySet<string>;
  readonly #scopes: Map<string, Variable>[] = [new Map()];
  #frame = 0;
  /** Blocks around the code, and those of them that `break` and `continue` leave. */
  #depth = 1;
  readonly #breaks: number[] = [];
  readonly #continues: number[] = [];

  constructor(cursor: Cursor, declarations: Declarations, itself: CFunction, prologue: Prologue | undefined) {
    this.#cursor = cursor;
    this.#declarations = declarations;
    this.#function = itself;
    this.#expressions = new Expressions(cursor, declarations, this);
    this.#locals = [...(prologue?.locals ?? [])];
    this.#prologue = prologue?.code ?? [];
    this.#addressed = addressedFrom(cursor);
    this.#frameLocal = this.newLocal(0x7f);
    for (const [k, { name, type }] of itself.parameters.entries()) this.#scopes[0]!.set(name, { type, place: { local: k } });
  }

  newLocal(type: number): number {
    this.#locals.push(type);
    return this.#function.parameters.length + this.#locals.length - 1;
  }

  variable(name: string): Variable | undefined {
    return this.#scopes.findLast((scope) => scope.has(name))?.get(name);
  }

  /** The whole body, from its brace on. */
  body(): Body {
    this.#cursor.expect("{");
    const code = this.#block();
    const { returns } = this.#function;
    const frame = aligned(this.#frame, 16);
    const there = local(this.#frameLocal);
    const [enter, leave]: readonly [Code, Code] =
      frame === 0
        ? [[], []]
        : [
            [op.getGlobal, 0, ...i32(frame), op.sub, op.teeLocal, ...unsigned(this.#frameLocal), op.setGlobal, 0],
            [...there, ...i32(frame), op.add, op.setGlobal, 0],
          ];
    // A function that gives a value returns on every way; what stands behind is never reached.
    const [result, last] = isScalar(returns) ? [valueType(returns), constantCode(0, returns)] : [op.empty, []];
    return {
      locals: this.#locals,
      frame,
      code: [...enter, ...this.#prologue, op.block, result, ...code, ...last, op.end, ...leave, op.end],
    };
  }

  /** Statements up to the brace that ends them. */
  #block(): Code {
    this.#scopes.push(new Map());
    const out: (number | string)[] = [];
    while (!this.#cursor.takes("}")) out.push(...this.#statement());
    this.#scopes.pop();
    return out;
  }

  #statement(): Code {
    const cursor = this.#cursor;
    if (cursor.takes(";")) return [];
    if (cursor.takes("{")) return this.#block();
    if (cursor.takes("if")) return this.#if();
    if (cursor.takes("for")) return this.#for();
    if (cursor.takes("while")) return this.#while();
    if (cursor.takes("switch")) return this.#switch();
    if (cursor.takes("return")) return this.#return();
    for (const [word, targets] of [
      ["break", this.#breaks],
      ["continue", this.#continues],
    ] as const)
      if (cursor.takes(word)) {
        cursor.expect(";");
        return this.#branch(targets.at(-1) ?? cursor.fail(`${word} leaves nothing`));
      }
    if (this.#declarations.startsType()) return this.#declaration();
    const code = this.#expressions.effect();
    cursor.expect(";");
    return code;
  }

  /** To the end of the block that was the so many-th. */
  #branch(block: number): Code {
    return [op.br, ...unsigned(this.#depth - block)];
  }

  /** Code within a block of its own: `make` is told which. */
  #within(make: (block: number) => Code): Code {
    this.#depth++;
    const code = make(this.#depth);
    this.#depth--;
    return code;
  }

  #parenthesised(): Code {
    this.#cursor.expect("(");
    const code = this.#expressions.condition();
    this.#cursor.expect(")");
    return code;
  }

  #if(): Code {
    const condition = this.#parenthesised();
    return this.#within(() => {
      const yes = this.#statement();
      const no = this.#cursor.takes("else") ? [op.else, ...this.#statement()] : [];
      return [...condition, op.if, op.empty, ...yes, ...no, op.end];
    });
  }

  #for(): Code {
    const cursor = this.#cursor;
    cursor.expect("(");
    const start = cursor.peek().text === ";" ? [] : this.#expressions.effect();
    cursor.expect(";");
    const condition = cursor.peek().text === ";" ? i32(1) : this.#expressions.condition();
    cursor.expect(";");
    const step = cursor.peek().text === ")" ? [] : this.#expressions.effect();
    cursor.expect(")");
    return [...start, ...this.#loop(condition, step)];
  }

  #while(): Code {
    return this.#loop(this.#parenthesised(), []);
  }

  #loop(condition: Code, step: Code): Code {
    return this.#within((whole) =>
      this.#within((again) => {
        this.#breaks.push(whole);
        const body = this.#within((once) => {
          this.#continues.push(once);
          return [op.block, op.empty, ...this.#statement(), op.end];
        });
        this.#breaks.pop();
        this.#continues.pop();
        const test = [...condition, op.isZero, op.brIf, ...unsigned(again - whole)];
        return [op.block, op.empty, op.loop, op.empty, ...test, ...body, ...step, op.br, 0, op.end, op.end];
      }),
    );
  }

  /** Cases in turn, the default last: each is done if its value was met, in it or before it. */
  #switch(): Code {
    const cursor = this.#cursor;
    cursor.expect("(");
    const value = this.newLocal(0x7f);
    const isMet = this.newLocal(0x7f);
    const out: (number | string)[] = [...this.#expressions.as(int), ...setLocal(value), ...i32(0), ...setLocal(isMet)];
    cursor.expect(")");
    cursor.expect("{");
    const cases = this.#within((whole) => {
      this.#breaks.push(whole);
      const code: (number | string)[] = [];
      let hasDefault = false;
      while (!cursor.takes("}")) {
        if (hasDefault) cursor.fail("a case behind the default");
        hasDefault = cursor.takes("default");
        const met = hasDefault
          ? i32(1)
          : [...local(isMet), ...local(value), ...this.#caseValue(), operation("==", int)!, operation("|", int)!];
        cursor.expect(":");
        const body = this.#within(() => {
          const statements: (number | string)[] = [];
          while (!["case", "default", "}"].includes(cursor.peek().text)) statements.push(...this.#statement());
          return statements;
        });
        code.push(...met, op.teeLocal, ...unsigned(isMet), op.if, op.empty, ...body, op.end);
      }
      this.#breaks.pop();
      return [op.block, op.empty, ...code, op.end];
    });
    return [...out, ...cases];
  }

  #caseValue(): Code {
    this.#cursor.expect("case");
    return constantCode(this.#expressions.known().constant, int);
  }

  #return(): Code {
    const { returns } = this.#function;
    const code = isScalar(returns) ? this.#expressions.as(returns) : [];
    this.#cursor.expect(";");
    return [...code, ...this.#branch(1)];
  }

  #declaration(): Code {
    const cursor = this.#cursor;
    const { type: base, isStatic } = this.#declarations.specifiers();
    const out: (number | string)[] = [];
    do {
      const { name, type } = this.#declarations.declarator(base);
      if (isStatic) {
        const { at } = this.#declarations.data(type);
        this.#scopes.at(-1)!.set(name, { type, place: { address: i32(at), offset: 0 } });
      } else {
        const variable = this.#declare(name, type);
        if (cursor.takes("=")) out.push(...this.#initialised(variable));
      }
    } while (cursor.takes(","));
    cursor.expect(";");
    return out;
  }

  #declare(name: string, type: CType): Variable {
    const inLocal = isScalar(type) && !this.#addressed.has(name);
    const variable: Variable = { type, place: inLocal ? { local: this.newLocal(valueType(type)) } : this.#room(type) };
    this.#scopes.at(-1)!.set(name, variable);
    return variable;
  }

  #room(type: CType): Variable["place"] {
    // 16 bytes, as vectors lie.
    const offset = aligned(this.#frame, isScalar(type) ? sizeOf(type) : 16);
    this.#frame = offset + sizeOf(type);
    return { address: local(this.#frameLocal), offset };
  }

  #initialised({ type, place }: Variable): Code {
    if (isScalar(type)) return this.#assigned(type, place, this.#expressions.as(type));
    if ("local" in place) return [];
    const to = [...place.address, ...i32(place.offset), op.add];
    if (type.kind !== "array" || !this.#cursor.takes("{")) return copied({ type, code: to }, this.#expressions.assignment());
    // What is not given is 0.
    const out: (number | string)[] = [...to, ...i32(0), ...i32(sizeOf(type)), 0xfc, 0x0b, 0];
    if (!isScalar(type.of)) this.#cursor.fail("an array of numbers is missing");
    const end = place.offset + sizeOf(type);
    for (let at = place.offset; !this.#cursor.takes("}"); at += sizeOf(type.of)) {
      if (at === end) this.#cursor.fail(`more values than the ${type.count} of an array`);
      const value = this.#expressions.assignment();
      if (!Object.is(value.constant, 0)) {
        const { code } = this.#expressions.converted(value, type.of as Scalar);
        out.push(...this.#assigned(type.of as Scalar, { address: place.address, offset: at }, code));
      }
      if (this.#cursor.peek().text !== "}") this.#cursor.expect(",");
    }
    return out;
  }

  #assigned(type: Scalar, place: Variable["place"], code: Code): Code {
    if ("local" in place) return [...code, ...setLocal(place.local)];
    return [...place.address, ...code, ...atMemory(storeOf(type), sizeOf(type), place.offset)];
  }
}

/** The names behind a sign that takes an address, from a brace up to the one that ends it. */
function addressedFrom(cursor: Cursor): ReadonlySet<string> {
  const out = new Set<string>();
  let depth = 0;
  for (let k = 0; ; k++) {
    const { text, kind } = cursor.peek(k);
    if (text === "{") depth++;
    if ((text === "}" && --depth === 0) || kind === "end") return out;
    const before = cursor.peek(k - 1);
    const isUnary = before.kind === "sign" && before.text !== ")" && before.text !== "]";
    if (kind === "sign" && text === "&" && isUnary) out.add(cursor.peek(k + 1).text);
  }
}
