// alloca, stacksave and stackrestore: local memory that each lane takes while a function runs.
import { describe, expect, it } from "vitest";
import { Bench, input, output, simulationError } from "./device.js";

const head = ".version 8.1\n.target sm_75\n.address_size 64\n";

/**
 * Sums 1 to n, written into n words of the stack first: in a function, to have calls come and go.
 */
const sums = `${head}.func (.reg .u32 sum) total (.reg .u32 n)
{
  .reg .b64 %size, %p, %q; .reg .b32 %k; .reg .pred %more;
  mul.wide.u32 %size, n, 4;
  alloca.u64 %p, %size, 4;
  mov.u64 %q, %p; mov.u32 %k, 0;
FILL:
  add.u32 %k, %k, 1;
  st.local.u32 [%q], %k;
  add.u64 %q, %q, 4;
  setp.lt.u32 %more, %k, n;
  @%more bra FILL;
  mov.u32 sum, 0;
SUM:
  sub.u64 %q, %q, 4;
  ld.local.u32 %k, [%q];
  add.u32 sum, sum, %k;
  setp.gt.u64 %more, %q, %p;
  @%more bra SUM;
  ret;
}
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %n, %t, %a, %b; .reg .b64 %in, %out, %p; .local .u32 own;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %in, %t, 4, %in; mad.wide.u32 %out, %t, 4, %out;
  ld.global.u32 %n, [%in];
  st.local.u32 [own], %t;
  cvt.u64.u32 %p, %n;
  alloca.u64 %p, %p;
  st.local.u8 [%p], %n;
  call (%a), total, (%n);
  call (%b), total, (%n);
  add.u32 %a, %a, %b;
  ld.local.u8 %b, [%p]; add.u32 %a, %a, %b;
  ld.local.u32 %b, [own]; add.u32 %a, %a, %b;
  st.global.u32 [%out], %a;
  ret;
}`;

describe("the stack", () => {
  it("grows in each lane by what that lane asks for, and shrinks when its function returns", () => {
    const n = Int32Array.from({ length: 64 }, (_, k) => 1 + ((k * 7) % 50));
    const got = new Int32Array(64);
    new Bench(sums).run("k", { grid: 1, block: 64, limits: { stackBytes: 512 } }, [input(n), output(got)]);
    expect([...got]).toEqual([...n].map((each, k) => each * (each + 1) + each + k));
  });

  const run = (code: string, stackBytes = 256): number[] => {
    const got = new BigUint64Array(32);
    new Bench(`${head}.visible .entry k(.param .u64 out)
{
  .reg .b32 %t; .reg .b64 %out, %size, %p, %q, %s; .local .align 4 .b8 own[4];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %out, %t, 8, %out;
  ${code}
  st.global.u64 [%out], %p;
  ret;
}`).run("k", { grid: 1, block: 32, limits: { stackBytes } }, [output(got)]);
    return [...got].map(Number);
  };

  it("aligns what it gives to 8 bytes, or as asked", () => {
    expect(run("alloca.u64 %p, 1; alloca.u64 %p, 1;")[0]! % 8).toBe(0);
    expect(run("alloca.u64 %p, 1; alloca.u64 %p, 1, 64;")[0]! % 64).toBe(0);
  });

  it("is generic memory through cvta, and is given back by stackrestore", () => {
    expect(run("alloca.u64 %p, 8; cvta.local.u64 %q, %p; st.u64 [%q], 77; ld.local.u64 %p, [%p];")).toEqual(Array(32).fill(77));
    const loop = `stacksave.u64 %s; mov.u64 %size, 100; .reg .pred %more; mov.u64 %p, 0;
AGAIN: alloca.u64 %q, 128; stackrestore.u64 %s; add.u64 %p, %p, 1; setp.lt.u64 %more, %p, %size; @%more bra AGAIN;`;
    expect(run(loop)).toEqual(Array(32).fill(100));
  });

  it("overflows with an error that names the lane's wish", () => {
    const error = simulationError(() => run("cvt.u64.u32 %size, %t; mul.lo.u64 %size, %size, 100; alloca.u64 %p, %size;"));
    expect(error.kind).toBe("stackOverflow");
    expect(error.message).toContain("alloca of 300 bytes");
    expect(simulationError(() => run("mov.u64 %size, -1; alloca.u64 %p, %size;")).kind).toBe("stackOverflow");
  });

  it("is not restored to what was never saved", () => {
    expect(simulationError(() => run("mov.u64 %p, 4096; stackrestore.u64 %p;")).message).toContain("stackrestore to an address");
  });
});
