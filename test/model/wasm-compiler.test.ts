// The compiler of exported programs: what its WebAssembly computes is what C says.
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { compile } from "../../src/model/wasm/compiler/index.js";
import { vectors } from "../../src/model/wasm/vectors.js";
import { casesOf } from "../exhaustive.js";
import { casesOfC } from "./c-cases.js";

/** The numbers that a program prints as the halves of their bits. */
function printed(program: string): Float64Array {
  const words: number[] = [];
  const { module } = compile(program, { prologues: vectors });
  const env = { print_bits: (high: number, low: number) => words.push(low >>> 0, high >>> 0) };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), { env });
  expect((exports["main"] as () => number)()).toBe(0);
  return new Float64Array(Uint32Array.from(words).buffer);
}

// The hosts of wasm.test.ts run other models of these shapes.
const cases = casesOf(casesOfC, ({ name }) => /^(integers with feedback alone|missing values$|candidates)/.test(name));

describe.each(cases.map((each) => [each.name, each] as const))("%s", (_, each) => {
  it("has the package's bits", async () => {
    const { source, header, main, numbers } = await each.make();
    // No program that is exported has a pointer to a function.
    expect(printed([header, source, main.replace("(void)show_states;", "")].join("\n"))).toEqual(numbers);
  });
});

it.each<readonly [string, string, number]>([
  ["signs in their order", "return 2 + 3 * 4 - (7 & 5 | 8) / 2 % 4 << 1;", 24],
  ["whole numbers without a sign", "uint32_t a = 0; a--; return a > 5 && a >> 28 == 15u;", 1],
  ["whole numbers of 8 and 16 bits", "int8_t a = (int8_t)200; uint16_t b = (uint16_t)70000; return a + b;", 4408],
  ["whole numbers of 64 bits", "int64_t a = -3; a = a * 5000000000; return (int)(a / 1000000000) + (a < 0);", -14],
  ["the parts of a union", "union { double value; uint64_t bits; } v; v.value = -2.5; return (int)(v.bits >> 52);", 3072],
  ["pointers", "int a[4] = {1, 2, 3}, *p = a, i = 0; *p++ = 7; p[1] += *p; a[i++]--; return *(a + 2) * 10 + a[0] + i + (int)(p - a);", 58],
  [
    "a case that goes on into the next",
    "int out = 0; switch (2) { case 1: out += 1; case 2: out += 2; default: out += 4; } return out;",
    6,
  ],
  [
    "loops that are left, and rounds",
    "int i, sum = 0; for (i = 0; ; i++) { if (i == 3) continue; if (i > 5) break; sum += i; } while (sum & 1) sum++; return sum;",
    12,
  ],
  ["texts that hold the signs of comments", 'const char *s = "a/*b"; /* c */ return s[1] == 47 && s[4] == 0;', 1],
  ["a struct that is assigned twice", "struct { int a, b; } x, y, z; z.a = 3; z.b = 4; x = y = z; return 10 * x.a + y.b;", 34],
  ["a zero with a sign", "union { double value; uint64_t bits; } v; double a[2] = {-0.0, 0}; v.value = a[0]; return v.bits >> 63;", 1],
  ["numbers that have an address", "int a = 4, *p = &a; *p = a ? 6 : 5; return !a + a;", 6],
])("computes %s", (_, body, expected) => {
  const { module } = compile(`#include <stdint.h>\nint main(void)\n{\n  ${body}\n}\n`);
  expect((new WebAssembly.Instance(new WebAssembly.Module(module)).exports["main"] as () => number)()).toBe(expected);
});

it.each([
  ["int main(void) { goto end; }", "goto is not declared"],
  ["int main(void) { return x; }", "x is not declared"],
  ["int main(void) { int a = 1 return a; }", '";" is missing'],
  ["int main(void) { return 1 @ 2; }", "no word of C begins at"],
  ["int main(void) { do { } while (0); }", "do is not declared"],
  ["int main(void) { return sizeof(int); }", "sizeof is not declared"],
  ["int main(void) { long a; return 0; }", "long is not declared"],
  ["int main(void) { return 017; }", "017 is not taken as a number"],
  ["int main(void) { return '\\n'; }", "is not taken as a number"],
  ['int main(void) { const char *s = "\\n"; return s[0]; }', "a text is plain but for"],
  ["int main(void) { int a[2] = {1, 2, 3}; return a[0]; }", "more values than the 2 of an array"],
  ["int a[2] = {1, 2, 3};", '"}" is missing'],
  ["int main(void) { switch (1) { default: return 1; case 1: return 2; } }", "a case behind the default"],
  ["int main(void) { return main(); }", "main calls itself"],
  ["int b(void); int a(void) { return b(); } int b(void) { return a(); }", "a calls itself"],
  ["#ifndef A\n#else\n#endif", "takes no #else"],
  ["#undef A", "takes no #undef"],
  ["#if 1\n#endif", 'cannot tell whether "1" holds'],
  ["#if !defined(A)\n#endif", 'cannot tell whether "!defined(A)" holds'],
  ["#define ADD(a, b) a + b\nint a = ADD;", 'the macro ADD stands without its "("'],
  ["#define ADD(a, b) a + b\nint a = ADD(1,", "the macro ADD is not called to its end"],
])("refuses %j", (program, sentence) => {
  expect(() => compile(program)).toThrow(sentence);
});
