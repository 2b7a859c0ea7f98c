// A registered kind's steps as WebAssembly SIMD on the host: what it is and takes, as data. The
// CPU engine runs it, and knows no kind by its name.
import type { FloatArray } from "@spillway/numerics";

/** Memory of values of the model's precision, zero but for what `fill` writes. */
export interface KindMemory {
  readonly length: number;
  /** Writes what steps read; called once. */
  fill?(values: FloatArray): void;
}

/**
 * A number, or what a function finds in memory: it gets the address. Memory is written in the order
 * of the arguments: a `fill` may write to a Uint32Array that comes after it.
 */
export type KindWasmArgument = number | Uint32Array | KindMemory;

/**
 * The steps of a model as two functions that a module exports, with the bits of its `stepper`. An
 * instance runs one model.
 *
 *     setup(arguments...)
 *     run(x, inputs, states, steps, step, sequence)
 *
 * `x`, `inputs` and `states` are addresses: x holds N states and H hidden values, before the first
 * of the steps and after the last; inputs are steps x I, states steps x N. `step` and `sequence`
 * are those of a `KindStep` for the first of them. Values that are not finite may be left where
 * they come up: the host then takes those steps once more by the stepper.
 */
export interface KindWasm {
  /**
   * A module that imports its memory as `env.memory`, of which the first 64 KiB are its own; left
   * out, the package's.
   */
  readonly module?: Uint8Array;
  readonly setup: string;
  readonly run: string;
  /** In the order of setup's parameters. */
  readonly arguments: readonly KindWasmArgument[];
  /**
   * Whether it has the right bits for inputs, rows x I; if not, the stepper takes the steps.
   * Default true.
   */
  takes?(inputs: FloatArray): boolean;
}
