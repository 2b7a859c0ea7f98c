// PTX: parsed, compiled and launched on a simulated device with few steps, every kernel of the
// text.
import { PtxModule } from "../../../packages/ptx/src/builder/index.js";
import {
  LaunchError,
  PtxMachine,
  PtxSyntaxError,
  SimulationError,
  UnsupportedPtxError,
} from "../../../packages/ptx/src/interpreter/index.js";
import { rowSoftmax } from "../../../packages/ptx/src/kernels/index.js";
import { instructionCases } from "../../ptx/instruction-cases.js";
import type { FuzzFormat } from "../format.js";
import type { Random } from "../random.js";
import { bytesOf } from "../text.js";

const head = ".version 9.0\n.target sm_90\n.address_size 64\n";
const registers =
  ".reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %d<8>;\n.reg .f32 %f<8>;\n.reg .f64 %g<4>;\n.reg .pred %p<4>;\n.reg .b128 %q<2>;";
const begin = "ld.param.u64 %d0, [x];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.s64 %d1, %d0, %d1;\nld.global.u32 %r1, [%d1];";

const bodies: Readonly<Record<string, string>> = {
  integers: `add.cc.u32 %r2, %r1, 5;\naddc.u32 %r3, %r2, 0;\nmul.hi.s32 %r4, %r2, %r3;\nmad24.hi.sat.s32 %r5, %r1, %r2, 3;\ndiv.u32 %r6, %r5, 7;\nrem.s64 %d2, %d1, 9;
lop3.b32 %r7, %r1, %r2, %r3, 0x96;\nprmt.b32 %r8, %r1, %r2, 0x5410;\nshf.l.wrap.b32 %r9, %r1, %r2, 5;\nbfe.s32 %r10, %r9, 3, 8;\nbfi.b64 %d3, %d1, %d2, 5, 9;
dp4a.u32.s32 %r11, %r1, %r2, %r3;\nsad.u16 %h0, %h1, 3, 4;\nfns.b32 %r12, %r1, 0, 1;\nst.global.u32 [%d1], %r11;`,
  floats: `mov.f32 %f0, 1.5;\ncvt.rn.f32.s32 %f1, %r1;\nfma.rn.ftz.f32 %f2, %f0, %f1, 0f3F800000;\ndiv.rz.f32 %f3, %f2, %f0;\nsqrt.approx.f32 %f4, %f3;\ntanh.approx.f32 %f5, %f4;
min.NaN.f32 %f6, %f5, -0.0;\nsetp.ltu.and.f32 %p0|%p1, %f6, 2.5, !%p2;\nselp.f32 %f7, %f6, 0d3FF0000000000000, %p0;\ncvt.f64.f32 %g0, %f7;\nrcp.approx.ftz.f64 %g1, %g0;
cvt.rn.relu.bf16x2.f32 %r2, %f7, %f6;\nfma.rn.relu.bf16x2 %r3, %r2, %r2, %r2;\ncvt.rzi.s64.f64 %d2, %g0;\nst.global.f32 [%d1], %f7;`,
  arithmetic: `cvt.rn.f32.u32 %f0, %r1;\nsub.f32 %f1, %f0, 2.5;\nsub.rn.ftz.f32 %f2, 1.0, %f1;\nmul.sat.f32 %f3, %f2, %f1;\nadd.rm.f32 %f4, %f3, %f0;\ncvt.rn.f64.u32 %g0, %r1;
sub.f64 %g1, %g0, 0.5;\nmul.rp.f64 %g2, %g1, %g0;\nadd.f64 %g3, %g2, %g1;\ndiv.rn.f64 %g1, %g3, %g0;\nneg.f32 %f5, %f4;\nabs.ftz.f32 %f6, %f5;\ncopysign.f32 %f7, %f6, %f5;
sub.s32 %r2, %r1, 7;\nsub.u64 %d2, %d1, 5;\nneg.s64 %d3, %d2;\nmax.s32 %r3, %r2, -5;\nshr.s32 %r4, %r3, 3;\nshl.b64 %d3, %d2, 5;\ncvt.rn.f16.f32 %h0, %f0;
sub.f16 %h1, %h0, %h0;\nmul.wide.u16 %r5, %h1, 3;\nslct.f32.s32 %f3, %f1, -1.5, %r4;\nex2.approx.f32 %f2, %f3;\nst.global.v2.f32 [%d0], {%f2, -0.5};`,
  memory: `.shared .align 16 .b8 tile[512];\n.local .align 8 .b8 own[32];\nmov.u32 %r2, tile;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], %r1;\nbar.sync 0;
ld.shared.u32 %r4, [tile+16];\nst.local.v2.u32 [own+8], {%r1, %r4};\nld.local.u64 %d2, [own+8];\natom.global.add.u32 %r5, [%d0], 1;\natom.shared.cas.b32 %r6, [tile], %r5, 7;
red.relaxed.gpu.global.max.s32 [%d0+4], %r6;\nld.acquire.gpu.global.b32 %r7, [%d0+8];\ncvta.shared.u64 %d3, %d2;\nmov.b64 {%r8, %r9}, %d2;\nst.volatile.global.u32 [%d1], %r9;`,
  control: `mov.u32 %r2, 0;\nagain:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, %r0;\n@%p0 bra again;\nT: .branchtargets A, B;\nand.b32 %r3, %r0, 1;\nbrx.idx %r3, T;\nA:
@%p3 exit;\nB:\nshfl.sync.bfly.b32 %r4|%p1, %r1, 1, 31, -1;\nvote.sync.ballot.b32 %r5, %p1, -1;\nredux.sync.add.u32 %r6, %r1, -1;\nbar.warp.sync -1;\nelect.sync %r7|%p2, -1;
{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r6;\ncall (b), twice, (a);\nld.param.b32 %r8, [b];\n}\nst.global.u32 [%d1], %r8;`,
  tiles: `.shared .align 128 .b8 tile[1024];\nmov.u32 %r2, tile;\nmad.lo.u32 %r11, %r0, 16, %r2;\nst.shared.v4.b32 [%r11], {%r15, %r15, %r15, %r15};\nbar.warp.sync -1;\ncp.async.ca.shared.global [%r2], [%d0], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.warp.sync -1;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r3, %r4}, [%r2];\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r3,%r4}, {%r5}, {%f0,%f1,%f2,%f3};
wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {%r6,%r7,%r8,%r9}, [%r2], 8;\nmbarrier.init.shared.b64 [tile+512], 1;\nmbarrier.arrive.shared.b64 %d2, [tile+512];
mbarrier.test_wait.shared.b64 %p0, [tile+512], %d2;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r10, %r3;\nnanosleep.u32 20;\nst.global.f32 [%d1], %f0;`,
  video: `vabsdiff4.u32.u32.u32.add %r2, %r1, %r0, %r0;\nvadd.s32.u32.s32.sat %r3, %r1.b1, %r2.h0;\nvsub.u32.s32.u32.sat.min %r4, %r3, %r2.b3, %r1;\nvshl.u32.u32.u32.clamp %r5.h1, %r4, %r1.b0, %r2;
vmad.s32.s32.u32.sat.shr7 %r6, %r5.b2, -%r4.h1, %r3;\nvset2.u32.s32.le.add %r7.h10, %r6.h31, %r5, %r4;\nvavrg4.u32.s32.u32.sat %r8.b20, %r7.b7310, %r6, %r5;\nvset.s32.u32.gt.max %r9, %r8, %r7, %r6;\nst.global.u32 [%d1], %r9;`,
  stack: `.global .align 4 .u32 kept;\nmov.u64 %d2, 16;\nalloca.u64 %d3, %d2, 8;\nst.local.u32 [%d3+4], %r1;\nstacksave.u64 %d4;\nalloca.u64 %d5, %d2;\nst.local.v2.u32 [%d5], {%r1, %r0};\nstackrestore.u64 %d4;
ld.local.u32 %r2, [%d3+4];\ncall (%r3), summed, (%r2, 5);\ncall (_), summed, (%r3, %r1);\n.reg .v2 .b32 %v;\nmov.v2.b32 %v, {%r3, %r2};\nmov.b32 %r4, %v.y;\nst.global.u32 [kept], 7;\nst.global.u32 [%d1], %r4;`,
  bytes: `cvt.rn.satfinite.e4m3x2.f32 %h0, 1.5, -2.5;\ncvt.rn.relu.f16x2.e5m2x2 %r2, %h0;\ncvt.rn.satfinite.e5m2x2.f16x2 %h1, %r2;\nmov.b32 %r3, {%h0, %h1};
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f0,%f1,%f2,%f3}, {%r3,%r3,%r2,%r3}, {%r2,%r3}, {%f0,%f1,%f2,%f3};
mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32 {%r4,%r5}, {%r3}, {%r2}, {%r4,%r5};\nmma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r6,%r7}, {%r3}, {%r2}, {%r4,%r5};\nst.global.f32 [%d1], %f0;`,
  printing: `.local .align 8 .b8 values[16];\nst.local.f64 [values], 0d3FF8000000000000;\nst.local.s32 [values+8], -5;\nmov.u64 %d2, text;\ncvta.global.u64 %d2, %d2;\nmov.u64 %d3, values;
cvta.local.u64 %d3, %d3;\n{\n.param .b64 a;\n.param .b64 b;\n.param .b32 r;\nst.param.b64 [a], %d2;\nst.param.b64 [b], %d3;\ncall (r), vprintf, (a, b);\n}`,
};

