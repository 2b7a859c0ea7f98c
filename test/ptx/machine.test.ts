// The simulated device as a host sees it: the parsed module, launches, counters, memory; and how
// close the approximations come.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cosine, exp2, hyperbolicTangent, log2, sine } from "../../packages/ptx/src/interpreter/arithmetic/approximate.js";
import { parsePtx } from "../../packages/ptx/src/interpreter/index.js";
import { Bench, fixture, input, output, simulationError } from "./device.js";

const header = ".version 7.0\n.target sm_75, texmode_independent\n.address_size 64\n";

describe("the parser", () => {
  it("takes no line of the CUDA source over from the function before", () => {
    const module = parsePtx(".version 8.0\n.target sm_75\n.func f() { .loc 1 7 3 ret; }\n.entry k() { ret; }");
    const located = (name: string) => (module.functions.get(name)!.statements[0] as { location?: unknown }).location;
    expect(located("f")).toMatchObject({ file: 1, line: 7 });
    expect(located("k")).toBeUndefined();
  });

  it("reads what a module declares", () => {
    const module = parsePtx(
      `${header}
      .file 1 "kernel.cu"
      .extern .shared .align 16 .b8 dynamic[];
      .visible .const .align 4 .f32 table[2] = {0f3F800000, 2.5};
      .visible .global .align 8 .u64 pointer[2] = {generic(table)+4, k};
      .global .align 1 .b8 text[4] = {104, 105, 0};
      .section .debug_str { .b8 0 }
      .visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24]) .maxntid 128, 1, 1 .minnctapersm 2
      { .reg .b32 %r<3>; .reg .v2 .f32 %v; .loc 1 7 3 mov.u32 %r1, (1 << 4) | 3; { .reg .pred p; L: } @!0 ret; }`.replace(
        "@!0 ret;",
        "ret;",
      ),
    );
    expect([module.version, module.target, module.addressSize]).toEqual([[7, 0], ["sm_75", "texmode_independent"], 64]);
    expect(module.variables.get("table")).toMatchObject({
      space: "const",
      bytes: 8,
      alignment: 4,
      initial: new Map([
        [0, { kind: "bits", value: 0x3f800000n }],
        [1, { kind: "bits", value: 0x40200000n }],
      ]),
    });
    expect(module.variables.get("dynamic")).toMatchObject({ space: "shared", bytes: 0, external: true });
    expect(module.variables.get("pointer")!.initial.get(0)).toEqual({ kind: "symbol", name: "table", offset: 4, generic: true });
    const kernel = module.functions.get("k")!;
    expect(kernel.parameters.map(({ name, bytes, alignment }) => [name, bytes, alignment])).toEqual([
      ["p", 8, 8],
      ["s", 24, 8],
    ]);
    expect([...kernel.directives]).toEqual([
      ["maxntid", [128, 1, 1]],
      ["minnctapersm", [2]],
    ]);
    expect(kernel.registers.map(({ name }) => name)).toEqual(["%r1"]);
    expect(kernel.statements[0]).toMatchObject({
      opcode: "mov",
      modifiers: ["u32"],
      location: { file: 1, line: 7 },
      operands: [{ kind: "register" }, { kind: "integer", value: 19n }],
    });
    expect(module.files.get(1)).toBe("kernel.cu");
  });

  it("keeps the registers and labels of two inlined pieces of assembly apart", () => {
    const bench = new Bench(`${header}.visible .entry k(.param .u64 out)
{ .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [out]; mov.u32 %r, 5;
  { .reg .pred p; setp.gt.u32 p, %r, 3; @p bra over; add.u32 %r, %r, 100; over: add.u32 %r, %r, 1; }
  { .reg .pred p; setp.gt.u32 p, %r, 9; @p bra over; add.u32 %r, %r, 200; over: add.u32 %r, %r, 2; }
  st.global.u32 [%d], %r; ret; }`);
    const out = new Int32Array(1);
    bench.run("k", { grid: 1, block: 1 }, [output(out)]);
    expect(out[0]).toBe(5 + 1 + 200 + 2);
  });

  it("gives errors the line of the CUDA source", () => {
    const bench = new Bench(`${header}.file 3 "step.cu"\n.visible .entry k() { .loc 3 41 5\n trap; }`);
    expect(simulationError(() => bench.run("k", { grid: [2, 1, 1], block: 1 }, []))).toMatchObject({
      site: { source: "step.cu:41", line: 6, block: { x: 0, y: 0, z: 0 } },
      message: 'trap; in k, PTX line 6 (step.cu:41) "trap", block (0,0,0), thread (0,0,0)',
    });
  });

  it("gives errors in what was inlined the line of the outermost call as well", () => {
    const bench = new Bench(`${header}.file 1 "step.cu"\n.file 2 "reduce.cuh"
.visible .entry k() { .loc 1 41 5 .loc 2 10 3, function_name $n, inlined_at 1 41 5 .loc 2 7 3, function_name $m, inlined_at 2 10 3
trap; }`);
    expect(simulationError(() => bench.run("k", { grid: 1, block: 1 }, []))).toMatchObject({
      site: { source: "reduce.cuh:7", inlinedAt: "step.cu:41" },
      message: 'trap; in k, PTX line 7 (reduce.cuh:7, inlined at step.cu:41) "trap", block (0,0,0), thread (0,0,0)',
    });
  });
});

