// An instruction is refused if its handler passes over a part of it: a modifier, an operand, a
// register of another type, a constant of another kind.
import { describe, expect, it } from "vitest";
import { PtxMachine, UnsupportedPtxError } from "../../packages/ptx/src/interpreter/index.js";

const registers =
  ".reg .b32 %r<20>; .reg .b64 %d<8>; .reg .b16 %h<8>; .reg .f32 %f<8>; .reg .f64 %g<8>; .reg .s32 %s<8>; .reg .u64 %u<4>; .reg .pred %p<4>; .reg .b128 %q<2>; .reg .v4 .b32 %v;";
const compile = (code: string): void => {
  const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 16 });
  const program = machine.load(
    `.version 9.0\n.target sm_90\n.address_size 64\n.func f() { ret; }\n.entry k(.param .u64 n)\n{ ${registers} .shared .align 16 .b8 shared[256]; L:\n${code} ret; }`,
  );
  program.info("k");
};

const modifiers = [
  ["mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};", "sp"],
  ["mma.sync.aligned.m16n8k8.row.col.satfinite.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};", "satfinite"],
  ["mad24.lo.sat.s32 %r0, %r1, %r2, %r3;", "sat"],
  ["mad.lo.sat.s32 %r0, %r1, %r2, %r3;", "sat"],
  ["add.sat.u32 %r0, %r1, %r2;", "sat"],
  ["add.ftz.f64 %g0, %g1, %g2;", "ftz"],
  ["add.sat.f64 %g0, %g1, %g2;", "sat"],
  ["fma.rn.relu.f32 %f0, %f1, %f2, %f3;", "relu"],
  ["fma.rn.sat.bf16 %h0, %h1, %h2, %h3;", "sat"],
  ["min.NaN.f64 %g0, %g1, %g2;", "NaN"],
  ["min.xorsign.abs.f64 %g0, %g1, %g2;", "xorsign"],
  ["max.relu.u32 %r0, %r1, %r2;", "relu"],
  ["tanh.approx.ftz.f32 %f0, %f1;", "ftz"],
  ["setp.eq.ftz.f64 %p0, %g0, %g1;", "ftz"],
  ["setp.lt.lo.u32 %p0, %r0, %r1;", "lo"],
  ["setp.eq.and.or.u32 %p0, %r0, %r1, %p1;", "or"],
  ["cvt.rz.satfinite.tf32.f32 %r0, %f0;", "satfinite"],
  ["cvt.rn.satfinite.f32.f64 %f0, %g0;", "satfinite"],
  ["cvt.rn.satfinite.f16x2.e4m3x2 %r0, %h0;", "satfinite"],
  ["cvt.rn.satfinite.ftz.e4m3x2.f32 %h0, %f0, %f1;", "ftz"],
  ["cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %r0;", undefined],
  ["cvt.rn.rz.f16.f32 %h0, %f0;", "rz"],
  ["cvt.rn.u32.s32 %r0, %r1;", "rn"],
  ["mov.sat.u32 %r0, %r1;", "sat"],
  ["ld.global.async.b32 %r0, [%d0];", "async"],
  ["ld.volatile.global.ca.b32 %r0, [%d0];", "ca"],
  ["ld.relaxed.gpu.cta.global.b32 %r0, [%d0];", "cta"],
  ["st.global.nc.b32 [%d0], %r0;", "nc"],
  ["atom.global.add.v2.noftz.b32 %r0, [%d0], %r1;", undefined],
  ["red.global.exch.b32 [%d0], %r1;", undefined],
  ["shfl.sync.idx.clamp.b32 %r0, %r1, 0, 31, -1;", "clamp"],
  ["vote.sync.any.ballot.b32 %r0, %p0, -1;", undefined],
  ["bar.warp.sync.relaxed -1;", "relaxed"],
  ["bar.sync.all 0;", "all"],
  ["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%d0], 16, [%r1];", "multicast::cluster"],
  ["mbarrier.init.cta.shared.b64 [%r0], 1;", "cta"],
  ["ldmatrix.sync.aligned.m8n8.x1.trans.trans.shared.b16 {%r0}, [%r1];", "trans"],
  ["popc.s.b32 %r0, %r1;", "s"],
  ["bra.div L;", "div"],
  ["ret.wrong;", "wrong"],
  ["membar.gl.cta;", "cta"],
  ["trap.now;", "now"],
] as const;