/** For a later target. */
const pairs = `mov.b64 %d2, {%r1, %r0};\nadd.rn.ftz.f32x2 %d3, %d2, %d2;\nmul.rz.f32x2 %d4, %d3, %d2;\nfma.rn.f32x2 %d5, %d4, %d3, %d2;\nst.global.b64 [%d0], %d5;`;

const kernel = (name: string, body: string): string =>
  `.visible .entry ${name}(.param .u64 x, .param .u32 n)\n{\n${registers}\n${begin}\n${body}\nret;\n}\n`;

const declarations = `.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.const .align 4 .f32 table[2][2] = {{1.5, 0f40000000}, {-0.0, (1+2)*1.0}};
.global .align 1 .b8 text[] = {37, 103, 32, 37, 45, 53, 100, 10, 0};
.global .u64 place[2] = {table+4, generic(text)};
.file 1 "a.cu"
.func (.param .b32 out) twice(.param .b32 in)
{\n.reg .b32 %r<3>;\n.loc 1 7 3\nld.param.b32 %r0, [in];\nshl.b32 %r1, %r0, 1;\nst.param.b32 [out], %r1;\nret;\n}
.func (.reg .b32 sum) summed(.reg .b32 a, .reg .b32 b) { add.s32 sum, a, b; ret; }
`.replace("(1+2)*1.0", "1.0*3.0");