describe("a launch", () => {
  it("counts instructions, bytes and barriers", () => {
    const bench = new Bench(fixture("compute"));
    const { counters } = bench.run("shared_tile", { grid: [2, 2], block: [16, 16] }, [
      input(new Float32Array(1024)),
      output(new Float32Array(1024)),
      32,
    ]);
    expect(counters.bytes).toMatchObject({ global: 8 * 1024, shared: 8 * 1024 });
    expect(counters.barriers).toBe(4);
    expect(counters.byClass.memory).toBe(1024 * (2 + 2 + 3));
    expect(Object.values(counters.byClass).reduce((a, b) => a + b, 0)).toBe(counters.instructions);
  });

  it("knows each thread's place in three dimensions", () => {
    const bench = new Bench(`${header}.visible .entry k(.param .u64 out)
{ .reg .b32 %a, %b, %c, %n; .reg .b64 %d; ld.param.u64 %d, [out];
  mov.u32 %a, %ctaid.z; mov.u32 %n, %nctaid.y; mov.u32 %b, %ctaid.y; mad.lo.u32 %a, %a, %n, %b;
  mov.u32 %n, %ntid.z; mov.u32 %b, %tid.z; mad.lo.u32 %a, %a, %n, %b;
  mov.u32 %n, %ntid.y; mov.u32 %b, %tid.y; mad.lo.u32 %a, %a, %n, %b;
  mov.u32 %n, %ntid.x; mov.u32 %b, %tid.x; mad.lo.u32 %a, %a, %n, %b;
  mad.wide.u32 %d, %a, 4, %d; st.global.u32 [%d], %a; ret; }`);
    const out = new Int32Array(2 * 3 * 2 * 5 * 7);
    bench.run("k", { grid: [1, 3, 2], block: [7, 5, 2] }, [output(out)]);
    expect([...out]).toEqual([...out.keys()]);
  });

  it("gives dynamic shared memory after the static, and a clock that goes on", () => {
    const bench = new Bench(`${header}.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out)
{ .reg .b32 %a, %b; .reg .b64 %d, %s, %t; .shared .b32 fixed[3]; ld.param.u64 %d, [out];
  mov.u64 %s, %globaltimer; mov.u32 %a, dynamic; st.global.u32 [%d], %a; mov.u32 %a, %dynamic_smem_size; st.global.u32 [%d+4], %a;
  nanosleep.u32 100; mov.u64 %t, %globaltimer; sub.u64 %t, %t, %s; cvt.u32.u64 %a, %t; min.u32 %a, %a, 1; st.global.u32 [%d+8], %a; st.shared.b32 [fixed], %a; ret; }`);
    const out = new Int32Array(3);
    bench.run("k", { grid: 1, block: 1, dynamicSharedBytes: 64 }, [output(out)]);
    expect([...out]).toEqual([16, 64, 1]);
  });

  it("lets the lane that holds a lock go on while the others of its warp spin at an earlier place", () => {
    const bench = new Bench(`${header}.visible .entry k(.param .u64 lock, .param .u64 count)
{ .reg .pred %p; .reg .b32 %old, %c; .reg .b64 %l, %n; ld.param.u64 %l, [lock]; ld.param.u64 %n, [count];
take: atom.global.cas.b32 %old, [%l], 0, 1; setp.ne.u32 %p, %old, 0; @%p bra take;
  ld.volatile.global.u32 %c, [%n]; add.u32 %c, %c, 1; st.volatile.global.u32 [%n], %c;
  membar.gl; atom.global.exch.b32 %old, [%l], 0; ret; }`);
    const [lock, count] = [new Int32Array(1), new Int32Array(1)];
    bench.run("k", { grid: 1, block: 64 }, [output(lock), output(count)], true);
    expect([lock[0], count[0]]).toEqual([0, 64]);
  });

  it("gives the same bits and counts every time", () => {
    const bench = new Bench(fixture("compute"));
    const once = () => {
      const counts = [new Int32Array(1), new Int32Array(1)];
      const { counters } = bench.run("spin_lock", { grid: 4, block: 96 }, [output(counts[0]!), output(counts[1]!)], true);
      return JSON.stringify([counters, [...counts[1]!]]);
    };
    expect(once()).toBe(once());
  });

  it("copies within the device, unwritten bytes staying unwritten", () => {
    const { machine } = new Bench(fixture("compute"));
    const [a, b] = [machine.allocate(16), machine.allocate(16)];
    machine.write(a, Float32Array.from([1, 2, 3, 4]));
    machine.copy(b, a, 8);
    expect([...new Float32Array(machine.read(b, 8).buffer)]).toEqual([1, 2]);
    expect(() => machine.read(b, 20)).toThrow(/a copy of 20 bytes at 0x7[0-9a-f]+ leaves what is allocated/);
  });
});

