// Every check of the simulated device: a kernel that trips it and the same kernel put right
// (fixtures/faults.cu).
import { describe, expect, it } from "vitest";
import { LaunchError, PtxMachine, PtxSyntaxError, parsePtx } from "../../packages/ptx/src/interpreter/index.js";
import { Bench, fixture, input, output, simulationError } from "./device.js";

const bench = new Bench(fixture("faults"));
const line = (text: string): number =>
  fixture("faults")
    .split("\n")
    .findIndex((each) => each.includes(text)) + 1;
const numbers = new Float32Array(64).fill(2);

describe("memory checks", () => {
  it("finds a store past the end, and says where", () => {
    const launch = (wrong: number) => bench.run("past_the_end", { grid: 1, block: 64 }, [output(new Float32Array(64)), 64, wrong]);
    launch(0);
    const error = simulationError(() => launch(1));
    expect(error.kind).toBe("outOfBounds");
    expect(error.message).toMatch(
      /stores 4 bytes at global address 0x7[0-9a-f]{8}, 0 bytes past the end of the output \(256 bytes\); in past_the_end, PTX line \d+ "st\.global\.[a-z0-9]+ .*", block \(0,0,0\), thread \(0,0,0\)/,
    );
    expect(fixture("faults").split("\n")[error.site.line - 1]).toContain("st.global");
  });

  it("tells a global load beyond an allocation as that, however far beyond, also beside shared and local memory", () => {
    const far = new Bench(`.version 7.8\n.target sm_75\n.address_size 64
.visible .entry k(.param .u64 words, .param .u64 beyond)
{ .reg .b64 %p, %o; .reg .b32 %a; .local .align 4 .b8 own[4096]; .shared .align 4 .b8 box[4096];
  ld.param.u64 %p, [words]; ld.param.u64 %o, [beyond]; st.local.u32 [own], 1; st.shared.u32 [box], 1;
  add.u64 %o, %p, %o; ld.global.u32 %a, [%o]; st.global.u32 [%p], %a; ret; }`);
    for (let beyond = 64; beyond < 2 ** 23; beyond = Math.ceil((beyond * 1.7) / 4) * 4) {
      const error = simulationError(() => far.run("k", { grid: 2, block: 64 }, [output(new Int32Array(16)), BigInt(beyond)]));
      expect(error.kind).toBe("outOfBounds");
      expect(error.message).toContain(`${beyond - 64} bytes past the end of the output (64 bytes)`);
    }
  });

  it("finds the null pointer", () => {
    const launch = (x: Parameters<Bench["run"]>[2][number]) =>
      bench.run("null_pointer", { grid: 1, block: 32 }, [x, output(new Float32Array(32))]);
    launch(input(numbers));
    expect(simulationError(() => launch(0n))).toMatchObject({ kind: "outOfBounds", message: expect.stringContaining("the null pointer") });
  });

  it("finds a misaligned load", () => {
    const launch = (wrong: number) =>
      bench.run("misaligned", { grid: 1, block: 32 }, [input(numbers), output(new Float32Array(32)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({ kind: "misaligned", message: expect.stringContaining("no multiple of 4") });
  });

  it("finds a load of what nothing wrote, byte by byte", () => {
    const machine = bench.machine;
    const [x, y] = [machine.allocate(128), machine.allocate(128)];
    const launch = () => bench.program.launch({ entry: "unwritten", grid: 1, block: 32, args: [x, y] });
    expect(simulationError(launch)).toMatchObject({ kind: "uninitialised", site: { thread: { x: 0 } } });
    machine.fill(x, 1, 127);
    expect(simulationError(launch)).toMatchObject({ kind: "uninitialised", site: { thread: { x: 31 } } });
    machine.fill(x + 127n, 1, 1);
    launch();
  });

  it("finds unwritten shared memory", () => {
    const launch = (wrong: number) => bench.run("unwritten_shared", { grid: 1, block: 64 }, [output(new Float32Array(64)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({ kind: "uninitialised", site: { thread: { x: 0 } } });
  });

  it("knows memory that was freed", () => {
    const machine = bench.machine;
    const [x, y] = [machine.allocate(128, "the table"), machine.allocate(128)];
    machine.fill(x, 0, 128);
    const launch = () => bench.program.launch({ entry: "unwritten", grid: 1, block: 32, args: [x, y] });
    launch();
    machine.free(x);
    expect(simulationError(launch)).toMatchObject({
      kind: "useAfterFree",
      message: expect.stringContaining("byte 0 of the table (128 bytes), which was freed"),
    });
  });

  it("refuses stores to constant memory", () => {
    const launch = (wrong: number) => bench.run("write_constant", { grid: 1, block: 4 }, [output(new Int32Array(4)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1)).kind).toBe("readOnly");
  });
});

describe("race checks", () => {
  it.each([
    ["race", 64, /this thread (reads what thread \(\d+,0,0\) wrote|writes what other warps read)/],
    ["overwrite", 64, /this thread (writes what thread \(\d+,0,0\) read|reads what thread \(\d+,0,0\) wrote)/],
    ["warp_race", 32, /this thread reads what thread \(\d+,0,0\) wrote/],
  ])("%s", (entry, block, message) => {
    const launch = (wrong: number) => bench.run(entry, { grid: 2, block }, [output(new Float32Array(block)), wrong]);
    launch(0);
    const error = simulationError(() => launch(1));
    expect(error.kind).toBe("race");
    expect(error.message).toMatch(message);
  });

  it("tells neighbouring bytes from the same byte", () => {
    const launch = (wrong: number) => bench.run("byte_race", { grid: 1, block: 128 }, [output(new Uint8Array(128)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({ kind: "race", message: expect.stringContaining("shared byte 64") });
  });
});

describe("words that all lanes of a warp load together", () => {
  /**
   * The second warp, which comes to the barrier last and goes on first, loads four words, twice,
   * then a thread stores one of them; `count` words are loaded at once.
   */
  const launch = (count: 1 | 4, stores: number, word: number, between: string) => {
    const load = count === 4 ? "ld.shared.v4.u32 {%a, %b, %c, %d}, [%s];" : `ld.shared.u32 %a, [%s+${4 * word}];`;
    const bench = new Bench(`.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k()
{ .reg .b32 %s, %t, %a, %b, %c, %d; .reg .pred %one, %second, %thread; .shared .align 16 .b8 tile[16];
  mov.u32 %s, tile; mov.u32 %t, %tid.x; setp.eq.u32 %one, %t, 0; setp.ge.u32 %second, %t, 32; setp.eq.u32 %thread, %t, ${stores};
  @%one st.shared.v4.u32 [%s], {%t, %t, %t, %t};
  bar.sync 0;
  @%second ${load}
  @%second ${load}
  ${between}
  @%thread st.shared.u32 [%s+${4 * word}], 7; ret; }`);
    bench.run("k", { grid: 1, block: 64 }, []);
  };
  const cases = ([1, 4] as const).flatMap((count) => [0, 3].flatMap((word) => [5, 37].map((stores) => [count, word, stores] as const)));

  it.each(cases)("are told of, %i at once, where word %i is stored by thread %i", (count, word, stores) => {
    expect(simulationError(() => launch(count, stores, word, ""))).toMatchObject({
      kind: "race",
      message: expect.stringContaining(
        `race on shared byte ${4 * word}: this thread writes what other lanes of warp 1 read with no barrier between`,
      ),
      site: { thread: { x: stores } },
    });
  });

  it.each(cases)("are no race, %i at once, where a barrier comes before word %i is stored by thread %i", (count, word, stores) => {
    launch(count, stores, word, "bar.sync 0;");
  });
});

describe("stores that conflict and are no race", () => {
  it("are those of equal bytes", () => {
    const launch = (wrong: number) => bench.run("equal_stores", { grid: 1, block: 64 }, [output(new Float32Array(64)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({
      kind: "race",
      message: expect.stringContaining("race on shared byte 0: this thread writes what thread (31,0,0) wrote with no barrier between"),
      site: { thread: { x: 40 } },
    });
  });

  it("are those of one instruction of a warp", () => {
    const launch = (wrong: number) => bench.run("one_store", { grid: 1, block: 32 }, [output(new Int32Array(32)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1)).kind).toBe("race");
  });
});

describe("convergence checks", () => {
  it("does not wait at a barrier for threads that have exited", () => {
    for (const leaves of [0, 1]) {
      const y = new Float32Array(64);
      bench.run("early_exit", { grid: 1, block: 64 }, [output(y), leaves]);
      expect([...y.slice(0, 32)]).toEqual(Array(32).fill(1));
    }
  });

  it("refuses a barrier that threads went past before they exited, and says to where", () => {
    const launch = (wrong: number) => bench.run("past_barrier", { grid: 1, block: 64 }, [output(new Float32Array(64)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({
      kind: "barrierDivergence",
      message: expect.stringMatching(
        /for all threads of the block, but thread \(32,0,0\) went past it to PTX line \d+ ".*" and has exited/,
      ),
      site: { instruction: "bar.sync 0" },
    });
  });

  it("refuses a warp whose lanes wait at the barriers of two branches", () => {
    const launch = (wrong: number) => bench.run("branch_barriers", { grid: 1, block: 64 }, [output(new Float32Array(64)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({
      kind: "barrierDivergence",
      message: expect.stringMatching(
        /at that of PTX line \d+ "bar\.sync 0": all lanes of a warp take one; in branch_barriers, PTX line \d+ "bar\.sync 0"/,
      ),
    });
  });

  it("refuses a shuffle of all lanes in a branch that twelve of them go past", () => {
    const launch = (wrong: number) => bench.run("branch_shuffle", { grid: 1, block: 32 }, [output(new Int32Array(32)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({
      kind: "warpDivergence",
      message: expect.stringMatching(
        /^lanes 0xfffff are here for lanes 0xfff00000, which have gone on to PTX line \d+ ".*"; in branch_shuffle/,
      ),
      site: { instruction: expect.stringContaining("shfl.sync") },
    });
  });

  it("lets lanes that stayed shuffle after others have exited", () => {
    const y = new Int32Array(20);
    bench.run("left_early", { grid: 1, block: 32 }, [output(y), 20]);
    expect([...y]).toEqual(Array.from({ length: 20 }, (_, lane) => lane));
  });

  it("finds warps that wait at different barriers for ever", () => {
    const launch = (wrong: number) => bench.run("two_barriers", { grid: 1, block: 64 }, [output(new Int32Array(64)), wrong]);
    launch(0);
    const error = simulationError(() => launch(1));
    expect(error.kind).toBe("barrierDivergence");
    expect(error.message).toContain(`others wait at PTX line ${line("bar.sync 2, 64")}`);
  });

  it("finds lanes that a member mask names and that never come", () => {
    const launch = (wrong: number) => bench.run("missing_lanes", { grid: 1, block: 32 }, [output(new Int32Array(32)), wrong]);
    launch(0);
    const error = simulationError(() => launch(1));
    expect(error.kind).toBe("warpDivergence");
    expect(error.message).toMatch(
      /lanes 0xffff wait for lanes 0xffff0000, which never come|lanes 0xffff0000 wait for lanes 0xffff, which never come/,
    );
  });

  it("refuses a shuffle from a lane that takes no part", () => {
    const launch = (wrong: number) => bench.run("inactive_lane", { grid: 1, block: 32 }, [output(new Int32Array(32)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({ kind: "inactiveLane", message: expect.stringContaining("reads lane 20") });
  });

  it("finds a polling loop that nothing can end", () => {
    const launch = (wrong: number) =>
      bench.run(
        "wait_for_ever",
        { grid: 1, block: 64, limits: { idlePolls: 500 } },
        [output(new Int32Array(1)), output(new Int32Array(64)), wrong],
        true,
      );
    launch(0);
    expect(simulationError(() => launch(1))).toMatchObject({ kind: "spin", site: { kernel: "wait_for_ever", thread: { x: 32 } } });
  });

  it("finds a loop that polls nothing and never ends", () => {
    const text =
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  .reg .b32 %r;\nagain:\n  add.u32 %r, %r, 1;\n  bra again;\n}\n";
    const loop = new Bench(text);
    expect(simulationError(() => loop.run("k", { grid: 1, block: 32, limits: { idleSteps: 10_000 } }, []))).toMatchObject({
      kind: "spin",
      site: { line: 8 },
    });
    expect(
      simulationError(() => loop.run("k", { grid: 1, block: 32, checks: { spins: false }, limits: { steps: 10_000 } }, [])),
    ).toMatchObject({ kind: "spin", message: expect.stringContaining("limit of 10000 steps") });
  });
  it("ends a loop that stores and never ends, and names the jump that closes it", () => {
    const loop = new Bench(`.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x)
{ .reg .b64 %d; .reg .b32 %i, %j; .reg .pred %p;
  ld.param.u64 %d, [x]; mov.u32 %i, 0;
outer:
  mov.u32 %j, 0;
inner:
  add.u32 %i, %i, 1; st.global.u32 [%d], %i; add.u32 %j, %j, 1; setp.lt.u32 %p, %j, 3;
  @%p bra inner;
  bra.uni outer;
}`);
    expect(loop.machine.limits.steps).toBeLessThan(Infinity);
    const launch = () => loop.run("k", { grid: 1, block: 1, limits: { steps: 10_002 } }, [output(new Int32Array(1))]);
    expect(simulationError(launch)).toMatchObject({
      kind: "spin",
      site: { line: 11, instruction: "@%p bra inner" },
      message: expect.stringContaining(
        "the launch went past its limit of 10002 steps, in the loop that ends here; limits.steps (SPILLWAY_SIM_STEPS) sets how many it has",
      ),
    });
  });

  it("stops at a trap", () => {
    const launch = (wrong: number) => bench.run("deep", { grid: 1, block: 32 }, [output(new Int32Array(32)), wrong]);
    launch(0);
    expect(simulationError(() => launch(1)).kind).toBe("trap");
  });

  it("finds recursion that leaves its stack, whose size can be set", () => {
    const launch = (levels: number, stackBytes: number) =>
      bench.run("recursion", { grid: 1, block: 32, limits: { stackBytes } }, [output(new Int32Array(32)), levels]);
    launch(10, 8192);
    expect(simulationError(() => launch(10, 64)).kind).toBe("stackOverflow");
  });
});

describe("checks that are switched off", () => {
  it("lets a wild store go nowhere and a wild load give zero", () => {
    const y = new Float32Array(32).fill(1);
    bench.run("null_pointer", { grid: 1, block: 32, checks: { bounds: false } }, [0n, output(y)]);
    expect(y).toEqual(new Float32Array(32));
    bench.run("past_the_end", { grid: 1, block: 64, checks: { bounds: false } }, [output(new Float32Array(64)), 64, 1]);
  });

  it("rounds a misaligned address down", () => {
    bench.run("misaligned", { grid: 1, block: 32, checks: { alignment: false } }, [input(numbers), output(new Float32Array(32)), 1]);
  });

  it("lets races, exited threads and absent lanes pass", () => {
    bench.run("race", { grid: 1, block: 64, checks: { races: false, initialised: true } as object }, [output(new Float32Array(64)), 0]);
    const relaxed = new Bench(fixture("faults"), { checks: { races: false, initialised: false } });
    relaxed.run("race", { grid: 1, block: 64 }, [output(new Float32Array(64)), 1]);
    relaxed.run("unwritten_shared", { grid: 1, block: 64 }, [output(new Float32Array(64)), 1]);
    for (const entry of ["past_barrier", "branch_barriers"])
      bench.run(entry, { grid: 1, block: 64, checks: { barriers: false } }, [output(new Float32Array(64)), 1]);
    const y = new Int32Array(32);
    bench.run("inactive_lane", { grid: 1, block: 32, checks: { shuffles: false } }, [output(y), 1]);
    expect([...y]).toEqual(Array.from({ length: 32 }, (_, l) => l));
  });
});

describe("launches and texts that cannot be", () => {
  it.each([
    [{ grid: 0, block: 32 }, /grid\.x is 0: it takes 1 to 2147483647/],
    [{ grid: [1, 70000] as const, block: 32 }, /grid\.y is 70000/],
    [{ grid: 1, block: 1025 }, /block\.x is 1025/],
    [{ grid: 1, block: [32, 64] as const }, /a block of 2048 threads/],
    [{ grid: 3, block: 32, cluster: 2 }, /grid\.x 3 is no multiple of cluster\.x 2/],
    [{ grid: 1, block: 32, dynamicSharedBytes: 300_000 }, /300000 bytes of shared memory a block: there are 232448/],
  ])("refuses %j", (shape, message) => {
    expect(() => bench.run("deep", shape, [output(new Int32Array(32)), 0])).toThrow(message);
  });

  it("refuses arguments by number, type and range", () => {
    const launch = (args: (number | bigint)[]) => () => bench.program.launch({ entry: "deep", grid: 1, block: 1, args });
    expect(launch([0n])).toThrow(/deep takes 2 arguments, got 1/);
    expect(launch([0n, 1.5])).toThrow(/argument 2 of deep \(\.[a-z0-9]+\) got 1\.5: it takes a whole number/);
    expect(launch([0n, 2 ** 32])).toThrow(/it takes 32 bits/);
    expect(() => bench.program.launch({ entry: "absent", grid: 1, block: 1, args: [] })).toThrow(LaunchError);
  });

  it("gives memory back whatever happens, and says when there is none", () => {
    const machine = new PtxMachine({ memoryBytes: 1 << 20, launchBytes: 1 << 20 });
    const { allocations } = machine.memoryInfo;
    const program = machine.load(fixture("faults"));
    const y = machine.allocate(4, "y");
    expect(() => program.launch({ entry: "deep", grid: 1, block: 32, args: [y, 1] })).toThrow(/trap/);
    machine.free(y);
    program.unload();
    expect(machine.memoryInfo.allocations).toBe(allocations);
    expect(() => machine.allocate(2 ** 21)).toThrow(/out of device memory: 2097152 bytes asked, 1048576 of 1048576 free/);
    expect(() => machine.free(y)).toThrow(/not the start of an allocation/);
  });

  it("names line, column and text of what is no PTX", () => {
    const text = ".version 8.0\n.target sm_75\n.address_size 64\n.entry k()\n{\n  add.s32 %r1, %r2, 3;\n}\n";
    expect(() => parsePtx(text)).toThrow(PtxSyntaxError);
    try {
      parsePtx(text.replace("%r1, %r2", "nothing, 1"));
    } catch (error) {
      expect(error).toMatchObject({ line: 6, column: 11, offending: "nothing" });
    }
    expect(() => parsePtx(".target sm_75")).toThrow("PTX line 1, column 1: a PTX module starts with .version");
    expect(() => parsePtx(".version 8.0\n.entry k() { ret }")).toThrow('line 2, column 18: expected ";", at "}"');
  });

  it("names an instruction it does not model", () => {
    const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 4096 });
    const program = machine.load(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  .reg .b32 %r<3>;\n  multimem.red.add.u32 %r0, %r1;\n}\n",
    );
    expect(() => program.launch({ entry: "k", grid: 1, block: 1, args: [] })).toThrow(
      'PTX line 7: "multimem.red.add.u32 %r0, %r1": this instruction is not modelled',
    );
  });
});

describe("cp.async", () => {
  /** Copies 16 bytes to shared memory, does something, and stores the first word of them. */
  const copied = (after: string): (() => Int32Array) => {
    const bench = new Bench(`.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 out)
{ .reg .b64 %x, %o; .reg .b32 %s, %a; .shared .align 16 .b8 tile[32]; ld.param.u64 %x, [x]; ld.param.u64 %o, [out]; mov.u32 %s, tile;
  cp.async.ca.shared.global [%s], [%x], 16;
  ${after}
  ld.shared.u32 %a, [%s]; st.global.u32 [%o], %a; ret; }`);
    return () => {
      const out = new Int32Array(1);
      bench.run("k", { grid: 1, block: 1 }, [input(Int32Array.of(7, 8, 9, 10)), output(out)]);
      return out;
    };
  };
  const another = "cp.async.ca.shared.global [%s+16], [%x], 16; cp.async.commit_group;";

  it.each([
    ["all copies", "cp.async.wait_all;"],
    ["their group", "cp.async.commit_group; cp.async.wait_group 0;"],
    ["their group and not the next", `cp.async.commit_group; ${another} cp.async.wait_group 1;`],
  ])("has its bytes arrive when a wait is for %s", (_, wait) => {
    expect([...copied(wait)()]).toEqual([7]);
  });

  it.each([
    ["nothing waited", ""],
    ["the wait is for committed groups alone", "cp.async.wait_group 0;"],
    ["the wait leaves its group pending", "cp.async.commit_group; cp.async.wait_group 1;"],
  ])("is told of where its bytes are read and %s", (_, wait) => {
    expect(simulationError(copied(wait))).toMatchObject({
      kind: "race",
      message: expect.stringMatching(
        /loads 4 bytes at shared address 0x0, which a cp\.async still copies to: nothing waited for it; in k, PTX line 8/,
      ),
    });
  });

  /**
   * Of the first threads of two warps one copies 16 bytes, and after something the other, whose
   * turn is later, reads the first word of them.
   */
  const handedOver = (between: string, copies: 0 | 32): (() => Int32Array) => {
    const bench = new Bench(`.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 out)
{ .reg .b64 %x, %o; .reg .b32 %s, %a, %t; .reg .pred %first, %second; .shared .align 16 .b8 tile[16];
  ld.param.u64 %x, [x]; ld.param.u64 %o, [out]; mov.u32 %s, tile; mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, ${copies}; setp.eq.u32 %second, %t, ${32 - copies};
  @%first cp.async.ca.shared.global [%s], [%x], 16;
  ${between}
  @%second ld.shared.u32 %a, [%s]; @%second st.global.u32 [%o], %a; ret; }`);
    return () => {
      const out = new Int32Array(1);
      bench.run("k", { grid: 1, block: 64 }, [input(Int32Array.of(7, 8, 9, 10)), output(out)]);
      return out;
    };
  };

  it("has its bytes there for another thread after a wait and a barrier", () => {
    expect([...handedOver("cp.async.wait_all; bar.sync 0;", 0)()]).toEqual([7]);
  });

  it.each([
    ["no barrier", "cp.async.wait_all;", 0],
    // The warp that comes to a barrier last goes on first.
    ["a barrier before the wait alone", "bar.sync 0; cp.async.wait_all;", 32],
  ] as const)("is told of where another thread reads its bytes after a wait with %s", (_, between, copies) => {
    expect(simulationError(handedOver(between, copies))).toMatchObject({
      kind: "race",
      message: expect.stringContaining(
        `race on shared byte 0: this thread reads what thread (${copies},0,0) wrote with no barrier between`,
      ),
    });
  });

  it("is told of where its bytes are stored to before they arrived", () => {
    expect(simulationError(copied("st.shared.u32 [%s+4], 1;")).kind).toBe("race");
  });
});
