// The kernels of kernels/neuromorphic_gemv.cu with their parameters and the shapes of their
// launches. Who owns what they read is not known here, and shapes are not checked.
import type { Context, DeviceSlice, ReadonlyDeviceSlice, Stream } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import { type AnyArgument, type AnyKernel, type CompiledSource, namedKernel, type RealParameter } from "./kernels.js";
import type { NeuronArguments } from "./streamed/weights.js";
import type { RealSlice } from "./time-loop.js";

/** A slice of either precision, for reading. */
export type RealInput = ReadonlyDeviceSlice<"f32" | "f64">;

/** A matrix in CSR form on a device. */
export interface SparseSlices {
  readonly values: RealInput;
  readonly columns: ReadonlyDeviceSlice<"u32">;
  readonly rowOffsets: ReadonlyDeviceSlice<"u32">;
}

/**
 * Threads of a block of matvec_input, and steps that each thread makes; threads of a block of the
 * others.
 */
const inputThreads = 128;
const inputSteps = 16;
const threads = 256;

const csr = ["const real*", "const u32*", "const u32*"] as const;
const parameters = {
  matvec_input: ["const real*", "const real*", "const real*", "real*", "i32", "i32", "i32"],
  matvec_reservoir: ["const real*", "const real*", "real*", "i32", "i32"],
  matvec_reservoir_csr: [...csr, "const real*", "real*", "i32"],
  leaky_integration: [
    ...(["real*", "const real*", "const real*", "const real*", "const real*", "const real*", "i32", "i32"] as const),
    ...(["real", "u32", "u32", "u32", "u32", "const u64*"] as const),
  ],
  power_iteration: ["const real*", "const real*", "real*", "real*", "i32"],
  power_iteration_csr: [...csr, "const real*", "real*", "real*", "i32"],
} as const satisfies Record<string, readonly RealParameter[]>;

/** Blocks of a product with so many rows: a warp a row, or eight lanes a row in CSR form. */
export const productBlocks = (rows: number, sparse: boolean): number => Math.ceil((rows * (sparse ? 8 : 32)) / threads);

/** The kernels of one precision on one context; each is loaded by its first use there. */
export class NamedKernels {
  readonly #context: Context;
  readonly #precision: Precision;
  readonly #overlap: boolean;
  readonly #source: CompiledSource;

  /**
   * With `overlap`, a kernel loads weights while the one before ends, if the device can
   * (docs/cuda.md, launch shapes): for weights that no kernel writes.
   */
  constructor(context: Context, precision: Precision, options: { readonly overlap?: boolean; readonly source?: CompiledSource } = {}) {
    this.#context = context;
    this.#precision = precision;
    this.#source = options.source;
    this.#overlap = options.overlap === true && context.info.computeCapability[0] >= 9;
  }

  /** Loads kernels now, not by their first launch. */
  load(...names: readonly (keyof typeof parameters)[]): this {
    for (const name of names) this.#kernel(name);
    return this;
  }

  #kernel(name: keyof typeof parameters): AnyKernel {
    return namedKernel(this.#context, name, this.#precision, parameters[name], this.#source);
  }

  #launch(stream: Stream, name: keyof typeof parameters, blocks: number, args: readonly (AnyArgument | ReadonlyDeviceSlice)[]): void {
    stream.launch(this.#kernel(name), { grid: blocks, block: threads, overlap: this.#overlap }, ...(args as AnyArgument[]));
  }

  /**
   * out[t, r] = ((bias[r] + W[0, r] u[t, 0]) + W[1, r] u[t, 1]) + ..., or from +0 without a bias.
   * docs/numerics.md, rule 3.
   *
   * @param weights I x N, input by input; null if I is 0
   * @param inputs steps x I
   */
  matvecInput(
    stream: Stream,
    weights: RealInput | null,
    bias: RealInput | null,
    inputs: RealInput | null,
    out: RealSlice,
    shape: { readonly size: number; readonly inputs: number; readonly steps: number },
  ): void {
    const grid = [Math.ceil(shape.size / inputThreads), Math.ceil(shape.steps / inputSteps)] as const;
    const args = [weights, bias, inputs, out, shape.size, shape.inputs, shape.steps] as AnyArgument[];
    stream.launch(this.#kernel("matvec_input"), { grid, block: inputThreads }, ...args);
  }

  /** y = W x by rule 1, or by rule 2 for a W in CSR form. */
  matvecReservoir(stream: Stream, weights: RealInput | SparseSlices, x: RealInput, y: RealSlice, rows: number, columns: number): void {
    if ("values" in weights) this.#launch(stream, "matvec_reservoir_csr", productBlocks(rows, true), [...slicesOf(weights), x, y, rows]);
    else this.#launch(stream, "matvec_reservoir", productBlocks(rows, false), [weights, x, y, rows, columns]);
  }

  /**
   * next = (1 - a) x + a f(((drive + recurrent) + feedback) + noise) by rules 3 to 6. With a chunk,
   * drive and feedback are rows of its matrices.
   */
  leakyIntegration(
    stream: Stream,
    next: RealSlice,
    x: RealInput,
    { drive, recurrent, feedback, leak }: LeakySlices,
    size: number,
    [activation, noiseLevel, key0, key1]: NeuronArguments,
    { step, sequence, chunk }: { readonly step: number; readonly sequence: number; readonly chunk: DeviceSlice<"u64"> | null },
  ): void {
    const args = [next, x, drive, recurrent, feedback, leak, size, activation, noiseLevel, key0, key1, step, sequence, chunk];
    this.#launch(stream, "leaky_integration", Math.ceil(size / threads), args);
  }

  /**
   * y = W (x / |x|), and |x| to `length`: an iteration of power iteration on n rows.
   * docs/numerics.md, rule 7.
   */
  powerIteration(stream: Stream, weights: RealInput | SparseSlices, x: RealInput, y: RealSlice, length: RealSlice, n: number): void {
    const sparse = "values" in weights;
    const name = sparse ? "power_iteration_csr" : "power_iteration";
    this.#launch(stream, name, productBlocks(n, sparse), [...(sparse ? slicesOf(weights) : [weights]), x, y, length, n]);
  }
}

/** What leaky_integration adds, and the leak rates. */
export interface LeakySlices {
  readonly drive: RealInput | null;
  readonly recurrent: RealInput | null;
  readonly feedback: RealInput | null;
  readonly leak: RealInput;
}

const slicesOf = ({ values, columns, rowOffsets }: SparseSlices) => [values, columns, rowOffsets] as const;
