// What the tasks of an evaluation share on a device: a wave of members while it is evaluated, and
// the reflections of least squares.
import type { Disposes } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import type { EnginePlan } from "../../../reservoir/engine.js";
import { type AnyArgument, type AnyKernel, shippedKernel } from "../kernels.js";
import type { DeviceClock } from "../profile.js";
import type { Prepared, SweptMembers, Wave } from "./swept-members.js";
import type { Uploads } from "./uploads.js";

/** Rows of a panel of least squares, and columns whose reflections go together. */
export const panelRows = 256;
export const reflectionColumns = 36;

/** Blocks and threads of a launch, and bytes of shared memory. */
export interface LaunchShape {
  readonly grid: number | readonly [number, number];
  readonly block: number;
  readonly shared?: number;
}

/** What members are evaluated on. */
export interface Bench {
  readonly context: Context;
  readonly members: SweptMembers;
  /** While it runs, if it is to be measured. */
  readonly clock: DeviceClock | undefined;
  /** Bytes of states in one chunk. */
  readonly budget: number;
}

/** A wave while it is evaluated. */
export interface Turn {
  readonly stream: Stream;
  readonly wave: Wave;
  readonly prepared: Prepared;
  /** Memory that is given back when the wave is over. */
  readonly memory: Uploads;
  own<T extends Disposes>(thing: T): T;
  /**
   * Lets the event loop run once the stream is done, with so many pieces of the wave's work done.
   * @throws WorkInterruptedError
   */
  pause(done?: number): Promise<void>;
}

/** What an ask makes of waves. */
export interface WaveTask {
  /** Members of a wave that share nothing, and the bytes of all their memory. */
  readonly waveSize: number;
  readonly bytes: number;
  /** Waves that the device has at a time: with two the host takes the answers of one meanwhile. */
  readonly wavesAtOnce: 1 | 2;
  /** The work in words, before the kernel's name, and details of the plan. */
  readonly title: string;
  readonly details: EnginePlan["details"];
  /** Gives the device what all waves share. */
  upload?(memory: Uploads<"f64">): void;
  /** Gives the stream all of a wave, or the first part of it; what it returns does the rest. */
  start(turn: Turn): () => Promise<void>;
}

/** measure_factor for so many members. */
export function factorShape(members: number): LaunchShape {
  return { grid: members, block: 256, shared: 8 * reflectionColumns * (panelRows + reflectionColumns + 2) };
}

/** measure_factor itself (kernels/reservoir_measures.cu). */
export function factorKernel(context: Context): AnyKernel {
  const parameters = ["f64*", "i64", "i32", "i32", "i32", "i32", "f64*", "f64*"] as const;
  return shippedKernel(context, "reservoir_measures", "measure_factor", parameters);
}

/** Weights and patterns, as kernels of this folder take them. */
export const weightParameters = [
  ...(["const real*", "const i32*", "const u16*", "const i32*", "const i32*", "i32", "i32"] as const),
] as const;
export function weightArguments({ kernel }: SweptMembers, { weights }: Prepared): readonly AnyArgument[] {
  return kernel.storage === "dense" ? [...weights, null, null, null, null, 0, 0] : weights;
}

/** Bytes of shared memory that a block may have beside what its kernel declares. */
export function sharedLimit(context: Context): number {
  return context.info.attributes.sharedBytesPerBlockOptIn - 1024;
}

/** Whether all states of an index were finite, by two words of each: all ones if they were. */
export function allFinite(words: Uint32Array): (index: number) => boolean {
  return (index) => words[2 * index] === 0xffffffff && words[2 * index + 1] === 0xffffffff;
}

export async function finiteStates(stream: Stream, failures: DeviceBuffer<"u64">): Promise<(index: number) => boolean> {
  return allFinite(await stream.download(failures.as("u32")));
}

/** Rows from `from` to the last cut, at most `chunk` at a time; every cut ends a piece. */
export function* chunksOf(cuts: readonly number[], chunk: number, from = 0): Generator<{ readonly from: number; readonly to: number }> {
  for (let to: number; from < cuts.at(-1)!; from = to) {
    to = Math.min(cuts.find((row) => row > from)!, from + chunk);
    yield { from, to };
  }
}