function built(): string {
  const module = new PtxModule({ target: "sm_80" });
  module.kernel("made", { block: [32] }, (k) => {
    const data = k.pointer("f32", "data");
    const value = k.load(k.at(data, k.threadIndex()));
    k.if(k.compare("gt", value, 1), () => k.store(k.at(data, k.threadIndex()), k.fma(value, value, value)));
  });
  return module.emit();
}

const prefixes: Readonly<Record<number, string>> = { 1: "%p", 16: "%h", 32: "%r", 64: "%d" };

/**
 * One instruction of each case that the tests of the interpreter know, on the registers of a
 * kernel.
 */
const single = instructionCases.map(({ code, widths }) =>
  ["d", "a", "b", "c"].reduce((text, name, k) => text.replaceAll(`%${name}`, `${prefixes[widths[k] ?? 32]}${4 - k}`), code),
);

/** An instruction taken apart; undefined for other lines. */
function parts(line: string): { guard: string; opcode: string; modifiers: string[]; operands: string[] } | undefined {
  const found = /^(@!?%\w+ )?([a-z]\w*)((?:\.[\w:]+)*)(?: (.*))?;$/.exec(line.trim());
  if (found === null) return undefined;
  const [, guard = "", opcode, modifiers, operands = ""] = found;
  return {
    guard,
    opcode: opcode!,
    modifiers: modifiers!.split(".").slice(1),
    operands: operands === "" ? [] : operands.split(/, (?![^{[(]*[}\])])/),
  };
}

const known = [
  ...[...Object.values(bodies), pairs].flatMap((body) => body.split("\n")),
  ...single.flatMap((code) => code.split("\n")),
].flatMap((line) => parts(line) ?? []);
const modifiers = [...new Set(known.flatMap((each) => each.modifiers))];
const operands = [
  ...new Set(known.flatMap((each) => each.operands)),
  ..."%tid.x %laneid %clock64 %lanemask_lt WARP_SZ 0 1 -1 31 32 64 255 2147483647 -2147483648 4294967295 0xFFFFFFFFFFFFFFFF 1.5 -0.0 0.0 1e-40".split(
    " ",
  ),
  ..."0f80000000 0f00000001 0f7FC00000 0f7F800000 0d8000000000000000 0d7FF8000000000001 [%d0] [%d1+4] [%d0+-4] [%r2] [tile] [table+8] _ !%p0".split(
    " ",
  ),
  ..."{%r1,%r2} {%f1,_} {%h1,%h2,%h3,%h4} table tile own %q0 %g1 %f1 %h1 %p1 %d3".split(" "),
];

function without<T>(list: readonly T[], index: number): T[] {
  return list.filter((_, k) => k !== index);
}