describe("approximations are within 1e-14 of the functions they name, before their one rounding", () => {
  const close = (got: number, expected: number, scale = Math.abs(expected)): void => {
    expect(Math.abs(got - expected)).toBeLessThanOrEqual(1e-14 * scale);
  };
  it.each([
    ["exp2", (x: number) => close(exp2(x), 2 ** x), 120],
    ["log2", (x: number) => close(log2(Math.abs(x) + 1e-9), Math.log2(Math.abs(x) + 1e-9), 1), 1e6],
    ["sine", (x: number) => close(sine(x), Math.sin(x), 1), 1e5],
    ["cosine", (x: number) => close(cosine(x), Math.cos(x), 1), 1e5],
    ["hyperbolicTangent", (x: number) => close(hyperbolicTangent(x), Math.tanh(x)), 30],
  ])("%s", (_, check, range) => {
    fc.assert(fc.property(fc.double({ min: -range, max: range, noNaN: true }), check), { numRuns: 2000 });
  });
});

describe("red.async", () => {
  it("adds in the shared memory of another block of the cluster, and counts its bytes at the barrier there", () => {
    const bench = new Bench(`.version 8.1\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 out) .reqnctapercluster 4, 1, 1
{ .reg .b64 %o; .reg .b32 %rank, %sum, %bar, %to, %there, %v; .reg .pred %p; .shared .align 8 .b64 barrier; .shared .b32 total;
  ld.param.u64 %o, [out]; mov.u32 %rank, %cluster_ctarank; mov.u32 %bar, barrier; mov.u32 %sum, total;
  setp.ne.u32 %p, %rank, 0; @%p bra ready;
  st.shared.u32 [%sum], 100; mbarrier.init.shared::cta.b64 [%bar], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 12;
ready:
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  @!%p bra wait;
  mapa.shared::cluster.u32 %to, %sum, 0; mapa.shared::cluster.u32 %there, %bar, 0;
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%to], %rank, [%there];
  bra over;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0; @!%p bra wait;
  ld.shared.u32 %v, [%sum]; st.global.u32 [%o], %v;
over:
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }`);
    const out = new Int32Array(1);
    bench.run("k", { grid: 4, block: 1 }, [output(out)]);
    expect(out[0]).toBe(100 + 1 + 2 + 3);
  });
});

describe("mbarrier", () => {
  it("waits for at most 1,048,575 bytes a phase", () => {
    const bench = new Bench(`.version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u32 bytes)
{ .reg .b32 %bar, %n; .shared .align 8 .b64 barrier;
  ld.param.u32 %n, [bytes]; mov.u32 %bar, barrier;
  mbarrier.init.shared::cta.b64 [%bar], 1;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 1000000;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], %n; ret; }`);
    bench.run("k", { grid: 1, block: 1 }, [48_575]);
    const error = simulationError(() => bench.run("k", { grid: 1, block: 1 }, [48_576]));
    expect(error.message).toContain("an mbarrier waits for 1048576 bytes; it takes 1048575 at most");
  });
});

it("keeps variables of a function's body from one launch to the next, apart from others of the same name", () => {
  const bench = new Bench(`.version 8.1\n.target sm_75\n.address_size 64
.global .u32 count = 100;
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<6>; .reg .b64 %d, %e;
  .global .u32 count = 5;
  .const .b32 steps[2] = { 3, 4 };
  .global .u64 pointer = count;
  ld.param.u64 %d, [out];
  ld.const.b32 %r0, [steps+4];
  ld.global.u64 %e, [pointer];
  ld.global.u32 %r1, [%e];
  add.u32 %r1, %r1, %r0;
  st.global.u32 [count], %r1;
  {
    .global .u32 count = 1;
    ld.global.u32 %r2, [count];
    add.u32 %r2, %r2, 1;
    st.global.u32 [count], %r2;
  }
  st.global.v2.u32 [%d], {%r1, %r2};
  ret;
}
.visible .entry other(.param .u64 out) { .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [out]; ld.global.u32 %r, [count]; st.global.u32 [%d], %r; ret; }`);
  const got = new Int32Array(2);
  bench.run("k", { grid: 1, block: 1 }, [output(got)]);
  expect([...got]).toEqual([9, 2]);
  bench.run("k", { grid: 1, block: 1 }, [output(got)]);
  expect([...got]).toEqual([13, 3]);
  bench.run("other", { grid: 1, block: 1 }, [output(got)], true);
  expect(got[0]).toBe(100);
});

it("begins every launch with registers of zeros", () => {
  const bench = new Bench(`.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 words)
{ .reg .b64 %p; .reg .b32 %a; ld.param.u64 %p, [words]; bar.sync 0; st.global.u32 [%p], %a;
  mov.u32 %a, 7; bar.sync 0; st.global.u32 [%p+4], %a; ret; }`);
  for (let time = 0; time < 2; time++) {
    const words = new Int32Array(2);
    bench.run("k", { grid: 1, block: 1 }, [output(words)]);
    expect([...words]).toEqual([0, 7]);
  }
});
