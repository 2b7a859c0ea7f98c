// What every way of running the time loop on a device offers to the session: chunks of steps, enqueued on a stream. It is not where the input
// drive is computed, states are copied to the host or memory is planned.
import type { DeviceSlice, Stream } from "../../gpu/index.js";

/** A slice of device memory in the model's precision. */
export type RealSlice = DeviceSlice<"f32"> | DeviceSlice<"f64">;

/** One chunk of steps. Every matrix is row-major with N values a row and lies on the device. */
export interface TimeLoopRun {
  readonly steps: number;
  /** Steps since reset before the chunk: the noise counter of its first step. */
  readonly firstStep: number;
  /** The noise sequence. */
  readonly sequence: number;
  /** steps x N: b + W_in u, in the order of docs/numerics.md rule 3. */
  readonly drive: RealSlice;
  /** steps x N: W_fb y, where the model has feedback; row t is what step t feeds back. */
  readonly feedback?: RealSlice | undefined;
  /** N values: x before the chunk, and x after it once the stream has come this far. */
  readonly state: RealSlice;
  /** steps x N, where the states go; left out, only `state` is written. */
  readonly states?: RealSlice | undefined;
}

/** A loop made for one model on one device: its weights are loaded, its kernels chosen. */
export interface TimeLoop {
  /** "cluster", "grid", "streamed", ...: the plan's name. */
  readonly name: string;
  /** Kernel, blocks, threads, where the weights lie: what `spillway info --plan` prints. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** Device memory that it holds, weights included. */
  readonly bytes: number;
  /** Enqueues a chunk; returns at once. */
  enqueue(stream: Stream, run: TimeLoopRun): void;
  /** After the stream has drained: throws StallError if a bounded wait expired in any chunk since the last check. */
  check(): void;
  dispose(): void;
}

/** A wait between blocks of a persistent kernel went past its limit: a block did not run, or died. */
export class StallError extends Error {
  override readonly name = "StallError";
  readonly block: number;
  readonly step: number;
  constructor(kernel: string, block: number, step: number, limit: number) {
    super(
      `${kernel}: block ${block} waited ${limit} clock ticks at step ${step} for states that did not come; another program may hold the device, or a checker slows it: raise spinLimit, or choose the plan "streamed"`,
    );
    this.block = block;
    this.step = step;
  }
}
