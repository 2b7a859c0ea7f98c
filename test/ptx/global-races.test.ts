// Races on global memory between blocks: what the memory model orders passes, and what only happens
// to work is an error.
import { describe, expect, it } from "vitest";
import { Bench, fixture, output, simulationError } from "./device.js";

const header = ".version 7.8\n.target sm_75\n.address_size 64\n";

/** Two blocks of one thread on `words`: block 0 does one thing and block 1 another. */
function run(zero: string, one: string, memory: Int32Array | Uint16Array | Uint8Array = new Int32Array(4)): void {
  const bench = new Bench(
    `${header}.visible .entry k(.param .u64 words)
{ .reg .b64 %p; .reg .b32 %a, %b, %c; .reg .b16 %h; .reg .pred %q; ld.param.u64 %p, [words]; mov.u32 %c, %ctaid.x; add.u32 %a, %c, 5; cvt.u16.u32 %h, %a;
  setp.ne.u32 %q, %c, 0; @%q bra second;
  ${zero} ret;
second:
  ${one} ret; }`,
    { checks: { globalRaces: true } },
  );
  bench.run("k", { grid: 2, block: 1 }, [output(memory)], true);
}

const poll = (load: string) => `again: ${load} %b, [%p+4]; setp.eq.u32 %q, %b, 0; @%q bra again;`;
const store = "st.global.u32 [%p], %a;";
const load = "ld.global.u32 %b, [%p];";

describe("blocks that hand over data by a flag", () => {
  it.each([
    [
      "fences on both sides of a volatile flag",
      `${store} fence.acq_rel.gpu; st.volatile.global.u32 [%p+4], %a;`,
      `${poll("ld.volatile.global.u32")} fence.acq_rel.gpu; ${load}`,
    ],
    [
      "the older membar.gl",
      `${store} membar.gl; st.volatile.global.u32 [%p+4], %a;`,
      `${poll("ld.volatile.global.u32")} membar.gl; ${load}`,
    ],
    ["release and acquire", `${store} st.release.gpu.global.u32 [%p+4], %a;`, `${poll("ld.acquire.gpu.global.u32")} ${load}`],
    ["an atomic after a fence", `${store} membar.gl; red.global.add.u32 [%p+4], 1;`, `${poll("ld.acquire.gpu.global.u32")} ${load}`],
    [
      "atomics that release and acquire",
      `${store} atom.release.gpu.global.add.u32 %b, [%p+4], 1;`,
      `again: atom.acquire.gpu.global.or.b32 %b, [%p+4], 0; setp.eq.u32 %q, %b, 0; @%q bra again; ${load}`,
    ],
  ])("are in order by %s", (_, zero, one) => {
    expect(() => run(zero, one)).not.toThrow();
  });

  it.each([
    ["no fence before the flag", `${store} st.volatile.global.u32 [%p+4], %a;`, `${poll("ld.volatile.global.u32")} membar.gl; ${load}`],
    ["no fence after it", `${store} membar.gl; st.volatile.global.u32 [%p+4], %a;`, `${poll("ld.volatile.global.u32")} ${load}`],
    [
      "a fence of the block alone",
      `${store} membar.cta; st.volatile.global.u32 [%p+4], %a;`,
      `${poll("ld.volatile.global.u32")} membar.gl; ${load}`,
    ],
    ["a flag that is stored first", `st.release.gpu.global.u32 [%p+4], %a; ${store}`, `${poll("ld.acquire.gpu.global.u32")} ${load}`],
  ])("race with %s", (_, zero, one) => {
    const error = simulationError(() => run(zero, one));
    expect(error.kind).toBe("race");
    expect(error.message).toMatch(
      /race on global memory, byte 0 of the output \(16 bytes\): this thread (loads|stores) what block \((0|1),0,0\) (stored|loaded), and nothing orders the two/,
    );
  });
});

