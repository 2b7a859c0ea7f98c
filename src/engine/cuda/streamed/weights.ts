// What the streamed loop needs of W: its place in device memory, and a step's launch. Dense and
// sparse matrices each have a file.
import type { DeviceSlice, Stream } from "../../../gpu/index.js";
import type { AnyKernel } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";

/** What one step reads and writes. */
export interface StepArguments {
  readonly before: RealSlice;
  readonly after: RealSlice;
  /** The chunk's description (kernels/include/chunk.cuh). */
  readonly chunk: DeviceSlice<"u64">;
  readonly leak: RealSlice;
  readonly keep: RealSlice;
  /** Steps after the one that the chunk's description stands at. */
  readonly step: number;
}

/** Kernels of the form of pack_state_f32 and unpack_state_f32 (kernels/reservoir_step.cu). */
export interface StatePacking {
  readonly pack: AnyKernel;
  readonly unpack: AnyKernel;
}

/** W on the device, ready for steps. */
export interface StreamedWeights {
  /**
   * Columns that a lane loads at once, which decides where values stand in the state; 0 leaves them
   * in their places.
   */
  readonly lanes: number;
  /** Values, or pairs of 16 bits, of the packed state. */
  readonly stateLength: number;
  /** How its state is packed; left out, as `lanes` says. */
  readonly packing?: StatePacking;
  readonly bytes: number;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  step(stream: Stream, step: StepArguments): void;
  dispose(): void;
}

/**
 * Rows of a W from the host that are sent at a time: pieces of at most about 64 MiB, and no fewer
 * than 16.
 */
export const rowsOfPiece = (size: number, elementBytes: number): number =>
  Math.max(1, Math.min(Math.ceil(size / 16), Math.floor(2 ** 26 / (size * elementBytes))));

/**
 * What every step takes after its pointers: activation, noise level and noise key
 * (kernels/reservoir_step.cu).
 */
export type NeuronArguments = readonly [activation: number, noiseLevel: number, key0: number, key1: number];

/** What a plan says of arithmetic that is not portable. */
export const fastDetail = (fast: boolean): Readonly<Record<string, string>> => (fast ? { arithmetic: "fast" } : {});
