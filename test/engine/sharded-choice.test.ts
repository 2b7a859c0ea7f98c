// Whether several devices share a reservoir, and what is said of it, before any is opened.
import { describe, expect, it } from "vitest";
import type { Context } from "../../packages/gpu/src/index.js";
import { choices, describeChoice, type PlanTarget } from "../../src/engine/cuda/plan.js";
import { shapeOf } from "../../src/engine/cuda/shape.js";
import { model } from "./contract.js";

describe("the choice over several devices", () => {
  const large = () => ({ ...shapeOf(model({ size: 10, storage: "dense" })), size: 8192, nonzeros: 8192 ** 2 });

  /** H200s as they would be asked, for a choice that opens nothing. */
  function h200s(count: number, whyNoCompiler?: string, reach = true, memory: object = {}): PlanTarget {
    const attributes = {
      ...memory,
      ...{ multiprocessors: 132, sharedBytesPerBlockOptIn: 232_448, l2Bytes: 50 * 2 ** 20, clusterLaunch: 1, cooperativeLaunch: 1 },
      clockKilohertz: 1_980_000,
    };
    const peers = Array.from({ length: count }, (_, ordinal) => ({
      info: { name: "H200", ordinal, computeCapability: [9, 0], attributes },
      canAccess: () => reach,
    })) as unknown as Context[];
    return { engine: "cuda:all", device: peers[0]!.info, memory: 1e11, peers, whyNoCompiler: () => whyNoCompiler };
  }

  const described = (shape: ReturnType<typeof large>, target: PlanTarget) => {
    const found = choices(shape, target);
    return describeChoice(found[0]!, shape, target, found).details;
  };

  it("takes all of them if W fits their chips together, and none beside the first if it fits one", () => {
    expect(described(large(), h200s(4))).toMatchObject({ plan: "sharded", devices: 4, alternatives: expect.stringContaining("streamed") });
    const small = { ...large(), size: 1000, nonzeros: 1000 ** 2 };
    expect(described(small, h200s(4))).toMatchObject({ plan: "grid", alternatives: expect.stringContaining("sharded") });
  });

  it.each([
    ["device 0 cannot reach the memory of device 1", h200s(2, undefined, false)],
    ["it takes up to 8 devices; there are 9", h200s(9)],
  ])("says why not: %s", (reason, target) => {
    expect(described(large(), target)).toMatchObject({ plan: "grid", notSharded: reason });
    expect(() => choices(large(), target, { plan: "sharded" })).toThrow(`the plan "sharded" is not to be had: ${reason}`);
  });

  it("takes a launch for each step without NVRTC, and says why it has no other kernels", () => {
    const target = h200s(4, "no NVRTC loads from any of 3 paths");
    expect(described(large(), target)).toMatchObject({ plan: "sharded", kernel: "dense_step_f32", devices: 4 });
    expect(() => choices(large(), target, { plan: "sharded", kernelSource: "nvrtc" })).toThrow("no NVRTC loads from any of 3 paths");
  });

  it("models a W that is read from memory by the memory's rate, and one that the chips hold without", () => {
    const microseconds = (size: number, memory: object) => {
      const found = choices({ ...large(), size, nonzeros: size ** 2 }, h200s(4, undefined, true, memory), {
        plan: "sharded",
        kernelSource: "nvrtc",
      });
      return found[0]!.loop.microsecondsPerStep;
    };
    // An H100's memory is .68 as fast as an H200's.
    const h100 = { memoryClockKilohertz: 2_619_000, memoryBusBits: 5120 };
    expect(microseconds(32_768, h100) / microseconds(32_768, {})).toBeCloseTo(1 / 0.682, 1);
    expect(microseconds(8192, h100)).toBe(microseconds(8192, {}));
  });

  it("takes a launch for each step over four devices for 100,000 neurons in bfloat16 that are drawn", () => {
    const shape = { ...large(), size: 100_000, nonzeros: 1e10, weightPrecision: "bfloat16" as const, drawn: true };
    expect(choices(shape, h200s(4))[0]!.loop.details).toMatchObject({ kernel: "dense_step_f32_bf16", devices: 4 });
  });

  const [bf16, drawn] = [{ weightPrecision: "bfloat16" as const }, { drawn: true }];
  const sparse = (size: number, perRow: number) => ({ storage: "sparse" as const, nonzeros: size * perRow });

  // Microseconds a step that four H200 took: bench/results/gpu-sharded-2026-11-27.md, and the page of
  // the next day.
  const measured: readonly (readonly [size: number, shape: object, one: number, two: number | undefined, four: number])[] = [
    [2048, {}, 1.53, 2.02, 2.01],
    [4096, {}, 4.87, 3.38, 2.63],
    [5792, {}, 22.83, 5.73, 4.59],
    [8192, drawn, 61.61, 22.45, 5.94],
    [16_384, drawn, 239.52, 120.55, 57.49],
    [16_384, { ...bf16, ...drawn }, 134.72, 58.56, 23.61],
    [32_768, drawn, 954.12, 513.93, 250.75],
    [100_000, { ...bf16, ...drawn }, 4471.1, undefined, 1188.4],
    [10_000, sparse(10_000, 1000), 7.63, 4.7, 4.31],
    [100_000, { ...sparse(100_000, 2000), ...drawn }, 386.3, undefined, 156.6],
  ];

  it.each(measured)("models %i neurons, %o, near what was measured, and takes what was faster", (size, more, one, two, four) => {
    const shape = { ...large(), size, nonzeros: size ** 2, ...more };
    const near = ({ loop }: ReturnType<typeof choices>[number], microseconds: number) => {
      expect(loop.microsecondsPerStep / microseconds).toBeGreaterThan(0.8);
      expect(loop.microsecondsPerStep / microseconds).toBeLessThan(1.2);
    };
    near(choices(shape, { ...h200s(1), peers: undefined })[0]!, one);
    for (const [count, several] of [
      [2, two],
      [4, four],
    ] as const) {
      if (several === undefined) continue;
      near(choices(shape, h200s(count), { plan: "sharded" })[0]!, several);
      expect(choices(shape, h200s(count))[0]!.loop.name === "sharded").toBe(several < one);
    }
  });

  it("says on which device its part does not fit, before anything is drawn", () => {
    const shape = { ...large(), size: 100_000, nonzeros: 1e10 };
    const target = { ...h200s(2), memoryOf: () => 1e10 };
    expect(() => choices(shape, target, { plan: "sharded" })).toThrow(
      /a reservoir of 100000 neurons with 10,000,000,000 weights on device 1, its part on H200 would take .* and the limit is /,
    );
    const twice = h200s(2);
    const same = { ...twice, peers: [twice.peers![0]!, twice.peers![0]!], memory: 3e10 };
    expect(() => choices(shape, same, { plan: "sharded" })).toThrow("on H200 would take");
    expect(choices(shape, { ...same, memory: 5e10 }, { plan: "sharded" })).toHaveLength(1);
  });

  it("refuses the plan to one device", () => {
    const target = { ...h200s(1), peers: undefined };
    expect(() => choices(large(), target, { plan: "sharded" })).toThrow(
      'it takes several devices, such as engine "cuda:0-3" or "cuda:all"',
    );
  });
});