describe("blocks that touch the same memory with nothing between", () => {
  it.each([
    ["store and store", store, store],
    ["store and load", store, load],
    ["load and store", load, store],
    ["store a word and load a byte of it", store, "ld.global.u8 %b, [%p+3];"],
    ["store the same byte", "st.global.u8 [%p], %a;", "st.global.u8 [%p], %a;"],
  ])("race: %s", (_, zero, one) => {
    expect(simulationError(() => run(zero, one)).kind).toBe("race");
  });

  it.each([
    ["load and load", load, load],
    ["store equal bytes", "st.global.u32 [%p], 7;", "st.global.u32 [%p], 7;"],
    ["store neighbours", store, "st.global.u32 [%p+4], %a;"],
    ["store two halves of a word", "st.global.u16 [%p], %h;", "st.global.u16 [%p+2], %h;"],
    ["add by atomics", "red.global.add.u32 [%p], 1;", "red.global.add.u32 [%p], 1;"],
  ])("do not: %s", (_, zero, one) => {
    expect(() => run(zero, one)).not.toThrow();
  });

  it("do not where a load is over when the flag after it is seen, and the memory is stored to then", () => {
    const zero = `${load} st.volatile.global.u32 [%p+4], %a;`;
    expect(() => run(zero, `${poll("ld.volatile.global.u32")} ${store}`)).not.toThrow();
    expect(
      simulationError(() => run(`st.volatile.global.u32 [%p+4], %a; ${load}`, `${poll("ld.volatile.global.u32")} ${store}`)).kind,
    ).toBe("race");
  });

  it("do not where it is their own shared memory, by a generic address", () => {
    const own = ".shared .b32 mine; mov.u32 %b, mine; cvt.u64.u32 %p, %b; cvta.shared.u64 %p, %p; st.u32 [%p], %a; ld.u32 %b, [%p];";
    expect(() => run(own, own.replace(".shared .b32 mine;", ""))).not.toThrow();
  });
});

describe("threads of one block on global memory", () => {
  const bench = new Bench(fixture("faults"), { checks: { globalRaces: true } });
  const launch = (wrong: number, checks = {}) =>
    bench.run("block_race", { grid: 2, block: 64, checks }, [output(new Int32Array(128)), wrong], true);

  it("are in order by a barrier", () => {
    expect(() => launch(0)).not.toThrow();
  });

  it("are in order by a barrier after any of the loads, even of warps that met less often", () => {
    const meets = "bar.warp.sync 0xffffffff;";
    const warps = new Bench(
      `${header}.visible .entry k(.param .u64 words)
{ .reg .b64 %p; .reg .b32 %a, %b; .reg .pred %first, %last; ld.param.u64 %p, [words]; mov.u32 %a, %tid.x;
  setp.lt.u32 %first, %a, 32; setp.ge.u32 %last, %a, 96; @%first bra barrier; @%last bra reads;
  ${meets} ${meets} ${meets} ${meets}
reads: ${load}
barrier: bar.sync 0; setp.ne.u32 %last, %a, 0; @%last ret; ${store} ret; }`,
      { checks: { globalRaces: true } },
    );
    expect(() => warps.run("k", { grid: 1, block: 128 }, [output(new Int32Array(4))], true)).not.toThrow();
  });

  it("race without one, in a block and in a warp", () => {
    expect(simulationError(() => launch(1))).toMatchObject({
      kind: "race",
      message: expect.stringMatching(
        /race on global memory, byte \d+ of the output \(512 bytes\): this thread (stores|loads) what thread \(\d+,0,0\) (stored|loaded), and no barrier is between/,
      ),
    });
    expect(simulationError(() => launch(2)).kind).toBe("race");
    expect(() => launch(1, { globalRaces: false })).not.toThrow();
  });
});

