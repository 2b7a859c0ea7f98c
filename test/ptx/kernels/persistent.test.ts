// Whole runs of a reservoir in one launch, made by the builder: the bits of the portable step, in the interpreter.
import { describe, expect, it } from "vitest";
import type { GeneratedKernel } from "../../../src/ptx/kernels/generated-kernel.js";
import { persistentGrid, persistentPlaces, statesOutOfRange, type PersistentShape } from "../../../src/ptx/kernels/persistent.js";
import { persistentCluster } from "../../../src/ptx/kernels/persistent-cluster.js";
import { reservoir, type ReservoirRun, runReservoir } from "./reservoir-run.js";

function expectRun(kernel: GeneratedKernel, data: ReservoirRun, chunks: number[], places = 0): void {
  const { states, state, report } = runReservoir(kernel, data, chunks, places);
  expect(report).toBe(0n);
  expect(states).toEqual(data.states);
  expect(state).toEqual(data.states.slice(-data.size));
}

describe("the grid form", () => {
  it.each([
    [{ size: 1, rowsPerWarp: 8, warps: 4 }, [5]],
    [{ size: 31, rowsPerWarp: 4, warps: 8 }, [1, 4]],
    [{ size: 130, rowsPerWarp: 8, warps: 16 }, [3, 2, 1]],
    [{ size: 128, rowsPerWarp: 2, warps: 8 }, [4]],
    [{ size: 90, rowsPerWarp: 1, warps: 16 }, [3]],
    [{ size: 700, rowsPerWarp: 8, warps: 2 }, [2]],
  ] as const)("%j in launches of %j steps has the bits of the portable step", (shape, chunks) => {
    const data = reservoir(
      shape.size,
      chunks.reduce<number>((a, b) => a + b, 0),
    );
    expectRun(persistentGrid(shape), data, [...chunks], persistentPlaces(shape));
  });

  it.each([
    [{ size: 3, longestRow: 2, rowsPerWarp: 1, warps: 1 }, [4]],
    [{ size: 66, longestRow: 13, rowsPerWarp: 1, warps: 4 }, [2, 3]],
    [{ size: 101, longestRow: 30, rowsPerWarp: 4, warps: 2 }, [4]],
    [{ size: 40, longestRow: 40, rowsPerWarp: 8, warps: 2 }, [3]],
  ] as const)("sparse, %j in launches of %j steps", (shape, chunks) => {
    const data = reservoir(
      shape.size,
      chunks.reduce<number>((a, b) => a + b, 0),
      shape.longestRow,
    );
    expectRun(persistentGrid(shape), data, [...chunks], persistentPlaces(shape));
  });

  it("ends with a report, and does not hang, where a block is missing", () => {
    const shape = { size: 130, rowsPerWarp: 8, warps: 16 } as const;
    const data = reservoir(130, 3);
    const { report } = runReservoir(persistentGrid(shape), data, [3], persistentPlaces(shape), { blocks: 1, spinLimit: 1000n });
    // Block 0, at the first step.
    expect(report).toBe(1n << 32n);
  });

  it("refuses states outside [-1, 1] with a report", () => {
    const shape = { size: 20, rowsPerWarp: 8, warps: 16 } as const;
    for (const wrong of [1.5, -2, Number.NaN]) {
      const data = reservoir(20, 2);
      data.state[7] = wrong;
      expect(runReservoir(persistentGrid(shape), data, [2], persistentPlaces(shape)).report).toBe(statesOutOfRange);
    }
  });

  it("chooses rows and warps so that all blocks are on the device at once", () => {
    const blocks = (shape: PersistentShape) => persistentGrid(shape, { target: "sm_90" }).grid[0];
    expect(blocks({ size: 1000 })).toBe(64);
    expect(blocks({ size: 1000, longestRow: 130 })).toBe(63);
    expect(blocks({ size: 2000 })).toBe(128);
    expect(blocks({ size: 1000, multiprocessors: 40 })).toBe(32);
    expect(() => blocks({ size: 40000 })).toThrow("40000 neurons do not fit on 132 blocks at once");
    expect(() => blocks({ size: 2000, rowsPerWarp: 8, warps: 4 })).toThrow(
      /about \d+ registers a thread are alive at once; sm_90 has 255 for blocks of this size/,
    );
    expect(() => blocks({ size: 6000 })).toThrow("6000 neurons do not fit on 132 blocks at once");
  });
});

describe("the cluster form", () => {
  it.each([
    [{ size: 1, rowsPerWarp: 8, warps: 8 }, [3]],
    [{ size: 130, rowsPerWarp: 4, warps: 8 }, [1, 4]],
    [{ size: 100, rowsPerWarp: 2, warps: 4 }, [3, 2]],
    [{ size: 128, rowsPerWarp: 8, warps: 4 }, [4]],
  ] as const)("%j in launches of %j steps has the bits of the portable step", (shape, chunks) => {
    const data = reservoir(
      shape.size,
      chunks.reduce<number>((a, b) => a + b, 0),
    );
    expectRun(persistentCluster(shape, { target: "sm_90" }), data, [...chunks]);
  });

  it("refuses what does not fit in a cluster, and targets without any", () => {
    expect(() => persistentCluster({ size: 600 }, { target: "sm_90" })).toThrow(
      "600 neurons take 20 blocks of 32 rows; a cluster has at most 16",
    );
    expect(() => persistentCluster({ size: 100 }, { target: "sm_80" })).toThrow("takes sm_90 or later; the target is sm_80");
  });
});
