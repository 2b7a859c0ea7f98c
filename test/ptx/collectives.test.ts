// Instructions that lanes of a warp do together, when they give different member masks or come from
// different places.
import { describe, expect, it } from "vitest";
import { Bench, output, simulationError } from "./device.js";

/** A kernel of one warp: %t is the lane, %v begins as it, and is stored. */
const kernel = (body: string): (() => number[]) => {
  const bench = new Bench(`.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)
{ .reg .b64 %o, %a; .reg .b32 %t, %v, %w, %m, %g; .reg .pred %p, %q; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %v, %t;
${body}
mul.wide.u32 %a, %t, 4; add.u64 %a, %o, %a; st.global.u32 [%a], %v; ret; }`);
  return () => {
    const out = new Int32Array(32);
    bench.run("k", { grid: 1, block: 32 }, [output(out)]);
    return [...out];
  };
};
const lanes = (of: (lane: number) => number) => Array.from({ length: 32 }, (_, lane) => of(lane));
/** %m: the mask of the lane's tile of that many lanes. */
const tile = (size: number) => `and.b32 %g, %t, ${-size}; mov.b32 %m, ${2 ** size - 1}; shl.b32 %m, %m, %g;`;

describe("lanes with masks of their own at one instruction", () => {
  it.each([2, 4, 8, 16])("shuffle in tiles of %d", (size) => {
    expect(kernel(`${tile(size)} shfl.sync.idx.b32 %v, %t, 0, ${((32 - size) << 8) | 31}, %m;`)()).toEqual(lanes((l) => l & -size));
  });

  it("vote, match, reduce and elect in tiles of 8", () => {
    expect(kernel(`${tile(8)} setp.gt.u32 %p, %t, 10; vote.sync.ballot.b32 %v, %p, %m;`)()).toEqual(
      lanes((l) => [0, 0xf800, 0xff0000, 0xff000000][l >> 3]! | 0),
    );
    expect(kernel(`${tile(8)} and.b32 %w, %t, 16; match.any.sync.b32 %v, %w, %m;`)()).toEqual(lanes((l) => (255 << (l & 24)) | 0));
    expect(kernel(`${tile(8)} redux.sync.add.u32 %v, %t, %m;`)()).toEqual(lanes((l) => 8 * (l & 24) + 28));
    expect(kernel(`${tile(8)} elect.sync %v|%p, %m;`)()).toEqual(lanes((l) => l & 24));
  });

  it("go on in those tiles whose lanes are all there", () => {
    const late = `setp.lt.u32 %p, %t, 4; @%p bra first; add.u32 %v, %v, 100; first:`;
    expect(kernel(`${tile(8)} ${late} shfl.sync.idx.b32 %v, %v, 0, ${(24 << 8) | 31}, %m;`)()).toEqual(
      lanes((l) => (l < 8 ? 0 : 100 + (l & 24))),
    );
  });

  it("are refused if the masks overlap and differ, and if a lane is not in its own", () => {
    const overlapping = kernel("setp.eq.u32 %p, %t, 3; selp.b32 %m, 15, -1, %p; bar.warp.sync %m;");
    expect(simulationError(overlapping)).toMatchObject({
      kind: "warpDivergence",
      message: expect.stringContaining("lanes give member masks that overlap, 0xf and 0xffffffff"),
    });
    expect(simulationError(kernel("mov.b32 %m, 0xffff; bar.warp.sync %m;"))).toMatchObject({
      kind: "warpDivergence",
      message: expect.stringContaining("lane 16 is not in its member mask 0xffff"),
    });
  });
});

describe("a barrier of a warp", () => {
  const branches = (first: string, second: string): string =>
    `setp.lt.u32 %p, %t, 12; @%p bra low; add.u32 %v, %v, 1; ${second} bra join; low: ${first} join:`;

  it("is met at the instructions of two branches", () => {
    expect(kernel(branches("bar.warp.sync -1;", "bar.warp.sync -1;"))()).toEqual(lanes((l) => (l < 12 ? l : l + 1)));
  });

  it("is not met by another instruction, and not with another mask", () => {
    for (const [first, second] of [
      ["bar.warp.sync -1;", "vote.sync.ballot.b32 %w, %p, -1;"],
      ["bar.warp.sync -1;", "bar.warp.sync 0xffff; bar.warp.sync 0xffff0000;"],
    ] as const)
      expect(simulationError(kernel(branches(first, second))).kind).toBe("warpDivergence");
  });
});

describe("shared memory around a shuffle of the whole warp", () => {
  // Lane l has word l; all lanes then do something with the word of lane 0.
  const begin =
    ".shared .align 4 .b32 box[32]; mov.u32 %g, box; shl.b32 %w, %t, 2; add.u32 %m, %g, %w; st.shared.u32 [%m], %t; bar.warp.sync -1;";
  const shuffle = "shfl.sync.bfly.b32 %w, %t, 1, 31, -1;";
  const zero = "setp.eq.u32 %p, %t, 0;";

  it("may be stored to after it if other lanes loaded before it", () => {
    expect(kernel(`${begin} ${zero} ld.shared.u32 %v, [%g]; ${shuffle} @%p st.shared.u32 [%g], 5;`)()).toEqual(lanes(() => 0));
  });

  it("is raced for if nothing is between, if not all lanes shuffle, or if it is the store that comes before", () => {
    const half = `setp.lt.u32 %q, %t, 16; @!%q bra over; shfl.sync.bfly.b32 %w, %t, 1, 31, 0xffff; over:`;
    for (const body of [
      `ld.shared.u32 %v, [%g]; @%p st.shared.u32 [%g], 5;`,
      `ld.shared.u32 %v, [%g]; ${half} @%p st.shared.u32 [%g], 5;`,
      `@%p st.shared.u32 [%g], 5; ${shuffle} ld.shared.u32 %v, [%g];`,
    ])
      expect(simulationError(kernel(`${begin} ${zero} ${body}`)).kind).toBe("race");
  });
});

describe("the system's shared memory", () => {
  const where = (name: string): number[] => kernel(`mov.u32 %v, %reserved_smem_offset_${name};`)();

  it("is where the special registers say, before that of the kernel", () => {
    expect([where("begin")[0], where("end")[0], where("cap")[0]]).toEqual([0, 1024, 1024]);
    const own = kernel(".shared .align 4 .b32 box; mov.u32 %w, %reserved_smem_offset_1; atom.shared.or.b32 %g, [%w], 1; mov.u32 %v, box;");
    expect(own()).toEqual(lanes(() => 1024));
  });

  it("is there for kernels that ask for it alone", () => {
    expect(kernel(".shared .align 4 .b32 box; mov.u32 %v, box;")()).toEqual(lanes(() => 0));
  });
});
