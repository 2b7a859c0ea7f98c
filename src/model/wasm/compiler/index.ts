// A compiler of C to WebAssembly, for the C that exports of this package write: whole and real
// numbers, pointers, arrays, structs and unions, and every statement but `goto` and `do`. What it
// does not know it refuses. Each operation is rounded by itself, as WebAssembly has it, so the bits
// are those of the C.
import { SpillwayError } from "../../../core/errors.js";
import { joined, section, sectionIds, unsigned } from "../binary.js";
import { i32 } from "./code.js";
import { type CFunction, Declarations, type Segment } from "./declarations.js";
import { Expressions } from "./expressions.js";
import { type Body, FunctionBody, type Prologue } from "./functions.js";
import { Cursor, tokensOf } from "./tokens.js";
import { aligned, isScalar, namedTypes, sizeOf, valueType } from "./types.js";

/** An array that a program takes from outside its text. */
export interface GivenArray {
  readonly name: string;
  /** The name of its elements' type. */
  readonly type: string;
  /** Its elements, as WebAssembly has them: the least byte first. */
  readonly bytes: Uint8Array;
}

/** What goes into a module beside the program's text. */
export interface Given {
  readonly arrays?: readonly GivenArray[];
  /** What goes before the bodies of functions, by their names. */
  readonly prologues?: ReadonlyMap<string, (itself: CFunction) => Prologue>;
}

/** A program as the sections of a module. */
export interface Compiled {
  readonly module: Uint8Array<ArrayBuffer>;
  /** The address behind everything that the program has in memory. */
  readonly end: number;
  /** The bytes of a type that the program names. */
  sizeOf(type: string): number;
}

/** Bytes of a page of memory. */
export const pageBytes = 65536;

interface Unit {
  readonly declarations: Declarations;
  readonly bodies: ReadonlyMap<string, Body>;
  /** Functions that other files may call. */
  readonly isPublic: ReadonlySet<string>;
}

/**
 * Compiles a program. Its functions that are not static are exported by their names, and its
 * memory as `memory`; functions that are declared alone are imported from "env".
 * @throws SpillwayError for what is no program, or C of another kind
 */
export function compile(program: string, given: Given = {}): Compiled {
  const { declarations, bodies, isPublic } = unitOf(program, given);
  checkNoRecursion(bodies);
  // All frames beside one another are as deep as it gets.
  const frames = [...bodies.values()].reduce((sum, { frame }) => sum + frame, 0);
  const end = aligned(declarations.end, 16) + frames;
  const names = [...declarations.functions.keys()];
  const imports = names.filter((name) => !bodies.has(name));
  const order = [...imports, ...names.filter((name) => bodies.has(name))];
  const numbers = new Map(order.map((name, k) => [name, k]));
  const functions = order.map((name) => declarations.functions.get(name)!);
  const vector = (items: readonly ArrayLike<number>[]) => joined([unsigned(items.length), ...items]);
  const text = (value: string) => joined([unsigned(value.length), new TextEncoder().encode(value)]);
  const codes = order.slice(imports.length).map((name) => bodyBytes(bodies.get(name)!, numbers));
  const exported = order.filter((name) => bodies.has(name) && isPublic.has(name));
  const module = joined([
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(sectionIds.types, vector(functions.map(typeOf))),
    section(sectionIds.imports, vector(imports.map((name, k) => joined([text("env"), text(name), [0], unsigned(k)])))),
    section(sectionIds.functions, vector(codes.map((_, k) => unsigned(imports.length + k)))),
    section(sectionIds.memory, joined([[1, 0], unsigned(Math.ceil(end / pageBytes))])),
    section(sectionIds.globals, joined([[1, 0x7f, 1], i32(end) as number[], [0x0b]])),
    section(
      sectionIds.exports,
      vector([joined([text("memory"), [2, 0]]), ...exported.map((name) => joined([text(name), [0], unsigned(numbers.get(name)!)]))]),
    ),
    section(sectionIds.code, vector(codes)),
    section(sectionIds.data, vector(declarations.segments.map(dataBytes))),
  ]);
  return {
    module,
    end,
    sizeOf: (type) => sizeOf(declarations.types.get(type)!),
  };
}

const dataBytes = ({ at, bytes }: Segment) => joined([[0], i32(at) as number[], [0x0b], unsigned(bytes.length), bytes]);

function typeOf({ parameters, returns }: CFunction): Uint8Array {
  const results = isScalar(returns) ? [1, valueType(returns)] : [0];
  return joined([[0x60], unsigned(parameters.length), parameters.map(({ type }) => valueType(type)), results]);
}

function bodyBytes({ locals, code }: Body, numbers: ReadonlyMap<string, number>): Uint8Array {
  const bytes = code.flatMap((each) => (typeof each === "string" ? unsigned(numbers.get(each)!) : [each]));
  const body = joined([unsigned(locals.length), ...locals.map((type) => [1, type]), bytes]);
  return joined([unsigned(body.length), body]);
}

/** A frame is there once for each function, so none may be called while it runs. */
function checkNoRecursion(bodies: ReadonlyMap<string, Body>): void {
  const done = new Set<string>();
  const visit = (name: string, callers: readonly string[]) => {
    if (callers.includes(name)) throw new SpillwayError("format", `the compiler of exported programs: ${name} calls itself`);
    if (done.has(name)) return;
    for (const called of bodies.get(name)?.code ?? []) if (typeof called === "string") visit(called, [...callers, name]);
    done.add(name);
  };
  for (const name of bodies.keys()) visit(name, []);
}

function unitOf(program: string, { arrays = [], prologues }: Given): Unit {
  const cursor = new Cursor(tokensOf(program));
  const outside = { variable: () => undefined, newLocal: () => cursor.fail("this is no constant") };
  const declarations: Declarations = new Declarations(cursor, () => constants.known());
  const constants = new Expressions(cursor, declarations, outside);
  const bodies = new Map<string, Body>();
  const isPublic = new Set<string>();
  for (const { name, type, bytes } of arrays) {
    const of = namedTypes.get(type)!;
    declarations.globals.set(name, { type: { kind: "array", of, count: bytes.length / sizeOf(of) }, at: declarations.place(bytes) });
  }
  while (cursor.peek().kind !== "end") {
    const isTypedef = cursor.takes("typedef");
    const { type: base, isStatic } = declarations.specifiers();
    if (cursor.takes(";")) continue;
    do {
      const { name, type } = declarations.declarator(base);
      if (isTypedef) declarations.types.set(name, type);
      else if (cursor.takes("(")) {
        const itself: CFunction = { parameters: declarations.parameters(), returns: type };
        declarations.functions.set(name, itself);
        if (!isStatic) isPublic.add(name);
        if (cursor.peek().text === "{")
          bodies.set(name, new FunctionBody(cursor, declarations, itself, prologues?.get(name)?.(itself)).body());
      } else declarations.globals.set(name, declarations.data(type));
    } while (cursor.takes(","));
    // Nothing stands behind the brace of a function.
    cursor.takes(";");
  }
  return { declarations, bodies, isPublic };
}
