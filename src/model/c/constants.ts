// What an exported program is made of: the runtime in C, and the constants of a model as arrays
// and tables.
import { ArgumentError } from "@spillway/core/errors.js";
import { type ArrayType, constantArray } from "./text.js";

const arrays = {
  ...{ float32: Float32Array, float64: Float64Array, int8_t: Int8Array, int16_t: Int16Array, int32_t: Int32Array },
  ...{ uint8_t: Uint8Array, uint16_t: Uint16Array, uint32_t: Uint32Array },
} as const;

/** Any bytes as a text of their own. */
const latin1 = new TextDecoder("latin1");

/** An array of a program. */
export interface ConstantArray {
  readonly name: string;
  readonly type: ArrayType;
  readonly values: InstanceType<(typeof arrays)[keyof typeof arrays]> | BigInt64Array;
}

/** A field of a struct: a number of 32 bits, or a pointer to an array or to row k of a table. */
export type Field = number | { readonly to: string; readonly row?: number };

/** An array of structs. */
export interface ConstantTable {
  readonly name: string;
  readonly type: string;
  readonly rows: readonly (readonly Field[])[];
}

/** The names of what a program has. */
export const namesOf = (has: Readonly<Record<string, boolean | undefined>>): string[] => Object.keys(has).filter((name) => has[name]);

/** The null pointer. */
export const nowhere: Field = 0;

/** Constant arrays, one for equal values, and tables that point to them. */
export class Constants {
  readonly #arrays = new Map<string, ConstantArray>();
  readonly tables: ConstantTable[] = [];

  get arrays(): readonly ConstantArray[] {
    return [...this.#arrays.values()];
  }

  /** All of them as C. */
  get text(): string {
    const tables = this.tables.map(({ name, type, rows }) => {
      const lines = rows.map((row) => `  { ${row.map(fieldText).join(", ")} },`);
      return `static const ${type} ${name}[${rows.length}] = {\n${lines.join("\n")}\n};\n`;
    });
    return [...this.arrays.map(({ type, name, values }) => constantArray(type, name, values)), ...tables].join("\n");
  }

  /** The name of an array; undefined if it has no elements. */
  add(type: ArrayType, name: string, given: ArrayLike<number | bigint> | undefined): string | undefined {
    if (given === undefined || given.length === 0) return undefined;
    const values = type === "int64_t" ? BigInt64Array.from(given, BigInt) : arrays[type].from(given as ArrayLike<number>);
    const key = `${type} ${latin1.decode(new Uint8Array(values.buffer))}`;
    const there = this.#arrays.get(key);
    if (there === undefined) this.#arrays.set(key, { name, type, values });
    return there?.name ?? name;
  }

  /** A pointer to an array. */
  to(type: ArrayType, name: string, values: ArrayLike<number> | undefined): Field {
    const to = this.add(type, name, values);
    return to === undefined ? nowhere : { to };
  }
}

const fieldText = (field: Field): string => {
  if (typeof field === "number") return field >= 2 ** 31 ? `${field}u` : String(field);
  return field.row ? `${field.to} + ${field.row}` : field.to;
};

/** A program: constants of a model, and what the runtime has to do with them. */
export interface Program {
  readonly kind: "forecaster" | "classifier" | "integers" | "detector";
  readonly title: string;
  readonly header: string;
  readonly constants: Constants;
  /** Counts and switches by their names in the runtime, in the order of `model` in wasm.c. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Further names for which a line `#if NAME` of the runtime is true. */
  readonly flags: ReadonlySet<string>;
  /** Arrays and tables by their names in the runtime; a model that has none of a kind leaves it out. */
  readonly pointers: Readonly<Record<string, Field>>;
  /** Declarations of the C form alone. */
  readonly declarations: readonly string[];
  /** Files of the runtime in the C form, with `null` where the constants stand. */
  readonly files: readonly (string | null)[];
}

/** Numbers that a source file holds at most: some 256 MB of text. */
const mostNumbers = 2 ** 24;

/** @throws ArgumentError for constants that a source file does not hold */
export function checkLength({ arrays: all }: Constants): void {
  const numbers = all.reduce((sum, { values }) => sum + values.length, 0);
  if (numbers > mostNumbers)
    throw ArgumentError.because(`the model has ${numbers} numbers; a source file of C holds at most ${mostNumbers}`, { field: "model" });
}
