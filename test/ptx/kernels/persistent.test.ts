// Whole runs of a reservoir in one launch, made by the builder: the bits of the portable step, in the interpreter.
import { describe, expect, it } from "vitest";
import { portableTanh32 } from "../../../src/numerics/portable.js";
import { PtxMachine } from "../../../src/ptx/interpreter/index.js";
import type { GeneratedKernel } from "../../../src/ptx/kernels/generated-kernel.js";
import { persistentGrid, persistentPlaces, statesOutOfRange, type PersistentShape } from "../../../src/ptx/kernels/persistent.js";
import { persistentCluster } from "../../../src/ptx/kernels/persistent-cluster.js";
import type { Array as HostArray } from "../device.js";
import { uniform } from "./run.js";

const f = Math.fround;

/** A reservoir with its run: what goes in, and by docs/numerics.md what comes out. */
function reservoir(size: number, steps: number, longestRow?: number) {
  const slots = longestRow === undefined ? 0 : 8 * Math.ceil(longestRow / 8);
  const [weights, drive, leak, state] = [
    uniform(size * size, 1, 0.5),
    uniform(size * steps, 2),
    uniform(size, 3).map(Math.abs),
    uniform(size, 4),
  ];
  const [values, columns] = [new Float32Array(size * slots), new Uint32Array(size * slots)];
  if (longestRow !== undefined)
    for (let row = 0; row < size; row++) {
      const entries = row % 5 === 0 ? longestRow : Math.floor((longestRow * (row % 7)) / 7);
      for (let e = 0; e < entries; e++) {
        values[row * slots + e] = weights[row * size + e]!;
        columns[row * slots + e] = Math.floor((e * size) / entries);
      }
    }
  const lanes = longestRow === undefined ? 32 : 8;
  const states = new Float32Array(size * steps);
  let x = state;
  for (let t = 0; t < steps; t++) {
    const next = new Float32Array(size);
    for (let row = 0; row < size; row++) {
      let partial = new Array<number>(lanes).fill(0);
      const term = (place: number, weight: number, column: number) => {
        partial[place % lanes] = f(partial[place % lanes]! + f(weight * x[column]!));
      };
      if (longestRow === undefined) for (let column = 0; column < size; column++) term(column, weights[row * size + column]!, column);
      else for (let e = 0; e < slots; e++) term(e, values[row * slots + e]!, columns[row * slots + e]!);
      for (let o = lanes / 2; o; o >>= 1) partial = partial.map((value, l) => f(value + partial[l ^ o]!));
      const a = leak[row]!;
      next[row] = f(f(f(1 - a) * x[row]!) + f(a * portableTanh32(f(drive[t * size + row]! + partial[0]!))));
    }
    states.set(next, t * size);
    x = next;
  }
  return { size, steps, weights, values, columns, drive, leak, state, states };
}

type Run = ReturnType<typeof reservoir>;

/** Runs the steps in launches of so many each; gives the states, the last state and the report. */
function run(
  kernel: GeneratedKernel,
  data: Run,
  chunks: number[],
  places: number,
  { blocks = kernel.grid[0], spinLimit = 1n << 40n, ptx = kernel.ptx } = {},
) {
  const machine = new PtxMachine({ memoryBytes: 2 ** 24, launchBytes: 2 ** 24 });
  const program = machine.load(ptx);
  const put = (array: HostArray): bigint => {
    const address = machine.allocate(array.byteLength);
    machine.write(address, array);
    return address;
  };
  const inputs: Record<string, HostArray> = {
    weights: data.weights,
    values: data.values,
    columns: data.columns,
    leak: data.leak,
    state: data.state,
    drive: data.drive,
  };
  const poison = new Float32Array(data.states.length).fill(Number.NaN);
  const memory = new Map(
    kernel.parameters
      .filter(({ element }) => element !== undefined)
      .map(({ name }) => [
        name,
        put(
          name === "states"
            ? poison
            : name === "places"
              ? new Uint32Array(places)
              : name === "report"
                ? new BigUint64Array(1)
                : inputs[name]!,
        ),
      ]),
  );
  let done = 0;
  for (const steps of chunks) {
    const scalars: Record<string, number | bigint> = { steps, generation: done, spinLimit };
    const offset = BigInt(4 * done * data.size);
    const args = kernel.parameters.map(({ name }) => {
      const address = memory.get(name);
      return address === undefined ? scalars[name]! : name === "drive" || name === "states" ? address + offset : address;
    });
    const { name: entry, block, cooperative, cluster } = kernel;
    program.launch({
      entry,
      grid: blocks,
      block,
      cooperative,
      ...(cluster > 1 && { cluster }),
      args,
      limits: { idlePolls: 1e6, steps: 2e7 },
    });
    done += steps;
  }
  const floats = (name: string, count: number) => new Float32Array(machine.read(memory.get(name)!, 4 * count).buffer);
  const report = new BigUint64Array(machine.read(memory.get("report")!, 8).buffer)[0]!;
  return { states: floats("states", data.states.length), state: floats("state", data.size), report };
}

function expectRun(kernel: GeneratedKernel, data: Run, chunks: number[], places = 0): void {
  const { states, state, report } = run(kernel, data, chunks, places);
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
    const { report } = run(persistentGrid(shape), data, [3], persistentPlaces(shape), { blocks: 1, spinLimit: 1000n });
    // Block 0, at the first step.
    expect(report).toBe(1n << 32n);
  });

  it("refuses states outside [-1, 1] with a report", () => {
    const shape = { size: 20, rowsPerWarp: 8, warps: 16 } as const;
    for (const wrong of [1.5, -2, Number.NaN]) {
      const data = reservoir(20, 2);
      data.state[7] = wrong;
      expect(run(persistentGrid(shape), data, [2], persistentPlaces(shape)).report).toBe(statesOutOfRange);
    }
  });

  it("chooses rows and warps so that all blocks are on the device at once", () => {
    const blocks = (shape: PersistentShape) => persistentGrid(shape, { target: "sm_90" }).grid[0];
    expect(blocks({ size: 1000 })).toBe(128);
    expect(blocks({ size: 1000, longestRow: 130 })).toBe(125);
    expect(blocks({ size: 1000, multiprocessors: 40 })).toBe(32);
    expect(() => blocks({ size: 40000 })).toThrow("40000 neurons do not fit on 132 blocks at once");
    expect(() => blocks({ size: 6000 })).toThrow(/about \d+ registers a thread are alive at once; sm_90 has 128 for blocks of this size/);
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