const operands = [
  ["add.s32 %r0, %r1;", "operand 3 is missing"],
  ["add.s32 %r0, %r1, %r2, %r3;", "operand 4 is one too many"],
  ["mov.b32 %r0, %r1, %r2;", "operand 3 is one too many"],
  ["ld.global.b32 %r0, [%d0], %d1;", "operand 3 is one too many"],
  ["setp.eq.b32 %p0, %r0, %r1, %p1;", "operand 4 is one too many"],
  ["bar.sync 0, 32, 1;", "operand 3 is one too many"],
  ["shfl.sync.idx.b32 %r0, %r1, 0, 31, -1, 0;", "operand 6 is one too many"],
  ["exit %r0;", "operand 1 is one too many"],
  ["call 5;", "it takes a function or a pointer"],
  ["call (), (), f;", "it takes a function or a pointer"],
  ["ld.global.v2.b32 {%r0, %r1, %r2}, [%d0];", ".v2 takes 2 registers in braces"],
  ["ld.global.v4.b32 %r0, [%d0];", ".v4 takes 4 registers in braces"],
  ["st.global.v2.f32 [%d0], {%f0};", ".v2 takes 2 registers in braces"],
  ["mov.b64 %d0, {%r0, %r1, %r2};", "8 bytes are not 3 parts"],
  ["mov.b32 {%h0, %h1, %h2}, %r0;", "4 bytes are not 3 parts"],
  ["ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1}, [%r2];", "2 registers; .x4 takes 4"],
  [
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1}, {%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};",
    "a fragment of 2 registers; it takes 4",
  ],
  ["mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0,%s1,%s2,%s3}, {%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};", "cannot stand where .f32"],
  ["mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};", "it takes .row.col"],
  ["mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r4}, {%f0,%f1,%f2,%f3};", "mma is modelled for"],
] as const;

const products = [
  ["mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r4}, {%r5,%r6};", "mma is modelled for"],
  ["mma.sync.aligned.m16n8k32.row.col.f32.e4m3.s8.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};", "modelled for"],
  ["mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r0,%r1}, {%r2}, {%r3}, {%r0,%r1};", "it takes .and.popc or .xor.popc"],
  ["wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%d0];", "a factor of .s4 takes .row for a and .col for b"],
  ["wmma.load.a.sync.aligned.row.m16n16k8.s8 {%r0}, [%d0];", "there is no such matrix of this type"],
  ["wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0,%r1,%r2}, [%d0];", "a fragment of 3 registers; it takes 2"],
  ["wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {%r0,%r1}, {%r2}, {%r3}, {%r0,%r1};", "there is no such product of these types"],
  ["wmma.mma.sync.aligned.row.col.m8n8k4.s32.s4.s4.s32 {%r0,%r1}, {%r2}, {%r3}, {%r0,%r1};", ".s4 takes .m8n8k32 and sums of .s32"],
] as const;

const forms = [
  ["cvt.rn.e4m3x2.f32 %h0, %f0, %f1;", "it takes .satfinite"],
  ["cvt.rz.satfinite.e5m2x2.f32 %h0, %f0, %f1;", "it takes .rn"],
  ["cvt.f16x2.e5m2x2 %r0, %h0;", "it takes .rn"],
  ["cvt.rn.satfinite.e4m3x2.e5m2x2 %h0, %h1;", "it takes .f16x2 from"],
  ["cvt.rn.satfinite.e4m3x2.f32 %h0, %f0;", "operand 3 is missing"],
  ["cvt.rn.satfinite.e4m3x2.f32 %r0, %f0, %f1;", "%r0 is a register of .b32"],
  ["cvt.rn.f16x2.e4m3x2 %f0, %h0;", "%f0 is a register of .f32"],
  ["cvt.rn.f16x2.e4m3x2 %r0, 5;", "it converts a register"],
] as const;

const types = [
  ["add.f32 %f0, %r0, %s0;", "%s0 is a register of .s32, which cannot stand where .f32 is expected"],
  ["add.s32 %f0, %r0, %r1;", "%f0 is a register of .f32, which cannot stand where .s32 is expected"],
  ["add.f64 %g0, %f0, %g1;", "%f0 is a register of .f32, which cannot stand where .f64 is expected"],
  ["add.s32 %r0, %h0, %r1;", "%h0 is a register of .b16, which cannot stand where .s32 is expected"],
  ["add.s64 %d0, %d1, %r0;", "%r0 is a register of .b32, which cannot stand where .s64 is expected"],
  ["and.b32 %r0, %r1, %p0;", "%p0 is a register of .pred"],
  ["selp.b32 %r0, %r1, %r2, %r3;", "%r3 is a register of .b32, which cannot stand where .pred is expected"],
  ["mov.f32 %f0, 1;", "an integer cannot stand where .f32 is expected"],
  ["mov.u32 %r0, 1.5;", "a binary64 constant cannot stand where .u32 is expected"],
  ["mov.b64 %d0, 0f3F800000;", "a binary32 constant cannot stand where .b64 is expected"],
  ["add.f16 %h0, %h1, 0x3C00;", "an integer cannot stand where .f16 is expected"],
  ["ld.global.b64 %r0, [%d0];", "%r0 is a register of .b32, which cannot stand where .b64 is expected"],
  ["st.global.u32 [%d0], %q0;", "%q0 is a register of .b128, which cannot stand where .u32 is expected"],
  ["ld.global.b32 %g0, [%d0];", "%g0 is a register of .f64, which cannot stand where .b32 is expected"],
  ["ld.global.b32 %r0, [n];", '"n" is in param memory'],
  ["add.b32 %r0, %r1, %r2;", "there is no add of .b32"],
  ["setp.lt.b32 %p0, %r1, %r2;", "it takes a comparison: .eq, .ne"],
  ["mov.f16 %h0, %h1;", "there is no mov of .f16"],
] as const;

