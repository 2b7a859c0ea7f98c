// A program in C by its parts: what it declares, its constants, its functions.
import { ArgumentError } from "../../core/errors.js";
import { type ArrayType, constant, constantArray } from "./text.js";

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

/** Constant arrays; two of the same values are one. */
export class Constants {
  readonly #arrays = new Map<string, ConstantArray>();

  /** All of them as C. */
  get text(): string {
    return this.arrays.map(({ type, name, values }) => constantArray(type, name, values)).join("\n");
  }

  get arrays(): readonly ConstantArray[] {
    return [...this.#arrays.values()];
  }

  /** A number in binary64. */
  number(value: number): string {
    return constant(value, "float64");
  }

  /** The name of an array; 0, the null pointer, if it has no elements. */
  add(type: ArrayType, name: string, given: ArrayLike<number | bigint> | undefined): string {
    if (given === undefined || given.length === 0) return "0";
    const values = type === "int64_t" ? BigInt64Array.from(given, BigInt) : arrays[type].from(given as ArrayLike<number>);
    const key = `${type} ${latin1.decode(new Uint8Array(values.buffer))}`;
    const there = this.#arrays.get(key);
    if (there === undefined) this.#arrays.set(key, { name, type, values });
    return there?.name ?? name;
  }
}

/** A program in parts: its constants stand in the middle, as C or as the bytes of a module. */
export interface CProgram {
  readonly header: string;
  readonly declarations: readonly string[];
  readonly constants: Constants;
  readonly functions: readonly string[];
}

/** Numbers that a source file holds at most: some 256 MB of text. */
const mostNumbers = 2 ** 24;

/** The source file of a program. @throws ArgumentError for one that is too long */
export function sourceOf({ declarations, constants, functions }: CProgram): string {
  const numbers = constants.arrays.reduce((sum, { values }) => sum + values.length, 0);
  if (numbers > mostNumbers)
    throw ArgumentError.because(`the model has ${numbers} numbers; a source file of C holds at most ${mostNumbers}`, { field: "model" });
  return [...declarations, constants.text, ...functions].filter((text) => text !== "").join("\n");
}
