// Video instructions, random forms on random and hard operands, against a second description of
// them (video-reference.ts).
import { expect, it } from "vitest";
import { Bench, input, output, words } from "./device.js";
import { videoResult } from "./video-reference.js";

const random = words(91);
const below = (count: number): number => (random() >>> 3) % count;
const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
const maybe = (text: string): string => (below(2) === 0 ? text : "");
const type = (): string => pick(["u32", "s32"]);
const part = (): string => pick(["", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]);
const way = (): string => pick(["eq", "ne", "lt", "le", "gt", "ge"]);

/** What follows the operation of a scalar instruction: a merge, a second operation, or nothing. */
function scalarRest(modifiers: string): string {
  const sources = `%a${part()}, %b${part()}`;
  const third = below(3);
  if (third === 0) return `${modifiers} %d, ${sources};`;
  if (third === 1) return `${modifiers}.${pick(["add", "min", "max"])} %d, ${sources}, %c;`;
  return `${modifiers} %d${pick([".b0", ".b1", ".b2", ".b3", ".h0", ".h1"])}, ${sources}, %c;`;
}

function packedRest(count: number, modifiers: string): string {
  const letter = count === 2 ? "h" : "b";
  const selector = (): string => maybe(`.${letter}${Array.from({ length: count }, () => below(2 * count)).join("")}`);
  const lanes = Array.from({ length: count }, (_, k) => count - 1 - k);
  const mask = lanes.filter(() => below(2) === 0).join("");
  return `${modifiers} %d${mask === "" ? "" : `.${letter}${mask}`}, %a${selector()}, %b${selector()}, %c;`;
}

const scalar = (): string => scalarRest(`v${pick(["add", "sub", "absdiff", "min", "max"])}.${type()}.${type()}.${type()}${maybe(".sat")}`);
const shift = (): string => scalarRest(`v${pick(["shl", "shr"])}.${type()}.${type()}.u32${maybe(".sat")}.${pick(["clamp", "wrap"])}`);
const set = (): string => scalarRest(`vset.${type()}.${type()}.${way()}`);
const multiply = (): string => {
  const forms = ["%a%, %b%, %c", "-%a%, %b%, %c", "%a%, -%b%, %c", "-%a%, -%b%, %c", "%a%, %b%, -%c"];
  const form = below(6);
  const operands = (forms[form] ?? forms[0]!).replace(/%,/g, () => `${part()},`);
  const more = form === 5 ? ".po" : "";
  return `vmad.${type()}.${type()}.${type()}${more}${maybe(".sat")}${pick(["", ".shr7", ".shr15"])} %d, ${operands};`;
};
const packed = (count: number) => (): string =>
  packedRest(
    count,
    `v${pick(["add", "sub", "avrg", "absdiff", "min", "max"])}${count}.${type()}.${type()}.${type()}${pick(["", ".sat", ".add"])}`,
  );
const setPacked = (count: number) => (): string => packedRest(count, `vset${count}.${type()}.${type()}.${way()}${maybe(".add")}`);

const hard = [0, 1, 2, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x80808080, 0x7f7f7f7f];
const rows = 48;
const operand = (): number => (below(2) === 0 ? pick(hard) : random()) >>> 0;

it.each([
  ["scalar arithmetic", scalar],
  ["scalar shifts", shift],
  ["scalar comparisons", set],
  ["products", multiply],
  ["pairs", packed(2)],
  ["quads", packed(4)],
  ["comparisons of pairs", setPacked(2)],
  ["comparisons of quads", setPacked(4)],
])("%s give what the second description does", (_, make) => {
  const codes = [...new Set(Array.from({ length: 60 }, make))];
  const body = codes.map((code, k) => `  ${code} st.global.b32 [%out+${4 * k}], %d;`);
  const bench = new Bench(`.version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %a, %b, %c, %d, %t; .reg .b64 %in, %out;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %in, %t, 12, %in;
  mad.wide.u32 %out, %t, ${4 * codes.length}, %out;
  ld.global.b32 %a, [%in]; ld.global.b32 %b, [%in+4]; ld.global.b32 %c, [%in+8];
${body.join("\n")}
  ret;
}`);
  const given = Uint32Array.from({ length: 3 * rows }, operand);
  const got = new Uint32Array(codes.length * rows);
  bench.run("k", { grid: 1, block: rows }, [input(given), output(got)]);
  const wrong: string[] = [];
  const hexadecimal = (value: number): string => `0x${value.toString(16)}`;
  for (let row = 0; row < rows; row++) {
    const [a, b, c] = given.subarray(3 * row) as unknown as [number, number, number];
    for (const [k, code] of codes.entries()) {
      const [value, expected] = [got[row * codes.length + k]!, videoResult(code, a, b, c)];
      if (value !== expected)
        wrong.push(`${code} of ${[a, b, c].map(hexadecimal).join(", ")}: ${hexadecimal(value)} for ${hexadecimal(expected)}`);
    }
  }
  expect(wrong).toEqual([]);
});
