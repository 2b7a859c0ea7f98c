// A registered kind's steps as a kernel of a device: what it is and takes, as data. Engines on
// devices launch it, and know no kind by its name.
import type { FloatArray } from "@spillway/numerics";

/** What a kernel takes beside what every kind's does: memory of its own, or a number of a type. */
export type KindArgument = FloatArray | Uint32Array | BigUint64Array | readonly [type: "i32" | "u32" | "f32" | "f64", value: number];

/**
 * The steps of a model as a kernel, in its precision Real, with the bits of its `stepper`. Its
 * parameters are
 *
 *     (Real* x, const Real* inputs, Real* states, unsigned steps, unsigned step, unsigned sequence,
 *      long long spinLimit, arguments...)
 *
 * x holds N states and H hidden values, before the first of the steps and after the last; inputs
 * are steps x I, states steps x N. `step` and `sequence` are those of a `KindStep` for the first of
 * them. All blocks run at once and may wait for one another, up to `spinLimit` clock ticks.
 */
export interface KindKernel {
  /** PTX, or the name of a file of kernels that the package ships. */
  readonly source: { readonly ptx: string } | { readonly shipped: string };
  /** The kernel's name in it. */
  readonly entry: string;
  /**
   * In the order of its parameters. Arrays lie on the device while the model is open; what a kernel
   * writes there is there in the next launch.
   */
  readonly arguments: readonly KindArgument[];
  /** Threads of a block. */
  readonly threads: number;
  /** Blocks on a device of so many multiprocessors, at most one each. */
  blocks(multiprocessors: number): number;
  /** Bytes of dynamic shared memory of a block, if it may have up to `most`. Default 0. */
  shared?(most: number, blocks: number): number;
  /** Why it takes so many blocks; said in the plan. */
  readonly why?: string;
  /**
   * Which of the arguments blocks report to, if they wait for one another; every launch finds in it
   * what it holds here. Where a wait runs past `spinLimit`, its first word becomes (block + 1) 2^32
   * + that step's number, and all blocks end: a StallError.
   */
  readonly report?: BigUint64Array;
  /**
   * Whether it has the right bits for inputs, rows x I; if not, the stepper of the host takes the
   * steps. Default true.
   */
  takes?(inputs: FloatArray): boolean;
}