describe("an instruction is refused, by name and line,", () => {
  it.each(modifiers)("if nothing reads a modifier: %s", (code, modifier) => {
    expect(() => compile(code)).toThrow(UnsupportedPtxError);
    if (modifier !== undefined)
      expect(() => compile(code)).toThrow(`PTX line 7: "${code.slice(0, -1)}": .${modifier} is not modelled here`);
  });

  it.each(operands)("if it has operands too many, too few or of another size: %s", (code, problem) => {
    expect(() => compile(code)).toThrow(UnsupportedPtxError);
    expect(() => compile(code)).toThrow(problem);
  });

  it.each(products)("if there is no such matrix product: %s", (code, problem) => {
    expect(() => compile(code)).toThrow(UnsupportedPtxError);
    expect(() => compile(code)).toThrow(problem);
  });

  it("if the module is for a target that has it not", () => {
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 16 });
    const code = "cvt.rn.f16x2.e4m3x2 %r, %h;";
    const load = (target: string) =>
      machine.load(`.version 9.0\n.target ${target}\n.address_size 64\n.entry k()\n{ .reg .b32 %r; .reg .b16 %h; ${code} ret; }`).info("k");
    expect(() => load("sm_80")).toThrow("it takes .target sm_89 or higher; the module is for sm_80");
    expect(() => load("sm_90a")).not.toThrow();
  });

  it.each(forms)("if a conversion lacks a part, or has one of another size: %s", (code, problem) => {
    expect(() => compile(code)).toThrow(UnsupportedPtxError);
    expect(() => compile(code)).toThrow(problem);
  });

  it.each(types)("if an operand is of another type: %s", (code, problem) => {
    expect(() => compile(code)).toThrow(UnsupportedPtxError);
    expect(() => compile(code)).toThrow(problem);
  });

  it.each([
    "constructor.u32",
    "toString",
    "__proto__.b32",
    "hasOwnProperty.f32",
    "mbarrier.constructor.b64",
    "testp.toString.f32",
    "valueOf.f16",
  ])("if its opcode is a word of JavaScript: %s", (opcode) => {
    expect(() => compile(`${opcode} %r0, %r1;`)).toThrow(UnsupportedPtxError);
  });
});

it("calls no function that only JavaScript has", () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 16 });
    const text = `.version 9.0\n.target sm_90\n.address_size 64\n.extern .func ${name}();\n.entry k() { call ${name}; ret; }`;
    expect(() => machine.load(text).launch({ entry: "k", grid: 1, block: 1, args: [] })).toThrow(`"${name}"`);
  }
});

describe("a call", () => {
  const run =
    (call: string, name = "f") =>
    () => {
      const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 20 });
      const functions =
        ".func (.param .b32 r) f (.param .b64 a) { .reg .b64 %d; ld.param.b64 %d, [a]; ret; }\n.extern .func vprintf (.param .b64 a);";
      const text = `.version 9.0\n.target sm_90\n.address_size 64\n${functions}\n.entry k()\n{ .reg .b64 %d; .param .b32 r; .param .b64 a; .param .b32 s; mov.u64 %d, ${name}; st.param.b64 [a], %d; ${call} ret; }`;
      machine.load(text).launch({ entry: "k", grid: 1, block: 1, args: [] });
    };

  it("passes the results and arguments that the function has", () => {
    expect(run("call (r), f, (a);")).not.toThrow();
    expect(run("call (r), %d, (a);")).not.toThrow();
  });

  it.each(["call f;", "call (r), f, (a, s);", "call (r), f, (s);", "call f, (a);", "call (r), %d, (s);"])(
    "is told of if it passes others: %s",
    (call) => {
      expect(run(call)).toThrow(/f is called with \d results and \d arguments that it does not take: it has 1 and 1/);
    },
  );

  it("of a function of the system passes what that takes, whatever its declaration says", () => {
    expect(run("call vprintf, (a);")).toThrow("vprintf takes 2 arguments");
  });
});
