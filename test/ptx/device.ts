// Puts arrays on a simulated device, launches a kernel of a fixture and reads arrays back; for the
// tests of the interpreter.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type LaunchResult,
  type MachineLaunchOptions,
  type MachineOptions,
  PtxMachine,
  type PtxProgram,
  SimulationError,
} from "../../packages/ptx/src/interpreter/index.js";

export type Array = Float32Array | Float64Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array | Uint16Array | Uint8Array;
export type Argument = number | bigint | Uint8Array | { input: Array } | { output: Array; seeded?: boolean };

export const input = (array: Array) => ({ input: array });
export const output = (array: Array) => ({ output: array });

export function fixture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`fixtures/${name}.ptx`, import.meta.url)), "utf8");
}

/** A device with one program on it. */
export class Bench {
  readonly machine: PtxMachine;
  readonly program: PtxProgram;

  constructor(ptx: string, options: MachineOptions = {}) {
    this.machine = new PtxMachine({ memoryBytes: 2 ** 24, launchBytes: 2 ** 24, ...options });
    this.program = this.machine.load(ptx);
  }

  /**
   * Runs a kernel; inputs are copied to the device, outputs are allocated there (and copied too
   * if `seeded` or they are) and read back.
   */
  run(entry: string, shape: Omit<MachineLaunchOptions, "entry" | "args">, args: Argument[], seeded = false): LaunchResult {
    const { machine } = this;
    const uploads: { address: bigint; array: Array; back: boolean }[] = [];
    const values = args.map((each) => {
      if (typeof each !== "object" || each instanceof Uint8Array) return each;
      const back = "output" in each;
      const array = back ? each.output : each.input;
      const address = machine.allocate(array.byteLength, back ? "the output" : "the input");
      if (!back || seeded || each.seeded) machine.write(address, array);
      uploads.push({ address, array, back });
      return address;
    });
    try {
      const result = this.program.launch({ entry, ...shape, args: values });
      for (const { address, array, back } of uploads)
        if (back) new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(machine.read(address, array.byteLength));
      return result;
    } finally {
      for (const { address } of uploads) machine.free(address);
    }
  }
}

/** The error a launch ends with. */
export function simulationError(run: () => unknown): SimulationError {
  try {
    run();
  } catch (error) {
    if (error instanceof SimulationError) return error;
    throw error;
  }
  throw new Error("the launch ended without an error");
}

/** A repeatable stream of 32-bit words (xorshift, Marsaglia 2003). */
export function words(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state | 0;
  };
}
