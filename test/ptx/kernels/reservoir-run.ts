// A reservoir, its run by docs/numerics.md, and the launch of a persistent kernel that is to give
// the same.
import { portableTanh32 } from "../../../src/numerics/portable.js";
import { PtxMachine } from "../../../src/ptx/interpreter/index.js";
import type { GeneratedKernel } from "../../../src/ptx/kernels/generated-kernel.js";
import type { Array as HostArray } from "../device.js";
import { uniform } from "./run.js";

const f = Math.fround;

/** A reservoir with its run: what goes in, and by docs/numerics.md what comes out. */
export function reservoir(size: number, steps: number, longestRow?: number) {
  const slots = longestRow === undefined ? 0 : 8 * Math.ceil(longestRow / 8);
  const [weights, drive, leak, state] = [
    uniform(size * size, 1, 0.5),
    uniform(size * steps, 2),
    uniform(size, 3).map(Math.abs),
    uniform(size, 4),
  ];
  // The ends of the range that states may have.
  state[0] = 1;
  state[size - 1] = -1;
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

export type ReservoirRun = ReturnType<typeof reservoir>;

interface RunOptions {
  /** Blocks of a launch; fewer than the grid's leaves those that are waited for out. */
  readonly blocks?: number;
  readonly spinLimit?: bigint;
  /** What stands in the places before the first launch; zeros if left out. */
  readonly sent?: Uint32Array;
  /** When the interpreter ends a launch. */
  readonly idlePolls?: number;
  readonly limit?: number;
}

/**
 * Gives a function that runs a reservoir's steps in launches of so many each, on one simulated
 * device.
 */
export function reservoirRunner(kernel: GeneratedKernel, places = 0, ptx = kernel.ptx) {
  const machine = new PtxMachine({ memoryBytes: 2 ** 22, launchBytes: 2 ** 22 });
  const program = machine.load(ptx);
  return (data: ReservoirRun, chunks: readonly number[], options: RunOptions = {}) => {
    const { blocks = kernel.grid[0], spinLimit = 1n << 40n, sent = new Uint32Array(places), idlePolls = 1e6, limit = 2e6 } = options;
    const contents: Record<string, HostArray> = {
      weights: data.weights,
      values: data.values,
      columns: data.columns,
      leak: data.leak,
      state: data.state,
      drive: data.drive,
      states: new Float32Array(data.states.length).fill(Number.NaN),
      places: sent,
      report: new BigUint64Array(1),
    };
    const memory = new Map(
      kernel.parameters
        .filter(({ element }) => element !== undefined)
        .map(({ name }) => {
          const array = contents[name]!;
          const address = machine.allocate(array.byteLength, name);
          machine.write(address, array);
          return [name, address];
        }),
    );
    let [done, ticks] = [0, 0];
    const { name: entry, block, cooperative, cluster } = kernel;
    for (const steps of chunks) {
      const scalars: Record<string, number | bigint> = { steps, generation: done, spinLimit };
      const offset = BigInt(4 * done * data.size);
      const args = kernel.parameters.map(({ name }) => {
        const address = memory.get(name);
        return address === undefined ? scalars[name]! : name === "drive" || name === "states" ? address + offset : address;
      });
      const { counters } = program.launch({
        entry,
        grid: blocks,
        block,
        cooperative,
        ...(cluster > 1 && { cluster }),
        args,
        limits: { idlePolls, steps: limit },
      });
      done += steps;
      ticks += counters.steps;
    }
    const bytes = (name: string) => machine.read(memory.get(name)!, contents[name]!.byteLength).buffer;
    const outcome = {
      states: new Float32Array(bytes("states")),
      state: new Float32Array(bytes("state")),
      places: memory.has("places") ? new Uint32Array(bytes("places")) : sent,
      report: new BigUint64Array(bytes("report"))[0]!,
      /** Simulated clock ticks of all launches. */
      ticks,
    };
    for (const address of memory.values()) machine.free(address);
    return outcome;
  };
}
