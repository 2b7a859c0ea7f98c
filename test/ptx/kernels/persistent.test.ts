// Whole runs of a reservoir in one launch, made by the builder: the bits of the portable step, in
// the interpreter.
import { describe, expect, it } from "vitest";
import type { GeneratedKernel } from "../../../src/ptx/kernels/generated-kernel.js";
import { type PersistentShape, persistentGrid, persistentPlaces, statesOutOfRange } from "../../../src/ptx/kernels/persistent.js";
import { persistentCluster } from "../../../src/ptx/kernels/persistent-cluster.js";
import { type ReservoirRun, reservoir, reservoirRunner } from "./reservoir-run.js";

function expectRun(kernel: GeneratedKernel, data: ReservoirRun, chunks: number[], places = 0): void {
  const { states, state, report } = reservoirRunner(kernel, places)(data, chunks);
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

  describe("of one block of several", () => {
    const shape = { size: 200, rowsPerWarp: 4, warps: 3 } as const;
    const data = reservoir(200, 2);
    const run = reservoirRunner(persistentGrid(shape), persistentPlaces(shape));
    // After one step of all blocks its states stand in the places.
    const sent = run(data, [1]).places;

    it("goes on with the states that others sent", () => {
      const { report, states } = run(data, [1], { blocks: 1, sent });
      expect(report).toBe(0n);
      expect(states[0]).toBe(data.states[0]);
    });

    it.each([0, 1, 2, 3])(
      "waits as long as it may where state %i of four side by side is missing, then reports and takes no further step",
      (k) => {
        const { report, ticks, states } = run(data, [2], { blocks: 1, sent: sent.with(252 + k, 0), spinLimit: 5000n });
        // Block 0, at the first step.
        expect(report).toBe(1n << 32n);
        expect(ticks).toBeGreaterThan(5000);
        expect(states[0]).toBe(data.states[0]);
        expect(states.subarray(200).every(Number.isNaN)).toBe(true);
      },
    );

    it("says at which step states are missing", () => {
      expect(run(data, [2], { blocks: 1, sent, spinLimit: 1000n }).report).toBe((1n << 32n) | 1n);
    });

    it("does not look at the clock where the wait is short", () => {
      expect(run(data, [2], { spinLimit: 0n }).report).toBe(0n);
    });
  });

  it("leaves all as it is in a launch of no steps", () => {
    const shape = { size: 31, rowsPerWarp: 4, warps: 8 } as const;
    expectRun(persistentGrid(shape), reservoir(31, 3), [0, 2, 0, 1, 0], persistentPlaces(shape));
  });

  it("refuses states outside [-1, 1] with a report", () => {
    const shape = { size: 20, rowsPerWarp: 8, warps: 16 } as const;
    const run = reservoirRunner(persistentGrid(shape), persistentPlaces(shape));
    for (const wrong of [1.5, -2, Number.NaN]) {
      const data = reservoir(20, 2);
      data.state[7] = wrong;
      expect(run(data, [2]).report).toBe(statesOutOfRange);
    }
  });

  it("refuses an activation, an arithmetic and a range that there are not", () => {
    const refused = (choice: object) => expect(() => persistentGrid({ size: 64, ...choice }, { target: "sm_90" }));
    refused({ activation: "cosh" }).toThrow('activation is "cosh"; it takes "tanh" or "identity" or "relu" or "sigmoid"');
    refused({ arithmetic: "exact" }).toThrow('arithmetic is "exact"; it takes "portable" or "fast"');
    refused({ range: "all" }).toThrow('range is "all"; it takes "unit" or "any"');
    expect(() => persistentCluster({ size: 64, activation: "cosh" as "tanh" }, { target: "sm_90" })).toThrow('activation is "cosh"');
  });

  it("refuses an activation whose states leave [-1, 1], unless any are taken", () => {
    expect(() => persistentGrid({ size: 20, activation: "relu" })).toThrow('range is "unit"; states of relu take "any"');
    expect(persistentGrid({ size: 20, activation: "relu", range: "any" }).parameters.map(({ name }) => name)).toEqual([
      ...["weights", "leak", "drive", "state", "states", "places", "report", "steps", "spinLimit"],
    ]);
    expect(persistentPlaces({ size: 20, range: "any" })).toBe(3 * persistentPlaces({ size: 20 }));
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
