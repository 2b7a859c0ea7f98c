// Arithmetic of two binary32 values in 64 bits: each half is what the instruction of one value
// gives.
import { expect, it } from "vitest";
import { PtxMachine, UnsupportedPtxError } from "../../packages/ptx/src/interpreter/index.js";
import { Bench, input, output, words } from "./device.js";

const operations = ["add", "sub", "mul", "fma"].flatMap((name) =>
  ["rn", "rz", "rm", "rp"].flatMap((mode) => ["", ".ftz"].map((flush) => `${name}.${mode}${flush}`)),
);

const module = (target: string, codes: readonly string[]): string => `.version 8.6\n.target ${target}\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %a<2>, %b<2>, %c<2>, %e<2>, %t; .reg .b64 %x, %y, %z, %d, %in, %out;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %in, %t, 24, %in;
  mad.wide.u32 %out, %t, ${16 * codes.length}, %out;
  ld.global.b64 %x, [%in]; ld.global.b64 %y, [%in+8]; ld.global.b64 %z, [%in+16];
  mov.b64 {%a0, %a1}, %x; mov.b64 {%b0, %b1}, %y; mov.b64 {%c0, %c1}, %z;
${codes
  .map((code, k) => {
    const third = (name: string): string => (code.startsWith("fma") ? `, ${name}` : "");
    const one = [0, 1].map((half) => `${code}.f32 %e${half}, %a${half}, %b${half}${third(`%c${half}`)};`).join(" ");
    return `  ${code}.f32x2 %d, %x, %y${third("%z")}; st.global.b64 [%out+${16 * k}], %d; ${one} st.global.v2.b32 [%out+${16 * k + 8}], {%e0, %e1};`;
  })
  .join("\n")}
  ret;
}`;

it("rounds and flushes each half", () => {
  const bench = new Bench(module("sm_100a", operations));
  const random = words(33);
  const hard = [0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000];
  const given = Uint32Array.from({ length: 6 * 256 }, (_, k) => (k % 3 === 0 ? hard[(random() >>> 3) % hard.length]! : random()));
  const got = new BigUint64Array(2 * operations.length * 256);
  bench.run("k", { grid: 1, block: 256 }, [input(given), output(got)]);
  const wrong = [...got.keys()].filter((k) => k % 2 === 0 && got[k] !== got[k + 1]);
  expect(wrong.map((k) => operations[(k / 2) % operations.length])).toEqual([]);
});

it("is refused for architectures that do not have it", () => {
  const program = new PtxMachine({ memoryBytes: 4096, launchBytes: 4096 }).load(module("sm_90", ["add.rn"]));
  expect(() => program.info("k")).toThrow(UnsupportedPtxError);
  expect(() => program.info("k")).toThrow('add.rn.f32x2 %d, %x, %y": .f32x2 is there from .target sm_100 on');
});
