// What measures of many reservoirs share on a device: a wave of them while it is measured, and the
// reflections of least squares.
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import { type AnyArgument, type AnyKernel, loadEntries } from "../kernels.js";
import type { Prepared, SweptMembers, Wave } from "./swept-members.js";

/** Rows of a panel of least squares, and columns whose reflections go together. */
export const panelRows = 256;
export const reflectionColumns = 36;

/** Blocks and threads of a launch, and bytes of shared memory. */
export interface LaunchShape {
  readonly grid: number | readonly [number, number];
  readonly block: number;
  readonly shared?: number;
}

/** A wave while it is measured. */
export interface Turn {
  readonly stream: Stream;
  readonly wave: Wave;
  readonly prepared: Prepared;
  /** Lets the event loop run once the stream is done. */
  readonly pause: () => Promise<void>;
}

/** measure_factor for so many members. */
export function factorShape(members: number): LaunchShape {
  return { grid: members, block: 256, shared: 8 * reflectionColumns * (panelRows + reflectionColumns + 2) };
}

/** measure_factor itself (kernels/reservoir_measures.cu). */
export function factorKernel(context: Context): AnyKernel {
  const parameters = ["f64*", "i64", "i32", "i32", "i32", "i32", "f64*", "f64*"] as const;
  return loadEntries(context, "reservoir_measures", ["measure_factor"]).kernel("measure_factor", parameters);
}

/** Weights and patterns, as kernels of this folder take them. */
export const weightParameters = [
  ...(["const real*", "const i32*", "const u16*", "const i32*", "const i32*", "i32", "i32"] as const),
] as const;
export function weightArguments({ kernel }: SweptMembers, { weights }: Prepared): readonly AnyArgument[] {
  return kernel.storage === "dense" ? [...weights, null, null, null, null, 0, 0] : weights;
}

/** Bytes of shared memory that a block may have beside what its kernel declares. */
export function sharedRoom(context: Context): number {
  return context.info.attributes.sharedBytesPerBlockOptIn - 1024;
}

/** Whether all states of an index were finite. */
export async function finiteStates(stream: Stream, failures: DeviceBuffer<"u64">): Promise<(index: number) => boolean> {
  const words = await stream.download(failures.as("u32"));
  return (index) => words[2 * index] === 0xffffffff && words[2 * index + 1] === 0xffffffff;
}