describe("two threads of one block", () => {
  const [stores, loads, strongStores] = [
    [
      "st.global.u32 [%p], %a;",
      "st.global.u8 [%p], %a;",
      "st.global.u64 [%p], %d;",
      "st.global.v2.u32 [%p], {%a, %a};",
      "st.u32 [%p], %a;",
    ],
    ["ld.global.u32 %b, [%p];", "ld.global.u8 %b, [%p];", "ld.global.u64 %d, [%p];", "ld.u32 %b, [%p];"],
    [
      "st.volatile.global.u32 [%p], %a;",
      "st.volatile.global.u8 [%p], %a;",
      "st.release.gpu.global.u32 [%p], %a;",
      "red.global.add.u32 [%p], 1;",
      "atom.global.cas.b16 %h, [%p], 0, 7;",
    ],
  ] as const;
  const volatileLoads = ["ld.volatile.global.u32 %b, [%p];", "ld.volatile.global.u8 %b, [%p];"];
  const pairs = (first: readonly string[], second: readonly string[]) => first.flatMap((a) => second.map((b) => [a, b] as const));
  /** Thread 0 does one thing, then a thread of the same or of the next warp another. */
  const both = (zero: string, one: string, thread: number, between = "") => {
    const bench = new Bench(
      `${header}.visible .entry k(.param .u64 words)
{ .reg .b64 %p, %d; .reg .b32 %a, %b, %c; .reg .b16 %h; .reg .pred %first, %second; ld.param.u64 %p, [words];
  mov.u32 %c, %tid.x; add.u32 %a, %c, 5; cvt.u64.u32 %d, %a; setp.eq.u32 %first, %c, 0; setp.eq.u32 %second, %c, ${thread};
  @!%first bra no; ${zero}
no: ${between} @!%second bra end; ${one}
end: ret; }`,
      { checks: { globalRaces: true } },
    );
    bench.run("k", { grid: 1, block: 64 }, [output(new Int32Array(4))], true);
  };

  it.each([
    ...pairs(stores, [...stores, ...loads, ...strongStores, ...volatileLoads]),
    ...pairs(loads, [...stores, ...strongStores]),
    ...pairs(strongStores, [...stores, ...loads]),
  ])("race: %s and %s; in order by a barrier", (zero, one) => {
    for (const thread of [1, 33]) {
      expect(simulationError(() => both(zero, one, thread)).kind).toBe("race");
      expect(() => both(zero, one, thread, "bar.sync 0;")).not.toThrow();
    }
  });

  it.each([...pairs(loads, [...loads, ...volatileLoads]), ...pairs(strongStores, [...strongStores, ...volatileLoads])])(
    "do not race: %s and %s",
    (zero, one) => {
      for (const thread of [1, 33]) expect(() => both(zero, one, thread)).not.toThrow();
    },
  );
});

describe("kernels that nvcc compiled", () => {
  it("hold a lock and leave it without a race", () => {
    const bench = new Bench(fixture("compute"), { checks: { globalRaces: true } });
    const [lock, count] = [new Int32Array(1), new Int32Array(1)];
    bench.run("spin_lock", { grid: 4, block: 96 }, [output(lock), output(count)], true);
    expect(count[0]).toBe(4 * 96);
  });
});

it("knows nothing in a launch of what an earlier one touched, also if that ended with an error", () => {
  const bench = new Bench(
    `${header}.visible .entry k(.param .u64 words, .param .u32 racing)
{ .reg .b64 %p, %o; .reg .b32 %a, %b, %c; .reg .pred %q; ld.param.u64 %p, [words]; ld.param.u32 %b, [racing];
  mov.u32 %c, %ctaid.x; sub.u32 %a, 1, %c; setp.ne.u32 %q, %b, 0; @!%q mov.u32 %a, %c; @%q mov.u32 %a, 0;
  mul.wide.u32 %o, %a, 4; add.s64 %p, %p, %o; st.global.u32 [%p], %c; ret; }
.visible .entry swapped(.param .u64 words)
{ .reg .b64 %p, %o; .reg .b32 %a, %c; ld.param.u64 %p, [words];
  mov.u32 %c, %ctaid.x; sub.u32 %a, 1, %c; mul.wide.u32 %o, %a, 4; add.s64 %p, %p, %o; st.global.u32 [%p], %c; ret; }`,
    { checks: { globalRaces: true } },
  );
  const memory = output(new Int32Array(2));
  for (let time = 0; time < 2; time++) {
    bench.run("k", { grid: 2, block: 1 }, [memory, 0], true);
    bench.run("swapped", { grid: 2, block: 1 }, [memory], true);
    expect(simulationError(() => bench.run("k", { grid: 2, block: 1 }, [memory, 1], true)).kind).toBe("race");
  }
});
