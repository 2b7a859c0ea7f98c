// A reservoir, its run by docs/numerics.md, and the launch of a persistent kernel that is to give the same.
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

/** Runs the steps in launches of so many each; gives the states, the last state and the report. */
export function runReservoir(
  kernel: GeneratedKernel,
  data: ReservoirRun,
  chunks: number[],
  places: number,
  { blocks = kernel.grid[0], spinLimit = 1n << 40n, ptx = kernel.ptx, idlePolls = 1e6 } = {},
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
      limits: { idlePolls, steps: 2e6 },
    });
    done += steps;
  }
  const floats = (name: string, count: number) => new Float32Array(machine.read(memory.get(name)!, 4 * count).buffer);
  const report = new BigUint64Array(machine.read(memory.get("report")!, 8).buffer)[0]!;
  return { states: floats("states", data.states.length), state: floats("state", data.size), report };
}
