// One instruction each on hard operands, as bits, with the results that the PTX ISA 9.0 gives them
// (section numbers beside). The kernels they are put into are plain PTX, so that the same table can
// be run on a GPU.

export interface InstructionCase {
  /**
   * The instruction, with %a %b %c for operands and %d for the result; more lines if it takes
   * them.
   */
  code: string;
  /** Widths in bits of the result and of the operands. */
  widths: readonly [result: number, ...operands: number[]];
  /** Operands and then the result, as bits. */
  rows: readonly (readonly (number | bigint)[])[];
}

const minusOne = 0xffffffff;
const quietNaN = 0x7fc00000;
const nan = 0x7fffffff;

export const instructionCases: readonly InstructionCase[] = [
  // 9.7.1 integer arithmetic
  {
    code: "add.sat.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x7fffffff, 1, 0x7fffffff],
      [0x80000000, minusOne, 0x80000000],
      [5, minusOne, 4],
    ],
  },
  {
    code: "sub.sat.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x80000000, 1, 0x80000000],
      [0x7fffffff, minusOne, 0x7fffffff],
    ],
  },
  {
    code: "mul.hi.s16 %d, %a, %b;",
    widths: [16, 16, 16],
    rows: [
      [0x8000, 0x8000, 0x4000],
      [0xffff, 2, 0xffff],
    ],
  },
  {
    code: "mul.wide.s16 %d, %a, %b;",
    widths: [32, 16, 16],
    rows: [
      [0x8000, 0x7fff, 0xc0008000],
      [0xffff, 0xffff, 1],
    ],
  },
  {
    code: "mul.wide.u32 %d, %a, %b;",
    widths: [64, 32, 32],
    rows: [
      [minusOne, minusOne, 0xfffffffe00000001n],
      [0x80000000, 2, 0x100000000n],
    ],
  },
  {
    code: "mad.wide.s32 %d, %a, %b, %c;",
    widths: [64, 32, 32, 64],
    rows: [
      [minusOne, 5, 3n, 0xfffffffffffffffen],
      [0x80000000, 0x80000000, 0xc000000000000000n, 0n],
    ],
  },
  { code: "mad.hi.u32 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[minusOne, minusOne, 3, 1]] },
  {
    code: "mul24.lo.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x01800000, 3, 0xfe800000],
      [0x007fffff, 0x007fffff, 0xff000001],
    ],
  },
  {
    code: "mad24.hi.sat.s32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x007fffff, 0x007fffff, 0x7fffffff, 0x7fffffff],
      [0x007fffff, 0xff800001, 0x80000000, 0x80000000],
      [2, 3, 4, 4],
    ],
  },
  { code: "mul24.hi.u32 %d, %a, %b;", widths: [32, 32, 32], rows: [[0x00ffffff, 0x00ffffff, 0xfffffe00]] },
  { code: "sad.u32 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[3, 0xfffffff0, 1, 0xffffffee]] },
  {
    code: "div.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0xfffffff9, 2, 0xfffffffd],
      [7, 0xfffffffe, 0xfffffffd],
    ],
  },
  {
    code: "rem.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0xfffffff9, 2, minusOne],
      [7, 0xfffffffe, 1],
    ],
  },
  { code: "rem.s64 %d, %a, %b;", widths: [64, 64, 64], rows: [[0xfffffffffffffff9n, 2n, 0xffffffffffffffffn]] },
  {
    code: "abs.s32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x80000000, 0x80000000],
      [0xfffffffb, 5],
    ],
  },
  {
    code: "abs.s64 %d, %a;",
    widths: [64, 64],
    rows: [
      [0xfffffffffffffffbn, 5n],
      [1n << 63n, 1n << 63n],
      [7n, 7n],
    ],
  },
  {
    code: "neg.s64 %d, %a;",
    widths: [64, 64],
    rows: [
      [1n, 0xffffffffffffffffn],
      [0n, 0n],
      [0x100000000n, 0xffffffff00000000n],
    ],
  },
  {
    code: "min.s64 %d, %a, %b;",
    widths: [64, 64, 64],
    rows: [
      [0xffffffffffffffffn, 0n, 0xffffffffffffffffn],
      [0x100000000n, 0xffffffffn, 0xffffffffn],
    ],
  },
  { code: "max.u64 %d, %a, %b;", widths: [64, 64, 64], rows: [[0xffffffffffffffffn, 0n, 0xffffffffffffffffn]] },
  { code: "popc.b64 %d, %a;", widths: [32, 64], rows: [[0xf0f0000000000001n, 9]] },
  {
    code: "clz.b64 %d, %a;",
    widths: [32, 64],
    rows: [
      [0n, 64],
      [1n, 63],
      [1n << 40n, 23],
    ],
  },
  {
    code: "bfind.u32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0, minusOne],
      [0x80000000, 31],
      [0x10, 4],
    ],
  },
  {
    code: "bfind.s32 %d, %a;",
    widths: [32, 32],
    rows: [
      [minusOne, minusOne],
      [0xfffffff0, 3],
      [0x10, 4],
    ],
  },
  {
    code: "bfind.shiftamt.u64 %d, %a;",
    widths: [32, 64],
    rows: [
      [1n << 40n, 23],
      [0n, minusOne],
    ],
  },
  {
    code: "bfe.u32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x12345678, 8, 12, 0x456],
      [0x12345678, 28, 32, 1],
      [0xffffffff, 32, 4, 0],
      [1, 0, 0, 0],
    ],
  },
  {
    code: "bfe.s32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x00000800, 8, 4, 0xfffffff8],
      [0x80000000, 28, 32, 0xfffffff8],
      [0x80000000, 40, 3, minusOne],
      [0x7fffffff, 16, 0, 0],
    ],
  },
  {
    code: "bfe.s64 %d, %a, %b, %c;",
    widths: [64, 64, 32, 32],
    rows: [
      [0x0000080000000000n, 40, 4, 0xfffffffffffffff8n],
      [1n << 63n, 60, 64, 0xfffffffffffffff8n],
    ],
  },
  { code: "bfi.b32 %d, %a, %b, 8, 12;", widths: [32, 32, 32], rows: [[0xffffabcd, 0x11111111, 0x111bcd11]] },
  { code: "bfi.b32 %d, %a, %b, 28, 40;", widths: [32, 32, 32], rows: [[0xab, 0x12345678, 0xb2345678]] },
  { code: "bfi.b64 %d, %a, %b, 32, 32;", widths: [64, 64, 64], rows: [[0xdeadbeefn, 0x1111111122222222n, 0xdeadbeef22222222n]] },
  {
    code: "szext.clamp.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0xff, 8, minusOne],
      [0x7f, 8, 0x7f],
      [0x12345678, 40, 0x12345678],
      [5, 0, 0],
    ],
  },
  {
    code: "bmsk.clamp.b32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [4, 8, 0xff0],
      [28, 8, 0xf0000000],
      [32, 8, 0],
      [0, 32, minusOne],
    ],
  },
  { code: "dp4a.s32.u32 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0xff010203, 0xff010203, 10, 0xffffff19]] },
  { code: "dp2a.lo.s32.s32 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x0002ffff, 0x7f7f0305, 1, 2]] },
  { code: "dp2a.hi.u32.u32 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x00020003, 0x05040000, 1, 23]] },
  {
    code: "cnot.b32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0, 1],
      [7, 0],
    ],
  },
  // 9.7.2 extended precision
  {
    code: "{ .reg .b32 %x; add.cc.u32 %x, %a, %b; addc.u32 %d, %c, 0; }",
    widths: [32, 32, 32, 32],
    rows: [
      [minusOne, 1, 5, 6],
      [1, 1, 5, 5],
    ],
  },
  {
    code: "{ .reg .b32 %x; sub.cc.u32 %x, %a, %b; subc.u32 %d, %c, 0; }",
    widths: [32, 32, 32, 32],
    rows: [
      [0, 1, 5, 4],
      [1, 1, 5, 5],
    ],
  },
  {
    code: "{ .reg .b32 %x; mad.lo.cc.u32 %x, %a, %b, 0xffffffff; madc.hi.u32 %d, %a, %b, %c; }",
    widths: [32, 32, 32, 32],
    rows: [
      [0x10000, 0x10000, 1, 2],
      [3, 1, 0, 1],
    ],
  },
  {
    code: "{ .reg .b32 %x; .reg .b16 %y, %z; add.cc.u32 %x, %a, %b; cvt.u16.u32 %z, %c; addc.u16 %y, %z, %z; cvt.u32.u16 %d, %y; }",
    widths: [32, 32, 32, 32],
    rows: [
      [minusOne, 1, 0x8000, 1],
      [1, 1, 0x8000, 0],
    ],
  },
  {
    code: "{ .reg .b32 %x; add.cc.u32 %x, 0xffffffff, 1; addc.sat.s32 %d, %a, %b; }",
    widths: [32, 32, 32],
    rows: [
      [0x7fffffff, 0, 0x7fffffff],
      [0x7ffffffe, 0, 0x7fffffff],
      [0x80000000, minusOne, 0x80000000],
    ],
  },
  {
    code: "{ .reg .b32 %x; sub.cc.u32 %x, 0, 1; subc.sat.s32 %d, %a, %b; }",
    widths: [32, 32, 32],
    rows: [
      [0x80000000, 0, 0x80000000],
      [5, 2, 2],
    ],
  },
  {
    code: "{ .reg .b32 %x; sub.cc.u32 %x, 0, 1; subc.s16 %d, %a, %b; }",
    widths: [16, 16, 16],
    rows: [
      [0, 0, 0xffff],
      [0x8000, 1, 0x7ffe],
    ],
  },
  {
    code: "{ .reg .b32 %x; add.cc.u32 %x, 0xffffffff, 1; madc.lo.u16 %d, %a, %b, %c; }",
    widths: [16, 16, 16, 16],
    rows: [[0x100, 0x100, 7, 8]],
  },
  // 9.7.3 floating point
  {
    code: "add.ftz.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [1, 1, 0],
      [0x80000001, 0x80000000, 0x80000000],
      [0x00800000, 0x80000001, 0x00800000],
    ],
  },
  {
    code: "mul.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x00800000, 0x3f000000, 0x00400000],
      [0x7f800000, 0, nan],
      [quietNaN + 1, 0x3f800000, nan],
    ],
  },
  {
    code: "mul.ftz.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x00800000, 0x3f000000, 0],
      [0x80800000, 0x3f000000, 0x80000000],
    ],
  },
  {
    code: "add.sat.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x3f800000, 0x3f800000, 0x3f800000],
      [0xbf800000, 0, 0],
      [quietNaN, 0, 0],
      [0x3f000000, 0, 0x3f000000],
    ],
  },
  {
    code: "min.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0, 0x80000000, 0x80000000],
      [quietNaN, 0x3f800000, 0x3f800000],
      [quietNaN, quietNaN, nan],
    ],
  },
  {
    code: "max.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x80000000, 0, 0],
      [0x3f800000, quietNaN, 0x3f800000],
    ],
  },
  {
    code: "min.NaN.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [quietNaN, 0x3f800000, nan],
      [0x40000000, 0x3f800000, 0x3f800000],
    ],
  },
  {
    code: "max.xorsign.abs.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0xbf800000, 0x40000000, 0xc0000000],
      [0xbf800000, 0xc0000000, 0x40000000],
    ],
  },
  {
    code: "sqrt.rn.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0xbf800000, nan],
      [0x80000000, 0x80000000],
      [0x40000000, 0x3fb504f3],
    ],
  },
  {
    code: "rcp.rn.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x80000000, 0xff800000],
      [0x40400000, 0x3eaaaaab],
    ],
  },
  {
    code: "rsqrt.approx.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0, 0x7f800000],
      [0x7f800000, 0],
      [0xbf800000, nan],
      [0x40800000, 0x3f000000],
    ],
  },
  {
    code: "ex2.approx.ftz.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0, 0x3f800000],
      [0xff800000, 0],
      [0x7f800000, 0x7f800000],
      [0x41200000, 0x44800000],
    ],
  },
  {
    code: "lg2.approx.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0, 0xff800000],
      [0xbf800000, nan],
      [0x44800000, 0x41200000],
    ],
  },
  {
    code: "testp.subnormal.f32 %p, %a; selp.u32 %d, 1, 0, %p;",
    widths: [32, 32],
    rows: [
      [1, 1],
      [0, 0],
      [0x00800000, 0],
    ],
  },
  {
    code: "copysign.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x80000000, 0x3f800000, 0xbf800000],
      [0x3f800000, 0xc0000000, 0x40000000],
    ],
  },
  // 9.7.6 comparison
  // True is written as -1.
  { code: "mov.pred %p, -1; not.pred %p, %p; selp.u32 %d, 1, %a, %p;", widths: [32, 32], rows: [[7, 7]] },
  {
    code: "setp.ltu.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;",
    widths: [32, 32, 32],
    rows: [
      [quietNaN, 0, 1],
      [0x3f800000, 0, 0],
    ],
  },
  {
    code: "setp.ne.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;",
    widths: [32, 32, 32],
    rows: [
      [quietNaN, 0, 0],
      [0x3f800000, 0, 1],
      [0, 0x80000000, 0],
    ],
  },
  {
    code: "setp.nan.f64 %p, %a, %b; selp.u32 %d, 1, 0, %p;",
    widths: [32, 64, 64],
    rows: [
      [0x7ff8000000000000n, 0n, 1],
      [0n, 0n, 0],
    ],
  },
  {
    code: "setp.hi.u32 %p, %a, %b; selp.u32 %d, 1, 0, %p;",
    widths: [32, 32, 32],
    rows: [
      [minusOne, 1, 1],
      [1, minusOne, 0],
    ],
  },
  {
    code: "setp.lt.s64 %p, %a, %b; selp.u32 %d, 1, 0, %p;",
    widths: [32, 64, 64],
    rows: [
      [0xffffffffffffffffn, 0n, 1],
      [0x80000000n, 0x7fffffffn, 0],
    ],
  },
  {
    code: "set.gt.u32.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [1, minusOne, minusOne],
      [minusOne, 1, 0],
    ],
  },
  {
    code: "set.lt.f32.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0, 0x3f800000, 0x3f800000],
      [0x3f800000, 0, 0],
    ],
  },
  {
    code: "slct.s32.s32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [1, 2, 0, 1],
      [1, 2, minusOne, 2],
    ],
  },
  {
    code: "slct.u32.f32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [1, 2, 0x80000000, 1],
      [1, 2, quietNaN, 2],
      [1, 2, 0xbf800000, 2],
    ],
  },
  // 9.7.8 logic and shifts
  { code: "lop3.b32 %d, %a, %b, %c, 0x96;", widths: [32, 32, 32, 32], rows: [[0xff00ff00, 0x0ff00ff0, 0x12345678, 0xe2c4a688]] },
  { code: "lop3.b32 %d, %a, %b, %c, 0xe8;", widths: [32, 32, 32, 32], rows: [[0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0xe8e8e8e8]] },
  {
    code: "shl.b32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [1, 31, 0x80000000],
      [1, 32, 0],
      [1, minusOne, 0],
    ],
  },
  {
    code: "shr.s32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x80000000, 31, minusOne],
      [0x80000000, 40, minusOne],
      [0x40000000, 32, 0],
    ],
  },
  {
    code: "shr.u32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x80000000, 31, 1],
      [0x80000000, 32, 0],
    ],
  },
  {
    code: "shr.s64 %d, %a, %b;",
    widths: [64, 64, 32],
    rows: [
      [1n << 63n, 64, 0xffffffffffffffffn],
      [1n << 63n, 32, 0xffffffff80000000n],
      [0x123456789abcdefn, 4, 0x123456789abcden],
    ],
  },
  {
    code: "shl.b64 %d, %a, %b;",
    widths: [64, 64, 32],
    rows: [
      [1n, 63, 1n << 63n],
      [1n, 64, 0n],
      [0x123456789n, 36, 0x3456789000000000n],
    ],
  },
  {
    code: "shr.s16 %d, %a, %b;",
    widths: [16, 16, 32],
    rows: [
      [0x8000, 4, 0xf800],
      [0x8000, 16, 0xffff],
    ],
  },
  {
    code: "shf.l.clamp.b32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x11223344, 0x55667788, 8, 0x66778811],
      [0x11223344, 0x55667788, 40, 0x11223344],
    ],
  },
  {
    code: "shf.r.wrap.b32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x11223344, 0x55667788, 40, 0x88112233],
      [0x11223344, 0x55667788, 32, 0x11223344],
    ],
  },
  {
    code: "prmt.b32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x44332211, 0x887766a5, 0x7531, 0x88664422],
      [0x44332281, 0x887766a5, 0xfc84, 0xffff_ffa5],
    ],
  },
  { code: "prmt.b32.b4e %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x44332211, 0x88776655, 1, 0x77881122]] },
  {
    code: "brev.b64 %d, %a;",
    widths: [64, 64],
    rows: [
      [1n, 1n << 63n],
      [0x1234n, 0x2c48000000000000n],
    ],
  },
  {
    code: "fns.b32 %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0xaaaaaaaa, 3, 2, 5],
      [0xaaaaaaaa, 3, 0, 3],
      [0xaaaaaaaa, 3, 0xfffffffe, 1],
      [0xaaaaaaaa, 30, 2, minusOne],
    ],
  },
  // 9.7.9 moves and conversions
  { code: "mov.b64 {%d, _}, %a;", widths: [32, 64], rows: [[0x1122334455667788n, 0x55667788]] },
  { code: "mov.b32 %d, {%a, %b};", widths: [32, 16, 16], rows: [[0x1234, 0xabcd, 0xabcd1234]] },
  {
    code: "cvt.sat.u8.s32 %d, %a;",
    widths: [32, 32],
    rows: [
      [300, 255],
      [minusOne, 0],
      [77, 77],
    ],
  },
  {
    code: "cvt.s8.s32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x180, 0xffffff80],
      [0x7f, 0x7f],
    ],
  },
  {
    code: "cvt.sat.s32.s64 %d, %a;",
    widths: [32, 64],
    rows: [
      [0x80000000n, 0x7fffffff],
      [0xffffffff7fffffffn, 0x80000000],
      [0xffffffffffffffffn, minusOne],
    ],
  },
  { code: "cvt.s64.s16 %d, %a;", widths: [64, 16], rows: [[0x8000, 0xffffffffffff8000n]] },
  {
    code: "cvt.rni.s32.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x3f000000, 0],
      [0x3fc00000, 2],
      [0x40200000, 2],
      [quietNaN, 0],
      [0x7f800000, 0x7fffffff],
      [0xff800000, 0x80000000],
    ],
  },
  {
    code: "cvt.rzi.u64.f64 %d, %a;",
    widths: [64, 64],
    rows: [
      [0xbff0000000000000n, 0n],
      [0x7ff8000000000000n, 1n << 63n],
      [0x43f0000000000000n, 0xffffffffffffffffn],
      [0x43e0000000000000n, 1n << 63n],
    ],
  },
  {
    code: "cvt.rzi.s32.f64 %d, %a;",
    widths: [32, 64],
    rows: [
      [0x7ff8000000000000n, 0x80000000],
      [0xc1e0000000200000n, 0x80000000],
    ],
  },
  {
    code: "cvt.rni.f32.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x40200000, 0x40000000],
      [0xbe800000, 0x80000000],
    ],
  },
  {
    code: "cvt.sat.f32.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x40200000, 0x3f800000],
      [0xbe800000, 0],
      [quietNaN, 0],
    ],
  },
  {
    code: "cvt.rna.tf32.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x3f801000, 0x3f802000],
      [0x3f800fff, 0x3f800000],
    ],
  },
  { code: "cvt.rn.f16x2.f32 %d, %a, %b;", widths: [32, 32, 32], rows: [[0x3f800000, 0xc0000000, 0x3c00c000]] },
  { code: "cvt.rn.relu.bf16x2.f32 %d, %a, %b;", widths: [32, 32, 32], rows: [[0x3f808000, 0xc0000000, 0x3f800000]] },
  { code: "cvt.pack.sat.s16.s32 %d, %a, %b;", widths: [32, 32, 32], rows: [[40000, 0xffff0000, 0x7fff8000]] },
  // Rounding this to a double first would lose its last bit, and with it the way to round.
  {
    code: "cvt.rn.f32.s64 %d, %a;",
    widths: [32, 64],
    rows: [
      [0x1000001000000001n, 0x5d800001],
      [0xefffffefffffffffn, 0xdd800001],
    ],
  },
  { code: "cvt.rn.f32.u64 %d, %a;", widths: [32, 64], rows: [[0x8000008000000001n, 0x5f000001]] },
  // 9.3 guards: a lane whose guard is false keeps what it had
  {
    code: "mov.b32 %d, %b; setp.gt.u32 %p, %a, 5; @%p add.u32 %d, %d, 1; @!%p mul.lo.u32 %d, %d, 3;",
    widths: [32, 32, 32],
    rows: [
      [9, 10, 11],
      [1, 10, 30],
    ],
  },
  {
    code: "mov.b32 %d, %b; bra.uni next; next: setp.gt.u32 %p, %a, 5; @%p mov.b32 %d, 7;",
    widths: [32, 32, 32],
    rows: [
      [9, 10, 7],
      [1, 10, 10],
    ],
  },
  {
    code: "mov.b32 %d, %b; bra.uni next; next: setp.gt.u32 %p, %a, 5; @%p add.f32 %d, %d, 0f3F800000;",
    widths: [32, 32, 32],
    rows: [
      [9, 0x40000000, 0x40400000],
      [1, 0x40000001, 0x40000001],
    ],
  },
  // Beyond what the type holds the largest value, a NaN as NaN.
  {
    code: "cvt.rn.satfinite.f16.f32 %d, %a;",
    widths: [16, 32],
    rows: [
      [0x7f7fffff, 0x7bff],
      [0xff800000, 0xfbff],
      [0x477fefff, 0x7bff],
      [quietNaN, 0x7fff],
    ],
  },
  {
    code: "cvt.rn.satfinite.relu.bf16x2.f32 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0x7f800000, 0xff800000, 0x7f7f0000],
      [quietNaN, 0x7f7fffff, 0x7fff7f7f],
    ],
  },
  {
    code: "cvt.rna.satfinite.tf32.f32 %d, %a;",
    widths: [32, 32],
    rows: [
      [0x7f7fffff, 0x7f7fe000],
      [0xff800000, 0xff7fe000],
      [0x3f801000, 0x3f802000],
    ],
  },
  {
    code: "cvt.bf16.f16 %d, %a;",
    widths: [16, 16],
    rows: [
      [0x3c00, 0x3f80],
      [0x3c04, 0x3f80],
      [0x3c0c, 0x3f82],
    ],
  },
  // 9.7.4 half precision
  {
    code: "min.xorsign.abs.f16x2 %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [0xc0003c00, 0x3c00c000, 0xbc00bc00],
      [0xc0007e00, 0xbc003c00, 0x3c003c00],
    ],
  },
  {
    code: "max.NaN.xorsign.abs.bf16 %d, %a, %b;",
    widths: [16, 16, 16],
    rows: [
      [0xbf80, 0x4000, 0xc000],
      [0xbf80, 0xc000, 0x4000],
      [0xffc0, 0x4000, 0x7fff],
    ],
  },
  { code: "fma.rn.f16x2 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x3c004000, 0x40004000, 0x3c003c00, 0x42004500]] },
  {
    code: "fma.rn.relu.f16 %d, %a, %b, %c;",
    widths: [16, 16, 16, 16],
    rows: [
      [0xbc00, 0x3c00, 0, 0],
      [0x7e00, 0, 0, 0x7fff],
    ],
  },
  {
    code: "min.f16 %d, %a, %b;",
    widths: [16, 16, 16],
    rows: [
      [0, 0x8000, 0x8000],
      [0x7e00, 0x3c00, 0x3c00],
    ],
  },
  { code: "fma.rn.bf16x2 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x3f804000, 0x40004000, 0x3f803f80, 0x404040a0]] },
  // 9.7.9.3 moves of vectors
  { code: "{ .reg .b16 %x, %y; mov.b32 {%x, %y}, %a; mov.b32 %d, {%y, %x}; }", widths: [32, 32], rows: [[0x12345678, 0x56781234]] },
  {
    code: "{ .reg .b32 %x, %y; mov.v2.b32 {%x, %y}, {%a, %b}; mov.v2.b32 {%x, %y}, {%y, %x}; mov.b64 %d, {%x, %y}; }",
    widths: [64, 32, 32],
    rows: [[1, 2, 0x100000002n]],
  },
  {
    code: "{ .reg .b8 %x, %y, %z, %w; mov.b32 {%x, %y, %z, _}, %a; mov.b32 {_, _, _, %w}, %a; mov.b32 %d, {%w, %x, %z, %y}; }",
    widths: [32, 32],
    rows: [[0x44332211, 0x22331144]],
  },
  {
    code: "{ .reg .v4 .u32 %x; mov.v4.u32 %x, %ntid; mov.b64 %d, {%x.y, %x.w}; }",
    widths: [64, 32],
    rows: [[0, 1]],
  },
  // 9.7.18 video
  {
    code: "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0xff00807f, 0x00ff7f80, 100, 612],
      [0x01020304, 0x04030201, minusOne, 7],
    ],
  },
  { code: "vabsdiff4.u32.s32.s32 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x80ff017f, 0x7f01ff80, 0, 0xff0202ff]] },
  { code: "vabsdiff4.s32.s32.s32.sat %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x80ff017f, 0x7f01ff80, 0, 0x7f02027f]] },
  {
    code: "vadd4.u32.u32.u32.sat %d.b31, %a, %b, %c;",
    widths: [32, 32, 32, 32],
    rows: [[0xff80ff01, 0x02800201, 0x11223344, 0xff22ff44]],
  },
  { code: "vsub4.s32.s32.s32.sat %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x807f0001, 0x01ff0102, 0, 0x807fffff]] },
  { code: "vsub4.u32.u32.u32.add %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0, 0x01020304, 5, 0xfffffffb]] },
  { code: "vavrg4.s32.s32.s32 %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0xfd037fff, 0xfe047fff, 0, 0xfd047fff]] },
  { code: "vmin4.s32.s32.u32 %d, %a.b0123, %b.b7654, %c;", widths: [32, 32, 32, 32], rows: [[0x01ff8005, 0x00ffff10, 0, 0x0080ff01]] },
  { code: "vset4.u32.s32.gt.add %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x01ff7f80, 0xff017f80, 10, 13]] },
  { code: "vadd2.s32.s32.s32.sat %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x7fff8000, 0x0001ffff, 0, 0x7fff8000]] },
  {
    code: "vavrg2.u32.u32.u32 %d.h1, %a.h00, %b.h23, %c;",
    widths: [32, 32, 32, 32],
    rows: [[0x11110003, 0x00040005, 0x12345678, 0x00045678]],
  },
  { code: "vadd.s32.u32.s32.sat %d, %a, %b;", widths: [32, 32, 32], rows: [[minusOne, minusOne, 0x7fffffff]] },
  {
    code: "vsub.u32.u32.u32.sat %d.b2, %a.b3, %b.h1, %c;",
    widths: [32, 32, 32, 32],
    rows: [[0x06000000, 0x00050000, 0xaabbccdd, 0xaa01ccdd]],
  },
  { code: "vabsdiff.s32.s32.s32.sat.add %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[0x80000000, 1, 1, 0x80000000]] },
  {
    code: "vmax.s32.s32.s32.min %d, %a.b0, %b.h1, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x80, 0x80000000, 5, 0xffffff80],
      [0x7f, 0, 5, 5],
    ],
  },
  {
    code: "vshl.u32.u32.u32.sat.clamp %d, %a, %b;",
    widths: [32, 32, 32],
    rows: [
      [3, 31, minusOne],
      [1, 31, 0x80000000],
      [0, 40, 0],
    ],
  },
  { code: "vshr.s32.s32.u32.wrap %d, %a.h1, %b.b0;", widths: [32, 32, 32], rows: [[0x80000000, 33, 0xffffc000]] },
  {
    code: "vmad.s32.s32.s32.sat.shr15 %d, %a.h0, -%b.h0, %c;",
    widths: [32, 32, 32, 32],
    rows: [
      [0x8000, 0x8000, 0, 0xffff8000],
      [0x4000, 0x0002, 0x8000, 0],
    ],
  },
  { code: "vmad.u32.u32.u32.po.sat %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[2, 3, 4, 11]] },
  { code: "vset.s32.u32.lt.max %d, %a, %b, %c;", widths: [32, 32, 32, 32], rows: [[minusOne, 0, 0, 1]] },
  // 9.7.9.22 cvt: 8-bit floats
  {
    code: "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
    widths: [16, 32, 32],
    rows: [
      [0x3f800000, 0xbf800000, 0x38b8],
      [quietNaN, 0xffc00000, 0x7f7f],
      [0x7f800000, 0xff800000, 0x7efe],
      [0x43e00001, 0x43e7ffff, 0x7e7e],
      [0x3a800000, 0x3a800001, 0x0001],
      [0x3b400000, 0x80000001, 0x0280],
      [0x3f880000, 0x3f980000, 0x383a],
    ],
  },
  {
    code: "cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;",
    widths: [16, 32, 32],
    rows: [
      [quietNaN, 0xffc00001, 0x7f7f],
      [0x7f800000, 0xff800000, 0x7bfb],
      [0x47700000, 0x37000000, 0x7b00],
      [0x3f900000, 0x3fb00000, 0x3c3e],
    ],
  },
  {
    code: "cvt.rn.satfinite.relu.e4m3x2.f32 %d, %a, %b;",
    widths: [16, 32, 32],
    rows: [
      [0xbf800000, 0x80000000, 0],
      [0xffc00000, 0xff800000, 0x7f00],
    ],
  },
  {
    code: "cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;",
    widths: [16, 32],
    rows: [
      [0x3c00bc00, 0x38b8],
      [0xfe007c01, 0x7f7f],
      [0x7c00fbff, 0x7efe],
      [0x00011400, 0x0000],
    ],
  },
  {
    code: "cvt.rn.satfinite.relu.e5m2x2.f16x2 %d, %a;",
    widths: [16, 32],
    rows: [
      [0xfe008000, 0x7f00],
      [0x3c807c00, 0x3c7b],
    ],
  },
  {
    code: "cvt.rn.f16x2.e4m3x2 %d, %a;",
    widths: [32, 16],
    rows: [
      [0xff7f, 0x7fff7fff],
      [0x01fe, 0x1800df00],
    ],
  },
  {
    code: "cvt.rn.f16x2.e5m2x2 %d, %a;",
    widths: [32, 16],
    rows: [
      [0xfd7e, 0x7fff7fff],
      [0x01fc, 0x0100fc00],
    ],
  },
  { code: "cvt.rn.relu.f16x2.e5m2x2 %d, %a;", widths: [32, 16], rows: [[0xfcff, 0x7fff]] },
];

const suffix = (width: number): string => (width === 64 ? "rd" : width === 16 ? "h" : "r");

/**
 * PTX with one kernel a case, `k0`, `k1`, ...: thread i reads operands at in + 24 i, writes the
 * result at out + 8 i.
 */
export function instructionModule(cases: readonly InstructionCase[]): string {
  const kernels = cases.map(({ code, widths }, k) => {
    const [result, ...operands] = widths;
    const names = ["%a", "%b", "%c"];
    const loads = operands.map((width, j) => `  ld.global.b${width} ${names[j]}${suffix(width)}, [%in+${8 * j}];`);
    const body = operands
      .reduce((text, width, j) => text.replaceAll(new RegExp(`${names[j]}\\b`, "g"), names[j] + suffix(width)), code)
      .replaceAll(/%d\b/g, `%d${suffix(result)}`);
    return `.visible .entry k${k}(.param .u64 in, .param .u64 out)
{
  .reg .pred %p;
  .reg .b16 %ah, %bh, %ch, %dh;
  .reg .b32 %ar, %br, %cr, %dr, %t;
  .reg .b64 %ard, %brd, %crd, %drd, %in, %out, %zero;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %in, %t, 24, %in;
  mad.wide.u32 %out, %t, 8, %out;
  mov.b64 %zero, 0;
  st.global.b64 [%out], %zero;
${loads.join("\n")}
  ${body}
  st.global.b${result} [%out], %d${suffix(result)};
  ret;
}`;
  });
  return `.version 8.1\n.target sm_90\n.address_size 64\n${kernels.join("\n")}\n`;
}
