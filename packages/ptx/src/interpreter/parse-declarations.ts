// Reads variable declarations: state space, alignment, type, name, dimensions and initialiser.
// Registers and functions are read elsewhere.
import { bitsAs, parseConstant, parseInteger } from "./constant.js";
import type { Cursor } from "./lexer.js";
import {
  instructionTypes,
  isScalarType,
  type PtxInitialValue,
  type PtxVariable,
  type ScalarType,
  type StateSpace,
  scalarBytes,
} from "./types.js";

const spaces: readonly string[] = ["global", "const", "shared", "local", "param"];
/** Bytes of a variable: more than any device has. */
const mostBytes = 2 ** 48;

export function isStateSpace(name: string): name is StateSpace {
  return spaces.includes(name);
}

export function parseScalarType(cursor: Cursor): ScalarType {
  const { kind, text } = cursor.token;
  if (kind !== "dotted" || !isScalarType(text)) throw cursor.fail("expected a scalar type");
  if (instructionTypes.includes(text)) throw cursor.fail(`instructions alone are of .${text}`);
  cursor.advance();
  return text;
}

/** `.v2` or `.v4` before a type; 1 if there is none. */
export function parseVectorLength(cursor: Cursor): 1 | 2 | 4 {
  if (cursor.acceptDotted("v2")) return 2;
  if (cursor.acceptDotted("v4")) return 4;
  return 1;
}

function parseAlignment(cursor: Cursor): number {
  const { token } = cursor;
  const alignment = cursor.count("an alignment");
  if (alignment === 0 || (alignment & (alignment - 1)) !== 0) throw cursor.fail("an alignment is a power of two", token);
  return alignment;
}

/** Declarations after the state space, without the `;` (or `,` or `)` of parameters). */
export function parseVariables(cursor: Cursor, space: StateSpace, external: boolean, single: boolean): PtxVariable[] {
  let alignment = 0;
  let vector: 1 | 2 | 4 = 1;
  for (;;) {
    if (cursor.acceptDotted("align")) alignment = parseAlignment(cursor);
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
    const { token } = cursor;
    const { line } = cursor.locate(token.start);
    const name = cursor.name("the name of a variable");
    const lengths = parseLengths(cursor);
    const initial = new Map<number, PtxInitialValue>();
    if (cursor.is("=") && space !== "global" && space !== "const") throw cursor.fail(`a variable in ${space} memory has no initial value`);
    const given = cursor.accept("=") ? parseInitialiser(cursor, type, vector === 1 ? lengths : [...lengths, vector], 0, initial) : 0;
    // The values of an array without a length say how many it has.
    if (lengths.length > 0) lengths[0] ??= given;
    const bytes = lengths.reduce<number>((a, b) => a * b!, elementBytes);
    if (bytes > mostBytes) throw cursor.fail(`"${name}" would have ${bytes} bytes`, token);
    if (bytes === 0 && !external && space !== "param" && type !== "pred") throw cursor.fail(`"${name}" has no elements`, token);
    const natural = Math.min(elementBytes, 16);
    variables.push({ name, space, type, elementBytes, bytes, alignment: Math.max(alignment, natural), external, initial, line });
  } while (!single && cursor.accept(","));
  return variables;
}

/** `[2][3]` after a name; the first may be empty. */
function parseLengths(cursor: Cursor): (number | undefined)[] {
  const lengths: (number | undefined)[] = [];
  while (cursor.accept("[")) {
    if (lengths.length === 0 && cursor.is("]")) lengths.push(undefined);
    else if (cursor.token.text === "WARP_SZ") {
      cursor.advance();
      lengths.push(32);
    } else lengths.push(cursor.count("an array length"));
    cursor.expect("]");
  }
  return lengths;
}

/** `.ptr .global .align 4` after a parameter's type: a promise that changes nothing here. */
function parsePointerAttribute(cursor: Cursor): void {
  if (!cursor.acceptDotted("ptr")) return;
  while (cursor.token.kind === "dotted") {
    if (cursor.advance().text === "align") parseAlignment(cursor);
  }
}

/** Reads the values of an array, its first scalar number `at`. Gives the number of rows. */
function parseInitialiser(
  cursor: Cursor,
  type: ScalarType,
  lengths: readonly (number | undefined)[],
  at: number,
  into: Map<number, PtxInitialValue>,
): number {
  const [length, ...inner] = lengths;
  if (lengths.length === 0) {
    into.set(at, parseInitialValue(cursor, type));
    return 1;
  }
  const open = cursor.expect("{");
  const stride = inner.reduce<number>((a, b) => a * b!, 1);
  let count = 0;
  do {
    if (count === (length ?? Infinity)) throw cursor.fail(`more values than the ${length} declared`, open);
    const offset = at + stride * count++;
    cursor.nested(() => parseInitialiser(cursor, type, inner, offset, into));
  } while (cursor.accept(","));
  cursor.expect("}");
  return count;
}

function parseInitialValue(cursor: Cursor, type: ScalarType): PtxInitialValue {
  if (cursor.token.kind !== "name" || cursor.token.text === "WARP_SZ") {
    const { token } = cursor;
    const number = parseConstant(cursor, "an initial value");
    // Untyped bits take a float of their size here.
    const as = number.kind === "float" ? (({ b32: "f32", b64: "f64" } as Record<string, ScalarType>)[type] ?? type) : type;
    const value = bitsAs(number, as);
    if (value === undefined) throw cursor.fail(`this is no value of .${type}`, token);
    return { kind: "bits", value };
  }
  let name = cursor.name("a symbol");
  const generic = name === "generic";
  if (generic) {
    cursor.expect("(");
    name = cursor.name("a symbol");
    cursor.expect(")");
  }
  const offset = cursor.accept("+") ? Number(parseInteger(cursor, "an offset")) : 0;
  if (!Number.isSafeInteger(offset)) throw cursor.fail(`an offset of ${offset}, beyond any memory`);
  return { kind: "symbol", name, offset, generic };
}
