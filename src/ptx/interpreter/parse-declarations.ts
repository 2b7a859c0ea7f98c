// Reads variable declarations: state space, alignment, type, name, dimensions and initialiser. Registers and functions are read elsewhere.
import type { Cursor } from "./cursor.js";
import { isScalarType, type PtxInitialValue, type PtxVariable, type ScalarType, type StateSpace, scalarBytes } from "./types.js";

const spaces: readonly string[] = ["global", "const", "shared", "local", "param"];

export function isStateSpace(name: string): name is StateSpace {
  return spaces.includes(name);
}

export function parseScalarType(cursor: Cursor): ScalarType {
  const { kind, text } = cursor.token;
  if (kind !== "dotted" || !isScalarType(text)) throw cursor.fail("expected a scalar type");
  cursor.advance();
  return text;
}

/** `.v2` or `.v4` before a type; 1 where there is none. */
export function parseVectorLength(cursor: Cursor): 1 | 2 | 4 {
  if (cursor.acceptDotted("v2")) return 2;
  if (cursor.acceptDotted("v4")) return 4;
  return 1;
}

/** Declarations after the state space, up to and without the `;` (or the `,` or `)` of a parameter list). */
export function parseVariables(cursor: Cursor, space: StateSpace, external: boolean, single: boolean): PtxVariable[] {
  let alignment = 0;
  let vector: 1 | 2 | 4 = 1;
  for (;;) {
    if (cursor.acceptDotted("align")) alignment = cursor.count("an alignment");
    else if (cursor.isDotted("v2") || cursor.isDotted("v4")) vector = parseVectorLength(cursor);
    else if (cursor.acceptDotted("attribute")) {
      cursor.expect("(");
      while (!cursor.is(")")) cursor.advance();
      cursor.expect(")");
    } else break;
  }
  const type = parseScalarType(cursor);
  parsePointerAttribute(cursor);
  const elementBytes = scalarBytes[type] * vector;
  const variables: PtxVariable[] = [];
  do {
    const { line } = cursor.lexer.place(cursor.token.start);
    const name = cursor.name("the name of a variable");
    let elements = 1;
    let unsized = false;
    while (cursor.accept("[")) {
      if (cursor.is("]")) unsized = true;
      else elements *= cursor.count("an array length");
      cursor.expect("]");
    }
    const initial: PtxInitialValue[] = [];
    if (cursor.accept("=")) parseInitialiser(cursor, initial);
    if (unsized) elements = initial.length;
    variables.push({
      name,
      space,
      type,
      elementBytes,
      bytes: elements * elementBytes,
      alignment: Math.max(alignment, Math.min(elementBytes, 16)),
      external,
      initial,
      line,
    });
  } while (!single && cursor.accept(","));
  return variables;
}

/** `.ptr .global .align 4` after the type of a kernel parameter: a promise about the pointer, which changes nothing here. */
function parsePointerAttribute(cursor: Cursor): void {
  if (!cursor.acceptDotted("ptr")) return;
  while (cursor.token.kind === "dotted") {
    if (cursor.advance().text === "align") cursor.count("an alignment");
  }
}

function parseInitialiser(cursor: Cursor, into: PtxInitialValue[]): void {
  if (cursor.accept("{")) {
    while (!cursor.is("}")) {
      parseInitialiser(cursor, into);
      if (!cursor.accept(",")) break;
    }
    cursor.expect("}");
    return;
  }
  if (cursor.token.kind !== "name") {
    const number = cursor.number("an initial value");
    into.push(number.kind === "integer" ? { kind: "bits", value: number.value } : { kind: "float", value: number.value });
    return;
  }
  let name = cursor.name("a symbol");
  const generic = name === "generic";
  if (generic) {
    cursor.expect("(");
    name = cursor.name("a symbol");
    cursor.expect(")");
  }
  let offset = 0;
  if (cursor.is("+") || cursor.is("-")) {
    const sign = cursor.advance().text === "-" ? -1 : 1;
    offset = sign * cursor.count("an offset");
  }
  into.push({ kind: "symbol", name, offset, generic });
}
