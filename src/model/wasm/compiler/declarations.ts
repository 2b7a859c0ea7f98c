// What a program declares outside functions: types, constants of an enum, data, functions.
import { constantCode } from "./code.js";
import type { Cursor } from "./tokens.js";
import {
  aligned,
  alignOf,
  type CType,
  type Field,
  int,
  isScalar,
  namedTypes,
  nothing,
  type Scalar,
  sizeOf,
  storeOf,
  whole,
} from "./types.js";

/** A place of static data. */
export interface Global {
  readonly type: CType;
  readonly at: number;
}

export interface CFunction {
  readonly parameters: readonly { readonly name: string; readonly type: Scalar }[];
  readonly returns: CType;
}

/** A value that is known before a program runs. */
export interface Known {
  readonly type: CType;
  readonly constant: number | bigint;
}

/** Bytes that memory begins with. */
export interface Segment {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** The address 0 is the null pointer. */
const firstAddress = 16;

export class Declarations {
  readonly types = new Map<string, CType>(namedTypes);
  readonly constants = new Map<string, number>();
  readonly globals = new Map<string, Global>();
  readonly functions = new Map<string, CFunction>();
  readonly segments: Segment[] = [];
  readonly #cursor: Cursor;
  /** A constant expression at the cursor. */
  readonly #known: () => Known;
  #end = firstAddress;

  constructor(cursor: Cursor, known: () => Known) {
    this.#cursor = cursor;
    this.#known = known;
  }

  /** Where static data ends. */
  get end(): number {
    return this.#end;
  }

