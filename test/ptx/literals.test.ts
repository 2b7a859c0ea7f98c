// Constants and places of parameters: the bits that ptxas gives them. `fixtures/literals.json`
// holds its answers; see test/toolchain/ptx-literals.test.ts.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PtxMachine } from "../../packages/ptx/src/interpreter/index.js";
import { casesOf } from "../exhaustive.js";
import { simulationError } from "./device.js";
import { type LiteralForm, type LiteralTable, literalColumns, literalKernel, resultBytes } from "./literal-kernels.js";

const answers = JSON.parse(readFileSync(new URL("fixtures/literals.json", import.meta.url), "utf8")) as LiteralTable;

const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 16 });
const address = machine.allocate(16, "the output");

/**
 * Runs a kernel that stores a constant: its bits as hexadecimal digits, or "-" if it is refused.
 */
function bitsOf(form: LiteralForm, type: string, literal: string): string {
  try {
    const program = machine.load(literalKernel(form, type, literal));
    try {
      program.launch({ entry: "k", grid: 1, block: 1, args: [address] });
    } finally {
      program.unload();
    }
  } catch (error) {
    // What a user sees is a sentence of ours.
    expect(["PtxSyntaxError", "UnsupportedPtxError"], String(error)).toContain((error as Error).name);
    return "-";
  }
  return Buffer.from(machine.read(address, resultBytes(type)))
    .reverse()
    .toString("hex");
}

it.each(literalColumns)("a constant in %s of .%s has the bits that ptxas gives, or is refused as ptxas does", (form, type) => {
  const column = answers.columns.indexOf(`${form} ${type}`);
  const rows = casesOf(Object.entries(answers.rows), (_, k) => k % 4 === column % 4);
  const expected = Object.fromEntries(rows.map(([literal, row]) => [literal, row.split(" ")[column]]));
  const found = Object.fromEntries(Object.keys(expected).map((literal) => [literal, bitsOf(form, type, literal)]));
  expect(found).toEqual(expected);
});

describe("a constant in arithmetic", () => {
  const result = (code: string): number => {
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 16 });
    const address = machine.allocate(4);
    machine
      .load(`.version 9.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 out)\n{ .reg .f32 %f<4>; .reg .b64 %d; ld.param.u64 %d, [out];
        mov.f32 %f0, 2.5; ${code} st.global.f32 [%d], %f1; ret; }`)
      .launch({ entry: "k", grid: 1, block: 1, args: [address] });
    return new Float32Array(machine.read(address, 4).buffer)[0]!;
  };

  it.each([
    ["sub.f32 %f1, %f0, -0.0;", 2.5],
    ["sub.f32 %f1, -0.0, %f0;", -2.5],
    ["sub.f32 %f1, 0f80000000, -0.0;", 0],
    ["sub.f32 %f1, %f0, -1.5;", 4],
    ["add.f32 %f1, -0.0, -0.0;", -0],
    ["mul.f32 %f1, %f0, 1.5;", 3.75],
    ["fma.rn.f32 %f1, %f0, 0d4000000000000000, -1.0;", 4],
    ["neg.f32 %f1, -0.0;", 0],
    ["sub.rz.f32 %f1, %f0, -0.0;", 2.5],
    ["min.f32 %f1, -0.0, 0.0;", -0],
  ])("%s", (code, expected) => {
    expect(result(code)).toBe(expected);
  });
});

describe("a load of a parameter", () => {
  const load = (code: string, bounds = true): Uint32Array => {
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 16, checks: { bounds } });
    const address = machine.allocate(8);
    machine
      .load(`.version 9.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 out, .param .b32 n, .param .align 8 .b8 s[16])
{ .reg .b32 %r<4>; .reg .b16 %h<2>; .reg .b64 %d<4>; ld.param.u64 %d1, [out]; mov.b32 %r0, 0; mov.b32 %r1, 0;
${code} st.global.v2.b32 [%d1], {%r0, %r1}; ret; }`)
      .launch({ entry: "k", grid: 1, block: 1, args: [address, 0x11223344, Uint8Array.from({ length: 16 }, (_, k) => k + 1)] });
    return new Uint32Array(machine.read(address, 8).buffer);
  };

  it.each([
    ["ld.param.b32 %r0, [n];", 0x11223344, 0],
    ["ld.param.u16 %r0, [n+2];", 0x1122, 0],
    ["ld.param.s8 %r0, [n+3];", 0x11, 0],
    ["ld.param.b32 %r0, [s+4];", 0x08070605, 0],
    ["ld.param.b32 %r0, [s+4+2*4];", 0x100f0e0d, 0],
    ["ld.param.v2.b32 {%r0, %r1}, [s+8];", 0x0c0b0a09, 0x100f0e0d],
    ["ld.param.u16 %h0, [s+6]; cvt.u32.u16 %r0, %h0;", 0x0807, 0],
    ["mov.u64 %d2, s; ld.param.b32 %r0, [%d2+4];", 0x08070605, 0],
  ])("reads at its offset: %s", (code, first, second) => {
    expect([...load(code)]).toEqual([first, second]);
  });

  it.each([
    ["ld.param.b32 %r0, [n+4];", "outOfBounds", 'loads 4 bytes at byte 4 of "n" in param memory, which has 4 bytes'],
    ["ld.param.b32 %r0, [s+-4096];", "outOfBounds", 'loads 4 bytes at byte -4096 of "s" in param memory, which has 16 bytes'],
    ["ld.param.v4.b32 {%r0, %r1, %r2, %r3}, [s+8];", "outOfBounds", 'loads 16 bytes at byte 8 of "s"'],
    ["ld.param.u16 %r0, [n+1];", "misaligned", "which is no multiple of 2"],
    ["ld.param.b32 %r0, [s+2];", "misaligned", "which is no multiple of 4"],
    ["mov.u64 %d2, s; ld.param.b32 %r0, [%d2+1];", "misaligned", "which is no multiple of 4"],
    ["ld.global.b32 %r0, [%d1+4294967296];", "outOfBounds", "which is in no allocation"],
    [".shared .b32 x[4]; ld.shared.b32 %r0, [x+16];", "outOfBounds", 'byte 16 of "x" in shared memory, which has 16 bytes'],
    [".shared .b32 x[4]; mov.u64 %d2, x; ld.shared.b32 %r0, [%d2+4294967296];", "outOfBounds", "beyond all shared memory"],
  ])("is told of if it leaves the parameter: %s", (code, kind, message) => {
    expect(simulationError(() => load(code))).toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  it("gives zeros beyond it if nobody looks", () => {
    expect([...load("ld.param.b32 %r0, [n+4];", false)]).toEqual([0, 0]);
  });

  it("is no error on a way that is not taken", () => {
    expect([...load(".reg .pred %p; setp.eq.u32 %p, %r0, 1; @%p ld.param.b32 %r1, [n+4];")]).toEqual([0, 0]);
  });

  it("takes an offset below zero as a sum alone", () => {
    expect(() => load("ld.param.b32 %r0, [n-4];")).toThrow("an offset is added: write +- for one below zero");
  });
});
