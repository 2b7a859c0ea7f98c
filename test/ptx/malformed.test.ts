// PTX that is cut short, nested without end, or full of numbers that lie about sizes: each is
// refused with its place, or costs what its text costs.
import { describe, expect, it } from "vitest";
import { liveness } from "../../packages/ptx/src/interpreter/compile/registers.js";
import { cutIntoSegments } from "../../packages/ptx/src/interpreter/compile/segments.js";
import { PtxMachine, PtxSyntaxError, parsePtx } from "../../packages/ptx/src/interpreter/index.js";
import { simulationError } from "./device.js";

const head = ".version 9.0\n.target sm_90\n.address_size 64\n";
const kernel = (body: string): string =>
  `${head}.entry k()\n{ .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .pred %p<4>;\n${body}\nret; }`;
const run = (text: string): unknown => {
  const machine = new PtxMachine({ memoryBytes: 2 ** 20, launchBytes: 2 ** 22, limits: { steps: 10_000 } });
  return machine.load(text).launch({ entry: "k", grid: 1, block: 32, args: [] });
};

describe("a text that ends too early", () => {
  it.each(['.pragma "x"', ".global .attribute(x", ".entry k() { a: .callprototype _ (", ".section .debug {", ".entry k() {", ".entry k"])(
    "is refused: %s",
    (end) => {
      expect(() => parsePtx(head + end)).toThrow(PtxSyntaxError);
    },
  );

  it.each([
    ["a comment", "/* */ /* ", "a comment is not closed"],
    ["a string", '.file 1 "x\\"', "a string is not closed"],
  ])("says that %s is not closed", (_, end, problem) => {
    expect(() => parsePtx(head + end)).toThrow(problem);
  });
});

describe("a text of many signs", () => {
  const many = 300_000;
  it.each([
    ["parentheses", kernel(`mov.b32 %r1, ${"(".repeat(many)}`), /nested more than 500 deep/],
    ["signs", kernel(`mov.b32 %r1, ${"-".repeat(many)}1;`), /nested more than 500 deep/],
    ["braces", kernel("{".repeat(many)), /nested more than 500 deep/],
    ["operand braces", kernel(`mov.b64 %d1, ${"{".repeat(many)}`), /nested more than 500 deep/],
    ["digits", kernel(`mov.b32 %r1, ${"9".repeat(many)};`), /an integer of more than 64 bits/],
    ["openings of comments", head + "/*/".repeat(many + 1), /a comment is not closed/],
    ["half functions", head + ".func (".repeat(many), /parameters are in the param space/],
    ["quotes", head + '"'.repeat(many + 1), /expected a directive/],
  ])("is read once: %s", (_, text, problem) => {
    expect(() => parsePtx(text)).toThrow(problem);
  });

  it("is computed in 64 bits however long a constant expression is", () => {
    expect(() => parsePtx(kernel(`mov.b32 %r1, ${"99999999 * ".repeat(20_000)}1;`))).not.toThrow();
  });
});

describe("a number that sizes something", () => {
  it("makes registers only as they are named", () => {
    const module = parsePtx(`${head}.entry k() { .reg .b32 %r<2147483647>; mov.b32 %r2147483646, 1; ret; }`);
    expect(module.functions.get("k")!.registers).toMatchObject([{ name: "%r2147483646", index: 0 }]);
  });

  it("names a register beyond those declared, and one declared twice", () => {
    expect(() => parsePtx(kernel("mov.b32 %r4, 1;"))).toThrow("no such register is declared here");
    expect(() => parsePtx(kernel("mov.b32 %r01, 1;"))).toThrow("no such register is declared here");
    expect(() => parsePtx(kernel(".reg .b32 %r<9>;"))).toThrow("this register is declared twice");
    expect(() => parsePtx(kernel(".reg .b32 %r3;"))).toThrow("this register is declared twice");
  });

  it.each([
    [".global .b8 x[2147483647][2147483647][2147483647];", '"x" would have'],
    [".global .align 3 .b32 x;", "an alignment is a power of two"],
    [".global .b32 x[0];", '"x" has no elements'],
    [".global .b32 x[2] = {1, 2, 3};", "more values than the 2 declared"],
    [".global .b32 x[2] = 1;", 'expected "{"'],
    [".shared .b32 x = 1;", "a variable in shared memory has no initial value"],
    [".global .b32 x = 0x10000000000000000;", "an integer of more than 64 bits"],
    [".entry k() .maxntid 4294967296 { ret; }", "a number is at most 2147483647"],
  ])("is refused: %s", (declaration, problem) => {
    expect(() => parsePtx(head + declaration)).toThrow(problem);
  });

  it.each([
    ["global memory", `${head}.global .b32 x[2][1000000000] = {{1}, {2}};\n.entry k() { ret; }`, /out of device memory/],
    ["local memory", kernel(".local .b8 x[2147483647];"), /out of device memory/],
    ["shared memory", kernel(".shared .b8 x[2147483647]; mov.u64 %d1, x;"), /2147483648 bytes of shared memory a block/],
    ["parameters", `${head}.entry k(.param .b8 p[2147483647]) { ret; }`, /a kernel has at most 32764/],
  ])("is refused where there is not so much: %s", (_, text, problem) => {
    expect(() => run(text)).toThrow(problem);
  });

  it("gives back what a module had when a later variable does not fit", () => {
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 4096 });
    expect(() => machine.load(`${head}.global .b8 x[4000];\n.global .b8 y[4000];`)).toThrow("out of device memory");
    expect(machine.memoryInfo.allocations).toBe(0);
  });

  it("places rows of an initial value by the lengths of the array", () => {
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 4096 });
    const program = machine.load(`${head}.global .u32 x[2][2] = {{1}, {2, 3}};\n.global .v2 .u16 y[] = {{4, 5}, {6}};`);
    const words = (name: string) => machine.read(program.global(name).address, program.global(name).bytes);
    expect([...new Uint32Array(words("x").buffer)]).toEqual([1, 0, 2, 3]);
    expect([...new Uint16Array(words("y").buffer)]).toEqual([4, 5, 6, 0]);
  });
});

