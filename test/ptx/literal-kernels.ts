// Kernels that store one constant, written in each way that an instruction takes constants; for the
// interpreter and for ptxas alike.

/** Where the constant stands. */
export const literalForms = ["mov", "st", "selp", "slct", "initial"] as const;
export type LiteralForm = (typeof literalForms)[number];

/** Types that are stored, with the prefix of a register and its bytes. */
const types: Readonly<Record<string, readonly [register: string, bytes: number]>> = {
  b16: ["%h1", 2],
  u16: ["%h1", 2],
  s16: ["%h1", 2],
  b32: ["%r1", 4],
  u32: ["%r1", 4],
  s32: ["%r1", 4],
  f32: ["%f1", 4],
  b64: ["%d1", 8],
  u64: ["%d1", 8],
  s64: ["%d1", 8],
  f64: ["%g1", 8],
  b8: ["%h1", 1],
  u8: ["%h1", 1],
  s8: ["%h1", 1],
  f16: ["%h1", 2],
  bf16: ["%h1", 2],
  f16x2: ["%r1", 4],
  tf32: ["%r1", 4],
  pred: ["%p1", 4],
};

/** Types that a form is tried with. */
export function literalTypes(form: LiteralForm): string[] {
  const narrow = ["b8", "u8", "s8"];
  return Object.keys(types).filter((type) =>
    type === "pred" ? form === "mov" : !narrow.includes(type) || form === "st" || form === "initial",
  );
}

export const resultBytes = (type: string): number => types[type]![1];

/** Literals of every kind, and constant expressions. */
export const literals: readonly string[] = [
  ..."0 1 -1 -0 +5 00 017 08 0x1F 0X1f 0x 0b101 0b2 5U 0x10U 017U 0b11U 3u 10L 300 -200 65535 65536 70000 -32769".split(" "),
  ..."2147483648 -2147483649 4294967295 4294967296 0x80000000 0x123456789 9223372036854775808 -9223372036854775808".split(" "),
  ..."18446744073709551615 0xFFFFFFFFFFFFFFFF 99999999999999999999999 1.5 -1.5 +1.5 -0.0 0.1 3. .5 .5e-3 1e10 1.0e-3 1.e-3 09.5 00.5".split(
    " ",
  ),
  ..."1e39 1e-50 1e-45 1e400 1e-400 4.9e-324 1.5e 1.0f 0f3FC00000 0F3fc00000 0fBFC00000 0f7FC00000 0f7F800001 0f80000000 -0f3FC00000".split(
    " ",
  ),
  ..."(0f3FC00000) 0f3F8 0d3FF8000000000000 0D3ff8000000000000 -0d3FF8000000000000 0d3FF8000000000001 0d7FF0000000000001".split(" "),
  ..."0dFFF4000020000000 0d36A0000000000001 0d47EFFFFFF0000000 0d0000000000000001 WARP_SZ -WARP_SZ WARP_SZ*2 true".split(" "),
  ..."3+4*2 1-2-3 100/10/5 (1<<5)|1 1<<2+1 1|2^3&4 ~0 ~0>>1 ~-1 !0 !5 !!5 -8>>1 -1>>1 0x8000000000000000>>63 1<<63 1<<64 1<<65 1<<-1".split(
    " ",
  ),
  ..."-7/3 -7/3U -1/2U 1/-1U 5/0 7U/2 5U-6 -1<1U -1>0U -1==0xFFFFFFFFFFFFFFFF 5>4>3 1==2!=1 2<=2 3>=4 1&&0||1 1||0&&0 3&2==2".split(" "),
  ..."1?2:3 0?2:0?4:5 (0?1U:-1)>>1 (1?~0:2)>>1 (~0&-1)>>1 (-1&-1)>>1 (.u64)-1>>1 (.s64)~0>>1 (.s32)1 (.f64)1.5 9223372036854775807+1>>1".split(
    " ",
  ),
  ..."1.5+2.5 1.5-2.5 1.5*2.0 1.5/2.0 1.5/0.0 1.5+1 1.5<2.5 1.5==1.5 -(1.5) (1.5) !1.5 ~1.5 1.5&&1 1?1.5:2.5 1e308*10.0".split(" "),
  ...["-7 % 3", "5 % -3", "- -1", "((1)+(2))", "(-5)", "(5"],
];

/**
 * The table of `fixtures/literals.json`: for each literal the bits of every column as hexadecimal
 * digits, or "-" if it is refused.
 */
export interface LiteralTable {
  /** Form and type, as "mov b32". */
  columns: string[];
  rows: Record<string, string>;
}

/** All columns: every form with each type. */
export const literalColumns: readonly (readonly [form: LiteralForm, type: string])[] = literalForms.flatMap((form) =>
  literalTypes(form).map((type) => [form, type] as const),
);

/** A kernel that stores a constant of a type at its argument. */
export function literalKernel(form: LiteralForm, type: string, literal: string): string {
  const [register, bytes] = types[type]!;
  const store = (from: string): string => `st.global.b${8 * bytes} [%d0], ${from};`;
  const bodies: Readonly<Record<LiteralForm, string>> = {
    mov:
      type === "pred"
        ? `mov.pred %p1, ${literal}; selp.b32 %r1, 1, 0, %p1; st.global.b32 [%d0], %r1;`
        : `mov.${type} ${register}, ${literal}; ${store(register)}`,
    st: `st.global.${type} [%d0], ${literal};`,
    selp: `setp.eq.u32 %p1, %r2, %r2; selp.${type} ${register}, ${literal}, ${literal}, %p1; ${store(register)}`,
    slct: `slct.${type}.s32 ${register}, ${literal}, ${literal}, %r2; ${store(register)}`,
    initial: `ld.global.${bytes === 1 ? "u8" : `b${8 * bytes}`} ${bytes === 8 ? "%d1" : bytes === 4 ? "%r1" : "%h1"}, [x]; ${store(bytes === 8 ? "%d1" : bytes === 4 ? "%r1" : "%h1")}`,
  };
  const variable = form === "initial" ? `.global .${type} x = ${literal};\n` : "";
  return `.version 9.0\n.target sm_90\n.address_size 64\n${variable}.visible .entry k(.param .u64 out)\n{
  .reg .b16 %h<2>; .reg .b32 %r<3>; .reg .f32 %f<2>; .reg .b64 %d<2>; .reg .f64 %g<2>; .reg .pred %p<2>;
  ld.param.u64 %d0, [out];\n  mov.u32 %r2, %tid.x;\n  ${bodies[form]}\n  ret;\n}\n`;
}