  /** Room for static data. */
  reserve(bytes: number): number {
    // 16 bytes, so that no vector of an array lies across two lines of a cache.
    const at = aligned(this.#end, 16);
    this.#end = at + bytes;
    return at;
  }

  place(bytes: Uint8Array): number {
    const at = this.reserve(bytes.length);
    if (bytes.some((byte) => byte !== 0)) this.segments.push({ at, bytes });
    return at;
  }

  /** Whether a type begins here. */
  startsType(ahead = 0): boolean {
    const { kind, text } = this.#cursor.peek(ahead);
    return (
      kind === "name" &&
      (this.types.has(text) || ["const", "volatile", "static", "struct", "union", "enum", "unsigned", "typedef"].includes(text))
    );
  }

  /** The type before a name, with whether it is static. */
  specifiers(): { readonly type: CType; readonly isStatic: boolean } {
    let type: CType | undefined;
    let isStatic = false;
    const cursor = this.#cursor;
    for (;;) {
      if (cursor.takes("static")) isStatic = true;
      else if (cursor.takes("const") || cursor.takes("volatile")) continue;
      else if (cursor.takes("unsigned")) {
        type = whole(4, false);
        if (cursor.takes("char")) type = whole(1, false);
        else cursor.takes("int");
      } else if (cursor.takes("struct")) type = this.#record(false);
      else if (cursor.takes("union")) type = this.#record(true);
      else if (cursor.takes("enum")) type = this.#enumeration();
      else if (!type && this.types.has(cursor.peek().text)) type = this.types.get(cursor.next().text)!;
      else return { type: type ?? cursor.fail("a type is missing"), isStatic };
    }
  }

  /** The stars before a name. */
  pointers(type: CType): CType {
    let out = type;
    while (this.#cursor.takes("*")) {
      out = { kind: "pointer", to: out };
      this.#cursor.takes("const");
    }
    return out;
  }

  /** A type with no name, as in a cast. */
  typeName(): CType {
    return this.pointers(this.specifiers().type);
  }

  /** A name with its stars, and the lengths behind it. */
  declarator(base: CType): { readonly name: string; readonly type: CType } {
    const inner = this.pointers(base);
    const name = this.#cursor.name();
    const lengths: number[] = [];
    while (this.#cursor.takes("[")) {
      lengths.push(Number(this.#known().constant));
      this.#cursor.expect("]");
    }
    return { name, type: lengths.reduceRight<CType>((of, count) => ({ kind: "array", of, count }), inner) };
  }

  #record(isUnion: boolean): CType {
    const cursor = this.#cursor;
    const fields = new Map<string, Field>();
    let [bytes, align] = [0, 1];
    cursor.expect("{");
    while (!cursor.takes("}")) {
      const { type: base } = this.specifiers();
      do {
        const { name, type } = this.declarator(base);
        const offset = isUnion ? 0 : aligned(bytes, alignOf(type));
        fields.set(name, { type, offset });
        bytes = Math.max(bytes, offset + sizeOf(type));
        align = Math.max(align, alignOf(type));
      } while (cursor.takes(","));
      cursor.expect(";");
    }
    return { kind: "record", bytes: aligned(bytes, align), align, fields };
  }

  #enumeration(): CType {
    const cursor = this.#cursor;
    let value = 0;
    cursor.expect("{");
    while (!cursor.takes("}")) {
      const name = cursor.name();
      if (cursor.takes("=")) value = Number(this.#known().constant);
      this.constants.set(name, value++);
      cursor.takes(",");
    }
    return int;
  }

  parameters(): CFunction["parameters"] {
    const cursor = this.#cursor;
    const out: { name: string; type: Scalar }[] = [];
    if (cursor.takes(")")) return out;
    do {
      const base = this.pointers(this.specifiers().type);
      if (base.kind === "void") continue;
      const { name, type } = this.declarator(base);
      if (isScalar(type)) out.push({ name, type });
      else cursor.fail(`the parameter ${name} is no number and no pointer`);
    } while (cursor.takes(","));
    cursor.expect(")");
    return out;
  }

  /** Static data with what stands behind its `=`. */
  data(type: CType): Global {
    const bytes = new Uint8Array(sizeOf(type));
    if (this.#cursor.takes("=")) this.#initialise(type, bytes, 0);
    return { type, at: this.place(bytes) };
  }

  #initialise(type: CType, bytes: Uint8Array, at: number): void {
    const cursor = this.#cursor;
    if (isScalar(type)) {
      const { constant } = this.#known();
      const code = constantCode(constant, type);
      const view = new DataView(bytes.buffer);
      if (type.kind === "real") bytes.set(code.slice(1) as number[], at);
      else if (type.kind === "whole" && type.bytes === 8) view.setBigInt64(at, BigInt.asIntN(64, BigInt(constant)), true);
      else if (storeOf(type) === 0x36) view.setInt32(at, Number(constant), true);
      else if (storeOf(type) === 0x3b) view.setInt16(at, Number(constant), true);
      else view.setInt8(at, Number(constant));
      return;
    }
    cursor.expect("{");
    const places: Iterable<Field> =
      type.kind === "record"
        ? type.fields.values()
        : type.kind === "array"
          ? (function* (of: CType) {
              for (let k = 0; k < type.count; k++) yield { type: of, offset: k * sizeOf(of) };
            })(type.of)
          : cursor.fail("data of no type");
    for (const { type: each, offset } of places) {
      if (cursor.takes("}")) return;
      this.#initialise(each, bytes, at + offset);
      if (!cursor.takes(",")) break;
    }
    cursor.expect("}");
  }

  /** A text with a zero behind it, as static data. */
  text(literal: string): Global {
    const bytes: number[] = [];
    for (const [each, octal] of literal.slice(1, -1).matchAll(/\\([0-7]{3})|\\["'\\]|[ -[\]-~]|[\s\S]/g)) {
      if (octal === undefined && !/^(?:\\["'\\]|[ -[\]-~])$/.test(each))
        this.#cursor.fail(`a text is plain but for \\", \\', \\\\ and three octal digits; this is ${literal}`);
      bytes.push(octal === undefined ? each.charCodeAt(each.length - 1) : Number.parseInt(octal, 8));
    }
    const data = Uint8Array.from([...bytes, 0]);
    return { type: { kind: "array", of: whole(1, true), count: data.length }, at: this.place(data) };
  }
}

/** Whether a function gives nothing. */
export const givesNothing = ({ returns }: CFunction): boolean => returns === nothing || returns.kind === "void";
