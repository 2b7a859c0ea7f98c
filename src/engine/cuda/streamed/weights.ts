// What the streamed loop needs of W: where it lies in device memory, and a step's launch. Dense and
// sparse matrices each have a file.
import type { Context, DeviceSlice, Stream } from "@spillway/gpu";
import type { WeightDraws } from "../../../reservoir/weight-draws.js";
import type { AnyKernel } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";

/** What one step reads and writes. */
export interface StepArguments {
  readonly before: RealSlice;
  readonly after: RealSlice;
  /** The chunk's description (kernels/chunk.cuh). */
  readonly chunk: DeviceSlice<"u64">;
  readonly leak: RealSlice;
  readonly keep: RealSlice;
  /** Steps after the one that the chunk's description stands at. */
  readonly step: number;
  /** Where the same x goes on other devices, if they share W: the addresses of their `after`. */
  readonly others?: DeviceSlice<"u64"> | undefined;
}

/** What the steps of a run begin with. */
export interface StreamedRun {
  /** N values: x before the run. */
  readonly state: RealSlice;
  readonly drive: RealSlice;
  readonly feedback: RealSlice | undefined;
  readonly states: RealSlice | undefined;
  readonly firstStep: number;
  readonly sequence: number;
  /** The packed states of even and odd steps on the device of the loop. */
  readonly packed: readonly [RealSlice, RealSlice];
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
   * in order.
   */
  readonly lanes: number;
  /** Values, or pairs of 16 bits, of the packed state. */
  readonly stateLength: number;
  /** How its state is packed; left out, as `lanes` says. */
  readonly packing?: StatePacking;
  readonly bytes: number;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** The other devices that share W, if there are any. */
  readonly peers?: readonly Context[] | undefined;
  /**
   * Called before the first step of a run by a W that several devices share; its steps are not
   * captured in graphs.
   */
  begin?(stream: Stream, run: StreamedRun): void;
  step(stream: Stream, step: StepArguments): void;
  /** @throws what ended the work of a device, once the stream has drained */
  check?(): void;
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

/** What it says of a W that no host holds. */
export const drawnDetail = (draws: WeightDraws | undefined): Readonly<Record<string, string>> => (draws ? { drawn: "on the device" } : {});