function changed(line: string, random: Random): string {
  const instruction = parts(line);
  if (instruction === undefined) return line;
  const { opcode } = instruction;
  let guard = instruction.guard;
  let [words, values] = [[...instruction.modifiers], [...instruction.operands]];
  const [word, value] = [random.below(words.length), random.below(values.length)];
  switch (random.below(10)) {
    case 0:
      words[word] = random.pick(modifiers);
      break;
    case 1:
      words.splice(word, 0, random.pick(modifiers));
      break;
    case 2:
      words = without(words, word);
      break;
    case 3:
      values = without(values, value);
      break;
    case 4:
      values.splice(value, 0, random.pick(operands));
      break;
    case 5:
      guard = random.pick(["@%p0 ", "@!%p1 ", ""]);
      break;
    default:
      values[value] = random.pick(operands);
  }
  return `${guard}${[opcode, ...words].join(".")} ${values.join(", ")};`;
}

/** Instructions changed in one part, moved, repeated, left out or put in. */
function shuffled(input: Uint8Array, random: Random): Uint8Array {
  const lines = new TextDecoder().decode(input).split("\n");
  const begins = lines.findIndex((line) => line.startsWith("ld.param"));
  const randomLine = (): number => Math.max(begins, 0) + random.below(lines.length - Math.max(begins, 0) - 2);
  for (let count = random.size(4); count > 0; count--) {
    const at = randomLine();
    switch (random.below(8)) {
      case 0:
        if (parts(lines[at]!) !== undefined) lines.splice(at, 1);
        break;
      case 1:
        lines.splice(randomLine(), 0, lines[at]!);
        break;
      case 2:
        lines.splice(at, 0, random.pick(single));
        break;
      case 3:
        lines.splice(at, 0, changed(random.pick(single), random));
        break;
      default:
        lines[at] = changed(lines[at]!, random);
    }
  }
  return bytesOf(lines.join("\n"));
}

export default {
  corpus: () => [
    ...Object.entries(bodies).map(([name, body]) => bytesOf(head + declarations + kernel(name, body))),
    bytesOf(head.replace("sm_90", "sm_100") + declarations + kernel("pairs", pairs)),
    bytesOf(built()),
    bytesOf(rowSoftmax({ dim: 40 }).ptx),
  ],
  read: (input) => {
    const limits = { steps: 2000, idlePolls: 100, idleSteps: 1000, stackBytes: 1024 };
    const together = input.length % 7 === 0;
    const checks = { globalRaces: together };
    const machine = new PtxMachine({ memoryBytes: 2 ** 18, launchBytes: 2 ** 18, limits, checks });
    const program = machine.load(new TextDecoder().decode(input));
    for (const entry of program.entries) {
      const { parameters, directives } = program.info(entry);
      const args = parameters.map(({ type, bytes }) => {
        const scalar = /^(pred|[busf]\d+)$/.test(type) && bytes === Number(type.slice(1)) / 8;
        if (!scalar) return new Uint8Array(bytes);
        if (bytes !== 8 || type === "f64") return 3;
        const address = machine.allocate(512);
        machine.write(
          address,
          Uint32Array.from({ length: 128 }, (_, k) => (k * 2654435761) >>> 0),
        );
        return address;
      });
      const [x = 32, y = 1, z = 1] = directives.get("reqntid") ?? [];
      program.launch({ entry, grid: together ? 2 : 1, block: [x, y, z], args });
    }
  },
  errors: [PtxSyntaxError, UnsupportedPtxError, SimulationError, LaunchError],
  tokens: [
    ...[
      ".reg",
      ".entry",
      ".func",
      ".param",
      ".shared",
      ".local",
      ".global",
      ".const",
      ".align",
      ".pragma",
      ".section",
      ".attribute",
      ".callprototype",
    ],
    ...[
      ".v2",
      ".v4",
      ".pred",
      ".b8",
      ".u16",
      ".s32",
      ".b64",
      ".f32",
      ".f64",
      ".f16x2",
      ".b128",
      ".sync",
      ".sat",
      ".ftz",
      ".rn",
      ".wide",
      ".hi",
      ".cc",
    ],
    ...[
      "%r<2147483647>",
      "%tid.x",
      "%clock64",
      "%p0",
      "@%p0",
      "WARP_SZ",
      "constructor",
      "__proto__",
      "<",
      ">",
      "{",
      "}",
      "[",
      "]",
      "(",
      ")",
      ";",
      ",",
      "|",
      "!",
    ],
    ...[
      "0f7FC00000",
      "0d8000000000000000",
      "-0.0",
      "1.5",
      "0xFFFFFFFF",
      "[4294967296]",
      "/*",
      "*/",
      "//",
      '"',
      "?",
      ":",
      "<<",
      "bra",
      "call",
      "ret",
      "mov",
    ],
  ],
  mutate: shuffled,
} satisfies FuzzFormat;
