// What every way of running the time loop on a device offers to the session: what it would take and
// cost, known before anything is allocated, and chunks of steps, enqueued on a stream. It is not
// where the input drive is computed, states are copied to the host or memory is planned.
import { SpillwayError } from "@spillway/core/errors.js";
import type { Context, DeviceInfo, DeviceSlice, Stream } from "@spillway/gpu";
import type { EngineOptions } from "../../reservoir/engine.js";
import type { FeatureSpec } from "../../reservoir/features.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { RealType } from "./kernels.js";
import type { ModelShape } from "./shape.js";

/** A slice of device memory in the model's precision. */
export type RealSlice<T extends RealType = RealType> = DeviceSlice<T>;

/** One chunk of steps. Every matrix is row-major with N values a row and lies on the device. */
export interface TimeLoopRun {
  readonly steps: number;
  /** Steps since reset before the chunk: the noise counter of its first step. */
  readonly firstStep: number;
  /** The noise sequence. */
  readonly sequence: number;
  /** steps x N: b + W_in u, in the order of docs/numerics.md rule 3. */
  readonly drive: RealSlice;
  /** steps x N: W_fb y, if the model has feedback; row t is what step t feeds back. */
  readonly feedback?: RealSlice | undefined;
  /** N values: x before the chunk, and x after it once the stream has come this far. */
  readonly state: RealSlice;
  /**
   * steps x N, where the states go; left out, only `state` is written. States that are not finite
   * are looked for in them, by the session.
   */
  readonly states?: RealSlice | undefined;
}

/** A linear readout on the device. */
export interface DeviceReadout {
  readonly features: FeatureSpec;
  /** O. */
  readonly outputs: number;
  /** F. */
  readonly featureCount: number;
  /** O x F. */
  readonly weights: DeviceSlice<"f64">;
  /** O values. */
  readonly intercept: DeviceSlice<"f64">;
}

/**
 * One chunk of a closed loop (docs/numerics.md, rule 10). Without feedback weights each step is y =
 * readout(x, u before), then a step whose input row is y and behind it the inputs from outside;
 * with them it is a step with u from outside that feeds back the y before, then y = readout(x, u).
 */
export interface ClosedLoopRun {
  readonly steps: number;
  readonly firstStep: number;
  readonly sequence: number;
  readonly readout: DeviceReadout;
  /** I x N: W_in, input by input. */
  readonly inputWeights: RealSlice;
  /** N values. */
  readonly bias: RealSlice;
  /** O x N: W_fb, output by output, if the model has it. */
  readonly feedbackWeights?: RealSlice | undefined;
  /**
   * (steps + 1) x I: row 0 is the u before the chunk, row t + 1 that of step t. Without feedback
   * weights the loop writes y to the first O of rows 1 and on.
   */
  readonly inputs: RealSlice;
  /**
   * (steps + 1) x O: row 0 is the y before the chunk, row t + 1 the y that step t makes. The loop
   * writes rows 1 and on.
   */
  readonly outputs: RealSlice;
  readonly state: RealSlice;
  /** steps x N. */
  readonly states: RealSlice;
  /** steps x N, for the loop's own use. */
  readonly drive: RealSlice;
  /** steps x N, for the loop's own use, if the model has feedback weights. */
  readonly feedback?: RealSlice | undefined;
}

/** A loop made for one model on one device: its weights are loaded, its kernels chosen. */
export interface TimeLoop {
  /** "cluster", "grid", "streamed", ...: the plan's name. */
  readonly name: string;
  /** Kernel, blocks, threads, where the weights lie: what `spillway plan` prints. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** What making its kernel took on the host, if it was made for this model. */
  readonly kernelMilliseconds?: number | undefined;
  /** Device memory that it holds, weights included. */
  readonly bytes: number;
  /**
   * Bytes of weights that each step reads from device memory; left out if they stay on the chip.
   */
  readonly bytesPerStep?: number | undefined;
  /** The other devices that share W; left out by loops of one device. */
  readonly peers?: readonly Context[] | undefined;
  /** Enqueues a chunk; returns at once. */
  enqueue(stream: Stream, run: TimeLoopRun): void;
  /**
   * Enqueues a chunk of a closed loop; left out by loops that have none, and false if the
   * readout is not for this one.
   */
  enqueueClosed?(stream: Stream, run: ClosedLoopRun): boolean;
  /**
   * Steps that a chunk of a closed loop may have; left out: 128, which is what a graph of steps
   * bears.
   */
  readonly closedSteps?: number | undefined;
  /**
   * After the stream has drained: throws StallError if a bounded wait expired in any chunk since
   * the last check.
   */
  check(): void;
  dispose(): void;
}

/**
 * What one choice of loop would be for a model on a device: arithmetic over its shape, nothing is
 * allocated.
 */
export interface TimeLoopPlan {
  /** As `TimeLoop.name`. */
  readonly name: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** Device memory that it would hold, weights included. */
  readonly bytes: number;
  /** What it would hold on each of the other devices, if there are any. */
  readonly peerBytes?: number | undefined;
  /** Where its kernels come from; left out, they are shipped. */
  readonly kernelSource?: Exclude<EngineOptions["kernelSource"], "auto">;
  /** Whether its steps have the bits of docs/numerics.md; left out, they have. */
  readonly arithmetic?: "portable" | "fast" | undefined;
  /** Modelled from measurements; the session takes the least. */
  readonly microsecondsPerStep: number;
  /**
   * Loads weights and kernels; undefined if the device turns out not to take it (co-residency),
   * and the next plan is tried.
   */
  open(context: Context, model: ReservoirModel, options: TimeLoopOptions): TimeLoop | undefined | Promise<TimeLoop | undefined>;
}

/** What a user may ask of the loops. */
export interface TimeLoopOptions {
  /** Clock ticks after which a wait between blocks is an error; default that of `spinLimitOf`. */
  readonly spinLimit?: number | undefined;
  /** Where kernels come from; default "auto". */
  readonly kernelSource?: EngineOptions["kernelSource"];
  /** Asked if NVRTC would be used: why it cannot be, or undefined. Left out, it can be. */
  readonly whyNoCompiler?: (() => string | undefined) | undefined;
  /** Devices that may share a reservoir, this one the first; left out, there is this one alone. */
  readonly peers?: readonly Context[] | undefined;
}

/** What each folder of loops exports, and plan.ts lists. */
export interface TimeLoopFamily {
  /** The plans it has, by name: what the engine option `plan` takes. */
  readonly names: readonly string[];
  /** Whether some of them take reservoirs in integers; left out, none does. */
  readonly integers?: boolean;
  /** Plans that fit this shape and device, any number of them. */
  plans(shape: ModelShape, device: DeviceInfo, options: TimeLoopOptions): readonly TimeLoopPlan[];
}

/**
 * A wait between blocks of a persistent kernel went past its limit: a block did not run, or died.
 */
export class StallError extends SpillwayError {
  override readonly name = "StallError";
  readonly block: number;
  readonly step: number;
  /** `what` says who waited for what, and `instead` is what takes no such wait. */
  constructor(
    kernel: string,
    block: number,
    step: number,
    limit: number,
    {
      what = `block ${block} waited ${limit} clock ticks at step ${step} for states that did not come`,
      instead = 'choose the plan "streamed"',
    }: { readonly what?: string; readonly instead?: string } = {},
  ) {
    super(
      "device",
      `${kernel}: ${what}; another program may hold the device, or a checker slows it: raise spinLimit or SPILLWAY_SPIN_LIMIT, or ${instead}`,
    );
    this.block = block;
    this.step = step;
  }
}