describe("a function that is large or calls many", () => {
  it("has no more registers alive than some segment reads before it writes them", () => {
    const text = kernel("setp.eq.b32 %p1, %r1, 0; @%p1 bra A; mov.b32 %r2, 1; A: add.s32 %r3, %r2, %r2; st.global.b32 [%d1], %r3;");
    const fn = parsePtx(text).functions.get("k")!;
    const segments = cutIntoSegments(fn);
    const name = (index: number): string => fn.registers[index]!.name;
    const exact = liveness(segments);
    expect([...exact.kept].map(name).sort()).toEqual(["%d1", "%r2"]);
    // Without memory for tables everything read first counts as alive.
    expect([...liveness(segments, 0).kept].map(name).sort()).toEqual(["%d1", "%r1", "%r2"]);
  });

  it("sums up the memory of calls that share what they call", () => {
    const calls = Array.from({ length: 60 }, (_, k) => `.func f${k + 1}() { .local .b8 x[16]; call f${k}; call f${k}; ret; }`);
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 20 });
    const program = machine.load(`${head}.func f0() { ret; }\n${calls.join("\n")}\n.entry k() { call f60; ret; }`);
    expect(program.info("k").localBytes).toBe(61 * 16);
  });

  it("ends recursion that keeps nothing", () => {
    expect(simulationError(() => run(`${head}.func f() { call f; ret; }\n.entry k() { call f; ret; }`))).toMatchObject({
      kind: "stackOverflow",
    });
  });

  it("shows the beginning of a long instruction, without comments and control characters", () => {
    const text = kernel(`mov.b64 %d1, /* \u001b[31m */ {${"%r1, ".repeat(1000)}%r1}, \u001b;`);
    let message = "";
    try {
      parsePtx(text);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain("no PTX token starts here");
    expect(message).toContain("\\u001b");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(message).not.toMatch(/[\u0000-\u001f]/);
    const { text: shown } = parsePtx(text.replace(", \u001b", "")).functions.get("k")!.statements[0] as { text: string };
    expect(shown).toMatch(/^mov\.b64 %d1, \{%r1, %r1.*\.\.\.$/);
    expect(shown.length).toBeLessThan(320);
  });
});

describe("what a kernel prints", () => {
  const print = (format: string, digits = 0): string => {
    const bytes = [...Buffer.from(`${format}\0`)].join(",");
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 20 });
    return machine
      .load(`${head}.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .b8 text[] = {${bytes}};
.entry k() { .reg .b64 %d<4>; .local .align 8 .b8 values[16]; .param .b64 a; .param .b64 b; .param .b32 r;
  mov.u64 %d1, values; cvta.local.u64 %d1, %d1; st.local.f64 [values+8], 0d3FB999999999999A; st.local.b32 [values], ${digits};
  mov.u64 %d2, text; st.param.b64 [a], %d2; st.param.b64 [b], %d1; call (r), vprintf, (a, b); ret; }`)
      .launch({ entry: "k", grid: 1, block: 1, args: [] }).printed[0]!;
  };

  it("has as many digits as are asked for", () => {
    // The double next to a tenth, all of it.
    const tenth = "0.1000000000000000055511151231257827021181583404541015625";
    expect(print("%.*f", 55)).toBe(tenth);
    expect(print("%.*f", 120)).toBe(tenth + "0".repeat(65));
  });

  it("is refused if a field is longer than a page", () => {
    expect(() => print("%*d", 1_000_000_000)).toThrow('"d" printed with more than 65536 characters');
  });
});
