// Numbers and names as C99 writes them. A number is written in hexadecimal, so that a compiler
// reads back the very bits.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Precision } from "@spillway/numerics";

const double = new DataView(new ArrayBuffer(8));

/** A finite number as a hexadecimal constant of its precision. */
export function constant(value: number, precision: Precision): string {
  const suffix = precision === "float32" ? "f" : "";
  if (Number.isInteger(value) && Math.abs(value) < 1e6 && !Object.is(value, -0)) return `${value}.0${suffix}`;
  double.setFloat64(0, value);
  const bits = double.getBigUint64(0);
  const sign = bits >> 63n ? "-" : "";
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = (bits & 0xfffffffffffffn).toString(16).padStart(13, "0").replace(/0+$/, "");
  const [lead, power] = exponent === 0 ? [0, value === 0 ? 0 : -1022] : [1, exponent - 1023];
  return `${sign}0x${lead}${fraction && `.${fraction}`}p${power}${suffix}`;
}

/** What an array of C holds. */
export type ArrayType = Precision | "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t";

const ofType: Readonly<Record<Precision, string>> = { float32: "float", float64: "double" };

/** The name of a type in C. */
export function typeName(type: ArrayType): string {
  return type === "float32" || type === "float64" ? ofType[type] : type;
}

const perLine = 8;

/** The text of a constant array. */
export function constantArray(type: ArrayType, name: string, values: ArrayLike<number | bigint>): string {
  const write = type === "float32" || type === "float64" ? (value: number | bigint) => constant(Number(value), type) : String;
  const lines: string[] = [];
  for (let from = 0; from < values.length; from += perLine) {
    const line: string[] = [];
    for (let i = from; i < Math.min(values.length, from + perLine); i++) line.push(write(values[i]!));
    lines.push(`  ${line.join(", ")},`);
  }
  return `static const ${typeName(type)} ${name}[${values.length}] = {\n${lines.join("\n")}\n};\n`;
}

/** A text that is written if something is there. */
export const lines = (isThere: boolean, text: string): string => (isThere ? text : "");

interface Header {
  readonly comment: string;
  /** Whether its types are those of stdint.h too. */
  readonly integers: boolean;
  readonly body: string;
}

/** The text of NAME.h, for C and C++. */
export function headerText(name: string, { comment, integers, body }: Header): string {
  const guard = `${name.toUpperCase()}_H`;
  return `/* ${comment} */
#ifndef ${guard}
#define ${guard}
${lines(integers, "\n#include <stdint.h>\n")}
#ifdef __cplusplus
extern "C" {
#endif

${body}
#ifdef __cplusplus
}
#endif

#endif
`;
}

const keywords = new Set(
  (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict " +
    "return short signed sizeof static struct switch typedef union unsigned void volatile while asm bool class delete false friend " +
    "main namespace new operator private protected public template this throw true try typename using virtual"
  ).split(" "),
);

/** The name that everything in the files begins with. @throws ArgumentError for no name of C's */
export function checkName(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(name) || keywords.has(name)) {
    throw new ArgumentError("name", name, "a name of C: a letter, then letters, digits or _, at most 40, and no word of C's or C++'s own");
  }
  return name;
}

/** A text as a string constant: its UTF-8, with what is not plain in octal. */
export function textConstant(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const plain = /[A-Za-z0-9 _.,:;=+*()[\]{}<>|~^&%$#@!'/-]/;
  const letters = Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte);
    return byte < 128 && plain.test(letter) ? letter : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${letters.join("")}"`;
}
