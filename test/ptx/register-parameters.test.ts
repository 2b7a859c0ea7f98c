// Functions that take and return registers, as PTX written by hand has them: values of every size,
// both kinds of parameters mixed, recursion.
import { expect, it } from "vitest";
import { PtxMachine } from "../../packages/ptx/src/interpreter/index.js";
import { Bench, input, output } from "./device.js";

/**
 * A kernel after some functions: `%a` holds the thread's input, and what it leaves in `%d` is
 * stored.
 */
function results(functions: string, body: string, values: readonly number[]): number[] {
  const bench = new Bench(`.version 8.1\n.target sm_75\n.address_size 64\n${functions}
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %a, %d, %t; .reg .b64 %in, %out;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %in, %t, 4, %in; mad.wide.u32 %out, %t, 4, %out;
  ld.global.b32 %a, [%in];
  ${body}
  st.global.b32 [%out], %d;
  ret;
}`);
  const got = new Int32Array(values.length);
  bench.run("k", { grid: 1, block: values.length }, [input(Int32Array.from(values)), output(got)]);
  return [...got];
}

const twice = ".func (.reg .b32 r) twice (.reg .b32 a) { add.s32 r, a, a; ret; }";

it("takes and returns words", () => {
  expect(results(twice, "call (%d), twice, (%a);", [3, -4])).toEqual([6, -8]);
  expect(results(twice, "call (%d), twice, (21);", [0])).toEqual([42]);
  expect(results(twice, "mov.b32 %d, 5; call (_), twice, (%a);", [7])).toEqual([5]);
  expect(results(twice, "call (%a), twice, (%a); call (%d), twice, (%a);", [5])).toEqual([20]);
});

it("calls under a guard only for the lanes that it lets through", () => {
  const body = ".reg .pred p; setp.gt.s32 p, %a, 0; mov.b32 %d, -1; @p call (%d), twice, (%a);";
  expect(results(twice, body, [3, -4, 0, 9])).toEqual([6, -1, -1, 18]);
});

it("returns what the register holds at each way out", () => {
  const least = `.func (.reg .s32 r) least (.reg .s32 a, .reg .s32 b)
  { .reg .pred p; mov.b32 r, a; setp.lt.s32 p, a, b; @p ret; mov.b32 r, b; }`;
  expect(results(least, "call (%d), least, (%a, 10);", [3, 12])).toEqual([3, 10]);
});

it("takes predicates, doubles and vectors", () => {
  const functions = `.func (.reg .pred q) not_ (.reg .pred p) { not.pred q, p; ret; }
.func (.reg .f64 r) half (.reg .f64 a, .reg .f64 b) { fma.rn.f64 r, a, 0d3FE0000000000000, b; ret; }
.func (.reg .v2 .b32 r) swap (.reg .v2 .b32 a) { mov.b32 r.x, a.y; mov.b32 r.y, a.x; ret; }`;
  const body = `.reg .pred p, q; .reg .f64 x, y; .reg .v2 .b32 v, w;
  setp.gt.s32 p, %a, 0; call (q), not_, (p);
  cvt.rn.f64.s32 x, %a; call (y), half, (x, 0d4024000000000000); cvt.rni.s32.f64 %d, y;
  mov.b32 v.x, %d; mov.b32 v.y, 100; call (w), swap, (v);
  @q add.s32 %d, %d, w.x;`;
  expect(results(functions, body, [4, -4])).toEqual([12, 108]);
});

it("passes registers to parameters in memory, and memory to parameters in registers", () => {
  const functions = `${twice}
.func (.param .b32 r) next (.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; add.s32 x, x, 1; st.param.b32 [r], x; ret; }`;
  const body = `.param .b32 s; .param .b32 t; call (%a), next, (%a); st.param.b32 [s], %a; call (t), twice, (s); ld.param.b32 %d, [t];`;
  expect(results(functions, body, [4])).toEqual([10]);
});

it("keeps the registers of each call apart in recursion, and through pointers", () => {
  const functions = `.func (.reg .u32 r) factorial (.reg .u32 n);
.func (.reg .u32 r) factorial (.reg .u32 n)
{ .reg .pred p; .reg .u32 m; mov.u32 r, 1; setp.le.u32 p, n, 1; @p ret; sub.u32 m, n, 1; call (r), factorial, (m); mul.lo.u32 r, r, n; ret; }`;
  expect(results(functions, "call (%d), factorial, (%a);", [1, 5, 10])).toEqual([1, 120, 3628800]);
  const indirect = ".reg .b64 %f; mov.u64 %f, factorial; shape: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%d), %f, (%a), shape;";
  expect(results(functions, indirect, [6])).toEqual([720]);
});

it("returns several values", () => {
  const functions = ".func (.reg .b32 q, .reg .b32 r) divide (.reg .b32 a, .reg .b32 b) { div.s32 q, a, b; rem.s32 r, a, b; ret; }";
  expect(results(functions, ".reg .b32 q, r; call (q, r), divide, (%a, 7); mad.lo.s32 %d, q, 100, r;", [30, 48])).toEqual([402, 606]);
});

it("is refused for kernels", () => {
  const text = ".version 8.1\n.target sm_75\n.address_size 64\n.entry k(.reg .b32 a) { ret; }";
  expect(() => new PtxMachine({ memoryBytes: 4096, launchBytes: 4096 }).load(text)).toThrow("parameters are in the param space");
});
